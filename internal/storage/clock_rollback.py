"""Corrects stored future times after the clock was set back."""

from datetime import datetime, timedelta

from sqlalchemy import BigInteger, Connection, type_coerce, update

from internal.storage.tables import dialogue_state, outbox, runs
from internal.storage.types import Timestamp, one_of

_TO_BE_SENT = ("pending", "sending", "unknown")
_TO_BE_RUN = ("due", "claimed", "replied")
_MICROSECOND = timedelta(microseconds=1)

_WAITING = (
    (outbox.c.due_at, one_of(outbox.c.state, _TO_BE_SENT)),
    (runs.c.due_at, one_of(runs.c.state, _TO_BE_RUN)),
    (dialogue_state.c.last_activity, dialogue_state.c.is_active.is_(True)),
)


def shift(connection: Connection, now: datetime, back: timedelta) -> int:
    """Subtracts `back` from every stored time that lies in the future. Returns the number of rows."""
    changed = 0
    for column, waits in _WAITING:
        earlier = type_coerce(type_coerce(column, BigInteger) - back // _MICROSECOND, Timestamp)
        statement = update(column.table).where(waits, column > now).values({column.name: earlier})
        changed += connection.execute(statement).rowcount
    return changed


def cap(connection: Connection, now: datetime, longest: timedelta) -> int:
    """Ends waits longer than `longest`, and moves a last activity in the future to now. Returns the number of rows."""
    changed = 0
    for column, waits in _WAITING:
        latest = now if column.table is dialogue_state else now + longest
        statement = update(column.table).where(waits, column > latest).values({column.name: now})
        changed += connection.execute(statement).rowcount
    return changed
