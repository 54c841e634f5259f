"""How long a test waits for what must come: it goes on as soon as it comes, so only a failure takes so long."""

from __future__ import annotations

from typing import Final

PATIENCE_S: Final = 120.0
"""Many times what anything takes on an idle machine: a busy or slow one fails no test."""
