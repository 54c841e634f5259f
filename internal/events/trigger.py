"""The trigger of events: the command, button press or answer that is being processed.

The inbox worker sets it, and every event of its user that is appended meanwhile is caused by it. Otherwise every
handler would have to pass it on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

COMMAND: Final = "command_received"


@dataclass(frozen=True, slots=True)
class UpdateTrigger:
    """`key` names the update, as links and the outbox do; `payload` is that of its event, without the user's words.

    It is the cause of events of this user alone: nothing leads from one owner to another.
    """

    user_id: int
    key: str
    payload: Mapping[str, Any]


_trigger: ContextVar[UpdateTrigger | None] = ContextVar("laplaced_trigger", default=None)


@contextmanager
def triggered_by(trigger: UpdateTrigger | None) -> Iterator[None]:
    """Events appended inside, also by units of work begun there, are caused by this trigger; None: by none."""
    before = _trigger.get()
    _trigger.set(trigger)
    try:
        yield
    finally:
        _trigger.set(before)


def current_trigger() -> UpdateTrigger | None:
    return _trigger.get()
