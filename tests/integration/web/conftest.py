"""A web application over a real database, called in-process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI
from support.interfaces.rest_graph_stage import ANNA, BORIS, Stage, stage, user
from support.interfaces.rest_memory_stage import Own, served
from support.stores.ready_stores import ready

from bot.web.admin.operations import ArchiveReport
from bot.web.http.owners import Owners
from bot.web.server.app import build_web
from bot.web.server.ports import WebPorts
from bot.web.server.telegram_webhook import Webhook
from internal.access.api_keys import ApiKeys
from internal.config.settings import MetricsConfig
from internal.errors import NotFound, Refused
from internal.scheduling.clock import SystemClock
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.telemetry.metrics import Metrics

KEY = "server-key-of-the-tests"
WEBHOOK_SECRET = "webhook-secret-of-the-tests"
ALLOWED_USER = 500


class Ports:
    """What the application is given by the bot, as tests can move it."""

    def __init__(self) -> None:
        self.poll_fresh = True
        self.updates: list[bytes] = []
        self.archived: list[tuple[int | None, str | None]] = []
        self.mistake: Exception | None = None

    async def allows(self, user_id: int) -> bool:
        return user_id == ALLOWED_USER

    async def accept(self, raw: bytes) -> None:
        self.updates.append(raw)

    async def archive(self, user_id: int | None, backfill: str | None, again: bool) -> ArchiveReport:
        if self.mistake is not None:
            raise self.mistake
        if user_id not in {None, ALLOWED_USER}:
            raise NotFound(f"there is no user {user_id}")
        if backfill not in {None, "archivist"}:
            raise Refused("unknown_agent", f"no agent is called {backfill}")
        self.archived.append((user_id, backfill))
        return ArchiveReport(fragments=2, applied=1, waiting=1)


@pytest.fixture
def ports() -> Ports:
    return Ports()


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(MetricsConfig())


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database.open(ready(tmp_path)) as opened:
        await opened.exclusive(migrate)
        yield opened


@pytest.fixture
def build(database: Database, metrics: Metrics, ports: Ports) -> Callable[[str, str], FastAPI]:
    """The application with a webhook at that path and with that secret."""
    return lambda path, secret: application(database, metrics, ports, path, secret)


def application(database: Database, metrics: Metrics, ports: Ports, path: str, secret: str) -> FastAPI:
    return build_web(
        WebPorts(
            database=database,
            metrics=metrics,
            clock=SystemClock(),
            api_key=KEY,
            allowed_hosts=["bot.example"],
            owners=Owners(database, ports.allows, allowed=[ALLOWED_USER]),
            poll_fresh=lambda: ports.poll_fresh,
            archive=ports.archive,
            webhook=Webhook(path, secret, "public.example", ports.accept),
            chat_page="http://127.0.0.1:8090",
        )
    )


@pytest.fixture
async def caller(build: Callable[[str, str], FastAPI]) -> AsyncIterator[httpx.AsyncClient]:
    """A client that knows the key."""
    async with client_of(build("/telegram/webhook", WEBHOOK_SECRET)) as client:
        yield client


def client_of(app: FastAPI) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {KEY}"}
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:9081", headers=headers)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def standing(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[FastAPI]:
    """The application, one for all tests of a module: they change nothing in it."""
    async with Database.open(ready(tmp_path_factory.mktemp("standing"))) as opened:
        await opened.exclusive(migrate)
        yield application(opened, Metrics(MetricsConfig()), Ports(), "/telegram/webhook", WEBHOOK_SECRET)


@pytest_asyncio.fixture(loop_scope="module")
async def visitor(standing: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A client of its own, which knows the key."""
    async with client_of(standing) as client:
        yield client


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def untouched(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """One user, for all tests of a module in which nothing is stored."""
    async with Database.open(ready(tmp_path_factory.mktemp("untouched"))) as opened:
        await opened.exclusive(migrate)
        async with stage(opened, Metrics(MetricsConfig()), user(ANNA)) as running:
            yield running


@pytest.fixture
def keys(tmp_path: Path) -> ApiKeys:
    """The named keys that `known` recognises."""
    return ApiKeys(tmp_path / "keys")


@pytest.fixture
async def known(database: Database, metrics: Metrics, keys: ApiKeys) -> AsyncIterator[Stage]:
    """Two users with memories of their own."""
    async with stage(database, metrics, user(ANNA), user(BORIS, "Europe/Kyiv"), keys=keys) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A served store for all tests of a module that bring their own users."""
    async with served(tmp_path_factory.mktemp("shared")) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def owner(shared: Stage) -> Own:
    """A user nobody else uses."""
    return await Own.come(shared)


@pytest.fixture
async def sole(database: Database, metrics: Metrics) -> AsyncIterator[Stage]:
    """One user."""
    async with stage(database, metrics, user(ANNA)) as running:
        yield running
