"""Forgetting: the stored requests, erasing everything of an owner, and making it final on the disk."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, get_args

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from internal.storage.change_log import record_change
from internal.storage.engine.commit_order import ReadPosition, position_at, read_on
from internal.storage.engine.row_policies import across_owners
from internal.storage.engine.sqlite import BUSY_TIMEOUT_MS
from internal.storage.owner_counters import hold_owner, note_change
from internal.storage.tables import changes, forgettings, inbox, metadata, spend, tasks, team_invitations, turns, users
from internal.storage.types import new_id

Kind = Literal["everything", "person", "entity", "fact", "memory", "episode", "message"]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

EVERYTHING: Final = "everything"
"""Kind of forgetting, and of the change that tells caches to read an owner again."""

REPLACED: Final = "replaced"
"""The state of a row that is no request: a correction replaced the version `ref_id` of a fact, and hides what states
that version until it is undone."""

FORGOTTEN: Final = "forgotten"
"""The kind of change after an erasure of less than everything: the write-ahead log may still hold erased rows."""

_SPARED: Final = frozenset({"users", "spend", "forgettings", "inbox"})
"""Tables that forgetting everything treats by rules of their own."""


@dataclass(frozen=True, slots=True)
class Forgetting:
    """A request to forget, executed at `due_at` or later, then the time of that. `ref_id` None means everything."""

    user_id: int
    id: str
    kind: Kind
    ref_id: str | None
    due_at: datetime
    created_at: datetime

    @property
    def person_id(self) -> int | None:
        return int(self.ref_id) if self.kind == "person" and self.ref_id is not None else None


_IN_TURN: Final = (forgettings.c.due_at, forgettings.c.created_at, forgettings.c.id)
"""The order in which requests are erased."""


def ask(
    connection: Connection, user_id: int, kind: Kind, ref_id: str | None, *, now: datetime, due_at: datetime
) -> Forgetting:
    """Stores the request. The caller hides the target until it is due."""
    asked = Forgetting(user_id, new_id(), kind, ref_id, due_at, now)
    _put(connection, asked, "pending")
    return asked


def note_done(connection: Connection, user_id: int, kind: Kind, ref_id: str, now: datetime) -> None:
    """Records that this was erased just now, unless that is recorded: a restored backup must take it over."""
    same = (forgettings.c.kind == kind) & (forgettings.c.ref_id == ref_id) & (forgettings.c.state == "done")
    known = select(forgettings.c.id).where(forgettings.c.user_id == user_id, same)
    if connection.execute(known.limit(1)).first() is None:
        _put(connection, Forgetting(user_id, new_id(), kind, ref_id, now, now), "done")
    note_erased(connection, user_id)


def note_erased(connection: Connection, user_id: int) -> None:
    """Records an erasure, after which the write-ahead log is to be emptied and caches are to be dropped."""
    record_change(connection, user_id, FORGOTTEN, "*", "delete")


def erased_since(connection: Connection, since: ReadPosition | None) -> tuple[set[int], ReadPosition]:
    """Owners for whom something was erased after this position of the change log, and the position after reading.

    With None no owner is returned.
    """
    if since is None:
        return set(), position_at(connection, changes)
    fresh, here = read_on(connection, changes, since)
    query = select(changes.c.user_id).where(fresh, changes.c.kind == FORGOTTEN).distinct()
    return set(connection.execute(query).scalars()), here


def replace(connection: Connection, user_id: int, fact_id: str, *, now: datetime) -> Forgetting:
    """Records that a correction replaced this version of a fact."""
    replaced_one = Forgetting(user_id, new_id(), "fact", fact_id, now, now)
    _put(connection, replaced_one, REPLACED)
    return replaced_one


def replaced(connection: Connection, user_id: int) -> list[Forgetting]:
    """The versions of facts that corrections replaced, in order."""
    return _in_state(connection, user_id, REPLACED)


def put_back(connection: Connection, user_id: int, replaced_id: str) -> None:
    """Records that a correction was undone, or that its fact is gone."""
    one = (forgettings.c.user_id == user_id) & (forgettings.c.id == replaced_id)
    connection.execute(delete(forgettings).where(one, forgettings.c.state == REPLACED))
    note_change(connection, user_id)


# Runs at every message and every question and is built once: building takes longer than running it.
_IN_STATE: Final = (
    select(forgettings)
    .where(forgettings.c.user_id == bindparam("owner"), forgettings.c.state == bindparam("state"))
    .order_by(*_IN_TURN)
)


def pending(connection: Connection, user_id: int) -> list[Forgetting]:
    """The pending requests, in the order in which they will be erased."""
    return _in_state(connection, user_id, "pending")


def _in_state(connection: Connection, user_id: int, state: str) -> list[Forgetting]:
    found = connection.execute(_IN_STATE, {"owner": user_id, "state": state})
    return [forgetting_of(dict(row)) for row in found.mappings()]


def pending_of(connection: Connection, user_id: int, kind: Kind, ref_id: str | None) -> Forgetting | None:
    """The pending request to forget this, if there is one."""
    same = (one for one in pending(connection, user_id) if (one.kind, one.ref_id) == (kind, ref_id))
    return next(same, None)


def forgetting_state(connection: Connection, user_id: int, forgetting_id: str) -> str | None:
    """`pending`, `undone` or `done`; None for a request this owner never made."""
    one = (forgettings.c.user_id == user_id) & (forgettings.c.id == forgetting_id)
    return connection.execute(select(forgettings.c.state).where(one)).scalar_one_or_none()


_BUSY: Final = select(turns.c.user_id).where(turns.c.state.in_(("collecting", "running")))
_DUE: Final = (
    select(forgettings)
    .where(
        forgettings.c.state == "pending",
        forgettings.c.due_at <= bindparam("now"),
        (forgettings.c.kind != EVERYTHING) | forgettings.c.user_id.not_in(_BUSY),
    )
    .order_by(*_IN_TURN)
    .limit(bindparam("most"))
)


def due(connection: Connection, now: datetime, *, limit: int) -> list[Forgetting]:
    """The requests to execute now. Everything of an owner waits until none of the owner's turns is open."""
    found = connection.execute(_DUE, {"now": now, "most": limit})
    return [forgetting_of(dict(row)) for row in found.mappings()]


