"""The composition root of `laplaced run`: everything is built on one exit stack and stopped in reverse order.

`bot/application` builds the product without delivery; this adds Telegram, HTTP and the clock. Tests call it too.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from bot.application.app import App
from bot.application.artifacts import artifact_reading, file_imports, speaker
from bot.application.bootstrap import open_app
from bot.application.doctor import Doctor
from bot.application.operations import Operations
from bot.runtime.http import METRICS_KEYED, RunningServers, ServerPorts, metrics_open, serve_rest_and_mcp
from bot.runtime.loop import restart_signal, stop_signals, work
from bot.runtime.turns import turn_flow
from bot.shared.child_process import kept_alive, started_child
from bot.shared.hosts import local_address
from bot.simulator.client import ControlClient
from bot.simulator.launch import LocalTelegram, of_config
from bot.telegram.delivery.drafts import TelegramDrafts
from bot.telegram.delivery.flood_limits import Budget
from bot.telegram.delivery.sender import Sender
from bot.telegram.dispatcher import DispatcherHandlers
from bot.telegram.files import TelegramFiles
from bot.telegram.handlers import build_router
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from bot.telegram.intake.admission import AccessPolicy
from bot.telegram.intake.lanes import Lanes
from bot.telegram.intake.polling import Poller
from bot.telegram.intake.update_handler import Ingest
from bot.telegram.intake.update_kinds import ALLOWED_UPDATES, BUSINESS
from bot.telegram.menu import ChatMenus
from bot.telegram.service import (
    PollMonitor,
    TelegramService,
    WorkerShare,
    open_bot,
    set_webhook,
    webhook_update,
    webhook_url,
)
from bot.web.admin.simulator import Simulator
from bot.web.miniapp.router import PAGE as MINIAPP
from bot.web.server.telegram_webhook import Webhook
from internal.access import repository as users, service as access
from internal.config.settings import Config
from internal.flows.correcting.facts import WorkerDates
from internal.flows.tasks.parse import TaskParser
from internal.flows.turn.as_of import AsOfQuestions
from internal.flows.turn.delivery import Delivery
from internal.flows.turn.intake import Intake
from internal.language.text.morphology import INSTALL_UKRAINIAN, has_ukrainian_dictionary
from internal.llm.presets import Found, find_local
from internal.scheduling.clock import Clock
from internal.scheduling.shards import ALL_SHARDS, Shards, WorkerShards
from internal.storage.files.keys import ensure_key
from internal.telemetry.logs import log_loop_trouble, redact

log = logging.getLogger(__name__)

AGAIN = 64
"""The exit code of `run` if the bot is to be started again with a changed configuration."""


@dataclass(frozen=True, slots=True)
class RunningBot:
    """The running bot: `telegram` is the Bot API's address, `rest` that of the HTTP server."""

    app: App
    side: TelegramService
    telegram: str
    rest: str


class SimulationDriver(Simulator, Protocol):
    """A simulation that runs beside the bot and moves its clock. When it ends, the bot ends."""

    @property
    def clock(self) -> Clock: ...

    async def run(self, running: RunningBot) -> None: ...


async def run(
    config: Config,
    *,
    local: LocalTelegram | None = None,
    budget: Budget | None = None,
    simulation: SimulationDriver | None = None,
) -> int:
    """Runs the bot until SIGTERM or SIGINT and returns 0, or until SIGUSR1 and returns `AGAIN`.

    `local` is the local Telegram, if it was started already, while this module was imported.
    `budget` replaces Telegram's own limits in benchmarks. The clock is that of the `simulation`, which runs
    as long as the bot does, or the system's without one.

    Raises what `open_app` raises, and SecondPoller, BadToken, LocalTelegramFailed or ConfigurationError.
    """
    asyncio.get_running_loop().set_exception_handler(log_loop_trouble)
    with stop_signals() as stop, restart_signal(stop) as again:
        async with contextlib.AsyncExitStack() as stack:
            found = asyncio.create_task(find_local() if config.offline_models else _nothing())  # while the rest starts
            clock = None if simulation is None else simulation.clock
            app = await stack.enter_async_context(open_app(config, clock=clock))
            await app.restore()
            api_base, token = await _telegram_address(config, local, stack)
            side = await stack.enter_async_context(telegram_side(app, api_base, token, budget or Budget()))
            server = await stack.enter_async_context(_web(app, side, api_base, token, simulation))
            app.lock.announce(server.rest.url)
            await side.resume()
            await _greet(app, api_base, server, await found)
            try:
                beside = (
                    [] if simulation is None else [simulation.run(RunningBot(app, side, api_base, server.rest.url))]
                )
                await work(app, side, server.ended, stop, beside)
            finally:
                log.info("stopping")
                await asyncio.gather(side.stop(), app.runs.drain(6))
    return AGAIN if again.is_set() else 0


