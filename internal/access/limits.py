"""Limits of a user: messages in a minute, and the cost of a day on the user's own clock."""

import math
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access import repository
from internal.access.model import Allowed, DailyCostReached, TooFast, User, Verdict

_MINUTE: Final = timedelta(minutes=1)


def may_speak(
    connection: Connection, user: User, now: datetime, *, messages_per_minute: int, daily_cost_usd: float
) -> Verdict:
    """Whether the user's message at `now`, not stored yet, may be answered. A limit of 0 is no limit."""
    if messages_per_minute:
        times = repository.message_times(connection, user.user_id, now - _MINUTE, messages_per_minute)
        if len(times) >= messages_per_minute:
            wait = math.ceil((times[-1] + _MINUTE - now).total_seconds())
            return TooFast(messages_per_minute, min(60, max(1, wait)))
    return _within_cost(connection, user, now, daily_cost_usd)


def within_daily_cost(connection: Connection, user_id: int, now: datetime, daily_cost_usd: float) -> bool:
    """Whether background work may still be billed to this user today."""
    user = repository.get(connection, user_id)
    return isinstance(_within_cost(connection, user, now, daily_cost_usd), Allowed)


def add_spend(
    connection: Connection, user: User, agent: str, *, tokens: int, cost_usd: float, now: datetime, calls: int = 1
) -> None:
    """Bills model calls to the user's own day."""
    day = _day(user, now)
    repository.add_spend(connection, user.user_id, day, agent, tokens=tokens, cost_usd=cost_usd, calls=calls)


def spent_today(connection: Connection, user_id: int, now: datetime) -> float:
    """US dollars spent since the user's midnight."""
    user = repository.get(connection, user_id)
    return repository.spent_on(connection, user_id, _day(user, now))


def _within_cost(connection: Connection, user: User, now: datetime, limit: float) -> Allowed | DailyCostReached:
    if not limit or (spent := repository.spent_on(connection, user.user_id, _day(user, now))) < limit:
        return Allowed()
    return DailyCostReached(spent, limit, _next_midnight(user, now))


def _day(user: User, now: datetime) -> str:
    return now.astimezone(ZoneInfo(user.tz)).date().isoformat()


def _next_midnight(user: User, now: datetime) -> datetime:
    local = now.astimezone(ZoneInfo(user.tz))
    tomorrow = local.date() + timedelta(days=1)
    return datetime(tomorrow.year, tomorrow.month, tomorrow.day, tzinfo=local.tzinfo).astimezone(now.tzinfo)
