"""The owner a unit of work acts for: on an engine with row policies it sees and changes that owner's rows alone.

The policies are a second line of defence behind the `WHERE` of every repository. SQLite has none.
"""

import contextlib
import logging
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Final

EVERYONE: Final = "*"
"""The scope of work for the system: intake, queues, the scheduler, metrics, the admin's views."""

NOBODY: Final = ""
"""The scope of work that named no owner: it finds no owner's rows."""

_scope: ContextVar[str] = ContextVar("laplaced_scope", default=NOBODY)


def current_scope() -> str:
    """The scope of the calling task: an owner's id as text, EVERYONE or NOBODY."""
    return _scope.get()


@contextlib.contextmanager
def acting_for(user_id: int) -> Iterator[None]:
    """Units of work begun inside reach the rows of this owner alone."""
    with _entered(str(user_id)):
        yield


@contextlib.contextmanager
def acting_for_everyone() -> Iterator[None]:
    """Units of work begun inside reach the rows of every owner."""
    with _entered(EVERYONE):
        yield


@contextlib.contextmanager
def acting_apart_for(user_id: int, log: logging.Logger, failed: str) -> Iterator[None]:
    """`acting_for` one of many owners: an error is logged as the event `failed`, and the others have their turn."""
    try:
        with acting_for(user_id):
            yield
    except Exception:  # border of one owner
        log.exception(failed, extra={"user_id": user_id})


def narrow_to(user_id: int) -> None:
    """Limits the rest of the surrounding block to this owner, who became known only inside it."""
    _scope.set(str(user_id))


@contextlib.contextmanager
def _entered(scope: str) -> Iterator[None]:
    before = _scope.get()
    _scope.set(scope)
    try:
        yield
    finally:
        _scope.set(before)  # a token would have to be given back in the task that got it
