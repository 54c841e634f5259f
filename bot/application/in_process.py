"""The REST application inside a command's own process, over the data of a stopped bot."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from bot.web.http.errors import describe_invalid_requests
from bot.web.http.routers import APIRouter, join
from internal.storage.engine.owner_scope import acting_for_everyone

if TYPE_CHECKING:
    from bot.application.rest import Opening
    from bot.web.http.owners import Owners
    from internal.config.settings import Config
    from internal.flows.forgetting.requests import ForgettingService
    from internal.language.worker.process_pool import LanguageWorker
    from internal.memory.plasticity.maintenance import MaintenanceReport
    from internal.scheduling.clock import Clock
    from internal.storage.database import Database

Routers = Mapping[str, Callable[[], Awaitable[APIRouter]]]
"""Functions that build the calls below a path. The longest path that fits a call is taken."""


class InProcessApplication:
    """Builds the calls below a path when the first of them comes: a command imports only what it calls.

    Nobody else can call it, so there is no key. Errors of the product are raised to the caller, not answered.
    """

    def __init__(self, routers: Routers) -> None:
        self._routers, self._built = routers, list[object]()
        self._app = FastAPI(openapi_url=None)
        describe_invalid_requests(self._app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = max((path for path in self._routers if f"{scope['path']}/".startswith(f"{path}/")), key=len, default="")
        build = self._routers.get(path)
        if build is not None and build not in self._built:
            self._built.append(build)
            join(self._app, await build())
        with acting_for_everyone():
            await self._app(scope, receive, send)


@contextlib.asynccontextmanager
async def open_application(config: Config, opening: Opening) -> AsyncIterator[InProcessApplication]:
    """Yields the calls of an opened store. Raises what `open_stopped`, `open_as_started` or `open_app` raises."""
    async with contextlib.AsyncExitStack() as stack:
        if opening == "nothing":
            yield InProcessApplication({"/admin/doctor": lambda: _doctor(config)})
        elif opening == "with models":
            yield InProcessApplication(await _with_models(config, stack))
        else:
            from bot.application.database import open_as_started, open_stopped
            from internal.scheduling.store_clock import clock_of

            if opening == "stopped":
                database = await stack.enter_async_context(open_stopped(config))
            else:
                only_look = opening == "started if there is one"
                database = await stack.enter_async_context(open_as_started(config, only_look=only_look))
            over = DatabaseRouters(config, database, await clock_of(database), stack)
            yield InProcessApplication(over.by_path())


async def _doctor(config: Config) -> APIRouter:
    from bot.application.doctor import examine_here
    from bot.web.admin.operations import doctor_router

    return doctor_router(lambda: examine_here(config))


async def _with_models(config: Config, stack: contextlib.AsyncExitStack) -> Routers:
    from bot.application.bootstrap import open_app

    app = await stack.enter_async_context(open_app(config))

    async def archive() -> APIRouter:
        from bot.web.admin.operations import archive_router

        return archive_router(app.archive)

    async def recall() -> APIRouter:
        from bot.web.admin.recall import recall_router

        return recall_router(app.searches.overview)

    return {"/admin/archive": archive, "/admin/recall": recall}


class DatabaseRouters:
    """The calls that need a database and no model. What they open themselves is closed with `stack`."""

    def __init__(self, config: Config, database: Database, clock: Clock, stack: contextlib.AsyncExitStack) -> None:
        self._config, self._database, self._clock, self._stack = config, database, clock, stack

    def by_path(self) -> Routers:
        return {
            "/admin": self.operations,
            "/admin/export": self.owner_data,
            "/admin/forget": self.owner_data,
            "/admin/import": self.importer,
            "/admin/import/export": self.owner_data,
            "/admin/mirror": self.cypher,
            "/chronicle": self.chronicle,
            "/console": self.console,
            "/contacts": self.contacts,
            "/graph/query": self.cypher,
            "/memory": self.memory,
            "/snapshots": self.snapshots,
            "/tasks": self.tasks,
        }

    async def operations(self) -> APIRouter:
        from bot.application.backups import Backups
        from bot.application.operations import Operations
        from bot.web.admin.operations import operations_router

        backups = Backups(self._config, self._database, self._clock)
        return operations_router(Operations(backups, self._database, self._clock))

    async def owner_data(self) -> APIRouter:
        from bot.application.owner_data import OwnerData
        from bot.web.admin.owner_data import owner_data_router
        from internal.artifacts.store import ArtifactStore

        store = ArtifactStore(self._config.artifacts.url, self._config.data_dir)
        return owner_data_router(OwnerData(self._database, self._clock, self._eraser(), self._config.data_dir, store))

    async def importer(self) -> APIRouter:
        from bot.application.owner_data import import_agents
        from bot.web.admin.imports import import_router
        from internal.flows.transfer.imports import Importer

        owners = self._owners(first_user=self._config.local_telegram)
        return import_router(Importer(self._database, self._clock, import_agents(self._config), owners))

    async def cypher(self) -> APIRouter:
        from bot.application.mirror import Mirrors
        from bot.web.graph.cypher import Cypher, cypher_router

        mirrors = await self._stack.enter_async_context(Mirrors(self._config, self._database, self._clock).opened())
        return cypher_router(self._owners(), Cypher(mirrors.query, mirrors.rebuild))

    async def chronicle(self) -> APIRouter:
        from bot.web.activity.chronicle import Chronicle, chronicle_router
        from internal.flows.sessions.audit import ChronicleAudit
        from internal.flows.sessions.lifecycle import ANALYST, SessionLifecycle

        lifecycle = SessionLifecycle([ANALYST] if self._config.agents.analyst.enabled else [])
        audit = ChronicleAudit(self._database, self._clock, self._worker(), lifecycle)
        return chronicle_router(self._database, self._owners(), Chronicle(audit, self._config.persona.name))

    async def contacts(self) -> APIRouter:
        from bot.application.contacts import contact_sync
        from bot.web.people.contacts import contacts_router
        from internal.flows.contacts.imports import ContactBook
        from internal.storage.files.keys import ensure_key
        from internal.telemetry.metrics import Metrics

        key = ensure_key(self._config.data_dir, "hmac_key").encode()
        book = ContactBook(self._database, self._clock, self._worker(), key)
        sync = contact_sync(self._config, self._database, self._clock, book, Metrics(self._config.metrics, ""))
        return contacts_router(self._owners(), book, sync)

    async def console(self) -> APIRouter:
        from bot.web.admin.console_login import Console, console_router

        return console_router(self._database, self._clock, Console(""))

    async def memory(self) -> APIRouter:
        from bot.web.memory.nodes import MemoryPorts, memory_eraser, memory_router
        from internal.flows.operations.nightly import NightlyMaintenance

        nights = NightlyMaintenance(self._database, self._clock, self._config.memory)

        async def maintain(user_id: int, dry_run: bool) -> MaintenanceReport:
            return await nights.maintain(user_id, dry_run=dry_run)

        given = MemoryPorts(memory_eraser(self._eraser()), maintain)
        return memory_router(self._database, self._clock, self._owners(), given)

    async def snapshots(self) -> APIRouter:
        from bot.web.activity.snapshots import snapshots_router

        return snapshots_router(self._database, self._clock, self._owners())

    async def tasks(self) -> APIRouter:
        from bot.web.activity.tasks import tasks_router

        return tasks_router(self._database, self._clock, self._owners(), self._config.notifications.whole_day_at)

    def _owners(self, *, first_user: bool = False) -> Owners:
        """Builds `Owners`; `first_user` admits the first user unasked: there is no local Telegram to confirm him."""
        from bot.web.http.owners import Owners
        from internal.access import repository as users

        allowed = self._config.access.allowed_user_ids

        async def allows(user_id: int) -> bool:
            return user_id in allowed or (first_user and not await self._database.read(users.everybody))

        return Owners(self._database, allows, allowed=allowed, admit_all=first_user)

    def _worker(self) -> LanguageWorker:
        from internal.language.worker.process_pool import LanguageWorker

        worker = LanguageWorker()
        self._stack.push_async_callback(worker.close)
        return worker

    def _eraser(self) -> ForgettingService:
        from internal.flows.forgetting.requests import ForgettingService
        from internal.recall.messages.saved_indexes import SavedIndexes
        from internal.storage.backup import backup
        from internal.storage.files.keys import ensure_key

        folder, key = backup.folder_of(self._config.data_dir), ensure_key(self._config.data_dir, "hmac_key").encode()
        saved = SavedIndexes(self._config.data_dir, None)
        return ForgettingService(self._database, self._clock, key, [saved], lambda: backup.listing(folder))
