"""uvicorn inside the bot's own event loop, which keeps the signals to itself."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import uvicorn
from starlette.types import ASGIApp

from internal.errors import ConfigurationError

GRACE_S = 5
"""How long open requests may take once the server is told to stop."""

BACKLOG = 128


@dataclass(frozen=True, slots=True)
class RunningServer:
    """`url` is how a process on this machine reaches it; `ended` is done only if the server ends before its time."""

    url: str
    port: int
    ended: asyncio.Task[None]


@contextlib.asynccontextmanager
async def serving(app: ASGIApp, host: str, port: int) -> AsyncIterator[RunningServer]:
    """Serves until the block ends, then lets open requests finish. Port 0 takes a free one.

    Raises ConfigurationError when it cannot listen there.
    """
    listener = _listen(host, port)
    server = _Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=GRACE_S,
        )
    )
    task = asyncio.create_task(server.serve([listener]), name="http-server")
    try:
        await server.until_started(task)
        yield RunningServer(_local_url(listener), listener.getsockname()[1], task)
    finally:
        server.should_exit = True
        await task


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._listening = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """uvicorn would replace the signal handlers of the whole process; the bot has one owner of signals."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening.set()

    async def until_started(self, task: asyncio.Task[None]) -> None:
        started = asyncio.create_task(self._listening.wait())
        await asyncio.wait({started, task}, return_when=asyncio.FIRST_COMPLETED)
        started.cancel()
        if task.done():
            task.result()


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket. It listens at once: two that are only bound would not notice each other."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ConfigurationError(f"server.host {host} cannot be listened on: {error.strerror}") from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise ConfigurationError(
            f"cannot listen on {host}:{port} (server.host, server.port): {error.strerror}"
        ) from None
    return listener


def _local_url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    if host in {"0.0.0.0", "::"}:
        host = "127.0.0.1" if listener.family == socket.AF_INET else "::1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
