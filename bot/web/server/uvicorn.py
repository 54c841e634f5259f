"""Runs uvicorn inside the bot's own event loop, which keeps the signals to itself."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Collection, Iterator
from dataclasses import dataclass

import uvicorn
from starlette.types import ASGIApp

from bot.shared.hosts import proxy_options
from internal.errors import ConfigurationError

GRACE_S = 5
"""Seconds that open requests may take after the server was stopped."""

BACKLOG = 128


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A running server; `url` is its address on this machine; `ended` is done only if it ends before its time."""

    url: str
    port: int
    ended: asyncio.Task[None]


@dataclass(frozen=True, slots=True)
class Listener:
    """A listening socket and its address on this machine. Clients that connect wait until it is served."""

    socket: socket.socket
    url: str

    @property
    def port(self) -> int:
        port: int = self.socket.getsockname()[1]
        return port

    def close(self) -> None:
        self.socket.close()


def listening(host: str, port: int, setting: str = "server.port") -> Listener:
    """Listens there; port 0 takes a free one. Raises ConfigurationError, naming the setting of the port."""
    listener = _listen(host, port, setting)
    return Listener(listener, _local_url(listener))


@contextlib.asynccontextmanager
async def serving(app: ASGIApp, host: str, port: int) -> AsyncIterator[RunningServer]:
    """Listens and serves until the block ends; see `listening` and `serving_on`."""
    async with serving_on(listening(host, port), app) as server:
        yield server


@contextlib.asynccontextmanager
async def serving_on(
    listener: Listener, app: ASGIApp, *, trusted_proxies: Collection[str] = ()
) -> AsyncIterator[RunningServer]:
    """Serves until the block ends, then lets open requests finish and closes the listener."""
    server = _Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=GRACE_S,
            **proxy_options(trusted_proxies),
        )
    )
    port = listener.port
    task = asyncio.create_task(server.serve([listener.socket]), name="http-server")
    try:
        await server.until_started(task)
        yield RunningServer(listener.url, port, task)
    finally:
        server.should_exit = True
        await task


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._listening = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leaves signals to the bot: uvicorn would replace the signal handlers of the whole process."""
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


def _listen(host: str, port: int, setting: str) -> socket.socket:
    """A listening socket. It listens at once, as two sockets that are only bound would not notice each other."""
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
        raise ConfigurationError(f"cannot listen on {host}:{port} (server.host, {setting}): {error.strerror}") from None
    return listener


def _local_url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    if host in {"0.0.0.0", "::"}:
        host = "127.0.0.1" if listener.family == socket.AF_INET else "::1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
