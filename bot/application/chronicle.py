"""Some calls for a command: the running server's, else its own over a stopped one's database."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from bot.mcp.rest import Rest

if TYPE_CHECKING:
    from fastapi import FastAPI

    from internal.config import Config
    from internal.language.worker.process_pool import LanguageWorker
    from internal.scheduling.clock import Clock
    from internal.storage.database import Database
    from internal.storage.engine.data_lock import Holder


@contextlib.asynccontextmanager
async def open_chronicle(config: Config, server: Holder | None) -> AsyncIterator[Rest]:
    """Raises what `open_stopped` raises; a call raises CallRefused with the server's own words."""
    async with contextlib.AsyncExitStack() as stack:
        if server is not None:
            from bot.web.client import key_of

            rest = Rest.of_server(server.url or "", key_of(config))
        else:
            from bot.application.operations import open_stopped
            from internal.language.worker.process_pool import LanguageWorker
            from internal.scheduling.store_clock import clock_of

            database = await stack.enter_async_context(open_stopped(config))
            worker = LanguageWorker()
            stack.push_async_callback(worker.close)
            rest = Rest.inside(_application(config, database, worker, await clock_of(database)), "")
        stack.push_async_callback(rest.aclose)
        yield rest


def _application(config: Config, database: Database, worker: LanguageWorker, clock: Clock) -> FastAPI:
    """`/chronicle`, `/snapshots` and `/tasks` inside this process: nobody else can call it, so there is no key."""
    from fastapi import FastAPI

    from bot.web.activity.chronicle import Chronicle, chronicle_router
    from bot.web.activity.snapshots import snapshots_router
    from bot.web.activity.tasks import tasks_router
    from bot.web.http.owners import Owners
    from bot.web.http.routers import join
    from bot.web.server.app import answer_faults_as_json
    from internal.flows.sessions.audit import ChronicleAudit
    from internal.flows.sessions.lifecycle import ANALYST, SessionLifecycle

    allowed = config.access.allowed_user_ids

    async def allows(user_id: int) -> bool:
        return user_id in allowed

    chronicling = SessionLifecycle([ANALYST] if config.agents.analyst.enabled else [])
    auditing = ChronicleAudit(database, clock, worker, chronicling)
    app, owners = FastAPI(), Owners(database, allows, allowed=allowed)
    join(
        app,
        chronicle_router(database, owners, Chronicle(auditing, config.persona.name)),
        snapshots_router(database, clock, owners),
        tasks_router(database, clock, owners, config.notifications.whole_day_at),
    )
    answer_faults_as_json(app)
    return app
