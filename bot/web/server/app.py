"""The HTTP application: health, metrics, REST and the webhook, behind one guard."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from importlib.metadata import version

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match

from bot.web.activity.chronicle import Chronicle, chronicle_router
from bot.web.activity.event_chain import chain_router
from bot.web.activity.events import events_router
from bot.web.activity.model_calls import model_calls_router
from bot.web.activity.notifications import notifications_router
from bot.web.activity.snapshots import snapshots_router
from bot.web.activity.spend import spend_router
from bot.web.activity.tasks import tasks_router
from bot.web.activity.teams import teams_router
from bot.web.activity.timeline import timeline_router
from bot.web.activity.users import users_router
from bot.web.admin.console_login import LOGIN_PATH, Console, console_router
from bot.web.admin.imports import Importer, import_router
from bot.web.admin.operations import Operations, upkeep_router
from bot.web.admin.owner_data import OwnerData, keeping_router
from bot.web.admin.recall import Recall, recall_router
from bot.web.admin.router import Archive, admin_router
from bot.web.admin.simulator import Simulator, simulator_router
from bot.web.graph.cypher import Cypher, cypher_router
from bot.web.graph.explore import exploring_router
from bot.web.graph.router import Graph, graph_router
from bot.web.http.body_limit import BodyLimit
from bot.web.http.docs_page import documentation_router
from bot.web.http.errors import DescribedApi
from bot.web.http.fields import fault_words
from bot.web.http.guard import Guard
from bot.web.http.owners import Owners
from bot.web.http.routers import join
from bot.web.http.sessions import Sessions
from bot.web.memory.nodes import Memory, memory_router
from bot.web.people.mentions import receipts_router
from bot.web.people.people import people_router
from bot.web.server.health import Readiness, health_router
from bot.web.server.index import index_router
from bot.web.server.telegram_webhook import Webhook, webhook_router
from internal.errors import (
    ConfigurationError,
    Conflict,
    LaplacedError,
    MirrorUnavailable,
    NotFound,
    Refused,
    StorageError,
)
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.telemetry.metrics import Metrics

_ABOUT = """What Laplaced remembers: episodes, facts with their receipts, memories, people and events, each of one user.

Not described here, since OpenAPI has no words for it: `GET /events/stream?user_id=` sends the events of `GET /events`
live, as server-sent events. The same as these calls is offered over MCP.
"""

_METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
_STATUS: dict[type[LaplacedError], int] = {
    NotFound: 404,
    Conflict: 409,
    Refused: 422,
    StorageError: 503,
    MirrorUnavailable: 503,
}


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
    memory: Memory | None = None,
    cypher: Cypher | None = None,
    chronicle: Chronicle | None = None,
    recall: Recall | None = None,
    upkeep: Operations | None = None,
    importing: Importer | None = None,
    keeping: OwnerData | None = None,
    simulator: Simulator | None = None,
    webhook: Webhook | None = None,
    console: Console | None = None,
    chat_page: str | None = None,
    mcp: str | None = None,
    whole_day_at: str = "09:00",
    daily_limit_usd: float = 0.0,
    stopping: asyncio.Event | None = None,
) -> FastAPI:
    """The application, ready to be served. All it needs comes in as ports.

    `daily_limit_usd` is what each owner may spend in a day, 0: no limit. `chat_page` and `mcp` are addresses to show.
    `stopping` is set before the server stops, and ends what is streamed.

    Raises ConfigurationError for a webhook's path that is taken; ValueError for an empty key.
    """
    app = _api()
    console = console or Console(api_key)
    join(
        app,
        index_router(chat_page, mcp, console.url),
        documentation_router(app.title, app.openapi_url or ""),
        health_router(database, metrics, Readiness(database, clock, poll_fresh)),
        people_router(database, clock, owners, graph.finder if graph is not None else None),
    )
    _tell_what_happens(app, database, owners, stopping or asyncio.Event())
    join(
        app,
        snapshots_router(database, clock, owners),
        tasks_router(database, clock, owners, whole_day_at),
        spend_router(database, clock, owners, daily_limit_usd),
        console_router(database, clock, console),
    )
    _tell_what_is_known(app, database, clock, owners, graph, memory, cypher, chronicle)
    _take_orders(app, archive, recall, upkeep, importing, keeping)
    join(app, simulator_router(simulator))
    _stand_guard(app, api_key, allowed_hosts, webhook, Sessions(database, clock))
    answer_faults_as_json(app)
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


def _stand_guard(
    app: FastAPI, api_key: str, allowed_hosts: Collection[str], webhook: Webhook | None, recognise: Sessions
) -> None:
    """Lets nobody in without a key or a session but where a path has a secret of its own, the webhook for one."""
    hosts, own_secret = list(allowed_hosts), [LOGIN_PATH]
    if webhook is not None:
        _refuse_taken(app, webhook.path)
        join(app, webhook_router(webhook))
        hosts, own_secret = [*hosts, webhook.host], [*own_secret, webhook.path]
    app.add_middleware(BodyLimit)
    app.add_middleware(Guard, api_key=api_key, allowed_hosts=hosts, own_secret=own_secret, recognise=recognise)


def _tell_what_happens(app: FastAPI, database: Database, owners: Owners, stopping: asyncio.Event) -> None:
    """What is only read: events with what led to them, users, receipts, notifications, teams, model calls."""
    join(
        app,
        receipts_router(database),
        notifications_router(database, owners),
        events_router(database, owners, stopping),
        chain_router(database, owners),
        teams_router(database, owners),
        timeline_router(database, owners, stopping),
        users_router(database, owners),
        model_calls_router(database, owners),
    )


def _tell_what_is_known(
    app: FastAPI,
    database: Database,
    clock: Clock,
    owners: Owners,
    graph: Graph | None,
    memory: Memory | None,
    cypher: Cypher | None,
    chronicle: Chronicle | None,
) -> None:
    """The graphs and the chronicle, those that this program has."""
    if graph is not None:
        join(app, graph_router(database, clock, owners, graph), exploring_router(database, clock, owners))
    if memory is not None:
        join(app, memory_router(database, clock, owners, memory))
    if cypher is not None:
        join(app, cypher_router(owners, cypher))
    if chronicle is not None:
        join(app, chronicle_router(database, owners, chronicle))


def _take_orders(
    app: FastAPI,
    archive: Archive,
    recall: Recall | None,
    upkeep: Operations | None,
    importing: Importer | None,
    keeping: OwnerData | None,
) -> None:
    """What the command line asks of the server; it changes with the program and is nobody else's contract."""
    join(app, admin_router(archive))
    if recall is not None:
        join(app, recall_router(recall))
    if upkeep is not None:
        join(app, upkeep_router(upkeep))
    if importing is not None:
        join(app, import_router(importing))
    if keeping is not None:
        join(app, keeping_router(keeping))


