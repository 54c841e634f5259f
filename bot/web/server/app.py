"""The HTTP application: health, metrics, REST and the webhook, behind one guard."""

import asyncio
from collections.abc import Callable, Collection
from importlib.metadata import version

from fastapi import FastAPI
from starlette.routing import Match

from bot.web.activity.chronicle import Chronicle, chronicle_router
from bot.web.activity.events import chain_router, changes_router, events_router
from bot.web.activity.model_calls import model_calls_router, spend_router
from bot.web.activity.notifications import disclosures_router, notifications_router
from bot.web.activity.snapshots import snapshots_router
from bot.web.activity.tasks import tasks_router
from bot.web.activity.timeline import timeline_router
from bot.web.activity.users import teams_router, users_router
from bot.web.admin.console_login import LOGIN_PATH, Console, console_router
from bot.web.admin.imports import Importer, import_router
from bot.web.admin.operations import Archive, Examine, Operations, archive_router, doctor_router, operations_router
from bot.web.admin.owner_data import OwnerData, owner_data_router
from bot.web.admin.recall import Recall, recall_router
from bot.web.admin.simulator import Simulator, simulator_router
from bot.web.companion.occasions import occasions_router, today_router
from bot.web.companion.reflections import reflections_router
from bot.web.graph.cypher import Cypher, cypher_router
from bot.web.graph.explore import exploring_router
from bot.web.graph.router import Graph, graph_router
from bot.web.http.body_limit import BodyLimit
from bot.web.http.docs_page import documentation_router
from bot.web.http.errors import DescribedApi, answer_errors_as_json
from bot.web.http.guard import Guard
from bot.web.http.owners import Owners
from bot.web.http.request_trigger import RequestTrigger
from bot.web.http.routers import join
from bot.web.http.sessions import Callers
from bot.web.memory.artifacts import Erase as EraseFile, artifacts_router
from bot.web.memory.nodes import MemoryPorts, memory_router
from bot.web.miniapp.router import PATHS as MINIAPP_PATHS, miniapp_router
from bot.web.people.contacts import contacts_router, map_router
from bot.web.people.people import people_router, receipts_router
from bot.web.server.health import Readiness, health_router
from bot.web.server.index import index_router
from bot.web.server.telegram_webhook import Webhook, webhook_router
from internal.access.api_keys import ApiKeys
from internal.errors import ConfigurationError
from internal.flows.companion.calendar import PATH as CALENDAR_PATH
from internal.flows.contacts.imports import ContactBook
from internal.flows.contacts.sync import ContactSync
from internal.flows.forgetting.requests import ForgettingService
from internal.flows.reflections.past_questions import LifeAnswers
from internal.flows.reflections.service import Reflections
from internal.flows.views.people_map import PeopleMaps
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.telemetry.metrics import Metrics

_ABOUT = """What Laplaced remembers: episodes, facts with their sources, memories, people and events, each of one user.

Not described here, since OpenAPI has no words for it: `GET /events/stream?user_id=` sends the events of `GET /events`
live, as server-sent events. The same as these calls is offered over MCP.
"""


