"""Snapshots in the database: a version for each change, the latest also in the agent's state."""

from collections.abc import Callable, Collection
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from internal.dialogue.snapshots.model import Snapshot, SnapshotVersion, bounded, of_content
from internal.errors import NotFound
from internal.events import agent_state_repository as agent_state
from internal.storage.owner_counters import note_change
from internal.storage.rows import read_one, reader
from internal.storage.tables import context_snapshots

AGENT: Final = "context_manager"

KEY: Final = "context_snapshot"
"""The key of the latest version in the agent's state, as JSON."""

KEPT: Final = 100
"""Most versions stored for one owner; older ones are deleted."""


# Runs at every question and is built once: building a statement takes several times as long as running it.
_CURRENT: Final = (
    select(context_snapshots)
    .where(context_snapshots.c.user_id == bindparam("owner"))
    .order_by(context_snapshots.c.version.desc())
    .limit(1)
)


def current(connection: Connection, user_id: int) -> SnapshotVersion | None:
    """The latest version; None before the first."""
    return read_one(connection.execute(_CURRENT, {"owner": user_id}), _version)


def get(connection: Connection, user_id: int, version: int) -> SnapshotVersion:
    """The version with this number. Raises NotFound."""
    one = (context_snapshots.c.user_id == user_id) & (context_snapshots.c.version == version)
    row = connection.execute(select(context_snapshots).where(one)).one_or_none()
    if row is None:
        raise NotFound(f"there is no snapshot {version}")
    return _version(row)


def listing(connection: Connection, user_id: int, *, limit: int = 100, offset: int = 0) -> list[SnapshotVersion]:
    """Versions, the latest first."""
    query = select(context_snapshots).where(context_snapshots.c.user_id == user_id)
    rows = connection.execute(query.order_by(context_snapshots.c.version.desc()).limit(limit).offset(offset))
    return [_version(row) for row in rows]


def count(connection: Connection, user_id: int) -> int:
    query = select(func.count()).select_from(context_snapshots).where(context_snapshots.c.user_id == user_id)
    return int(connection.execute(query).scalar_one())


def add(
    connection: Connection,
    user_id: int,
    snapshot: Snapshot,
    *,
    now: datetime,
    run_id: str | None = None,
    restored_from: int | None = None,
) -> SnapshotVersion:
    """Stores a snapshot, cut to its limits, as the latest version and in the agent's state."""
    newest = select(func.max(context_snapshots.c.version)).where(context_snapshots.c.user_id == user_id)
    number = (connection.execute(newest).scalar_one() or 0) + 1
    version = SnapshotVersion(user_id, number, bounded(snapshot), now, run_id, restored_from)
    connection.execute(
        insert(context_snapshots).values(
            user_id=user_id,
            version=number,
            content=version.snapshot.content(),
            run_id=run_id,
            restored_from=restored_from,
            created_at=now,
        )
    )
    old = (context_snapshots.c.user_id == user_id) & (context_snapshots.c.version <= number - KEPT)
    connection.execute(delete(context_snapshots).where(old))
    _record(connection, version, now)
    return version


def restore(connection: Connection, user_id: int, version: int, now: datetime) -> SnapshotVersion:
    """Stores an earlier version again as a new, latest one. Raises NotFound."""
    earlier = get(connection, user_id, version)
    return add(connection, user_id, earlier.snapshot, now=now, restored_from=version)


def erase(
    connection: Connection, user_id: int, message_ids: Collection[str], holds: Callable[[str], bool], now: datetime
) -> list[str]:
    """Removes items of every version that come from these messages or hold a trace. Returns their texts."""
    gone: dict[str, None] = {}
    for version in listing(connection, user_id, limit=KEPT):
        left = version.snapshot.without(message_ids, holds)
        if left == version.snapshot:
            continue
        stay = {item.text for item in left.items}
        gone |= dict.fromkeys(item.text for item in version.snapshot.items if item.text not in stay)
        one = (context_snapshots.c.user_id == user_id) & (context_snapshots.c.version == version.version)
        connection.execute(update(context_snapshots).where(one).values(content=left.content()))
    if gone:
        latest = current(connection, user_id)
        if latest is not None:
            _record(connection, latest, now)
    return list(gone)


def _record(connection: Connection, version: SnapshotVersion, now: datetime) -> None:
    state = {"version": version.version, **version.snapshot.content()}
    mine = agent_state.agent_id(AGENT, version.user_id)
    agent_state.save_state(connection, mine, KEY, state, user_id=version.user_id, now=now)
    note_change(connection, version.user_id)


_version = reader(SnapshotVersion, {"snapshot": "content"}, snapshot=of_content)
