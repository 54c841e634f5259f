"""The HTTP application: health, metrics, REST and the webhook, behind one guard."""

from importlib.metadata import version

from fastapi import FastAPI
from starlette.routing import Match

from bot.web.activity.chronicle import chronicle_router
from bot.web.activity.events import chain_router, changes_router, events_router
from bot.web.activity.model_calls import model_calls_router, spend_router
from bot.web.activity.notifications import disclosures_router, notifications_router
from bot.web.activity.snapshots import snapshots_router
from bot.web.activity.tasks import tasks_router
from bot.web.activity.timeline import timeline_router
from bot.web.activity.users import teams_router, users_router
from bot.web.admin.console_login import LOGIN_PATH, Console, console_router
from bot.web.admin.imports import import_router
from bot.web.admin.operations import archive_router, doctor_router, operations_router
from bot.web.admin.owner_data import owner_data_router
from bot.web.admin.recall import recall_router
from bot.web.admin.simulator import simulator_router
from bot.web.companion.occasions import occasions_router, today_router
from bot.web.companion.reflections import reflections_router
from bot.web.graph.cypher import cypher_router
from bot.web.graph.explore import exploring_router
from bot.web.graph.router import graph_router
from bot.web.http.body_limit import BodyLimit
from bot.web.http.docs_page import documentation_router
from bot.web.http.errors import DescribedApi, answer_errors_as_json
from bot.web.http.guard import Guard
from bot.web.http.request_trigger import RequestTrigger
from bot.web.http.routers import join
from bot.web.http.sessions import Callers
from bot.web.memory.artifacts import artifacts_router
from bot.web.memory.nodes import memory_router
from bot.web.miniapp.router import PATHS as MINIAPP_PATHS, miniapp_router
from bot.web.people.contacts import contacts_router, map_router
from bot.web.people.people import people_router, receipts_router
from bot.web.server.health import Readiness, health_router
from bot.web.server.index import index_router
from bot.web.server.ports import WebPorts
from bot.web.server.telegram_webhook import webhook_router
from internal.errors import ConfigurationError
from internal.flows.companion.calendar import PATH as CALENDAR_PATH

_ABOUT = """What Laplaced remembers: episodes, facts with their sources, memories, people and events, each of one user.

Not described here, since OpenAPI has no words for it: `GET /events/stream?user_id=` sends the events of `GET /events`
live, as server-sent events. The same as these calls is offered over MCP.
"""


def build_web(ports: WebPorts) -> FastAPI:
    """The application, ready to be served.

    Raises ConfigurationError if the webhook's path is one of the server's own, ValueError for an empty key.
    """
    app, console = _api(), ports.console or Console(ports.api_key)
    _add_pages(app, ports, console)
    _add_people(app, ports)
    _add_activity(app, ports)
    _add_plans(app, ports)
    join(app, console_router(ports.database, ports.clock, console))
    _add_graphs(app, ports)
    _add_commands(app, ports)
    if ports.webhook is not None:
        _refuse_path_in_use(app, ports.webhook.path)
        join(app, webhook_router(ports.webhook))
    _add_middleware(app, ports)
    answer_errors_as_json(app)
    return app


def _add_middleware(app: FastAPI, ports: WebPorts) -> None:
    """Guards all calls: keys and hosts first, then sizes, then what each call is the cause of."""
    hosts, own_secret = list(ports.allowed_hosts), [LOGIN_PATH, CALENDAR_PATH]
    if ports.webhook is not None:
        hosts, own_secret = [*hosts, ports.webhook.host], [*own_secret, ports.webhook.path]
    app.add_middleware(RequestTrigger, clock=ports.clock, exempt=own_secret)
    app.add_middleware(BodyLimit)
    app.add_middleware(
        Guard,
        api_key=ports.api_key,
        allowed_hosts=hosts,
        own_secret=own_secret,
        keyless=MINIAPP_PATHS,
        recognise=Callers(ports.database, ports.clock, ports.api_key, ports.keys),
        metrics_open=ports.metrics_open,
    )


