"""The HTTP application: health, metrics, REST and the webhook, behind one guard."""

from __future__ import annotations

from collections.abc import Callable, Collection

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match

from bot.web.admin import Archive, admin_router
from bot.web.guard import Guard
from bot.web.health import Readiness, health_router
from bot.web.importing import Importing, import_router
from bot.web.index import index_router
from bot.web.people import Allows, people_router
from bot.web.upkeep import Upkeep, upkeep_router
from bot.web.webhook import Webhook, webhook_router
from internal.errors import ConfigurationError, Conflict, LaplacedError, NotFound, Refused, StorageError
from internal.scheduling.clock import Clock
from internal.storage.engine import Database
from internal.telemetry.metrics import Metrics

_STATUS: dict[type[LaplacedError], int] = {NotFound: 404, Conflict: 409, Refused: 422, StorageError: 503}


def build_web(
    *,
    database: Database,
    metrics: Metrics,
    clock: Clock,
    api_key: str,
    allowed_hosts: Collection[str],
    allows: Allows,
    poll_fresh: Callable[[], bool],
    archive: Archive,
    upkeep: Upkeep | None = None,
    importing: Importing | None = None,
    webhook: Webhook | None = None,
    chat_page: str | None = None,
) -> FastAPI:
    """The application, ready to be served. All it needs comes in as ports.

    Raises ConfigurationError for a webhook's path that is taken; ValueError for an empty key.
    """
    app = FastAPI(title="Laplaced", docs_url=None, redoc_url=None, openapi_url=None)
    app.include_router(index_router(chat_page))
    app.include_router(health_router(database, metrics, Readiness(database, clock, poll_fresh)))
    app.include_router(people_router(database, allows))
    app.include_router(admin_router(archive))
    if upkeep is not None:
        app.include_router(upkeep_router(upkeep))
    if importing is not None:
        app.include_router(import_router(importing))
    hosts, own_secret = list(allowed_hosts), []
    if webhook is not None:
        _refuse_taken(app, webhook.path)
        app.include_router(webhook_router(webhook))
        hosts, own_secret = [*hosts, webhook.host], [webhook.path]
    app.add_middleware(Guard, api_key=api_key, allowed_hosts=hosts, own_secret=own_secret)
    _answer_faults_as_json(app)
    return app


def _refuse_taken(app: FastAPI, path: str) -> None:
    """The webhook's path is open without the server's key, so nothing else may stand there."""
    asked = {"type": "http", "method": "POST", "path": path, "root_path": "", "headers": []}
    if any(route.matches(asked)[0] is not Match.NONE for route in app.routes):
        raise ConfigurationError(f"telegram.webhook.path {path} is a page of the server's own; choose another")


def _answer_faults_as_json(app: FastAPI) -> None:
    for kind, status in _STATUS.items():
        app.add_exception_handler(kind, _refusal(status))

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        return JSONResponse({"detail": "; ".join(_fault(item["loc"], item["msg"]) for item in error.errors())}, 422)

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"detail": error.detail}, error.status_code, error.headers)

    @app.exception_handler(Exception)
    async def broken(_: Request, error: Exception) -> JSONResponse:
        # Starlette raises it again behind this answer, so that the server logs it with its traceback.
        return JSONResponse({"detail": "something went wrong; the log says more"}, 500)


def _refusal(status: int) -> Callable[[Request, Exception], JSONResponse]:
    return lambda _, error: JSONResponse({"detail": str(error)}, status)


def _fault(place: tuple[int | str, ...], message: str) -> str:
    """`limit: Input should be less than or equal to 1000`: the field, without the part of the request it stood in."""
    field = ".".join(str(part) for part in place[1:]) or str(place[0])
    return f"{field}: {message}"
