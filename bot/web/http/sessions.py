"""The session that a call was made with, and what it may reach."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlencode

from sqlalchemy import Connection
from starlette.types import Scope

from internal.access import repository as users
from internal.access.model import UserState
from internal.console import service as console
from internal.console.model import ConsoleSession
from internal.errors import NotFound
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for_everyone

Recognise = Callable[[str], Awaitable[ConsoleSession | None]]
"""The session of a token, None if it has none (any more)."""

Admitted = Callable[[], Awaitable[bool]]
"""Whether a call's session is still open: an answer without an end must ask from time to time."""

OWNERS_PATHS: Final = (
    "/chronicle", "/console", "/events", "/graph", "/memory", "/messages", "/model-calls", "/notifications", "/people",
    "/snapshots", "/spend", "/tasks", "/teams", "/timeline", "/users",
)  # fmt: skip
"""The paths of an owner's session. Every call there takes `user_id` or `group_id`; all others are the admin's."""

OWNER: Final = "laplaced.owner"
"""The key of the owner in the scope of a call that is limited to one."""

ADMITTED: Final = "laplaced.admitted"
"""The key of the Admitted in the scope of a call that was made with a session."""

_NAMING_OWNERS: Final = ("user_id", "group_id")

_OWNER_ID: Final = re.compile(r"-?[0-9]{1,18}", re.ASCII)

_owner: ContextVar[int | None] = ContextVar("owner", default=None)


@dataclass(frozen=True, slots=True)
class Sessions:
    """Recognises tokens by the database."""

    database: Database
    clock: Clock

    async def __call__(self, token: str) -> ConsoleSession | None:
        now = self.clock.now()

        def work(connection: Connection) -> ConsoleSession | None:
            session = console.find(connection, token, now)
            if session is None or session.user_id is None:
                return session
            user = users.find(connection, session.user_id)
            return session if user is not None and user.state is not UserState.REMOVED else None

        with acting_for_everyone():  # a token alone does not say whose it is
            return await self.database.read(work)


def limited(scope: Scope, owner: int) -> Scope | None:
    """The call limited to this owner: his id is added where none is named. None if the call is not allowed to him."""
    path: str = scope["path"]
    if not any(path == place or path.startswith(f"{place}/") for place in OWNERS_PATHS):
        return None
    parameters = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    if any(value != str(owner) for name, value in parameters if name in _NAMING_OWNERS):
        return None
    named = {name for name, _ in parameters}
    parameters += [(name, str(owner)) for name in _NAMING_OWNERS if name not in named]
    return {**scope, OWNER: owner, "query_string": urlencode(parameters).encode("latin-1")}


def owner_named(scope: Scope) -> int | None:
    """The one owner that the address of a call names; None if it names none or several, or not by an id."""
    parameters = parse_qsl(scope["query_string"].decode("latin-1"))
    named = {value for name, value in parameters if name in _NAMING_OWNERS}
    if len(named) != 1:
        return None
    (value,) = named
    return int(value) if _OWNER_ID.fullmatch(value) else None


def admission(scope: Scope) -> Admitted:
    """Of this call; the server's own key never expires."""
    found: Admitted = scope.get(ADMITTED, _always)
    return found


async def _always() -> bool:
    return True


def sole_owner() -> int | None:
    """The owner whom this call is limited to; None if it is the admin's."""
    return _owner.get()


@contextmanager
def kept_to(owner: int | None) -> Iterator[None]:
    """Limits a call to this owner within the block; None: no limit."""
    before = _owner.set(owner)
    try:
        yield
    finally:
        _owner.reset(before)


def expect_visible(user_id: int) -> None:
    """Raises NotFound for an owner outside the call's session."""
    if _owner.get() not in {None, user_id}:
        raise NotFound(f"there is no user {user_id}")
