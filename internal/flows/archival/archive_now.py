"""Archives at once: publishes buffered messages, revives dead runs, skips every pause."""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from internal.access import repository as users
from internal.dialogue import turn_repository as turns
from internal.flows.archival.publication import Publication
from internal.scheduling import run_repository as runs
from internal.scheduling.clock import Clock
from internal.scheduling.run import DAILY_COST, Run
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for


@dataclass(frozen=True, slots=True)
class ArchivedCounts:
    """The result of archiving now: `messages` of the owner's own, published in `fragments`.

    Of the older runs `revived` had been given up, `hurried` waited for another attempt, `reread` for an edit to be
    complete, `unpaid` for another day's budget. `unfinished` counts all runs that are to be worked on, new and running
    ones included. Messages that the bot is still `answering` are archived later, with the answer.
    """

    fragments: int = 0
    messages: int = 0
    revived: int = 0
    hurried: int = 0
    reread: int = 0
    unpaid: int = 0
    unfinished: int = 0
    answering: bool = False


async def archive_now(database: Database, clock: Clock, publication: Publication, user_id: int) -> ArchivedCounts:
    """Makes all work of this user due at once, for the run loop."""
    published = await publication.publish_now(user_id)
    now = clock.now()
    with acting_for(user_id):
        ordered = await database.write(lambda c: _make_due(c, user_id, now))
    return replace(ordered, fragments=len(published), messages=sum(fragment.said for fragment in published))


def _make_due(connection: Connection, user_id: int, now: datetime) -> ArchivedCounts:
    revived = runs.revive(connection, user_id, now)
    kinds = Counter(map(_kind, runs.hurry(connection, user_id, now)))
    unfinished = runs.unfinished(connection, user_id)
    answering = turns.first_open_seq(connection, user_id, users.read_setting(connection, "bot_id")) is not None
    return ArchivedCounts(revived=revived, unfinished=unfinished, answering=answering, **kinds)


def _kind(run: Run) -> str:
    """The counter of `ArchivedCounts` for what a run had waited for."""
    if run.error == DAILY_COST:
        return "unpaid"
    return "reread" if run.replaces is not None and run.error is None else "hurried"
