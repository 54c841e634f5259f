"""What processes that the bot starts have in common: how they log, and that they end with it."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable

LINE_BREAK = "\u2028"
"""Stands for a line break inside a record, so that whoever reads a child's stderr gets a record a line."""

LONGEST_RECORD = 2**20
"""Characters: a traceback of a deep recursion has some hundred thousand."""

_PARENT_CHECK = 0.3


class LineFormatter(logging.Formatter):
    """One line a record, tracebacks included; on a terminal as many as it has."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        return text if sys.stderr.isatty() else text.replace("\n", LINE_BREAK)


def log_as(name: str) -> None:
    """Warnings and worse of this process go to stderr, a record a line."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter(f"{name}: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


async def stop_with(parent: int, stop: Callable[[], None]) -> None:
    """Calls `stop` once the parent has died."""
    while os.getppid() == parent:  # noqa: ASYNC110 - no event tells that a parent died, on every Unix alike
        await asyncio.sleep(_PARENT_CHECK)
    stop()
