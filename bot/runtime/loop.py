"""The main loop of `laplaced run` and `laplaced worker`, until the process is stopped."""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Coroutine, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from bot.application.app import App
from bot.application.database import last_backup
from bot.telegram.rendering import render, render_plain
from bot.telegram.service import PollMonitor, TelegramService
from internal.access import repository as users
from internal.access.model import Role
from internal.flows.notifications.decisions import NotificationScheduler
from internal.flows.notifications.deliver import Rendering
from internal.flows.operations.jobs import Job
from internal.recall.search.warm_up import WarmableSearch, WarmUp
from internal.storage.backup import backup

POLLED = "polled_at"
"""The setting with the time when the polling process last got an answer, for all processes."""

FIGURES_EVERY = timedelta(seconds=20)


async def work(
    app: App,
    side: TelegramService,
    ended: Sequence[asyncio.Task[None]],
    stop: asyncio.Event,
    beside: Sequence[Coroutine[Any, Any, None]] = (),
) -> None:
    """Keeps everything running until it is stopped. A task that ends by itself has failed: its error ends the program.

    `ended` are further tasks, such as servers, with the same effect.
    """
    notifying = _notifying(app, side.sender.wake)
    jobs = [Job("notifications", notifying.start_due)]
    if side.reading is not None:
        jobs.append(Job("files", partial(side.read_files, side.reading), aside=True))
    if app.database.shared:
        jobs.append(Job("figures", lambda: _share_figures(app, side.monitor), FIGURES_EVERY, everywhere=True))
    maintenance = app.maintenance(jobs)
    endless = [
        *beside,
        *side.work(),
        maintenance.run(),
        app.mirrors.run(app.membership.while_leading),
        app.recorder.run(),
    ]
    endless.append(app.database.until_damaged())
    tasks = [asyncio.create_task(job) for job in endless]
    stopping = asyncio.create_task(stop.wait())
    caches: list[WarmableSearch] = [app.searches.messages, app.searches.knowledge, app.searches.people]
    once = [_keep_menus(app, side), WarmUp(app.database, caches).run()]
    begun = [asyncio.create_task(job) for job in once]
    try:
        done, _ = await asyncio.wait([*tasks, stopping, *ended], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (*tasks, stopping, *begun):
            task.cancel()
        await asyncio.gather(*tasks, stopping, *begun, notifying.stop(), return_exceptions=True)
    for task in done - {stopping}:
        task.result()


async def _share_figures(app: App, monitor: PollMonitor) -> None:
    """Shares figures that one process measures, so that every process exposes them to alerts."""
    if not monitor.standing_by and monitor.last is not None:
        polled = monitor.last.isoformat()
        await app.database.write(lambda c: users.write_setting(c, POLLED, polled))
    elif monitor.standing_by:
        polled_at = await app.database.read(lambda c: users.read_setting(c, POLLED))
        if polled_at is not None:
            app.metrics.polled(datetime.fromisoformat(polled_at))
    last = await last_backup(app.database, backup.folder_of(app.config.data_dir))
    if last is not None:
        app.metrics.backup_finished(last)


def _notifying(app: App, wake_outbox: Callable[[], None]) -> NotificationScheduler:
    config = app.config
    return NotificationScheduler(
        app.database,
        app.clock,
        app.models.context_manager,
        quiet_hours=config.notifications.quiet_hours,
        persona_name=config.persona.name,
        daily_cost_usd=config.access.daily_cost_usd,
        rendering=Rendering(render, render_plain),
        observer=app.metrics,
        wake_outbox=wake_outbox,
    )


async def _keep_menus(app: App, side: TelegramService) -> None:
    everybody = await app.database.read(users.everybody)
    await side.menus.keep([user for user in everybody if user.role is Role.OWNER])


@contextlib.contextmanager
def stop_signals() -> Iterator[asyncio.Event]:
    """An event that is set by SIGTERM and SIGINT."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signal_number, stop.set)
    try:
        yield stop
    finally:
        for signal_number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(signal_number)


@contextlib.contextmanager
def restart_signal(stop: asyncio.Event) -> Iterator[asyncio.Event]:
    """An event that is set by SIGUSR1, together with `stop`."""
    loop, again = asyncio.get_running_loop(), asyncio.Event()

    def restart() -> None:
        again.set()
        stop.set()

    loop.add_signal_handler(signal.SIGUSR1, restart)
    try:
        yield again
    finally:
        loop.remove_signal_handler(signal.SIGUSR1)
