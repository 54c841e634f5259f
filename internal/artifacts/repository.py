"""Artifacts in the database, and the stored bytes that no artifact needs any more."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, exists, func, insert, select, update

from internal.artifacts.model import Artifact, ArtifactState, Reason
from internal.storage.chunks import delete_with, rows_with
from internal.storage.engine.row_policies import across_owners
from internal.storage.engine.upsert import upsert
from internal.storage.owner_counters import note_change
from internal.storage.rows import owner_lookup, read_one
from internal.storage.tables import artifact_files, artifacts


def add(
    connection: Connection,
    user_id: int,
    artifact_id: str,
    message_id: str,
    bot_id: int,
    *,
    kind: str,
    file: Mapping[str, Any],
    now: datetime,
    due_at: datetime,
) -> None:
    """Stores a received file to be read; a job reads it from `due_at` on if no turn did before."""
    row = {"user_id": user_id, "id": artifact_id, "kind": kind, "message_id": message_id, "bot_id": bot_id}
    of_file = {"file_id": file["id"], "name": file.get("name") or kind, "mime": file.get("mime") or ""}
    times = {"added_at": now, "due_at": due_at}
    state = ArtifactState.DUE.value
    connection.execute(insert(artifacts).values(**row, **of_file, **times, state=state, size=file.get("size")))
    note_change(connection, user_id)


def find(connection: Connection, user_id: int, artifact_id: str) -> Artifact | None:
    return read_one(connection.execute(select(artifacts).where(*_one(user_id, artifact_id))), _artifact)


def of_messages(connection: Connection, user_id: int, message_ids: Collection[str]) -> list[Artifact]:
    """The artifacts of these messages, in the order of arrival."""
    query = select(artifacts).where(artifacts.c.user_id == user_id).order_by(artifacts.c.id)
    return [_artifact(row) for row in rows_with(connection, query, artifacts.c.message_id, message_ids)]


def listing(
    connection: Connection, user_id: int, *, limit: int, offset: int = 0, without: Collection[str] = ()
) -> list[Artifact]:
    """An owner's artifacts, the latest first, except those of the messages `without`."""
    query = select(artifacts).where(artifacts.c.user_id == user_id, artifacts.c.message_id.not_in(without))
    ordered = query.order_by(artifacts.c.added_at.desc(), artifacts.c.id.desc()).limit(limit).offset(offset)
    return [_artifact(row) for row in connection.execute(ordered)]


def count(connection: Connection, user_id: int, *, without: Collection[str] = ()) -> int:
    query = select(func.count()).where(artifacts.c.user_id == user_id, artifacts.c.message_id.not_in(without))
    return connection.execute(query.select_from(artifacts)).scalar_one()


owner_of = owner_lookup(artifacts)


def due_artifacts(connection: Connection, now: datetime, *, limit: int) -> list[Artifact]:
    """The artifacts of all owners that are due and that no turn has read."""
    query = select(artifacts).where(artifacts.c.state == ArtifactState.DUE.value, artifacts.c.due_at <= now)
    return [_artifact(row) for row in connection.execute(query.order_by(artifacts.c.due_at).limit(limit))]


def begin(connection: Connection, artifact: Artifact, due_at: datetime) -> Artifact | None:
    """Counts an attempt and puts the artifact off until `due_at`. Returns None if it is not due any more."""
    counted = update(artifacts).where(*_one(artifact.user_id, artifact.id), *_still_due())
    return read_one(
        connection.execute(counted.values(attempts=artifacts.c.attempts + 1, due_at=due_at).returning(*artifacts.c)),
        _artifact,
    )


def note_file(connection: Connection, sha256: str, now: datetime) -> None:
    """Records that these bytes are, or may be, in the store."""
    connection.execute(upsert(artifact_files).values(sha256=sha256, stored_at=now).on_conflict_do_nothing())


