"""The state of one owner's memory in numbers."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection

from internal.access import limits
from internal.agents.archivist.offline.bio_quotes import asks_plainly
from internal.dialogue import repository as dialogue
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.model import own_words
from internal.flows.visibility.messages import messages_shown
from internal.flows.visibility.pending_forgettings import everything_asked
from internal.language.text.spelling import sentence_spans
from internal.people import repository as people
from internal.scheduling import run_repository as runs
from internal.scheduling.run import RunState


@dataclass(frozen=True, slots=True)
class Status:
    """`buffered` are the owner's own messages in no fragment yet, without mere questions; `waiting` and `dead` runs.

    None of them counts data about to be forgotten. `quarantined` is the whole instance's.
    """

    buffered: int
    waiting: int
    dead: int
    people: int
    quarantined: int
    spent_usd: float


def read_status(connection: Connection, user_id: int, now: datetime) -> Status:
    """The status; `spent_usd` counts from the owner's midnight. Raises NotFound for an unknown owner."""
    asked = everything_asked(connection, user_id)
    return Status(
        buffered=_unpublished(connection, user_id),
        # Nothing is published while everything is being forgotten, so every run belongs to what will be erased.
        waiting=runs.unfinished(connection, user_id) if asked is None else 0,
        dead=runs.counts(connection, user_id).get(RunState.DEAD, 0) if asked is None else 0,
        people=sum(people.counts(connection, user_id).values()),
        quarantined=mailbox.quarantined(connection),
        spent_usd=limits.spent_today(connection, user_id, now),
    )


def reading_state(connection: Connection, user_id: int) -> Literal["reading", "waiting"] | None:
    """Whether messages are still being read or wait for it: then it is too early to say that nothing is known."""
    if everything_asked(connection, user_id) is None and runs.unfinished(connection, user_id):
        return "reading"
    return "waiting" if _unpublished(connection, user_id) else None


def _unpublished(connection: Connection, user_id: int) -> int:
    said = messages_shown(connection, user_id, own_words(dialogue.unpublished_messages(connection, user_id)))
    return sum(not only_asks(message.content) for message in said)


def only_asks(text: str) -> bool:
    """Whether every sentence of a text is a question or an order."""
    asked = [text[start:end] for start, end in sentence_spans(text)]
    return bool(asked) and all(map(asks_plainly, asked))
