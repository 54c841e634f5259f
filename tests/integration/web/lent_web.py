"""Applications that are built once and lent from stage to stage: to build one takes a fifth of a second."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from fastapi import FastAPI
from fastapi.routing import APIRoute

from bot.web.app import build_web
from bot.web.chronicle import Chronicle
from bot.web.console import Console, console_router
from bot.web.cypher import Cypher
from bot.web.graph import Graph
from bot.web.memory import Memory

SERVER_KEY = "server-key-of-the-tests"


class Port:
    """Leads to the port of the stage that has the application. While none has it, any use fails."""

    def __init__(self) -> None:
        self.to: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.to, name)

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self.to(*args, **named)


class LentWeb:
    """The application over ports that lead nowhere yet: whatever took something of a port for good could not be built.

    `ports` by name: what `build_web` is given, and the parts of what it is given.
    """

    def __init__(self) -> None:
        names = (
            "database metrics clock owners archive stopping search finder taking messages auditing erase maintain "
            "ask rebuild"
        )
        self.ports = {name: Port() for name in names.split()}
        port = cast("dict[str, Any]", self.ports)
        self.app: FastAPI = build_web(
            **{name: port[name] for name in ("database", "metrics", "clock", "owners", "archive", "stopping")},
            api_key=SERVER_KEY,
            allowed_hosts=[],
            poll_fresh=lambda: True,
            graph=Graph(*(port[name] for name in ("search", "finder", "taking", "messages"))),
            chronicle=Chronicle(port["auditing"], "Laplaced"),
            memory=Memory(port["erase"], port["maintain"], port["search"]),
            cypher=Cypher(port["ask"], port["rebuild"]),
        )

    def lead(self, to: dict[str, Any]) -> None:
        for name, port in self.ports.items():
            port.to = to[name]
        self._forget_logins()

    def leave(self) -> None:
        for port in self.ports.values():
            port.to = None

    def _forget_logins(self) -> None:
        """Failed logins are the one thing that the application itself keeps; its calls for them are made anew."""
        database, clock = cast("Any", self.ports["database"]), cast("Any", self.ports["clock"])
        fresh = {
            route.path: route
            for route in console_router(database, clock, Console(SERVER_KEY)).routes
            if isinstance(route, APIRoute)
        }
        routes = self.app.router.routes
        routes[:] = [fresh.get(route.path, route) if isinstance(route, APIRoute) else route for route in routes]


_IDLE: list[LentWeb] = []


@contextmanager
def lent_web(**ports: Any) -> Iterator[FastAPI]:
    """An application that nobody else has, over these ports (`LentWeb.ports`)."""
    lent = _IDLE.pop() if _IDLE else LentWeb()
    lent.lead(ports)
    try:
        yield lent.app
    finally:
        lent.leave()
        _IDLE.append(lent)
