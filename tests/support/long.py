"""What only `make test-long` runs: tests marked `long`, and the full number of drawn examples."""

from __future__ import annotations

import os
from typing import Final

LONG: Final = os.environ.get("LAPLACED_TEST_LONG") == "1"


def examples(full: int) -> int:
    """How many examples hypothesis draws: `full` in the long run, a fifth of them and at least three in the short."""
    return full if LONG else max(3, full // 5)
