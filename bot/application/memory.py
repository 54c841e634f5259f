"""The calls of `/memory` for a command: those of the running server, else of its own over a stopped one's database."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from bot.mcp.rest import Rest

if TYPE_CHECKING:
    from fastapi import FastAPI

    from internal.config import Config
    from internal.scheduling.clock import Clock
    from internal.storage.database import Database
    from internal.storage.engine.data_lock import Holder


@contextlib.asynccontextmanager
async def open_memory(config: Config, server: Holder | None) -> AsyncIterator[Rest]:
    """Raises what `open_stopped` raises; a call raises CallRefused with the server's own words."""
    async with contextlib.AsyncExitStack() as stack:
        if server is not None:
            from bot.web.client import key_of

            rest = Rest.of_server(server.url or "", key_of(config))
        else:
            from bot.application.operations import open_stopped
            from internal.scheduling.store_clock import clock_of

            database = await stack.enter_async_context(open_stopped(config))
            rest = Rest.inside(_application(config, database, await clock_of(database)), "")
        stack.push_async_callback(rest.aclose)
        yield rest


def _application(config: Config, database: Database, clock: Clock) -> FastAPI:
    """Nothing but `/memory`, inside this process: nobody else can call it, so there is no key."""
    from fastapi import FastAPI

    from bot.web.http.owners import Owners
    from bot.web.http.routers import join
    from bot.web.memory.nodes import Memory, memory_eraser, memory_router
    from bot.web.server.app import answer_faults_as_json
    from internal.flows.forgetting.requests import ForgettingService
    from internal.flows.operations.nightly import NightlyMaintenance
    from internal.memory.plasticity.maintenance import MaintenanceReport
    from internal.storage.key_files import ensure_key

    allowed = config.access.allowed_user_ids
    nights = NightlyMaintenance(database, clock, config.memory)

    async def allows(user_id: int) -> bool:
        return user_id in allowed

    async def maintain(user_id: int, dry_run: bool) -> MaintenanceReport:
        return await nights.maintain(user_id, dry_run=dry_run)

    app, owners = FastAPI(), Owners(database, allows, allowed=allowed)
    eraser = ForgettingService(database, clock, ensure_key(config.data_dir, "hmac_key").encode())
    join(app, memory_router(database, clock, owners, Memory(memory_eraser(eraser), maintain)))
    answer_faults_as_json(app)
    return app
