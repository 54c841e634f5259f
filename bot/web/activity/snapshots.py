"""`/snapshots`: the snapshots of a user, in all versions."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import Path
from pydantic import BaseModel
from sqlalchemy import Connection

from bot.web.http.fields import LARGEST_COUNT, Limit, Offset, UserId
from bot.web.http.owners import Owners
from bot.web.http.routers import KEYED, READING, WRITING, APIRouter
from internal.dialogue.snapshots import repository as snapshots
from internal.dialogue.snapshots.model import SnapshotItem, SnapshotVersion
from internal.flows.visibility.snapshot import restored, without_hidden
from internal.scheduling.clock import Clock
from internal.storage.database import Database

VersionNumber = Annotated[int, Path(ge=1, le=LARGEST_COUNT)]


class ItemOut(BaseModel):
    """An item; `at` is when it was said last, `messages` are the messages it follows from."""

    text: str
    at: datetime
    messages: list[str]

    @classmethod
    def of(cls, item: SnapshotItem) -> ItemOut:
        return cls(text=item.text, at=item.at, messages=list(item.sources))


class SnapshotOut(BaseModel):
    """A snapshot; `by` is `rules` if no model was used: the snapshot then quotes messages."""

    version: int
    created_at: datetime
    run_id: str | None
    restored_from: int | None
    by: Literal["model", "rules"]
    who: list[ItemOut]
    now: list[ItemOut]
    threads: list[ItemOut]

    @classmethod
    def of(cls, version: SnapshotVersion) -> SnapshotOut:
        snapshot = version.snapshot
        return cls(
            version=version.version,
            created_at=version.created_at,
            run_id=version.run_id,
            restored_from=version.restored_from,
            by="rules" if snapshot.by_rules else "model",
            who=[ItemOut.of(item) for item in snapshot.who],
            now=[ItemOut.of(item) for item in snapshot.now],
            threads=[ItemOut.of(item) for item in snapshot.threads],
        )


class SnapshotsOut(BaseModel):
    """`count` is the number of all stored versions."""

    snapshots: list[SnapshotOut]
    count: int


def snapshots_router(database: Database, clock: Clock, owners: Owners) -> APIRouter:
    router = APIRouter(prefix="/snapshots", tags=["snapshots"], dependencies=KEYED)

    @router.get("", responses=READING)
    async def list_snapshots(user_id: UserId, limit: Limit = 100, offset: Offset = 0) -> SnapshotsOut:
        """Versions, latest first: that one is part of every prompt. What a pending forgetting hides is left out."""

        def work(connection: Connection) -> tuple[list[SnapshotVersion], int]:
            page = snapshots.listing(connection, user_id, limit=limit, offset=offset)
            return [*map(without_hidden(connection, user_id), page)], snapshots.count(connection, user_id)

        await owners.stored(user_id)
        page, count = await database.read(work)
        return SnapshotsOut(snapshots=[SnapshotOut.of(one) for one in page], count=count)

    @router.post("/{version}/restore", responses=WRITING)
    async def restore_snapshot(version: VersionNumber, user_id: UserId) -> SnapshotOut:
        """Makes an earlier version the latest again, as a new version with `restored_from`."""
        await owners.stored(user_id)
        now = clock.now()
        return SnapshotOut.of(await database.write(lambda c: restored(c, user_id, version, now)))

    return router
