"""For whom a unit of work is done: on an engine with a second wall it sees and changes the rows of that owner alone.

The wall stands behind the `WHERE` of every repository, not in place of it. SQLite has none and takes no notice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Final

EVERYONE: Final = "*"
"""The scope of work on the house itself: intake, queues, the scheduler, metrics, the admin's views."""

NOBODY: Final = ""
"""The scope of work that was not told for whom it is done: it finds no row of any owner."""

_scope: ContextVar[str] = ContextVar("laplaced_scope", default=NOBODY)


def current_scope() -> str:
    """The scope of the calling task: an owner's id as text, EVERYONE or NOBODY."""
    return _scope.get()


@contextlib.contextmanager
def acting_for(user_id: int) -> Iterator[None]:
    """Units of work that are begun inside reach the rows of this owner alone."""
    with _entered(str(user_id)):
        yield


@contextlib.contextmanager
def acting_for_everyone() -> Iterator[None]:
    """Units of work that are begun inside reach the rows of every owner."""
    with _entered(EVERYONE):
        yield


def narrow_to(user_id: int) -> None:
    """The rest of what the surrounding block encloses is done for this owner alone: he became known only inside it."""
    _scope.set(str(user_id))


@contextlib.contextmanager
def _entered(scope: str) -> Iterator[None]:
    before = _scope.get()
    _scope.set(scope)
    try:
        yield
    finally:
        _scope.set(before)  # a token would have to be given back in the task that got it
