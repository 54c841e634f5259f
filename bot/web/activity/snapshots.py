"""`/snapshots`: what is kept in mind of a user, in all its versions, and how an earlier one comes back."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel
from sqlalchemy import Connection

from bot.web.http.errors import KEYED, READING, WRITING
from bot.web.http.fields import LARGEST_COUNT, Limit, Offset, UserId
from bot.web.http.owners import Owners
from internal.flows.visibility.snapshot import restored, veiled
from internal.scheduling.clock import Clock
from internal.snapshots import repository as snapshots
from internal.snapshots.model import Item, Version
from internal.storage.database import Database

VersionNumber = Annotated[int, Path(ge=1, le=LARGEST_COUNT)]


class ItemOut(BaseModel):
    """`at` is when it was said last, `messages` are those that it rests on."""

    text: str
    at: datetime
    messages: list[str]

    @classmethod
    def of(cls, item: Item) -> ItemOut:
        return cls(text=item.text, at=item.at, messages=list(item.sources))


class SnapshotOut(BaseModel):
    """`by` = `rules`: no model understood it, it quotes."""

    version: int
    created_at: datetime
    run_id: str | None
    restored_from: int | None
    by: Literal["model", "rules"]
    who: list[ItemOut]
    now: list[ItemOut]
    threads: list[ItemOut]

    @classmethod
    def of(cls, version: Version) -> SnapshotOut:
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
    """`count` = all versions that are kept."""

    snapshots: list[SnapshotOut]
    count: int


def snapshots_router(database: Database, clock: Clock, owners: Owners) -> APIRouter:
    router = APIRouter(prefix="/snapshots", tags=["snapshots"], dependencies=KEYED)

    @router.get("", responses=READING)
    async def list_snapshots(user_id: UserId, limit: Limit = 100, offset: Offset = 0) -> SnapshotsOut:
        """The latest first: that one stands in every prompt. What is about to be forgotten is left out."""

        def work(connection: Connection) -> tuple[list[Version], int]:
            page = snapshots.listing(connection, user_id, limit=limit, offset=offset)
            return [*map(veiled(connection, user_id), page)], snapshots.count(connection, user_id)

        await owners.stored(user_id)
        page, count = await database.read(work)
        return SnapshotsOut(snapshots=[SnapshotOut.of(one) for one in page], count=count)

    @router.post("/{version}/restore", responses=WRITING)
    async def restore_snapshot(version: VersionNumber, user_id: UserId) -> SnapshotOut:
        """Makes an earlier version the latest again, as a new version that names it."""
        await owners.stored(user_id)
        now = clock.now()
        return SnapshotOut.of(await database.write(lambda c: restored(c, user_id, version, now)))

    return router
