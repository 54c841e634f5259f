"""The console's application: its pages, login and logout, and its request guard."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
from fastapi import FastAPI
from nicegui import Client, app as page_library, ui
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from bot.console.login import SESSION_COOKIE, language_of, login_router, theme_of, to_login
from bot.console.page_context import Page, PageContext
from bot.console.pages import PAGES
from bot.console.phrases import Phrases
from bot.console.request_guard import RequestGuard
from bot.console.rest import ConsoleRest, Json, LoggedOut, RestError, client
from bot.console.shell import bot_down, lay_page, page_not_found
from bot.shared.hosts import Hosts

_STATIC = Path(__file__).parent / "static"
_PATIENCE_S = 40.0
"""Seconds that laying out a page may take; REST calls time out earlier."""
_AWAY_S = 15.0
"""Seconds that a page may be unreachable (a phone in a lift) without being loaded again."""


def build(rest: str, *, allowed_hosts: Collection[str], secure: bool, caller_key: str = "") -> ASGIApp:
    """The whole application, a client of the REST API at that address. `secure`: cookies go over https only.

    With the `caller_key` the API trusts the address that is given for a visitor.
    """
    http = client(rest)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await http.aclose()

    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.mount("/static", StaticFiles(directory=_STATIC))
    app.include_router(login_router(http, secure=secure, caller_key=caller_key))
    for page in PAGES:
        _serve(page, http)
    icon = (_STATIC / "icon.svg").read_text(encoding="utf-8")
    page_library.add_exception_handler(404, _not_found)
    ui.run_with(
        app,
        title="Laplaced",
        favicon=icon,
        dark=None,
        show_welcome_message=False,
        tailwind=False,
        reconnect_timeout=_AWAY_S,
    )
    return RequestGuard(app, Hosts(allowed_hosts))


def _serve(page: Page, http: httpx.AsyncClient) -> None:
    @ui.page(page.path, response_timeout=_PATIENCE_S)
    async def served(request: Request, user: int | None = None) -> Response | None:
        rest = ConsoleRest(http, request.cookies.get(SESSION_COOKIE, ""))
        try:
            context = await _page_context(request, rest, page, user)
        except LoggedOut:
            return to_login(str(request.url.path))
        except RestError as error:
            bot_down(Phrases(language_of(request)), theme_of(request), error)
            return None
        await lay_page(context, page, PAGES)
        return None


async def _not_found(request: Request, error: Exception) -> Response:
    """Answers an unknown address with an error page that links to the first page; missing files get a plain 404."""
    if request.url.path.startswith("/_nicegui"):
        return PlainTextResponse("Not Found", 404)
    with Client(ui.page(""), request=request) as client:
        page_not_found(Phrases(language_of(request)), theme_of(request))
    return client.build_response(request, 404)


async def _page_context(request: Request, rest: ConsoleRest, page: Page, asked: int | None) -> PageContext:
    """Loads what the page shares. Raises Trouble, and LoggedOut for a browser without a session."""
    me, listed = await asyncio.gather(rest.get("/console/me"), rest.get("/users"))
    rest.csrf = me["csrf"]
    users: list[Json] = listed["users"]
    known = {user["user_id"] for user in users}
    chosen = asked if asked in known else None
    if chosen is None and (me["user_id"] is not None or not page.everybody):
        chosen = me["user_id"] if me["user_id"] is not None else next(iter(users), {}).get("user_id")
    zone = next((user["tz"] for user in users if user["user_id"] == chosen), me["tz"])
    say = Phrases(language_of(request, me["lang"]), zone)
    return PageContext(rest, say, me["role"] == "admin", users, chosen, theme_of(request))