def keep_file(connection: Connection, artifact: Artifact, sha256: str, size: int, now: datetime) -> bool:
    """Records that its bytes will be stored, before they are. Returns False while equal bytes are being deleted."""
    note_file(connection, sha256, now)
    leaving = select(artifact_files.c.leaving).where(artifact_files.c.sha256 == sha256)
    if connection.execute(leaving).scalar_one():
        return False
    kept = update(artifacts).where(*_one(artifact.user_id, artifact.id), *_still_due())
    return connection.execute(kept.values(sha256=sha256, size=size)).rowcount == 1


def mark_read(connection: Connection, artifact: Artifact, *, pages: int | None) -> bool:
    """Marks it as read. Returns False if it is not due any more."""
    read = update(artifacts).where(*_one(artifact.user_id, artifact.id), *_still_due())
    note_change(connection, artifact.user_id)
    return connection.execute(read.values(state=ArtifactState.READ.value, pages=pages, reason=None)).rowcount == 1


def put_off(connection: Connection, artifact: Artifact, due_at: datetime, attempts: int) -> None:
    """Puts an artifact off during an outage, and records the number of attempts."""
    later = update(artifacts).where(*_one(artifact.user_id, artifact.id), *_still_due())
    connection.execute(later.values(due_at=due_at, attempts=attempts, reason="unavailable"))


def read_again(connection: Connection, user_id: int, artifact_id: str, now: datetime) -> bool:
    """Makes an unread file due now, even if it was given up. Returns False if it was read or is gone."""
    unread = update(artifacts).where(*_one(user_id, artifact_id), artifacts.c.state != ArtifactState.READ.value)
    note_change(connection, user_id)
    due = {"state": ArtifactState.DUE.value, "due_at": now, "attempts": 0}
    return connection.execute(unread.values(due)).rowcount == 1


def fail(connection: Connection, artifact: Artifact, reason: Reason) -> bool:
    """Marks it as unreadable and gives up its bytes. Returns False if it is not due any more."""
    failed = update(artifacts).where(*_one(artifact.user_id, artifact.id), *_still_due())
    note_change(connection, artifact.user_id)
    values = {"state": ArtifactState.FAILED.value, "reason": reason, "sha256": None}
    return connection.execute(failed.values(values)).rowcount == 1


def drop(connection: Connection, user_id: int, artifact_ids: Collection[str]) -> None:
    """Deletes rows; `unused_files` then finds bytes that no other row has."""
    delete_with(connection, artifacts, user_id, artifacts.c.id, artifact_ids)


def unused_files(connection: Connection) -> Sequence[str]:
    """The hashes of bytes without an artifact of any owner; no artifact may use them until they are deleted."""
    unnamed = ~exists().where(artifacts.c.sha256 == artifact_files.c.sha256)
    with across_owners(connection):
        if connection.execute(select(artifact_files.c.sha256).where(unnamed).limit(1)).first() is None:
            return []
        marked = update(artifact_files).where(unnamed).values(leaving=True).returning(artifact_files.c.sha256)
        return list(connection.execute(marked).scalars())


def kept_files(connection: Connection) -> Sequence[str]:
    """The hashes of the bytes of all owners' artifacts."""
    with across_owners(connection):
        return list(
            connection.execute(select(artifacts.c.sha256).where(artifacts.c.sha256.is_not(None)).distinct()).scalars()
        )


def forget_file(connection: Connection, sha256: str) -> None:
    """Records that these bytes are deleted."""
    with across_owners(connection):
        connection.execute(delete(artifact_files).where(artifact_files.c.sha256 == sha256))


def _one(user_id: int, artifact_id: str) -> tuple[Any, Any]:
    return artifacts.c.user_id == user_id, artifacts.c.id == artifact_id


def _still_due() -> tuple[Any]:
    return (artifacts.c.state == ArtifactState.DUE.value,)


def _artifact(row: Row[Any]) -> Artifact:
    values = dict(row._mapping)
    del values["due_at"]
    return Artifact(**values | {"state": ArtifactState(values["state"])})
