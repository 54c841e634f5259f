"""On what occasion events happen: the command, button press or answer that is being dealt with.

Whoever works off an update sets it, and every event of its user that is appended meanwhile is caused by it, wherever
that is: a handler that had to hand it about would sooner or later forget it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

COMMAND: Final = "command_received"


@dataclass(frozen=True, slots=True)
class Occasion:
    """`key` names the update, as links and the outbox do; `told` is the payload of its event, without the user's words.

    It is the cause of events of this user alone: nothing leads from one owner to another.
    """

    user_id: int
    key: str
    told: Mapping[str, Any]


_occasion: ContextVar[Occasion | None] = ContextVar("laplaced_occasion", default=None)


@contextmanager
def on_occasion(occasion: Occasion | None) -> Iterator[None]:
    """Events appended inside, also by units of work begun there, are caused by it; None: by nothing of the kind."""
    before = _occasion.get()
    _occasion.set(occasion)
    try:
        yield
    finally:
        _occasion.set(before)


def current_occasion() -> Occasion | None:
    return _occasion.get()
