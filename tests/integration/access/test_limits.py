"""How much a user may say and spend, over a real database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Connection, insert

from internal.access import limits, repository as users, service
from internal.access.model import Allowed, Author, DailyCostReached, TooFast, User, Verdict
from internal.storage.database import Database
from internal.storage.tables import messages

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
async def user(database: Database) -> User:
    author = Author(1, "Олена", None, "uk")
    admitted = await database.write(lambda c: service.admit(c, author, allowed=(1,), admit_all=False, now=NOW))
    assert admitted is not None
    return admitted


async def verdict(database: Database, user: User, now: datetime, rate: int = 3, cost: float = 0) -> Verdict:
    return await database.read(lambda c: limits.may_speak(c, user, now, messages_per_minute=rate, daily_cost_usd=cost))


def say(connection: Connection, seq: int, at: datetime, **columns: object) -> None:
    row = {"user_id": 1, "seq": seq, "id": str(seq), "role": "user", "content": "…", "rev": 0, "tg_id": seq}
    connection.execute(insert(messages).values(**{**row, "timestamp": at, **columns}))


async def hear(database: Database, seq: int, at: datetime = NOW, **columns: object) -> None:
    await database.write(lambda c: say(c, seq, at, **columns))


async def bill(database: Database, agent: str, cost_usd: float, at: datetime = NOW) -> None:
    await database.write(lambda c: limits.add_spend(c, users.get(c, 1), agent, tokens=10, cost_usd=cost_usd, now=at))


async def test_the_window_slides(database: Database, user: User) -> None:
    """The fourth message within a minute waits until the first of the three before it is a minute old."""
    for number, second in enumerate((0, 10, 20), start=1):
        assert await verdict(database, user, NOW + timedelta(seconds=second)) == Allowed()
        await hear(database, number, NOW + timedelta(seconds=second))
    assert await verdict(database, user, NOW + timedelta(seconds=30)) == TooFast(3, 30)
    assert await verdict(database, user, NOW + timedelta(seconds=60)) == Allowed()


async def test_only_what_the_user_sent_counts(database: Database, user: User) -> None:
    """Replies of the bot, hidden instructions and other users do not use up the minute."""
    await hear(database, 1, role="assistant")
    await hear(database, 2, tg_id=None)
    await hear(database, 3, user_id=2)
    assert await verdict(database, user, NOW + timedelta(seconds=1), rate=1) == Allowed()


async def test_no_limit_is_no_limit(database: Database, user: User) -> None:
    """Zero switches a limit off."""
    for number in range(1, 6):
        await hear(database, number)
    await bill(database, "responder", 100.0)
    assert await verdict(database, user, NOW, rate=0, cost=0) == Allowed()


async def test_cost_is_added_up_over_agents(database: Database, user: User) -> None:
    """Every agent's calls count against the one daily limit."""
    for agent in ("responder", "archivist", "responder"):
        await bill(database, agent, 0.5)
    assert await database.read(lambda c: limits.spent_today(c, 1, NOW)) == pytest.approx(1.5)
    reached = await verdict(database, user, NOW, cost=1.5)
    assert isinstance(reached, DailyCostReached)
    assert not await database.read(lambda c: limits.within_daily_cost(c, 1, NOW, 1.5))
    assert await database.read(lambda c: limits.within_daily_cost(c, 1, NOW, 1.6))


async def test_the_day_is_the_users_own(database: Database, user: User) -> None:
    """In Kyiv the day of 21 November ends at 22:00 UTC, and so does what was spent on it."""
    evening = datetime(2026, 11, 21, 21, 59, tzinfo=UTC)
    await bill(database, "responder", 5.0, evening)
    reached = await verdict(database, user, evening, cost=5)
    midnight = datetime(2026, 11, 21, 22, 0, tzinfo=UTC)
    assert reached == DailyCostReached(5.0, 5, midnight)
    assert await verdict(database, user, midnight, cost=5) == Allowed()
    assert await database.read(lambda c: limits.spent_today(c, 1, midnight)) == 0.0