def _api() -> FastAPI:
    return DescribedApi(
        title="Laplaced",
        description=_ABOUT,
        version=version("laplaced"),
        docs_url=None,
        redoc_url=None,
        separate_input_output_schemas=False,
    )


def _add_pages(app: FastAPI, ports: WebPorts, console: Console) -> None:
    """The index, the documentation, the Mini App and the health of the process."""
    join(
        app,
        index_router(ports.chat_page, ports.mcp, console.url),
        documentation_router(app.title, app.openapi_url or ""),
        miniapp_router(ports.chat_page),
        health_router(ports.database, ports.metrics, Readiness(ports.database, ports.clock, ports.poll_fresh)),
        simulator_router(ports.simulator),
    )


def _add_people(app: FastAPI, ports: WebPorts) -> None:
    """The calls about people, their contacts and their map, and the reflections about them."""
    database, owners, graph = ports.database, ports.owners, ports.graph
    join(app, people_router(database, ports.clock, owners, None if graph is None else graph.finder, ports.eraser))
    if ports.contacts is not None:
        join(app, contacts_router(owners, ports.contacts, ports.contact_sync))
    if ports.maps is not None:
        join(app, map_router(database, owners, ports.maps))
    if ports.reflections is not None and ports.life is not None:
        join(app, reflections_router(database, owners, ports.reflections, ports.life))


def _add_activity(app: FastAPI, ports: WebPorts) -> None:
    """The calls that only read: events and their causes, users, mentions, notifications, teams, model calls."""
    database, owners = ports.database, ports.owners
    join(
        app,
        receipts_router(database),
        notifications_router(database, owners),
        events_router(database, owners, ports.stopping),
        chain_router(database, owners),
        teams_router(database, owners),
        disclosures_router(database, owners),
        timeline_router(database, owners, ports.stopping),
        users_router(database, owners),
        model_calls_router(database, owners),
    )


def _add_plans(app: FastAPI, ports: WebPorts) -> None:
    """The calls about what is to come, what changed, and what was spent."""
    store = (ports.database, ports.clock, ports.owners)
    join(
        app,
        snapshots_router(*store),
        tasks_router(*store, ports.whole_day_at),
        occasions_router(*store),
        today_router(*store),
        changes_router(*store, ports.whole_day_at),
        spend_router(*store, ports.daily_limit_usd),
    )


def _add_graphs(app: FastAPI, ports: WebPorts) -> None:
    """The calls of the graphs and the chronicle, as far as this process offers them."""
    database, clock, owners = ports.database, ports.clock, ports.owners
    if ports.graph is not None:
        graph = graph_router(database, clock, owners, ports.graph, ports.eraser)
        join(app, graph, exploring_router(database, clock, owners))
    if ports.memory is not None:
        join(app, memory_router(database, clock, owners, ports.memory))
    if ports.files is not None:
        join(app, artifacts_router(database, owners, ports.files))
    if ports.cypher is not None:
        join(app, cypher_router(owners, ports.cypher))
    if ports.chronicle is not None:
        join(app, chronicle_router(database, owners, ports.chronicle))


def _add_commands(app: FastAPI, ports: WebPorts) -> None:
    """The calls of the command line, which are no contract: they change with the program."""
    join(app, archive_router(ports.archive))
    if ports.recall is not None:
        join(app, recall_router(ports.recall))
    if ports.examine is not None:
        join(app, doctor_router(ports.examine))
    if ports.operations is not None:
        join(app, operations_router(ports.operations))
    if ports.importer is not None:
        join(app, import_router(ports.importer))
    if ports.owner_data is not None:
        join(app, owner_data_router(ports.owner_data))


def _refuse_path_in_use(app: FastAPI, path: str) -> None:
    """Raises ConfigurationError for a path of the server's own, as the webhook's is open without the server's key."""
    scope = {"type": "http", "method": "POST", "path": path, "root_path": "", "headers": []}
    if any(route.matches(scope)[0] is not Match.NONE for route in app.routes):
        raise ConfigurationError(f"telegram.webhook.path {path} is a page of the server's own; choose another")
