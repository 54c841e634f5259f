"""Forgetting: rows of what was asked, a walk over every text-bearing column, and what makes it final on the disk.

The registry of columns is `tables.py` itself: whatever is marked TEXT there is looked at here, so that a new table
cannot be forgotten about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import JSON, Column, Connection, LargeBinary, Row, Table, delete, insert, select, update

from internal.storage.engine import BUSY_TIMEOUT_MS, to_json
from internal.storage.owners import record_change
from internal.storage.tables import TEXT, forgettings, inbox, metadata, runs, spend, turns, users
from internal.storage.types import new_id

EVERYTHING: Final = "everything"
"""Kind of forgetting, and of the change that tells caches to read an owner anew."""

_OWNERS_WORDS: Final = frozenset({"users", "messages", "episodes", "segments"})
"""Forgetting one person leaves the owner's own conversation; forgetting everything does not."""

_PROFILES: Final = frozenset({"people", "name_keys", "search_items", "vectors", "merges", "graph_nodes"})
"""Another person's profile, and its node, may name the forgotten one; the forgotten one's own rows are deleted by their keys."""

_SPARED: Final = frozenset({"users", "spend", "forgettings", "inbox"})
"""Tables that forgetting everything treats by rules of their own."""

_ID_KEY: Final = r"(?<![a-z_])(?:person_|source_|target_)?id\\*\"?\s*:\s*\\*\"?"
"""A person's id as model replies write it, also where the JSON stands inside another JSON string."""

_FORGOTTEN: Final[dict[str, Any]] = {"forgotten": True}


@dataclass(frozen=True, slots=True)
class Forgetting:
    """Something asked to be forgotten, done when `due_at` has come. `person_id` is None for everything."""

    user_id: int
    id: str
    person_id: int | None
    due_at: datetime
    created_at: datetime


def ask(connection: Connection, user_id: int, person_id: int | None, *, now: datetime, due_at: datetime) -> Forgetting:
    asked = Forgetting(user_id, new_id(), person_id, due_at, now)
    row = insert(forgettings).values(
        user_id=user_id,
        id=asked.id,
        kind=EVERYTHING if person_id is None else "person",
        person_id=person_id,
        state="pending",
        due_at=due_at,
        created_at=now,
    )
    connection.execute(row)
    return asked


def pending(connection: Connection, user_id: int) -> list[Forgetting]:
    """What waits to be forgotten, oldest first."""
    query = select(forgettings).where(forgettings.c.user_id == user_id, forgettings.c.state == "pending")
    return [_forgetting(row) for row in connection.execute(query.order_by(forgettings.c.created_at))]


def state(connection: Connection, user_id: int, forgetting_id: str) -> str | None:
    """`pending`, `undone` or `done`; None for what this owner never asked."""
    one = (forgettings.c.user_id == user_id) & (forgettings.c.id == forgetting_id)
    return connection.execute(select(forgettings.c.state).where(one)).scalar_one_or_none()


def due(connection: Connection, now: datetime, *, limit: int) -> list[Forgetting]:
    """What must be forgotten now. Everything of an owner waits until no turn of his is open."""
    busy = select(turns.c.user_id).where(turns.c.state.in_(("collecting", "running")))
    query = select(forgettings).where(
        forgettings.c.state == "pending",
        forgettings.c.due_at <= now,
        (forgettings.c.kind != EVERYTHING) | forgettings.c.user_id.not_in(busy),
    )
    return [_forgetting(row) for row in connection.execute(query.order_by(forgettings.c.due_at).limit(limit))]


def close(connection: Connection, forgetting: Forgetting, state: str) -> bool:
    """Marks it `undone` or `done`; False if it is not pending any more."""
    one = (forgettings.c.user_id == forgetting.user_id) & (forgettings.c.id == forgetting.id)
    closed = update(forgettings).where(one, forgettings.c.state == "pending").values(state=state)
    return connection.execute(closed).rowcount == 1


