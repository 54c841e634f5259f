"""Times to come that were stored by a clock that showed too late a time."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import BigInteger, Connection, type_coerce, update

from internal.storage.tables import dialogue_state, outbox, runs
from internal.storage.types import Moment, one_of

_TO_BE_SENT = ("pending", "sending", "unknown")
_TO_BE_RUN = ("due", "claimed", "replied")
_MICROSECOND = timedelta(microseconds=1)

_WAITING = (
    (outbox.c.due_at, one_of(outbox.c.state, _TO_BE_SENT)),
    (runs.c.due_at, one_of(runs.c.state, _TO_BE_RUN)),
    (dialogue_state.c.last_activity, dialogue_state.c.is_active.is_(True)),
)


def shift(connection: Connection, now: datetime, back: timedelta) -> int:
    """The clock was set back by so much: what lies ahead of it comes nearer by as much. Returns how many rows."""
    changed = 0
    for column, waits in _WAITING:
        earlier = type_coerce(type_coerce(column, BigInteger) - back // _MICROSECOND, Moment)
        statement = update(column.table).where(waits, column > now).values({column.name: earlier})
        changed += connection.execute(statement).rowcount
    return changed


def cap(connection: Connection, now: datetime, longest: timedelta) -> int:
    """Nothing waits for longer than `longest`, and no dialogue was active in the future. Returns how many rows."""
    changed = 0
    for column, waits in _WAITING:
        latest = now if column.table is dialogue_state else now + longest
        statement = update(column.table).where(waits, column > latest).values({column.name: now})
        changed += connection.execute(statement).rowcount
    return changed
