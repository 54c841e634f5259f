"""An order to archive now: what waits is published, what was given up is tried anew, and no pause is waited for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from internal.flows.publication import Publication
from internal.scheduling import repository as runs
from internal.scheduling.clock import Clock
from internal.scheduling.model import RunState
from internal.storage.engine import Database


@dataclass(frozen=True, slots=True)
class Ordered:
    """What is gone through now: so many `messages` of the owner's own, published in so many `fragments`.

    Of the older runs `revived` had been given up and `hurried` waited for a later attempt. `unfinished` counts all runs
    that are to be worked on, new ones and those already at work included.
    """

    fragments: int = 0
    messages: int = 0
    revived: int = 0
    hurried: int = 0
    unfinished: int = 0


async def archive_now(database: Database, clock: Clock, publication: Publication, user_id: int) -> Ordered:
    """Makes everything of this user ready to be worked on at once; the runs themselves are the run loop's."""
    published = await publication.publish_now(user_id)
    now = clock.now()
    revived, hurried, unfinished = await database.write(lambda c: _make_due(c, user_id, now))
    messages = sum(fragment.said for fragment in published)
    return Ordered(len(published), messages, revived, hurried, unfinished)


def _make_due(connection: Connection, user_id: int, now: datetime) -> tuple[int, int, int]:
    revived, hurried = runs.revive(connection, user_id, now), runs.hurry(connection, user_id, now)
    counts = runs.counts(connection, user_id)
    unfinished = sum(counts.get(state, 0) for state in (RunState.DUE, RunState.CLAIMED, RunState.REPLIED))
    return revived, hurried, unfinished
