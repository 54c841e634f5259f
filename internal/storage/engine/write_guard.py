"""`with_check` adds a check before every unit of work in a block; `with_wrapper` wraps each one.

So a condition on all work under a lease, and what must follow all work of a command, is written once, where that
work begins. Both run in the transaction of the unit of work.
"""

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from sqlalchemy import Connection

Fence = Callable[[Connection], None]
"""Raises if the unit of work may not run, which undoes it."""

Work = Callable[[Connection], Any]

_fence: ContextVar[Fence | None] = ContextVar("laplaced_fence", default=None)
_wrapper: ContextVar[Callable[[Work], Work] | None] = ContextVar("laplaced_wrapper", default=None)


def current_fence() -> Fence | None:
    """The check of the calling task. A task started by another inherits that task's check."""
    return _fence.get()


@contextlib.contextmanager
def with_check(check: Fence | None) -> Iterator[None]:
    """Units of work begun inside run this check instead of any outer one; None: no check."""
    token = _fence.set(check)
    try:
        yield
    finally:
        _fence.reset(token)


def wrap_work(work: Work) -> Work:
    """The unit of work with the calling task's check and wrapper."""
    wrapper = _wrapper.get()
    return work if wrapper is None else wrapper(work)


@contextlib.contextmanager
def with_wrapper(wrapper: Callable[[Work], Work] | None) -> Iterator[None]:
    """Units of work begun inside are wrapped by `wrapper` instead of any outer one; None: not wrapped."""
    before = _wrapper.get()
    _wrapper.set(wrapper)
    try:
        yield
    finally:
        _wrapper.set(before)  # a token would have to be given back in the task that got it
