"""Recognises the caller behind a session or a named key, and limits what a call may reach."""

import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, TypeVar
from urllib.parse import parse_qsl, urlencode

from sqlalchemy import Connection
from starlette.types import Scope

from internal.access import repository as users
from internal.access.api_keys import ApiKeys
from internal.access.console import service as console
from internal.access.console.service import SESSION_PREFIX
from internal.access.model import UserState
from internal.errors import NotFound
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for_everyone

Admitted = Callable[[], Awaitable[bool]]
"""Whether a call's session or key is still valid: an endless answer must ask from time to time."""

OWNERS_PATHS: Final = (
    "/artifacts", "/changes", "/chronicle", "/console", "/disclosures", "/events", "/graph", "/memory", "/messages",
    "/model-calls", "/notifications", "/occasions", "/people", "/snapshots", "/spend", "/tasks", "/teams", "/timeline",
    "/today", "/reflections", "/users",
)  # fmt: skip
"""The paths of an owner's session or key. Every call there takes `user_id` or `group_id`; others are the admin's."""

OWNER: Final = "laplaced.owner"
"""The scope's key for the owner to whom a call is limited."""

ADMITTED: Final = "laplaced.admitted"
"""The scope's key for the Admitted of a call that was made with a session or a named key."""

_NAMING_OWNERS: Final = ("user_id", "group_id")

_OWNER_ID: Final = re.compile(r"-?[0-9]{1,18}", re.ASCII)

T = TypeVar("T")

_owner: ContextVar[int | None] = ContextVar("owner", default=None)


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller; `user_id` None: all data. `csrf` must come with each change; None for a key, which no browser sends."""

    user_id: int | None
    read_only: bool = False
    csrf: str | None = None


Recognise = Callable[[str], Awaitable[Caller | None]]
"""Returns the caller who holds a token or key, or None if it is unknown or has ended."""


@dataclass(frozen=True, slots=True)
class Callers:
    """Recognises session tokens by the database, under the server's key, and named keys by their file."""

    database: Database
    clock: Clock
    api_key: str
    keys: ApiKeys | None

    async def __call__(self, secret: str) -> Caller | None:
        if secret.startswith(SESSION_PREFIX):
            return await self._with(lambda c: self._of_session(c, secret))
        named = self.keys.find(secret) if self.keys is not None else None
        if named is None or (named.user_id is not None and not await self._with(lambda c: _admits(c, named.user_id))):
            return None
        return Caller(named.user_id, named.read_only)

    async def _with(self, read: Callable[[Connection], T]) -> T:
        with acting_for_everyone():  # the secret alone does not contain the owner
            return await self.database.read(read)

    def _of_session(self, connection: Connection, token: str) -> Caller | None:
        session = console.find(connection, token, self.clock.now(), self.api_key)
        if session is None:
            return None
        known = session.user_id is None or users.find(connection, session.user_id) is not None
        return Caller(session.user_id, csrf=session.csrf) if known and _admits(connection, session.user_id) else None


def _admits(connection: Connection, user_id: int | None) -> bool:
    """Whether the caller is not a removed user."""
    user = None if user_id is None else users.find(connection, user_id)
    return user is None or user.state is not UserState.REMOVED


def limited(scope: Scope, owner: int) -> Scope | None:
    """The call limited to this owner: adds his id if none is named. None if he may not make the call."""
    path: str = scope["path"]
    if not any(path == prefix or path.startswith(f"{prefix}/") for prefix in OWNERS_PATHS):
        return None
    parameters = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    if any(value != str(owner) for name, value in parameters if name in _NAMING_OWNERS):
        return None
    named = {name for name, _ in parameters}
    parameters += [(name, str(owner)) for name in _NAMING_OWNERS if name not in named]
    return {**scope, OWNER: owner, "query_string": urlencode(parameters).encode("latin-1")}


def owner_named(scope: Scope) -> int | None:
    """The only owner whom the address of a call names; None if it names none or several, or not by id."""
    parameters = parse_qsl(scope["query_string"].decode("latin-1"))
    named = {value for name, value in parameters if name in _NAMING_OWNERS}
    if len(named) != 1:
        return None
    (value,) = named
    return int(value) if _OWNER_ID.fullmatch(value) else None


def admission(scope: Scope) -> Admitted:
    """The check for this call. The server's own key is valid as long as the server runs."""
    found: Admitted = scope.get(ADMITTED, _always)
    return found


async def _always() -> bool:
    return True


def sole_owner() -> int | None:
    """The owner to whom this call is limited, or None for the admin."""
    return _owner.get()


@contextmanager
def limit_to_owner(owner: int | None) -> Iterator[None]:
    """Limits a call to this owner within the block, or (None) not at all."""
    before = _owner.set(owner)
    try:
        yield
    finally:
        _owner.reset(before)


def expect_visible(user_id: int) -> None:
    """Raises NotFound for an owner outside the call's session."""
    if _owner.get() not in {None, user_id}:
        raise NotFound(f"there is no user {user_id}")