def _refuse_taken(app: FastAPI, path: str) -> None:
    """The webhook's path is open without the server's key, so nothing else may stand there."""
    asked = {"type": "http", "method": "POST", "path": path, "root_path": "", "headers": []}
    if any(route.matches(asked)[0] is not Match.NONE for route in app.routes):
        raise ConfigurationError(f"telegram.webhook.path {path} is a page of the server's own; choose another")


def answer_faults_as_json(app: FastAPI) -> None:
    """A refusal is its status and one sentence, whatever raised it."""

    for kind, status in _STATUS.items():
        app.add_exception_handler(kind, _refusal(status))

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        return JSONResponse({"detail": "; ".join(_fault(item["loc"], item["msg"]) for item in error.errors())}, 422)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> JSONResponse:
        headers = {"Allow": _methods_of(app, request)} if error.status_code == 405 else error.headers
        return JSONResponse({"detail": error.detail}, error.status_code, headers)

    @app.exception_handler(Exception)
    async def broken(_: Request, error: Exception) -> JSONResponse:
        # Starlette raises it again behind this answer, so that the server logs it with its traceback.
        return JSONResponse({"detail": "something went wrong; the log says more"}, 500)


def _methods_of(app: FastAPI, request: Request) -> str:
    """Every method of a path: the router itself names those of the first route only."""

    def answers(method: str) -> bool:
        asked = {**request.scope, "method": method}
        return any(route.matches(asked)[0] is Match.FULL for route in app.routes)

    return ", ".join(method for method in _METHODS if answers(method))


def _refusal(status: int) -> Callable[[Request, Exception], JSONResponse]:
    return lambda _, error: JSONResponse({"detail": str(error).encode("utf-8", "replace").decode()}, status)


def _fault(place: tuple[int | str, ...], message: str) -> str:
    """`limit: Input should be less than or equal to 1000`: the field, without the part of the request it stood in."""
    unread = len(place) == 2 and isinstance(place[1], int)  # JSON that cannot be read: where it broke off, not a field
    field = "body" if unread else ".".join(str(part) for part in place[1:]) or (str(place[0]) if place else "body")
    # Whoever sends half a surrogate pair as a name cannot be told it back.
    return f"{field}: {fault_words(message)}".encode("utf-8", "replace").decode()
