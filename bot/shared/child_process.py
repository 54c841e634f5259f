"""The logs and the end of processes that the bot starts."""

import asyncio
import logging
import os
import sys
from collections.abc import Callable

LINE_BREAK = "\u2028"
"""Stands for a line break inside a record, so that a reader of a child's stderr gets one record a line."""

LONGEST_RECORD = 2**20
"""Characters: a traceback of a deep recursion has some hundred thousand."""

_PARENT_CHECK = 0.3


class LineFormatter(logging.Formatter):
    """Formats a record as one line, tracebacks included; on a terminal with its line breaks."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        return text if sys.stderr.isatty() else text.replace("\n", LINE_BREAK)


def log_as(name: str) -> None:
    """Logs warnings and worse of this process to stderr, one record a line."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter(f"{name}: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


async def stop_with(parent: int, stop: Callable[[], None]) -> None:
    """Calls `stop` once the parent has died."""
    while os.getppid() == parent:  # noqa: ASYNC110 - no event tells that a parent died, on every Unix alike
        await asyncio.sleep(_PARENT_CHECK)
    stop()
