"""Where the tests find the project and the data of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).parents[1]
ROOT: Final = TESTS.parent
DATA: Final = TESTS / "data"
