"""The change log: which rows of an owner changed, in order. Caches, the search index and the mirror follow it.

An entry is written inside the transaction of the change and holds ids only: readers look at the row itself. So only the
last entry of each row is needed. Nightly decay changes every link of an owner: without compaction a year's log would
hold each of them 365 times.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Literal, TypeVar

from sqlalchemy import Connection, Select, delete, func, insert, select

from internal.storage.tables import changes

T = TypeVar("T")
ChangeOp = Literal["put", "delete"]

Changed = list[tuple[int, str, str]]
"""Rows that changed: the owner, the kind and the id of each."""

CHANGED_OWNERS: Final = "laplaced_changed_owners"
"""Where a connection notes the owners whose log grew in the current unit of work."""

_noted: ContextVar[Changed | None] = ContextVar("laplaced_noted_changes", default=None)
_together: ContextVar[list[dict[str, Any]] | None] = ContextVar("laplaced_changes_together", default=None)

# Run at nearly every write: built once, for building a statement takes several times as long as running it.
_CHANGED: Final = insert(changes)


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
    _note_owner(connection, user_id)
    if (noted := _noted.get()) is not None:
        noted += [(user_id, kind, str(row["id"])) for row in rows]


def record_selected(connection: Connection, user_id: int, rows: Select[Any]) -> None:
    """`record_change` for an owner's rows in one statement, which selects (user_id, kind, id, op)."""
    written = insert(changes).from_select(["user_id", "kind", "id", "op"], rows)
    noted = _noted.get()
    _note_owner(connection, user_id)
    if noted is None:
        connection.execute(written)
    else:
        found = connection.execute(written.returning(changes.c.kind, changes.c.id))
        noted += [(user_id, kind, ref) for kind, ref in found]


def _note_owner(connection: Connection, user_id: int) -> None:
    connection.info.setdefault(CHANGED_OWNERS, set()).add(user_id)


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
    """Collects the rows that are recorded as changed in the block."""
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


def superseded(connection: Connection, user_id: int) -> list[int]:
    """The numbers of an owner's entries that a later entry for the same row replaces. They stay replaced."""
    ours = changes.c.user_id == user_id
    last = select(func.max(changes.c.seq)).where(ours).group_by(changes.c.kind, changes.c.id)
    return list(connection.execute(select(changes.c.seq).where(ours, changes.c.seq.not_in(last))).scalars())


def delete_entries(connection: Connection, user_id: int, seqs: Collection[int]) -> None:
    """Deletes superseded entries. A reader anywhere in the log still meets the last change of every row behind it."""
    connection.execute(delete(changes).where(changes.c.user_id == user_id, changes.c.seq.in_(seqs)))
