"""`/healthz`, `/readyz` and `/metrics`: whether the process lives, whether it can work, and its figures."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial

from fastapi import Response
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import BaseModel

from bot.web.http.routers import APIRouter
from internal.access.repository import write_setting
from internal.errors import StorageError
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.migration import current_revision, head_revision
from internal.telemetry.metrics import CONTENT_TYPE, Metrics
from internal.telemetry.repository import stored_gauges

PATIENCE = 5.0
"""Seconds for reading one row: a slower database is not ready, and a probe would have hung up."""

log = logging.getLogger(__name__)


class Readiness:
    """The checks of `/readyz`. `poll_fresh` is a port: true while a poll is in flight, and for a bot with a webhook."""

    def __init__(self, database: Database, clock: Clock, poll_fresh: Callable[[], bool]) -> None:
        self._database, self._clock, self._poll_fresh = database, clock, poll_fresh
        self._newest_revision = head_revision()

    async def failing(self) -> list[str]:
        """The names of failing checks: `database`, `migrations` or `poll`."""
        checks = {"database": await self._writable(), "migrations": await self._migrated(), "poll": self._poll_fresh()}
        return [name for name, passed in checks.items() if not passed]

    async def _writable(self) -> bool:
        now = self._clock.now().isoformat()
        try:
            # A transaction without changes commits on a full disk too: only a written row proves anything.
            async with asyncio.timeout(PATIENCE):
                await self._database.write(lambda connection: write_setting(connection, "ready_at", now))
        except (StorageError, TimeoutError):
            log.warning("database_not_writable", exc_info=True)
            return False
        return True

    async def _migrated(self) -> bool:
        try:
            async with asyncio.timeout(PATIENCE):
                return await self._database.read(current_revision) == self._newest_revision
        except (StorageError, TimeoutError):
            log.warning("database_not_readable", exc_info=True)
            return False


class Readable(BaseModel):
    """The state of a process; `failing` names the failing checks."""

    status: str | None = None
    detail: str | None = None
    failing: list[str] = []


def health_router(database: Database, metrics: Metrics, readiness: Readiness) -> APIRouter:
    router = APIRouter(tags=["health"])

    @router.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "alive"}

    @router.get("/readyz", response_model=Readable, responses={503: {"model": Readable}})
    async def readyz() -> JSONResponse:
        failing = await readiness.failing()
        if failing:
            return JSONResponse({"detail": f"not ready: {', '.join(failing)}", "failing": failing}, 503)
        return JSONResponse({"status": "ready"})

    @router.get("/metrics", response_class=PlainTextResponse)
    async def exposition() -> Response:
        stored = await database.read(partial(stored_gauges, most_people=metrics.most_people, mirror=metrics.mirror))
        return Response(metrics.exposition(stored), media_type=CONTENT_TYPE)

    return router
