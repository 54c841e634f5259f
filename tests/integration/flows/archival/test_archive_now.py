"""An order to archive now."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import Connection, insert, select
from support.flows.flow_stage import OTHER, OWNER, Talk

from internal.flows.archival.archive_now import ArchivedCounts, archive_now
from internal.scheduling import run_repository as scheduling
from internal.storage.tables import runs


async def run(
    talk: Talk, name: str, state: str, wait: timedelta = timedelta(0), user_id: int = OWNER, **more: str
) -> None:
    now = talk.clock.now()
    row = {"id": name, "user_id": user_id, "agent": "archivist", "rev": 1, "first_n": 1, "last_n": 2, "attempts": 8}
    moments = {"due_at": now + wait, "created_at": now}
    await talk.write(lambda c: c.execute(insert(runs).values(**row, **moments, **more, state=state)))


async def order(talk: Talk, user_id: int = OWNER) -> ArchivedCounts:
    return await archive_now(talk.database, talk.clock, talk.publication(max_messages=2), user_id)


async def due(talk: Talk) -> set[str]:
    """The runs that may be worked on at this moment."""

    def work(c: Connection) -> set[str]:
        open_runs = select(runs.c.id).where(runs.c.state == "due", runs.c.due_at <= talk.clock.now())
        return set(c.execute(open_runs).scalars())

    return await talk.read(work)


async def test_nothing_to_do_is_told_as_nothing(talk: Talk) -> None:
    """Neither words, nor runs that are done, are anything to go through."""
    await run(talk, "done", "applied")
    assert await order(talk) == ArchivedCounts()


async def test_what_was_said_is_published_and_counted(talk: Talk) -> None:
    """The owner's own messages and the fragments are counted apart; asked again, they are only unfinished."""
    await talk.exchange("Hi")
    await talk.exchange("And more")
    assert await order(talk) == ArchivedCounts(fragments=2, messages=2, unfinished=2)
    assert await order(talk) == ArchivedCounts(unfinished=2)


async def test_what_is_still_being_answered_is_not_called_done(talk: Talk) -> None:
    """It is told, and left for when it has its answer."""
    await talk.say("And what about Maria?")
    assert await order(talk) == ArchivedCounts(answering=True)


async def test_given_up_and_waiting_runs_start_at_once(talk: Talk) -> None:
    """A dead run gets new attempts, a pause ends, what is at work goes on; others' runs are left alone."""
    await run(talk, "dead", "dead")
    await run(talk, "waiting", "due", timedelta(minutes=15))
    await run(talk, "at work", "claimed")
    await run(talk, "other's", "dead", user_id=OTHER)
    assert await order(talk) == ArchivedCounts(revived=1, hurried=1, unfinished=3)
    assert await due(talk) == {"dead", "waiting"}
    (other,) = await talk.read(lambda c: scheduling.dead(c, OTHER))
    assert other.id == "other's"


async def test_an_edit_that_is_read_once_more_is_no_failure(talk: Talk) -> None:
    """Nor is what waits for another day's budget; a second reading that failed is one."""
    await run(talk, "edited", "due", timedelta(seconds=10), replaces="first")
    await run(talk, "edited and failed", "due", timedelta(minutes=1), replaces="second", error="ModelUnavailable")
    await run(talk, "unpaid", "due", timedelta(minutes=10), error="daily_cost")
    assert await order(talk) == ArchivedCounts(hurried=1, reread=1, unpaid=1, unfinished=3)
    assert await due(talk) == {"edited", "edited and failed", "unpaid"}
