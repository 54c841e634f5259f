"""The stages of REST and of MCP are borrowed: isolation is asked of the very same application."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from support.interfaces.isolation_stage import Isolation, isolation


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def apart(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Isolation]:
    """One owner whose every text holds a canary, and another one; for all tests of a module."""
    async with isolation(tmp_path_factory.mktemp("apart")) as running:
        yield running
