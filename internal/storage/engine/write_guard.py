"""On whose behalf a unit of work writes: one that is begun inside `fenced` runs the check first, in its transaction.

So what holds for everything a worker does in the name of a lease is said once, where that work is begun.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

from sqlalchemy import Connection

Fence = Callable[[Connection], None]
"""Raises if the unit of work may not be done, which undoes it."""

_fence: ContextVar[Fence | None] = ContextVar("laplaced_fence", default=None)


def current_fence() -> Fence | None:
    """The check of the calling task; a task begun by another starts with that one's."""
    return _fence.get()


@contextlib.contextmanager
def fenced(check: Fence | None) -> Iterator[None]:
    """Units of work that are begun inside are checked, in place of any check outside; None: they are not."""
    token = _fence.set(check)
    try:
        yield
    finally:
        _fence.reset(token)
