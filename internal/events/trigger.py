"""The trigger of events: the command, button press, answer or call of an interface that is being processed.

The inbox worker and the server set it (`triggered_by`), and every event of its user that is appended meanwhile has it
as a cause. Otherwise every handler would have to pass it on.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

COMMAND: Final = "command_received"


@dataclass(frozen=True, slots=True)
class UpdateTrigger:
    """A trigger. `key` is that of its update or call; `payload` is its event's, without the user's words.

    It is the cause of events of this user only, or (None) of every owner that a call is about: each owner whose memory
    it changes gets an own event, and no link leads from one owner to another.
    """

    user_id: int | None
    key: str
    payload: Mapping[str, Any]
    at: datetime

    def is_of(self, user_id: int) -> bool:
        return self.user_id is None or self.user_id == user_id


TRIGGER: Final[ContextVar[UpdateTrigger | None]] = ContextVar("laplaced_trigger", default=None)


def current_trigger() -> UpdateTrigger | None:
    return TRIGGER.get()


_cause: ContextVar[dict[str, str | Sequence[str]] | None] = ContextVar("cause", default=None)


@contextmanager
def caused_by(**links: str | Sequence[str]) -> Iterator[None]:
    """Adds these links, of one id or several, to model calls and events of the block, also of tasks started there."""
    token = _cause.set(links)
    try:
        yield
    finally:
        _cause.reset(token)


def current_cause() -> dict[str, str | Sequence[str]] | None:
    return _cause.get()