def build_web(
    *,
    database: Database,
    metrics: Metrics,
    clock: Clock,
    api_key: str,
    allowed_hosts: Collection[str],
    owners: Owners,
    poll_fresh: Callable[[], bool],
    archive: Archive,
    graph: Graph | None = None,
    memory: MemoryPorts | None = None,
    files: EraseFile | None = None,
    eraser: ForgettingService | None = None,
    cypher: Cypher | None = None,
    chronicle: Chronicle | None = None,
    recall: Recall | None = None,
    examine: Examine | None = None,
    operations: Operations | None = None,
    importer: Importer | None = None,
    owner_data: OwnerData | None = None,
    simulator: Simulator | None = None,
    webhook: Webhook | None = None,
    console: Console | None = None,
    chat_page: str | None = None,
    mcp: str | None = None,
    whole_day_at: str = "09:00",
    daily_limit_usd: float = 0.0,
    stopping: asyncio.Event | None = None,
    metrics_open: bool = True,
    keys: ApiKeys | None = None,
    contacts: ContactBook | None = None,
    maps: PeopleMaps | None = None,
    contact_sync: ContactSync | None = None,
    reflections: Reflections | None = None,
    life: LifeAnswers | None = None,
) -> FastAPI:
    """The application, ready to be served. Everything it needs is passed in as a port.

    `daily_limit_usd` is what each owner may spend in a day, 0 = no limit. `chat_page` and `mcp` are addresses to show.
    `stopping` is set before the server stops, and ends what is streamed. Without `metrics_open` the metrics need a key.
    `keys` are named ones beside the server's own.

    Raises ConfigurationError if the webhook's path is one of the server's own, ValueError for an empty key.
    """
    app = _api()
    console = console or Console(api_key)
    join(
        app,
        index_router(chat_page, mcp, console.url),
        documentation_router(app.title, app.openapi_url or ""),
        miniapp_router(chat_page),
        health_router(database, metrics, Readiness(database, clock, poll_fresh)),
        people_router(database, clock, owners, graph.finder if graph is not None else None, eraser),
    )
    if contacts is not None:
        join(app, contacts_router(owners, contacts, contact_sync))
    if maps is not None:
        join(app, map_router(database, owners, maps))
    if reflections is not None and life is not None:
        join(app, reflections_router(database, owners, reflections, life))
    _add_activity(app, database, owners, stopping or asyncio.Event())
    join(
        app,
        snapshots_router(database, clock, owners),
        tasks_router(database, clock, owners, whole_day_at),
        occasions_router(database, clock, owners),
        today_router(database, clock, owners),
        changes_router(database, clock, owners, whole_day_at),
        spend_router(database, clock, owners, daily_limit_usd),
        console_router(database, clock, console),
    )
    _add_graphs(app, database, clock, owners, graph, memory, files, cypher, chronicle, eraser)
    _add_commands(app, archive, recall, examine, operations, importer, owner_data)
    join(app, simulator_router(simulator))
    hosts, own_secret = list(allowed_hosts), [LOGIN_PATH, CALENDAR_PATH]
    if webhook is not None:
        _add_webhook(app, webhook)
        hosts, own_secret = [*hosts, webhook.host], [*own_secret, webhook.path]
    app.add_middleware(RequestTrigger, clock=clock, exempt=own_secret)
    app.add_middleware(BodyLimit)
    app.add_middleware(
        Guard,
        api_key=api_key,
        allowed_hosts=hosts,
        own_secret=own_secret,
        keyless=MINIAPP_PATHS,
        recognise=Callers(database, clock, api_key, keys),
        metrics_open=metrics_open,
    )
    answer_errors_as_json(app)
    return app


def _api() -> FastAPI:
    return DescribedApi(
        title="Laplaced",
        description=_ABOUT,
        version=version("laplaced"),
        docs_url=None,
        redoc_url=None,
        separate_input_output_schemas=False,
    )


def _add_webhook(app: FastAPI, webhook: Webhook) -> None:
    _refuse_path_in_use(app, webhook.path)
    join(app, webhook_router(webhook))


def _add_activity(app: FastAPI, database: Database, owners: Owners, stopping: asyncio.Event) -> None:
    """The calls that only read: events and their causes, users, mentions, notifications, teams, model calls."""
    join(
        app,
        receipts_router(database),
        notifications_router(database, owners),
        events_router(database, owners, stopping),
        chain_router(database, owners),
        teams_router(database, owners),
        disclosures_router(database, owners),
        timeline_router(database, owners, stopping),
        users_router(database, owners),
        model_calls_router(database, owners),
    )


def _add_graphs(
    app: FastAPI,
    database: Database,
    clock: Clock,
    owners: Owners,
    graph: Graph | None,
    memory: MemoryPorts | None,
    files: EraseFile | None,
    cypher: Cypher | None,
    chronicle: Chronicle | None,
    eraser: ForgettingService | None,
) -> None:
    """The calls of the graphs and the chronicle, as far as this process offers them."""
    if graph is not None:
        join(app, graph_router(database, clock, owners, graph, eraser), exploring_router(database, clock, owners))
    if memory is not None:
        join(app, memory_router(database, clock, owners, memory))
    if files is not None:
        join(app, artifacts_router(database, owners, files))
    if cypher is not None:
        join(app, cypher_router(owners, cypher))
    if chronicle is not None:
        join(app, chronicle_router(database, owners, chronicle))


def _add_commands(
    app: FastAPI,
    archive: Archive,
    recall: Recall | None,
    examine: Examine | None,
    operations: Operations | None,
    importer: Importer | None,
    owner_data: OwnerData | None,
) -> None:
    """The calls of the command line, which are no contract: they change with the program."""
    join(app, archive_router(archive))
    if recall is not None:
        join(app, recall_router(recall))
    if examine is not None:
        join(app, doctor_router(examine))
    if operations is not None:
        join(app, operations_router(operations))
    if importer is not None:
        join(app, import_router(importer))
    if owner_data is not None:
        join(app, owner_data_router(owner_data))


def _refuse_path_in_use(app: FastAPI, path: str) -> None:
    """Raises ConfigurationError for a path of the server's own: the webhook's is open without the server's key."""
    scope = {"type": "http", "method": "POST", "path": path, "root_path": "", "headers": []}
    if any(route.matches(scope)[0] is not Match.NONE for route in app.routes):
        raise ConfigurationError(f"telegram.webhook.path {path} is a page of the server's own; choose another")