async def _telegram_address(
    config: Config, local: LocalTelegram | None, stack: contextlib.AsyncExitStack
) -> tuple[str, str]:
    """The Bot API's address and the token; without a configured token, those of a local Telegram."""
    token = config.telegram.token.get_secret_value()
    if token:
        return config.telegram.api_base, token
    if local is None:
        local = of_config(config)
        await stack.enter_async_context(started_child(local))
    await local.ready()
    await stack.enter_async_context(kept_alive(local))
    redact.register(local.token)
    return local.url, local.token


@contextlib.asynccontextmanager
async def telegram_side(
    app: App, api_base: str, token: str, budget: Budget, *, receives: bool = True
) -> AsyncIterator[TelegramService]:
    """Builds the parts between Telegram and the flows. `receives`: Telegram calls the webhook of this process."""
    config, database, clock, metrics = app.config, app.database, app.clock, app.metrics
    bot = open_bot(config.telegram, api_base, token)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(bot.session.close)
        await _notice_token(app, bot.id)
        delivery = Delivery(database, clock, phrase)
        part = None
        if database.shared:
            part = WorkerShare(
                database, app.membership.leases, WorkerShards(app.membership.leases, counted=budget.share)
            )
        shards: Shards = ALL_SHARDS if part is None else part.shards
        rich = config.telegram.rich_messages
        sender = Sender(bot, delivery, budget, metrics, clock, shards, speaker(app), rich=rich)
        drafts = TelegramDrafts(bot, budget, database, clock, sender.wake)
        stack.push_async_callback(drafts.close)
        reading = artifact_reading(app, TelegramFiles(bot), label)
        turns = turn_flow(app, drafts, sender.wake, reading)
        lanes = Lanes(database, clock, turns, shards)
        menus = ChatMenus(bot, miniapp_address(config))
        ingest = Ingest(
            bot,
            database,
            clock,
            intake=Intake(
                database,
                clock,
                app.buffers,
                config.access,
                phrase,
                config.telegram.group_window,
                app.lifecycle,
                reading.kinds,
            ),
            lanes=lanes,
            turns=turns,
            drafts=drafts,
            handlers=DispatcherHandlers(bot, database, clock, build_router(_services(app, menus))),
            policy=AccessPolicy(frozenset(config.access.allowed_user_ids), config.local_telegram),
            phrases=phrase,
            menu=menus,
            wake_outbox=sender.wake,
            observer=metrics,
            session_ended=app.session_ended,
            shards=shards,
            groups=config.groups,
            business=config.business.enabled,
        )
        monitor = PollMonitor(metrics, clock)
        poller: Poller | None = None
        kinds = ALLOWED_UPDATES + (BUSINESS if config.business.enabled else ())
        if config.telegram.mode == "polling":
            own = await _own_webhooks(app, bot.id)
            poller = Poller(f"{api_base.rstrip('/')}/bot{token}", ingest.accept, monitor, own_webhooks=own, kinds=kinds)
        elif receives:
            await set_webhook(bot, config.telegram, _webhook_secret(config), kinds)
            url = webhook_url(config.telegram)
            await database.write(lambda c: users.write_setting(c, f"webhook:{bot.id}", url))
        yield TelegramService(bot, ingest, lanes, sender, drafts, delivery, poller, monitor, menus, part, reading)


def _services(app: App, menus: ChatMenus) -> Services:
    return Services(
        app.database,
        app.clock,
        app.config,
        archival=app,
        export=app,
        names=app.searches.names,
        menu=menus,
        knowledge=app.searches.knowledge,
        messages=app.searches.messages,
        past=AsOfQuestions(app.database, app.searches.facts, app.models.responder, app.config.persona),
        dates=WorkerDates(app.worker),
        corrections=app.corrections,
        sessions=app,
        task_words=TaskParser(app.worker),
        maps=app.people_maps,
        contacts=app.contacts,
        reflections=app.reflections,
        file_imports=file_imports(app),
        refused=app.recorder.refused,
    )


