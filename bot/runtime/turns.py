"""Builds the flow of turns from the application's parts."""

from collections.abc import Callable

from bot.application.app import App
from bot.application.artifacts import shown_pictures
from bot.telegram.handlers.cards import TelegramCards
from bot.telegram.handlers.tasks.task_text import confirmation_in_turn
from bot.telegram.i18n import phrase
from bot.telegram.rendering import render
from internal.agents.responder.agent import ModelResponder
from internal.flows.archivist.name_reader import WorkerNameReader
from internal.flows.turn.answer import Drafts, TurnFlow
from internal.flows.turn.commands.apply import CommandFlow
from internal.flows.turn.commands.meant_pages import MeantPages
from internal.flows.turn.commands.reminder_requests import ReminderRequests
from internal.flows.turn.discretion import Discretion
from internal.flows.turn.files import Files
from internal.flows.turn.prompt import Prompts
from internal.flows.turn.tools.web_pages import Web
from internal.llm.offline.embedder import OfflineEmbedder
from internal.recall.prompt.context import RecallLimits, TurnRecall


def turn_flow(app: App, drafts: Drafts, wake_outbox: Callable[[], None], files: Files | None = None) -> TurnFlow:
    """The flow of turns of an app; answers are shown in `drafts` while they are written."""
    models, config = app.models, app.config
    return TurnFlow(
        app.database,
        app.clock,
        app.buffers,
        prompts(app, discretion_of(app)),
        models.responder,
        render=render,
        phrases=phrase,
        drafts=drafts,
        observer=app.metrics,
        wake_outbox=wake_outbox,
        lifecycle=app.lifecycle,
        plasticity=app.nights.plasticity,
        reminders=_requests(app) if config.agents.task_manager.enabled else None,
        commands=_commands(app),
        web=Web(config.web, app.worker),
        files=files,
    )


def discretion_of(app: App) -> Discretion:
    """The rules of discretion. They always use the built-in embedder, whichever one recall uses."""
    embedder = app.models.embedder
    built_in = embedder if isinstance(embedder, OfflineEmbedder) else OfflineEmbedder(app.worker)
    return Discretion(app.database, built_in)


def prompts(app: App, discretion: Discretion | None) -> Prompts:
    """The builder of the responder's requests; without `discretion` they contain everything recalled."""
    models, config = app.models, app.config
    recall = TurnRecall(
        app.database,
        app.searches.people,
        models.embedder,
        enricher=models.enricher,
        reranker=models.reranker,
        names=app.searches.names,
        facts=app.searches.facts,
        memories=app.searches.memories,
        passages=app.searches.passages,
        lessons=app.searches.lessons,
        limits=RecallLimits.of(config),
        observer=app.metrics,
    )
    about = (config.agents.responder, config.persona, app.prompt_filter, app.life)
    return Prompts(recall, app.clock, *about, shown_pictures(app), discretion)


def _commands(app: App) -> CommandFlow:
    embedder = app.models.embedder
    return CommandFlow(
        app.database,
        app.clock,
        app.worker,
        app.searches.knowledge,
        app.corrections,
        TelegramCards(),
        app.config.notifications.whole_day_at,
        converses=isinstance(app.models.responder, ModelResponder),
        speaks=app.models.speech is not None,
        read_first=app.read_now,
        pages=MeantPages(app.database, embedder, app.worker) if isinstance(embedder, OfflineEmbedder) else None,
    )


def _requests(app: App) -> ReminderRequests:
    whole_day_at, reader = app.config.notifications.whole_day_at, WorkerNameReader(app.worker)
    return ReminderRequests(
        app.database, app.worker, reader, app.metrics, whole_day_at=whole_day_at, render=confirmation_in_turn
    )
