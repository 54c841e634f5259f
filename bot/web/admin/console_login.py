"""`/console`: login and logout of the console, whose pages are a separate process and a client of REST."""

from __future__ import annotations

import hmac
import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Annotated, Final, Literal, NoReturn

from fastapi import Header, HTTPException, Request as HttpRequest
from pydantic import BaseModel, Field, model_validator
from sqlalchemy import Connection

from bot.web.http.fields import RequestBody, UserFilter
from bot.web.http.login_attempts import LoginAttempts
from bot.web.http.routers import KEYED, APIRouter, refusals
from bot.web.miniapp.init_data import opened_by
from internal.access import repository as users
from internal.access.console import service as console
from internal.access.console.model import Opened
from internal.access.model import UserState
from internal.errors import NotFound, expect_found
from internal.scheduling.clock import Clock
from internal.storage.database import Database

LOGIN_PATH: Final = "/console/login"
"""The path that needs no key: the caller sends the server's key, or the secret of a link, in the body."""

ConsoleHeader = Annotated[str, Header(max_length=1000, include_in_schema=False)]

Secret = Annotated[str, Field(min_length=1, max_length=500)]


@dataclass(frozen=True, slots=True)
class Console:
    """The console; `url` is its address for people, or None. `caller_key` is what its process sends
    along with its visitors' addresses. `bot_token` is what Telegram signs with who opened the Mini App.
    """

    api_key: str
    caller_key: str = ""
    session_lifetime: timedelta = timedelta(days=7)
    url: str | None = None
    bot_token: str = ""


class Login(RequestBody):
    """The server's key, the secret of a one-time link, or the data that Telegram gave to the Mini App."""

    key: Secret | None = None
    link: Secret | None = None
    init_data: Annotated[str, Field(min_length=1, max_length=4_000)] | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Login:
        if sum(one is not None for one in (self.key, self.link, self.init_data)) != 1:
            raise ValueError("one of key, link and init_data is expected")
        return self


class MeOut(BaseModel):
    """The holder of a session: an owner, who sees his own data, or the admin (`user_id` null), who sees everything.

    `csrf` is sent as X-CSRF-Token with every call that changes something.
    """

    role: Literal["admin", "owner"]
    user_id: int | None
    name: str | None
    lang: str | None
    tz: str
    csrf: str
    expires_at: datetime


class EndedOut(BaseModel):
    """The end of sessions; `ended` of them were open."""

    ended: int


class LoginOut(MeOut):
    """A login; `token` is sent as Authorization: Bearer with every call."""

    token: str


def console_router(database: Database, clock: Clock, console_settings: Console) -> APIRouter:
    router = APIRouter(prefix="/console", tags=["console"])
    attempts, server_key = LoginAttempts(), console_settings.api_key

    @router.post("/login", responses=refusals(400, 401, 429))
    async def login(
        credentials: Login,
        request: HttpRequest,
        x_console_key: ConsoleHeader = "",
        x_console_caller: ConsoleHeader = "",
    ) -> LoginOut:
        """Opens a session: for the server's key, a one-time link, or a user whom Telegram vouches for.

        Only failed attempts are slowed down.
        """
        session = await opened(credentials)
        if session is None:
            believed = console_settings.caller_key and _equal(x_console_key, console_settings.caller_key)
            _refuse(attempts, x_console_caller if believed else _address(request), credentials)
        return session

    async def opened(credentials: Login) -> LoginOut | None:
        link, now, lifetime = credentials.link, clock.now(), console_settings.session_lifetime

        visitor = opened_by(credentials.init_data or "", console_settings.bot_token, now)

        def work(connection: Connection) -> LoginOut | None:
            if link is not None:
                found = console.open_by_link(connection, link, lifetime=lifetime, now=now)
            elif visitor is not None:
                found = console.open_session(connection, visitor, lifetime=lifetime, now=now)
            else:
                found = console.open_session(connection, None, lifetime=lifetime, now=now, key=server_key)
            return None if found is None else _session(connection, found)

        # A wrong secret must not occupy the only writer: it is recognised before that.
        if link is not None:
            good = await database.read(lambda c: console.is_open(c, link, now))
        elif credentials.init_data is not None:
            good = visitor is not None and await database.read(lambda c: _admits(c, visitor))
        else:
            good = _equal((credentials.key or "").strip(), server_key)
        return await database.write(work) if good else None

    @router.post("/logout", status_code=204, responses=refusals(), dependencies=KEYED)
    async def logout(request: HttpRequest) -> None:
        """Ends the session of this call."""
        token = _token(request)
        await database.write(lambda connection: console.close(connection, token, server_key))

    @router.delete("/sessions", responses=refusals(), dependencies=KEYED)
    async def end_sessions(user_id: UserFilter = None) -> EndedOut:
        """Ends every session, also this call's, and every link that nobody has used yet.

        An owner ends his own; the admin all sessions, or those of one user.
        """
        return EndedOut(ended=await database.write(lambda connection: console.end_all(connection, user_id)))

    @router.get("/me", responses=refusals(404), dependencies=KEYED)
    async def me(request: HttpRequest) -> MeOut:
        """The holder of this call's session. 404 for the server's key, which is not a session."""
        token, now = _token(request), clock.now()

        def read(connection: Connection) -> MeOut:
            session = expect_found(console.find(connection, token, now, server_key), "there is no session")
            return _session(connection, Opened(token, session))

        return MeOut(**(await database.read(read)).model_dump(exclude={"token"}))

    return router


def _admits(connection: Connection, user_id: int) -> bool:
    """Whether the id is a user of the bot who was not removed."""
    user = users.find(connection, user_id)
    return user is not None and user.state is not UserState.REMOVED


def _address(request: HttpRequest) -> str:
    return request.client.host if request.client is not None else ""


def _equal(given: str, secret: str) -> bool:
    """Whether the two are equal, in a time that reveals neither where they differ nor the secret's length."""
    return hmac.compare_digest(*(sha256(text.encode("utf-8", "replace")).digest() for text in (given, secret)))


def _refuse(attempts: LoginAttempts, address: str, credentials: Login) -> NoReturn:
    pause = math.ceil(attempts.pause(address))
    if pause > 0:
        raise HTTPException(429, f"too many wrong attempts; the next in {pause} s", {"Retry-After": str(pause)})
    attempts.failed(address)
    field = "init_data" if credentials.init_data else "link" if credentials.link else "key"
    raise HTTPException(401, f"{field}: it is not valid, or not any more")


def _token(request: HttpRequest) -> str:
    return request.headers.get("authorization", "").partition(" ")[2].strip()


def _session(connection: Connection, opened: Opened) -> LoginOut:
    """The session in the form of the answer. Raises NotFound for a user who was removed."""
    session = opened.session
    user = None if session.user_id is None else users.get(connection, session.user_id)
    if user is not None and user.state is UserState.REMOVED:
        raise NotFound("there is no session")
    return LoginOut(
        role="admin" if user is None else "owner",
        user_id=session.user_id,
        name=user.name if user is not None else None,
        lang=user.lang if user is not None else None,
        tz=user.tz if user is not None else "UTC",
        csrf=session.csrf,
        expires_at=session.expires_at,
        token=opened.token,
    )