@contextlib.asynccontextmanager
async def _web(
    app: App, side: TelegramService, api_base: str, token: str, simulator: Simulator | None
) -> AsyncIterator[RunningServers]:
    config = app.config

    async def accept(body: bytes) -> None:
        await side.ingest.accept([webhook_update(body)])

    async def allows(user_id: int) -> bool:
        if user_id in config.access.allowed_user_ids:
            return True
        if not config.local_telegram:
            return False
        async with ControlClient(api_base) as telegram:
            return await telegram.knows(user_id)

    webhook = None
    if side.poller is None:
        host = urlsplit(config.telegram.webhook.url).hostname or ""
        webhook = Webhook(config.telegram.webhook.path, _webhook_secret(config), host, accept)
    doctor = Doctor(
        config,
        app.clock,
        running=True,
        telegram=(api_base, token),
        observers=[app.metrics, app.recorder],
        chat=app.models.chat,
    )
    take_up = side.ingest.inbox_worker.take_up
    operations = Operations(app.backups, app.database, app.clock, take_up=take_up, wake=app.ticker.wake)
    ports = ServerPorts(
        allows=allows,
        operations=operations,
        examine=lambda: doctor.examine(app.database),
        poll_fresh=side.monitor.fresh if side.poller is not None else lambda: True,
        webhook=webhook,
        chat_page=api_base if config.local_telegram else None,
        simulator=simulator,
        bot_token=token,
    )
    async with serve_rest_and_mcp(app, ports) as server:
        yield server


def _webhook_secret(config: Config) -> str:
    secret = config.telegram.webhook.secret.get_secret_value() or ensure_key(config.data_dir, "webhook_secret")
    redact.register(secret)
    return secret


async def _own_webhooks(app: App, bot_id: int) -> list[str]:
    """The webhook address that this program set for the bot before, and the one that it would set now."""
    before = await app.database.read(lambda c: users.read_setting(c, f"webhook:{bot_id}"))
    return [url for url in (before, webhook_url(app.config.telegram)) if url]


def miniapp_address(config: Config) -> str:
    """The Mini App's address: over https, or on this machine from the local Telegram; empty if there is none."""
    server = config.server
    if server.public_url.startswith("https://"):
        return f"{server.public_url.rstrip('/')}{MINIAPP}"
    return f"{local_address(server.host, server.port)}{MINIAPP}" if config.local_telegram and server.port else ""


async def _notice_token(app: App, bot_id: int) -> None:
    """Records a change of the token, which means another bot: its chats, message ids and update ids are different."""
    known = await app.database.read(lambda c: users.read_setting(c, "bot_id"))
    if known == bot_id:
        return
    await app.database.write(lambda c: users.write_setting(c, "bot_id", bot_id))
    if known is not None:
        log.warning("bot_changed", extra={"before": known, "now": bot_id})


async def _nothing() -> list[Found]:
    return []


async def _greet(app: App, api_base: str, server: RunningServers, found: Sequence[Found]) -> None:
    """Prints to stdout what a person at the terminal needs to know; logs go to stderr."""
    config = app.config
    if config.local_telegram:
        print(f"No Telegram token: the local Telegram answers. Open {api_base} and write to {config.persona.name}.")
    else:
        code = await app.database.write(access.issue_owner_code)
        if code is not None:
            print(f"The bot has no owner yet. Send it this message, once: /start {code}")
    if app.models.offline:
        print("No model key: the offline models answer, by rules and quotes. For real ones: laplaced setup")
    for one in found:
        chosen = f"--provider {one.preset.name}{f' --model {one.models[0]}' if one.models else ''}"
        has = ", ".join(one.models[:3]) + (" ..." if len(one.models) > 3 else "") or "no model yet"
        print(f"{one.preset.title} runs on this machine ({has}) and is not used. To use it: laplaced setup {chosen}")
    if not has_ukrainian_dictionary():
        log.warning("ukrainian_dictionary_missing", extra={"fix": INSTALL_UKRAINIAN})
    print(f"MCP: {server.mcp}")
    if server.console is not None:
        print(f"Console: {server.console} (log in with the key in {config.data_dir / 'server_api_key'}, or /console)")
    if not metrics_open(config):
        print(METRICS_KEYED)
    print(f"Health, metrics and REST: {server.rest.url}", flush=True)
