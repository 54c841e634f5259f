"""How many values one statement takes."""

from __future__ import annotations

from typing import Final

CHUNK: Final = 500
"""Most values of one IN list."""