def is_busy(connection: Connection, user_id: int) -> bool:
    """Whether one of the owner's turns is open."""
    return connection.execute(_BUSY.where(turns.c.user_id == user_id).limit(1)).first() is not None


def first_done(connection: Connection, since: datetime) -> datetime | None:
    """The time of the first erasure at or after a moment, of any owner."""
    done = (forgettings.c.state == "done") & (forgettings.c.due_at >= since)
    found: datetime | None = connection.execute(select(func.min(forgettings.c.due_at)).where(done)).scalar_one()
    return found


def last_done(connection: Connection, until: datetime) -> datetime | None:
    """The time of the last erasure up to a moment, of any owner."""
    done = (forgettings.c.state == "done") & (forgettings.c.due_at <= until)
    found: datetime | None = connection.execute(select(func.max(forgettings.c.due_at)).where(done)).scalar_one()
    return found


def close(connection: Connection, forgetting: Forgetting, state: str, *, at: datetime | None = None) -> bool:
    """Marks it `undone`, or `done` at a moment. Returns False if it is not pending any more."""
    one = (forgettings.c.user_id == forgetting.user_id) & (forgettings.c.id == forgetting.id)
    values = {"state": state} | ({} if at is None else {"due_at": at})
    closed = update(forgettings).where(one, forgettings.c.state == "pending").values(values)
    note_change(connection, forgetting.user_id)
    return connection.execute(closed).rowcount == 1


def erase_everything(connection: Connection, user_id: int, spent_since: str) -> None:
    """Deletes every row of an owner.

    What stays: admission, language and zone; the request and its time; the spending since the ISO date
    `spent_since` (or forgetting would lift the daily limit); the keys of processed updates without their text; updates
    that are not processed yet.
    """
    hold_owner(connection, user_id)
    for table in metadata.sorted_tables:
        if "user_id" in table.c and table.name not in _SPARED:
            connection.execute(delete(table).where(table.c.user_id == user_id))
    with across_owners(connection):
        _erase_elsewhere(connection, user_id)
    connection.execute(delete(spend).where(spend.c.user_id == user_id, spend.c.day < spent_since))
    # That everything was forgotten, and when, stays: a restored backup must learn it.
    asked_for_less = (forgettings.c.kind != EVERYTHING) | (forgettings.c.state != "done")
    connection.execute(delete(forgettings).where(forgettings.c.user_id == user_id, asked_for_less))
    connection.execute(
        update(users).where(users.c.user_id == user_id).values(name="", username=None, settings={}, tz_asked=False)
    )
    record_change(connection, user_id, EVERYTHING, "*", "delete")


def _erase_elsewhere(connection: Connection, user_id: int) -> None:
    """Deletes what other owners' rows hold of the owner: invitations, recipients of tasks, updates from the owner."""
    connection.execute(delete(team_invitations).where(team_invitations.c.invited_by == user_id))
    connection.execute(update(tasks).where(tasks.c.for_user == user_id).values(for_user=None))
    processed = (inbox.c.user_id == user_id) & (inbox.c.state != "received")
    connection.execute(update(inbox).where(processed).values(raw="", error=None, user_id=None))


def checkpoint(connection: Connection) -> bool:
    """Moves the write-ahead log into the file and empties it, because the log would keep erased rows.

    Call it outside any transaction. Returns False while a reader still needs the log: a backup may read for minutes,
    and no write waits for that. A PostgreSQL server cleans up after itself.
    """
    if connection.dialect.name != "sqlite":
        return True
    connection.exec_driver_sql("PRAGMA busy_timeout=0")
    try:
        busy, _, _ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
    finally:
        connection.exec_driver_sql(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    return not busy


def _put(connection: Connection, forgetting: Forgetting, state: str) -> None:
    row = insert(forgettings).values(
        user_id=forgetting.user_id,
        id=forgetting.id,
        kind=forgetting.kind,
        person_id=forgetting.person_id,
        ref_id=None if forgetting.kind == "person" else forgetting.ref_id,
        state=state,
        due_at=forgetting.due_at,
        created_at=forgetting.created_at,
    )
    connection.execute(row)
    note_change(connection, forgetting.user_id)


def forgetting_of(row: Mapping[str, Any]) -> Forgetting:
    """A stored row of any database."""
    ref_id = str(row["person_id"]) if row["kind"] == "person" else row.get("ref_id")
    return Forgetting(row["user_id"], row["id"], row["kind"], ref_id, row["due_at"], row["created_at"])
