"""Logging in and out. The page is plain HTML: it works before anything is loaded, and while the bot is down."""

from html import escape
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import httpx
from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from bot.console.phrases import Phrases
from bot.console.rest import ConsoleRest, RestError
from bot.shared.languages import LANGUAGES, preferred

SESSION_COOKIE, LANGUAGE_COOKIE, THEME_COOKIE = "laplaced_session", "laplaced_language", "laplaced_theme"

_PAGE = (Path(__file__).parent / "static" / "login.html").read_text(encoding="utf-8")
_FAULTS = {401: "login-wrong", 422: "login-wrong", 429: "login-wait"}


def login_router(http: httpx.AsyncClient, *, secure: bool, caller_key: str) -> APIRouter:
    """The routes of login and logout. `secure`: the cookie goes over https only."""
    router = APIRouter()

    @router.get("/login")
    async def page(request: Request, back: str = "/") -> HTMLResponse:
        return _page(request, back)

    @router.post("/login")
    async def enter(
        request: Request,
        key: Annotated[str, Form(max_length=500)] = "",
        link: Annotated[str, Form(max_length=500)] = "",
        back: Annotated[str, Form(max_length=2000)] = "/",
    ) -> Response:
        body = {"link": link} if link else {"key": key}
        caller = request.client.host if request.client is not None else ""
        headers = {"X-Console-Key": caller_key, "X-Console-Caller": caller.encode("ascii", "replace").decode()}
        try:
            answer = await http.post("/console/login", json=body, headers=headers)
        except httpx.HTTPError:
            return _page(request, back, "login-down", 503)
        if answer.status_code != httpx.codes.OK:
            fault = _FAULTS.get(answer.status_code, "login-down")
            return _page(request, back, "login-link-spent" if link and fault == "login-wrong" else fault, 401)
        entered = RedirectResponse(_within(back), 303)
        # Lax: a link to the console from the chat must find the session.
        entered.set_cookie(
            SESSION_COOKIE, answer.json()["token"], httponly=True, samesite="lax", secure=secure, path="/"
        )
        return entered

    @router.post("/logout")
    async def leave(request: Request, everywhere: Annotated[bool, Form()] = False) -> Response:
        rest = ConsoleRest(http, request.cookies.get(SESSION_COOKIE, ""))
        try:
            rest.csrf = (await rest.get("/console/me"))["csrf"]
            await (rest.delete("/console/sessions") if everywhere else rest.post("/console/logout"))
        except RestError:
            pass  # without its cookie the session cannot be used, and it ends by itself
        left = RedirectResponse("/login", 303)
        left.delete_cookie(SESSION_COOKIE, path="/")
        return left

    return router


def language_of(request: Request, known: str | None = None) -> str:
    """The language chosen on the page, else the owner's, else the browser's."""
    chosen = request.cookies.get(LANGUAGE_COOKIE, "")
    return chosen if chosen in LANGUAGES else known or preferred(request.headers.get("accept-language", ""))


def theme_of(request: Request) -> str:
    chosen = request.cookies.get(THEME_COOKIE, "auto")
    return chosen if chosen in {"light", "dark"} else "auto"


def to_login(path: str) -> RedirectResponse:
    return RedirectResponse(f"/login?back={quote(path)}")


def _within(back: str) -> str:
    """The path to return to, only within the console: `//elsewhere` would be another site."""
    return back if back.startswith("/") and not back.startswith(("//", "/\\")) else "/"


def _page(request: Request, back: str, fault: str | None = None, status: int = 200) -> HTMLResponse:
    say = Phrases(language_of(request))
    words = {name: escape(say(name)) for name in _WORDS}
    fault_html = f'<p class="login-fault" role="alert">{escape(say(fault))}</p>' if fault else ""
    theme = theme_of(request)
    filled = _PAGE.format(
        lang=say.language, back=escape(_within(back), quote=True), fault=fault_html,
        dark="body--dark" if theme == "dark" else "", theme=theme, **{n.replace("-", "_"): w for n, w in words.items()},
    )  # fmt: skip
    return HTMLResponse(filled, status)


_WORDS = ("login-title", "login-key", "login-enter", "login-key-hint", "login-link-hint", "login-entering")
