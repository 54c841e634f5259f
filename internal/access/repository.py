"""Users, the instance's own settings, and the cost of each user's model calls, in the database."""

from collections.abc import Collection
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, bindparam, func, insert, select, update

from internal.access.model import Role, User, UserState
from internal.errors import NotFound, expect_found
from internal.storage.engine.row_policies import across_owners
from internal.storage.owner_counters import VERSION, hold_owner
from internal.storage.rows import read_one, reader
from internal.storage.tables import messages, settings, spend, turns, users

# Run at every message and built once: building a statement takes several times as long as running it.
_FIND: Final = select(users).where(users.c.user_id == bindparam("owner"))
_VERSIONED: Final = _FIND.add_columns(*VERSION)
_ON_DAY: Final = (spend.c.user_id == bindparam("owner"), spend.c.day == bindparam("on"))
_SPENT: Final = select(func.coalesce(func.sum(spend.c.cost_usd), 0.0)).where(*_ON_DAY)
_ADD_SPEND: Final = (
    update(spend)
    .where(*_ON_DAY, spend.c.agent == bindparam("by"))
    .values(
        calls=spend.c.calls + bindparam("count"),
        tokens=spend.c.tokens + bindparam("more_tokens"),
        cost_usd=spend.c.cost_usd + bindparam("more_cost"),
    )
)


def find(connection: Connection, user_id: int) -> User | None:
    return read_one(connection.execute(_FIND, {"owner": user_id}), _user)


def get(connection: Connection, user_id: int) -> User:
    """The user with this id. Raises NotFound."""
    return expect_found(find(connection, user_id), f"there is no user {user_id}")


def get_with_version(connection: Connection, user_id: int, *, besides: Collection[str]) -> tuple[User, tuple[int, int]]:
    """The user and the version of his data, which is equal while only rows of these kinds change. Raises NotFound."""
    row = connection.execute(_VERSIONED, {"owner": user_id, "besides": list(besides)}).one_or_none()
    row = expect_found(row, f"there is no user {user_id}")
    return _user(row), (row.next_rev, row.last_change)


def add(connection: Connection, user: User) -> User:
    values = asdict(user) | {"role": user.role.value, "state": user.state.value}
    connection.execute(insert(users).values(values))
    return user


def change(connection: Connection, user_id: int, **values: Any) -> User:
    """Sets columns of one user and returns the updated user. Raises NotFound for an unknown user."""
    hold_owner(connection, user_id)
    row = connection.execute(
        update(users).where(users.c.user_id == user_id).values(**values).returning(users)
    ).one_or_none()
    if row is None:
        raise NotFound(f"there is no user {user_id}")
    return _user(row)


def everybody(connection: Connection) -> list[User]:
    """All users in the order of admission, removed ones included."""
    rows = connection.execute(select(users).order_by(users.c.created_at, users.c.user_id))
    return [_user(row) for row in rows]


def has_owner(connection: Connection) -> bool:
    query = select(users.c.user_id).where(users.c.role == Role.OWNER.value).limit(1)
    with across_owners(connection):
        return connection.execute(query).first() is not None


def read_setting(connection: Connection, key: str) -> Any | None:
    return connection.execute(select(settings.c.value).where(settings.c.key == key)).scalar_one_or_none()


def write_setting(connection: Connection, key: str, value: Any) -> None:
    changed = connection.execute(update(settings).where(settings.c.key == key).values(value=value))
    if changed.rowcount == 0:
        connection.execute(insert(settings).values(key=key, value=value))


def message_times(connection: Connection, user_id: int, since: datetime, limit: int) -> list[datetime]:
    """The times of the newest messages of this user after `since`, newest first, at most `limit`.

    Only messages written in Telegram count: hidden instructions and imports have no Telegram id.
    """
    query = (
        select(messages.c.timestamp)
        .where(messages.c.user_id == user_id, messages.c.timestamp > since)
        .where(messages.c.role == "user", messages.c.tg_id.is_not(None))
        .where(func.coalesce(messages.c.sender_id, user_id) == user_id)
        .order_by(messages.c.timestamp.desc())
        .limit(limit)
    )
    return list(connection.execute(query).scalars())


def add_spend(
    connection: Connection, user_id: int, day: str, agent: str, *, tokens: int, cost_usd: float, calls: int = 1
) -> None:
    """Adds calls to the spending of `agent` for this user on `day` (ISO date)."""
    more = {"count": calls, "more_tokens": tokens, "more_cost": cost_usd}
    changed = connection.execute(_ADD_SPEND, {"owner": user_id, "on": day, "by": agent, **more})
    if changed.rowcount == 0:
        first = {"calls": calls, "tokens": tokens, "cost_usd": cost_usd}
        connection.execute(insert(spend).values(user_id=user_id, day=day, agent=agent, **first))


def spent_on(connection: Connection, user_id: int, day: str) -> float:
    """US dollars of all agents for this user on `day`."""
    return float(connection.execute(_SPENT, {"owner": user_id, "on": day}).scalar_one())


def spent_by_day(connection: Connection, user_id: int | None, first: str) -> list[tuple[str, str, int, int, float]]:
    """Day, agent, calls, tokens and US dollars from the day `first` on, of one user or (None) of all; oldest first."""
    sums = (func.sum(column) for column in (spend.c.calls, spend.c.tokens, spend.c.cost_usd))
    query = select(spend.c.day, spend.c.agent, *sums).where(spend.c.day >= first)
    if user_id is not None:
        query = query.where(spend.c.user_id == user_id)
    rows = connection.execute(query.group_by(spend.c.day, spend.c.agent).order_by(spend.c.day, spend.c.agent))
    return [(day, agent, int(calls), int(tokens), float(cost)) for day, agent, calls, tokens, cost in rows]


def spent_by(connection: Connection, agent: str) -> tuple[int, int, float]:
    """Calls, tokens and US dollars of one agent for all users so far."""
    sums = (func.coalesce(func.sum(column), 0) for column in (spend.c.calls, spend.c.tokens, spend.c.cost_usd))
    with across_owners(connection):
        calls, tokens, cost = connection.execute(select(*sums).where(spend.c.agent == agent)).one()
    return int(calls), int(tokens), float(cost)


_user = reader(User, role=Role, state=UserState)


def tokens_on(connection: Connection, user_id: int, day: str) -> int:
    """Tokens of all agents for this user on `day`."""
    query = select(func.coalesce(func.sum(spend.c.tokens), 0)).where(spend.c.user_id == user_id, spend.c.day == day)
    return int(connection.execute(query).scalar_one())


def turns_since(connection: Connection, user_id: int, moment: datetime) -> int:
    """The number of turns of this user since `moment`."""
    query = select(func.count()).where(turns.c.user_id == user_id, turns.c.opened_at >= moment)
    return int(connection.execute(query).scalar_one())
