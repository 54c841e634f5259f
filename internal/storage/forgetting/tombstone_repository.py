"""Tombstones: keyed hashes of forgotten names, ids and sentences of all concepts, each with the time."""

import hashlib
import hmac
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, exists, func, literal, select

from internal.storage.engine.upsert import upsert
from internal.storage.tables import forgettings, tombstones

# Asked at every question and built once: building a statement takes several times as long as running it.
_ANY_FORGOTTEN: Final = select(tombstones.c.key_hmac).where(tombstones.c.user_id == bindparam("owner")).limit(1)
_ANY_ASKED: Final = select(literal(1)).where(
    exists().select_from(tombstones).where(tombstones.c.user_id == bindparam("owner"))
    | exists().where(
        forgettings.c.user_id == bindparam("owner"), forgettings.c.state == "pending", forgettings.c.kind == "person"
    )
)

_STATE: Final = select(func.count(), func.max(tombstones.c.at)).where(tombstones.c.user_id == bindparam("owner"))


def hashed(key: bytes, words: str) -> str:
    """The keyed hash of identifying words: without the key, words cannot be tried against it."""
    return hmac.new(key, words.encode(), hashlib.sha256).hexdigest()


def mark_forgotten(connection: Connection, user_id: int, marks: Iterable[str], at: datetime) -> None:
    """Stores the keyed hashes of forgotten names and ids; evidence up to `at` may not bring them back."""
    later = upsert(tombstones).on_conflict_do_update(index_elements=["user_id", "key_hmac"], set_={"at": at})
    if rows := [{"user_id": user_id, "key_hmac": mark, "at": at} for mark in marks]:
        connection.execute(later, rows)


def forgotten_at(connection: Connection, user_id: int, marks: Iterable[str]) -> datetime | None:
    """The time at which the latest of these was forgotten; None if none was."""
    query = select(func.max(tombstones.c.at)).where(tombstones.c.user_id == user_id, tombstones.c.key_hmac.in_(marks))
    at: datetime | None = connection.execute(query).scalar_one()
    return at


def forgotten_when(connection: Connection, user_id: int, marks: Collection[str]) -> dict[str, datetime]:
    """The marks among these few hundred that were forgotten, each with the time."""
    ours = (tombstones.c.user_id == user_id) & tombstones.c.key_hmac.in_(marks)
    rows = connection.execute(select(tombstones.c.key_hmac, tombstones.c.at).where(ours))
    return {row.key_hmac: row.at for row in rows}


def any_forgotten(connection: Connection, user_id: int, *, or_asked: bool = False) -> bool:
    """Whether this owner ever had anything forgotten; with `or_asked` also whether it is about to be."""
    return connection.execute(_ANY_ASKED if or_asked else _ANY_FORGOTTEN, {"owner": user_id}).first() is not None


def tombstone_state(connection: Connection, user_id: int) -> tuple[int, datetime | None]:
    """A value that changes whenever this owner's tombstones do: their number and the latest time."""
    count, latest = connection.execute(_STATE, {"owner": user_id}).one()
    return count, latest
