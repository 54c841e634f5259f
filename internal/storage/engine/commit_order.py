"""The order in which numbered rows become visible: on PostgreSQL several transactions number rows of a table at once.

A number is drawn long before its row is visible, so a reader at number 10 may have missed number 9. Within one
owner nothing is missed: the owner's transactions draw one after the other, each holding the owner's lock from its
first number to its end. Across owners no transaction waits; their reader keeps a `ReadPosition`, which remembers
skipped numbers and looks for them again. SQLite runs one transaction at a time, so nothing has to be remembered.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Column, ColumnElement, Connection, Table, and_, func, or_, select

from internal.storage.tables import changes, events

IN_ORDER: Final = (events, changes)
"""Tables whose `seq` says in which order things happened."""

PATIENCE_S: Final = 600.0
"""A number skipped for this long belongs to a transaction that was rolled back, or to a deleted row."""

MOST_SKIPPED: Final = 5_000
"""Numbers that are looked for again, the latest: what some hundred concurrent units of work have drawn."""

# A number is final: a copy of another store keeps its own. A lock spans the whole database: the owner's id
# is its key, and a migration's is no id of Telegram's.
_NUMBER: Final = """
CREATE OR REPLACE FUNCTION laplaced_number() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.seq IS NULL THEN
    IF NEW.user_id <> 0 THEN
      PERFORM pg_advisory_xact_lock(NEW.user_id);
    END IF;
    NEW.seq := nextval(TG_ARGV[0]::regclass);
  END IF;
  RETURN NEW;
END $$
"""


@dataclass(frozen=True, slots=True)
class ReadPosition:
    """The position of a reader of all owners' rows: behind `position`, except for the `skipped` numbers before it.

    Each skipped number has the time, in seconds of the monotonic clock, at which it was found missing.
    """

    position: int = 0
    skipped: Mapping[int, float] = field(default_factory=dict)


def keep_order(connection: Connection) -> None:
    """Makes PostgreSQL number the rows of one owner in the order in which they become visible. Idempotent."""
    if connection.dialect.name == "sqlite":
        return
    connection.exec_driver_sql(_NUMBER)
    for table in IN_ORDER:
        # Drawn by the column's default, a number would be older than the lock.
        connection.exec_driver_sql(f"ALTER TABLE {table.name} ALTER COLUMN seq DROP DEFAULT")
        connection.exec_driver_sql(
            f"CREATE OR REPLACE TRIGGER {table.name}_number BEFORE INSERT ON {table.name}"
            f" FOR EACH ROW EXECUTE FUNCTION laplaced_number('{table.name}_seq_seq')"
        )


def state_of(connection: Connection, table: Table) -> str:
    """A value that stays the same while no row is added to a table."""
    if connection.dialect.name == "sqlite":
        return str(connection.execute(select(func.max(table.c.seq))).scalar_one() or 0)
    # The newest number stays as it is when an older one becomes visible; a snapshot does not.
    return str(connection.execute(select(func.pg_current_snapshot())).scalar_one())


def position_at(connection: Connection, table: Table, position: int | None = None, *, again: int = 0) -> ReadPosition:
    """The position behind a number, or behind everything visible. Numbers skipped before it are looked for from now on.

    A reader who read up to a number earlier cannot know what became visible before it since. So, where that can happen,
    the last `again` numbers before it are read once more.
    """
    newest = int(connection.execute(select(func.coalesce(func.max(table.c.seq), 0))).scalar_one())
    position = newest if position is None else position
    if connection.dialect.name == "sqlite":
        return ReadPosition(position)
    last = min(position, newest)
    repeated = max(0, last - again)
    skipped = _missing(connection, table.c.seq, max(0, last - MOST_SKIPPED), repeated)
    return ReadPosition(position, dict.fromkeys([*skipped, *range(repeated + 1, last + 1)], time.monotonic()))


def read_on(
    connection: Connection, table: Table, since: ReadPosition, *, at_once: int | None = None
) -> tuple[ColumnElement[bool], ReadPosition]:
    """The condition for the rows that are new since a position, and the position after reading them.

    It advances by at most `at_once` rows of all owners; an unchanged position means that everything was read.
    """
    number, last_read = table.c.seq, since.position
    ahead = select(number).where(number > last_read).order_by(number).limit(at_once).subquery()
    position = connection.execute(select(func.coalesce(func.max(ahead.c.seq), last_read))).scalar_one()
    new_rows = and_(number > last_read, number <= position)
    if connection.dialect.name == "sqlite":
        return new_rows, ReadPosition(position)
    now = time.monotonic()
    looked_for = [one for one, moment in since.skipped.items() if now - moment < PATIENCE_S]
    filled = _filled(connection, number, looked_for)
    skipped = {one: since.skipped[one] for one in looked_for if one not in filled}
    skipped |= dict.fromkeys(_missing(connection, number, max(last_read, position - MOST_SKIPPED), position), now)
    kept = dict(sorted(skipped.items())[-MOST_SKIPPED:])
    return or_(new_rows, number.in_(sorted(filled))), ReadPosition(position, kept)


def _filled(connection: Connection, number: Column[int], looked_for: list[int]) -> set[int]:
    if not looked_for:
        return set()
    return set(connection.execute(select(number).where(number == func.any(looked_for))).scalars())


def _missing(connection: Connection, number: Column[int], after: int, last: int) -> list[int]:
    """The numbers after `after` up to `last` that no visible row has."""
    there = set(connection.execute(select(number).where(number > after, number <= last)).scalars())
    return [one for one in range(after + 1, last + 1) if one not in there]
