"""What the program is doing for one owner, in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from internal.access import service as access
from internal.dialogue import repository as dialogue
from internal.mailbox import repository as mailbox
from internal.people import repository as people
from internal.scheduling import repository as runs
from internal.scheduling.model import RunState


@dataclass(frozen=True, slots=True)
class Status:
    """`buffered` messages are in no fragment yet; `waiting` and `dead` count runs; `quarantined` is the instance's."""

    buffered: int
    waiting: int
    dead: int
    people: int
    quarantined: int
    spent_usd: float


def read_status(connection: Connection, user_id: int, now: datetime) -> Status:
    """`spent_usd` is since the owner's midnight. Raises NotFound for an unknown owner."""
    counts = runs.counts(connection, user_id)
    return Status(
        buffered=dialogue.waiting_count(connection, user_id),
        waiting=sum(counts.get(state, 0) for state in (RunState.DUE, RunState.CLAIMED, RunState.REPLIED)),
        dead=counts.get(RunState.DEAD, 0),
        people=sum(people.counts(connection, user_id).values()),
        quarantined=mailbox.quarantined(connection),
        spent_usd=access.spent_today(connection, user_id, now),
    )
