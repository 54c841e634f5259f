"""Per-owner counters and the change log. They move only inside the transaction of the counted change."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Literal, TypeVar

from sqlalchemy import Connection, Select, bindparam, func, insert, select, update

from internal.errors import NotFound
from internal.storage.tables import changes, users

# Events and changes are numbered under the owner's lock. It is taken before his row: two transactions that took them in
# opposite orders would block each other until the server notices.
_LOCKED: Final = select(func.pg_advisory_xact_lock(bindparam("owner")))

_PLACED: Final = (
    update(users)
    .where(users.c.user_id == bindparam("owner"))
    .values(next_seq=users.c.next_seq + 1, next_rev=users.c.next_rev + 1)
    .returning(users.c.next_seq, users.c.next_rev, users.c.name)
)
_LOCKED_AND_PLACED: Final = _PLACED.where(_LOCKED.scalar_subquery().is_not(None))
_LAST: Final = (
    select(changes.c.seq)
    .where(changes.c.user_id == bindparam("owner"), changes.c.kind.not_in(bindparam("besides", expanding=True)))
    .order_by(changes.c.seq.desc())
    .limit(1)
)
VERSION: Final = (users.c.next_rev, func.coalesce(_LAST.scalar_subquery(), 0).label("last_change"))
"""The owner's latest revision and change; equal ones mean that nothing of his changed but the kinds `besides`."""

T = TypeVar("T")
ChangeOp = Literal["put", "delete"]

Changed = list[tuple[int, str, str]]
"""Rows that changed: the owner, the kind and the id of each."""

_noted: ContextVar[Changed | None] = ContextVar("laplaced_noted_changes", default=None)
_together: ContextVar[list[dict[str, Any]] | None] = ContextVar("laplaced_changes_together", default=None)

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


def next_place(connection: Connection, user_id: int) -> tuple[int, int, str]:
    """The number and the revision of a new message, and its owner's name. Raises NotFound for an unknown owner."""
    advanced = _PLACED if connection.dialect.name == "sqlite" else _LOCKED_AND_PLACED
    after = connection.execute(advanced, {"owner": user_id}).one_or_none()
    if after is None:
        raise NotFound(f"there is no user {user_id}")
    return int(after[0]) - 1, int(after[1]) - 1, after[2] or ""


def note_change(connection: Connection, user_id: int) -> None:
    """Moves the owner's revision for a change that no other row tells of: what was read before is read again."""
    _advance(connection, user_id, "next_rev", 1)


def hold_owner(connection: Connection, user_id: int) -> None:
    """Takes the owner's lock. Call it before writing the owner's row in any way but the counters above."""
    if connection.dialect.name != "sqlite":
        connection.execute(_LOCKED, {"owner": user_id})


def record_change(connection: Connection, user_id: int, kind: str, ref: str, op: ChangeOp = "put") -> None:
    """Records for caches and mirrors that a row changed. Holds ids only: readers look at the current row."""
    record_changes(connection, user_id, kind, [ref], op)


def record_changes(connection: Connection, user_id: int, kind: str, refs: Iterable[str], op: ChangeOp = "put") -> None:
    """`record_change` for many rows of a kind."""
    rows: list[dict[str, Any]] = [{"user_id": user_id, "kind": kind, "id": ref, "op": op} for ref in refs]
    if (together := _together.get()) is not None:
        together += rows
    elif rows:
        connection.execute(_CHANGED, rows if len(rows) > 1 else rows[0])
    if (noted := _noted.get()) is not None:
        noted += [(user_id, kind, str(row["id"])) for row in rows]


def record_selected(connection: Connection, user_id: int, rows: Select[Any]) -> None:
    """`record_change` for an owner's rows in one statement, which selects (user_id, kind, id, op)."""
    written = insert(changes).from_select(["user_id", "kind", "id", "op"], rows)
    noted = _noted.get()
    if noted is None:
        connection.execute(written)
    else:
        found = connection.execute(written.returning(changes.c.kind, changes.c.id))
        noted += [(user_id, kind, ref) for kind, ref in found]


def changes_together(work: Callable[[Connection], T]) -> Callable[[Connection], T]:
    """The work with one statement at its end for all that it records as changed: it may not read the change log."""

    def whole(connection: Connection) -> T:
        rows: list[dict[str, Any]] = []
        token = _together.set(rows)
        try:
            done = work(connection)
        finally:
            _together.reset(token)
        if rows:
            connection.execute(_CHANGED, rows)
        return done

    return whole


@contextmanager
def noting_changes() -> Iterator[Changed]:
    """Collects what is recorded as changed inside."""
    noted: Changed = []
    before = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(before)


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
