"""The state of one owner's memory in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from internal.access import service as access
from internal.dialogue import repository as dialogue
from internal.dialogue.model import own_words
from internal.flows.visibility.pending_forgettings import everything_asked
from internal.language.text.spelling import sentences
from internal.mailbox import repository as mailbox
from internal.people import repository as people
from internal.scheduling import run_repository as runs
from internal.scheduling.run import RunState
from internal.storage.erasure.forgettings import Forgetting


@dataclass(frozen=True, slots=True)
class Status:
    """`buffered` are the owner's own messages in no fragment yet, without mere questions; `waiting` and `dead` runs.

    None of them counts what he has asked to forget. `quarantined` is the instance's.
    """

    buffered: int
    waiting: int
    dead: int
    people: int
    quarantined: int
    spent_usd: float


def read_status(connection: Connection, user_id: int, now: datetime) -> Status:
    """`spent_usd` is since the owner's midnight. Raises NotFound for an unknown owner."""
    asked = everything_asked(connection, user_id)
    return Status(
        buffered=_unpublished(connection, user_id, asked),
        # Nothing is published while everything is being forgotten, so every run is of what goes.
        waiting=runs.unfinished(connection, user_id) if asked is None else 0,
        dead=runs.counts(connection, user_id).get(RunState.DEAD, 0) if asked is None else 0,
        people=sum(people.counts(connection, user_id).values()),
        quarantined=mailbox.quarantined(connection),
        spent_usd=access.spent_today(connection, user_id, now),
    )


def reading(connection: Connection, user_id: int) -> bool:
    """Whether something that was said is still being read: then it is too early to say that nothing is known."""
    return everything_asked(connection, user_id) is None and runs.unfinished(connection, user_id) > 0


def _unpublished(connection: Connection, user_id: int, asked: Forgetting | None) -> int:
    said = own_words(dialogue.waiting(connection, user_id))
    telling = [message for message in said if not _only_asks(message.content)]
    return sum(asked is None or message.timestamp > asked.created_at for message in telling)


def _only_asks(text: str) -> bool:
    asked = [text[start:end].strip() for start, end in sentences(text)]
    return bool(asked) and all(one.endswith("?") for one in asked)
