"""Per-owner counters and the change log, which move only inside the transaction of what they count."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from sqlalchemy import Connection, bindparam, func, insert, select, update

from internal.errors import NotFound
from internal.storage.tables import changes, users

# Events and changes are numbered under the owner's lock. It is taken before his row: two transactions that took them in
# opposite orders would block each other until the server notices.
_LOCKED: Final = select(func.pg_advisory_xact_lock(bindparam("owner")))

ChangeOp = Literal["put", "delete"]

# Run at nearly every write: built once, for building a statement takes several times as long as running it.
_CHANGED: Final = insert(changes)
_ADVANCED: Final = {
    counter: update(users)
    .where(users.c.user_id == bindparam("owner"))
    .values({counter: users.c[counter] + bindparam("count")})
    .returning(users.c[counter])
    for counter in ("next_seq", "next_rev")
}
_LOCKED_AND_ADVANCED: Final = {
    counter: advanced.where(_LOCKED.scalar_subquery().is_not(None)) for counter, advanced in _ADVANCED.items()
}


def next_seq(connection: Connection, user_id: int, count: int = 1) -> int:
    """Returns the first of `count` new message numbers of this owner. Raises NotFound for an unknown owner."""
    return _advance(connection, user_id, "next_seq", count)


def next_rev(connection: Connection, user_id: int) -> int:
    """Returns a new revision number for a change of this owner's data; later changes have larger numbers."""
    return _advance(connection, user_id, "next_rev", 1)


def hold_owner(connection: Connection, user_id: int) -> None:
    """Takes the owner's lock. Call it before writing the owner's row in any way but the counters above."""
    if connection.dialect.name != "sqlite":
        connection.execute(_LOCKED, {"owner": user_id})


def record_change(connection: Connection, user_id: int, kind: str, ref: str, op: ChangeOp = "put") -> None:
    """Records for caches and mirrors that a row changed. Holds ids only: readers look at the current row."""
    connection.execute(_CHANGED, {"user_id": user_id, "kind": kind, "id": ref, "op": op})


def record_changes(connection: Connection, user_id: int, kind: str, refs: Iterable[str], op: ChangeOp = "put") -> None:
    """`record_change` for many rows of a kind."""
    rows = [{"user_id": user_id, "kind": kind, "id": ref, "op": op} for ref in refs]
    if rows:
        connection.execute(_CHANGED, rows)


def last_change(connection: Connection, user_id: int) -> int:
    """The number of an owner's latest change; 0 before the first."""
    query = select(func.coalesce(func.max(changes.c.seq), 0)).where(changes.c.user_id == user_id)
    return int(connection.execute(query).scalar_one())


def changed_after(connection: Connection, user_id: int, seq: int, kind: str) -> set[str]:
    """The ids of an owner's rows of this kind that changed, or were deleted, after a change of his."""
    fresh = (changes.c.user_id == user_id) & (changes.c.seq > seq) & (changes.c.kind == kind)
    return set(connection.execute(select(changes.c.id).where(fresh)).scalars())


def _advance(connection: Connection, user_id: int, counter: str, count: int) -> int:
    advanced = _ADVANCED if connection.dialect.name == "sqlite" else _LOCKED_AND_ADVANCED
    after = connection.execute(advanced[counter], {"owner": user_id, "count": count}).scalar_one_or_none()
    if after is None:
        raise NotFound(f"there is no user {user_id}")
    return int(after) - count
