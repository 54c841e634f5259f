"""Checks before writes: a unit of work begun inside `fenced` runs the check first, in its transaction.

So a condition on everything a worker does under a lease is stated once, where that work is begun.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

from sqlalchemy import Connection

Fence = Callable[[Connection], None]
"""Raises if the unit of work may not run, which undoes it."""

_fence: ContextVar[Fence | None] = ContextVar("laplaced_fence", default=None)


def current_fence() -> Fence | None:
    """The check of the calling task. A task started by another inherits that task's check."""
    return _fence.get()


@contextlib.contextmanager
def fenced(check: Fence | None) -> Iterator[None]:
    """Units of work begun inside run this check instead of any outer one; None: no check."""
    token = _fence.set(check)
    try:
        yield
    finally:
        _fence.reset(token)
