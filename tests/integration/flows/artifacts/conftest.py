"""A bucket for files."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.stores.bucket import s3_bucket


@pytest.fixture
def bucket() -> Iterator[str]:
    with s3_bucket() as address:
        yield address
