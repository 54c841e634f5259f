"""`laplaced worker`: another process on a PostgreSQL store, which works but serves no pages and no REST."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Sequence

from fastapi import FastAPI

from bot.application.app import App
from bot.application.bootstrap import open_app
from bot.runtime.bot import telegram_side
from bot.runtime.http import METRICS_KEYED, metrics_open, server_key
from bot.runtime.loop import stop_signals, work
from bot.simulator.launch import DEFAULT_TOKEN
from bot.telegram.delivery.flood_limits import Budget
from bot.web.http.guard import Guard
from bot.web.http.routers import join
from bot.web.server.health import Readiness, health_router
from bot.web.server.uvicorn import listening, serving_on
from internal.config.settings import Config
from internal.errors import ConfigurationError
from internal.telemetry.logs import log_loop_trouble

log = logging.getLogger(__name__)


async def run(config: Config, *, budget: Budget | None = None) -> int:
    """Works until SIGTERM or SIGINT and returns 0. `budget` is for benchmarks.

    Raises what `open_app` raises, SecondPoller, BadToken, and ConfigurationError if the store is a file.
    """
    api_base, token = telegram_of(config)
    asyncio.get_running_loop().set_exception_handler(log_loop_trouble)
    with stop_signals() as stop:
        async with contextlib.AsyncExitStack() as stack:
            app = await stack.enter_async_context(open_app(config))
            side = await stack.enter_async_context(
                telegram_side(app, api_base, token, budget or Budget(), receives=False)
            )
            ended = await stack.enter_async_context(_health(app))
            await side.resume()
            print(f"Worker {app.membership.name} works.", flush=True)
            try:
                await work(app, side, ended, stop)
            finally:
                log.info("stopping")
                await asyncio.gather(side.stop(), app.runs.drain(6))
    return 0


def telegram_of(config: Config) -> tuple[str, str]:
    """The Bot API's address and the token that this process shares with `laplaced run`.

    Without a configured token those of the local Telegram that `laplaced run` starts on this machine. Raises
    ConfigurationError.
    """
    if not isinstance(config.store, str):
        raise ConfigurationError(
            "a database file belongs to one process, `laplaced run`; for workers beside it set storage.url to a "
            "PostgreSQL database"
        )
    token = config.telegram.token.get_secret_value()
    if token:
        return config.telegram.api_base, token
    if not config.telegram.local.port:
        raise ConfigurationError("without telegram.token a worker finds the local Telegram at telegram.local.port only")
    return f"http://127.0.0.1:{config.telegram.local.port}", DEFAULT_TOKEN


@contextlib.asynccontextmanager
async def _health(app: App) -> AsyncIterator[Sequence[asyncio.Task[None]]]:
    """Serves `/healthz`, `/readyz` and `/metrics` at server.worker_port, if that is set."""
    server = app.config.server
    if server.worker_port is None:
        yield []
        return
    web = FastAPI(openapi_url=None)
    join(web, health_router(app.database, app.metrics, Readiness(app.database, app.clock, lambda: True)))
    keyless = metrics_open(app.config)
    web.add_middleware(
        Guard, api_key=server_key(app), allowed_hosts=server.allowed_hosts, own_secret=[], metrics_open=keyless
    )
    listener = listening(server.host, server.worker_port, "server.worker_port")
    async with serving_on(listener, web) as running:
        if not keyless:
            print(METRICS_KEYED)
        print(f"Health and metrics: {running.url}", flush=True)
        yield [running.ended]
