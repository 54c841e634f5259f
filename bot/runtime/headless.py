"""Runs the product without Telegram: `laplaced mcp` opens it if no bot runs."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import Any

from bot.application.app import App
from bot.application.bootstrap import open_app
from bot.application.doctor import Doctor
from bot.application.operations import Operations
from bot.runtime.http import ServerPorts
from internal.config.settings import Config
from internal.telemetry.logs import log_loop_trouble

DRAIN_S = 6
"""Seconds that runs may wait for a model at the end; the next start continues them."""


@contextlib.asynccontextmanager
async def open_alone(config: Config) -> AsyncIterator[tuple[App, ServerPorts]]:
    """The opened product with everything that works in the background. Raises what `open_app` raises."""
    asyncio.get_running_loop().set_exception_handler(log_loop_trouble)
    async with open_app(config) as app:
        await app.restore()
        background = (app.maintenance().run(), app.mirrors.run(app.membership.while_leading), app.recorder.run())
        async with _working(*background, app.database.until_damaged()):
            try:
                yield app, _ports(app)
            finally:
                await app.runs.drain(DRAIN_S)


@contextlib.asynccontextmanager
async def _working(*endless: Coroutine[Any, Any, Any]) -> AsyncIterator[None]:
    """Keeps these coroutines running. If one ends, it has failed: the block is cancelled and its error raised."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in endless]
            yield
            for task in tasks:
                task.cancel()
    except BaseExceptionGroup as several:
        # The first failure ended the others; an exception group would print a traceback instead of one line.
        raise several.exceptions[0] from None


def _ports(app: App) -> ServerPorts:
    """The ports without Telegram: no new users are admitted, and replayed updates wait for the bot."""
    config = app.config
    token = config.telegram.token.get_secret_value()
    telegram = (config.telegram.api_base, token) if token else None
    doctor = Doctor(config, app.clock, running=False, telegram=telegram, observers=[app.metrics, app.recorder])

    async def allows(user_id: int) -> bool:
        return user_id in config.access.allowed_user_ids

    return ServerPorts(
        allows,
        Operations(app.backups, app.database, app.clock, wake=app.ticker.wake),
        lambda: doctor.examine(app.database),
    )
