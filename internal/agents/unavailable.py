"""Continues without a model or the language process, with a warning in the log."""

import logging
from collections.abc import Awaitable
from typing import TypeVar

from internal.errors import ModelError
from internal.language.worker.process_pool import LanguageCallFailed

T = TypeVar("T")


async def or_none(log: logging.Logger, event: str, call: Awaitable[T]) -> T | None:
    """The result of a call; None and a warning under this event's name if nothing could answer it."""
    try:
        return await call
    except (ModelError, LanguageCallFailed) as error:
        log.warning(event, extra={"error": type(error).__name__})
        return None