def erase_everything(connection: Connection, user_id: int, spent_since: str) -> None:
    """Deletes every row of an owner.

    What stays: his admission, language and zone; that and when he asked for it; what he spent since the ISO date
    `spent_since` (or forgetting would lift the daily limit); the keys of processed updates without their text; updates
    that are not processed yet.
    """
    for table in metadata.sorted_tables:
        if "user_id" in table.c and table.name not in _SPARED:
            connection.execute(delete(table).where(table.c.user_id == user_id))
    connection.execute(delete(spend).where(spend.c.user_id == user_id, spend.c.day < spent_since))
    # That everything was forgotten, and when, stays: a restored backup must learn it.
    asked_for_less = (forgettings.c.kind != EVERYTHING) | (forgettings.c.state != "done")
    connection.execute(delete(forgettings).where(forgettings.c.user_id == user_id, asked_for_less))
    processed = (inbox.c.user_id == user_id) & (inbox.c.state != "received")
    connection.execute(update(inbox).where(processed).values(raw="", error=None, user_id=None))
    connection.execute(
        update(users).where(users.c.user_id == user_id).values(name="", username=None, settings={}, tz_asked=False)
    )
    record_change(connection, user_id, EVERYTHING, "*", "delete")


def blank_mentions(connection: Connection, user_id: int, mentions: Callable[[str], bool]) -> int:
    """Empties every text-bearing column of derived rows of this owner whose text mentions somebody; how many fields.

    Stored model replies that are still to be applied are asked for again.
    """
    blanked = 0
    for table in metadata.sorted_tables:
        if "user_id" not in table.c or table.name in _OWNERS_WORDS | _PROFILES:
            continue
        for column in table.c:
            if column.info.items() >= TEXT.items():
                blanked += _blank_column(connection, user_id, table, column, mentions)
    asked_again = (runs.c.user_id == user_id) & (runs.c.state == "replied") & runs.c.reply.is_(None)
    connection.execute(update(runs).where(asked_again).values(state="due", claim=None))
    return blanked


def mention_pattern(words: Iterable[str], ids: Iterable[int], phrases: Iterable[str] = ()) -> Callable[[str], bool]:
    """A test for texts that mention somebody: by a name in any ending, by id as prompts and replies write it
    (`Person:42`, `"id": 42`), or by a whole phrase. Case does not matter. Catches too much rather than too little."""
    parts = [rf"(?<!\w){re.escape(_stem(word.casefold()))}\w*" for word in words if word.strip()]
    parts += [rf"person:{number}(?!\d)|{_ID_KEY}{number}(?!\d)" for number in ids]
    parts += [re.escape(phrase.casefold()) for phrase in phrases if phrase.strip()]
    if not parts:
        return lambda text: False
    pattern = re.compile("|".join(parts))
    return lambda text: pattern.search(text.casefold()) is not None


def checkpoint(connection: Connection) -> bool:
    """Moves the write-ahead log into the file and empties it, or the log would keep what was erased.

    Outside any transaction. False while a reader still needs the log: a backup may read for minutes, and nobody's
    write waits for that.
    """
    connection.exec_driver_sql("PRAGMA busy_timeout=0")
    try:
        busy, _, _ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
    finally:
        connection.exec_driver_sql(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    return not busy


def _blank_column(
    connection: Connection, user_id: int, table: Table, column: Column[Any], mentions: Callable[[str], bool]
) -> int:
    keys = list(table.primary_key.columns)
    rows = connection.execute(
        select(*keys, column.label("held")).where(table.c.user_id == user_id, column.is_not(None))
    )
    found = [row for row in rows if mentions(_text(row.held))]
    for row in found:
        place = [key == value for key, value in zip(keys, row[:-1], strict=True)]
        connection.execute(update(table).where(*place).values({column: _blank(column)}))
    return len(found)


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else to_json(value)


def _blank(column: Column[Any]) -> Any:
    if isinstance(column.type, JSON):
        return dict(_FORGOTTEN)
    if column.nullable:
        return None
    return b"" if isinstance(column.type, LargeBinary) else ""


_ENDINGS = "аеёиійоуыьэюяєї"


def _stem(word: str) -> str:
    """A name without its last vowel, so that declined forms are found: маша -> маш (машу, машей)."""
    return word[:-1] if len(word) > 3 and word[-1] in _ENDINGS else word


def _forgetting(row: Row[Any]) -> Forgetting:
    return Forgetting(row.user_id, row.id, row.person_id, row.due_at, row.created_at)
