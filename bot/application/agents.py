"""The agents that work in the background, and the messages they send a user."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from bot.application.models import Models, entity_types
from internal.access.model import Language, User
from internal.agents.analyst.agent import LIMITS as ANALYST_LIMITS
from internal.agents.archivist.reply.name_matcher import NameMatcher
from internal.agents.ask_model import TranscriptPrompt
from internal.config.agents import AgentConfig
from internal.config.settings import Config
from internal.flows.analyst.handler import REPLY_TOKENS, AnalystHandler
from internal.flows.archivist.handler import ArchivistHandler
from internal.flows.archivist.name_reader import WorkerNameReader
from internal.flows.archivist.reply_guard import ReplyGuard
from internal.flows.archivist.resolve_reply import ReplyResolver
from internal.flows.archivist.write_mentions import MentionFinder
from internal.flows.companion.scheduler import Wording
from internal.flows.context.handler import ContextHandler
from internal.flows.runs.handler import RunHandler
from internal.flows.runs.joint_requests import Together
from internal.flows.tasks.handler import TaskHandler
from internal.language.worker.process_pool import LanguageWorker
from internal.memory.questions.repository import AskedQuestion
from internal.scheduling.clock import Clock
from internal.scheduling.ticker import Ticker
from internal.storage.database import Database
from internal.tasks.model import Task
from internal.telemetry.metrics import Metrics


def background_agents(
    config: Config,
    clock: Clock,
    database: Database,
    metrics: Metrics,
    models: Models,
    worker: LanguageWorker,
    hmac_key: bytes,
    ticker: Ticker,
) -> list[RunHandler[Any, Any]]:
    """The enabled agents that work in the background."""
    reader = WorkerNameReader(worker)
    mentions = MentionFinder(database, reader)
    persona, wake = config.persona.name, ticker.wake
    handlers: list[RunHandler[Any, Any]] = []
    if config.agents.archivist.enabled:
        resolver = ReplyResolver(database, NameMatcher(worker, models.embedder))
        archivist = ArchivistHandler(
            database,
            clock,
            models.archivist,
            reader,
            resolver,
            metrics,
            mentions=mentions,
            types=entity_types(config),
            persona_name=persona,
            tombstone_key=hmac_key,
            ask_owner=ask_owner,
            wake=wake,
            guard=None if models.offline else ReplyGuard(worker),
        )
        handlers.append(archivist)
    if models.analyst is not None:
        limits = ANALYST_LIMITS.overridden_by(config.agents.analyst)
        most = max(1, limits.max_tokens // REPLY_TOKENS)
        analyst = AnalystHandler(
            database, models.analyst, mentions, metrics, persona_name=persona, most_judged=most, wake=wake
        )
        handlers.append(analyst)
    if models.context_manager is not None:
        guard = None if models.offline else worker
        handlers.append(
            ContextHandler(database, models.context_manager, metrics, persona_name=persona, wake=wake, guard=guard)
        )
    if models.task_manager is not None:
        handlers.append(_task_manager(config, database, metrics, models, worker, reader, ticker))
    return handlers


def reading_together(
    config: Config, database: Database, models: Models, handlers: Sequence[RunHandler[Any, Any]]
) -> Together:
    """The archivist, the task manager and the context manager, if they use the same model as the first of them."""
    agents = config.agents
    readers: list[tuple[str, AgentConfig, Callable[[Any], TranscriptPrompt] | None]] = [
        (ArchivistHandler.agent, agents.archivist, getattr(models.archivist, "asking", None)),
        (TaskHandler.agent, agents.task_manager, getattr(models.task_manager, "asking", None)),
        (ContextHandler.agent, agents.context_manager, getattr(models.context_manager, "asking", None)),
    ]
    able = [(name, one.model, asking) for name, one, asking in readers if one.enabled and asking and agents.together]
    together = {name: asking for name, model, asking in able if model == able[0][1]}
    return Together(database, models.chat, handlers, together)


def _task_manager(
    config: Config,
    database: Database,
    metrics: Metrics,
    models: Models,
    worker: LanguageWorker,
    reader: WorkerNameReader,
    ticker: Ticker,
) -> TaskHandler:
    assert models.task_manager is not None
    return TaskHandler(
        database,
        models.task_manager,
        worker,
        reader,
        metrics,
        persona_name=config.persona.name,
        whole_day_at=config.notifications.whole_day_at,
        question=task_question,
        wake=ticker.wake,
        guarded=not models.offline,
    )


def task_question(user: User, task: Task, now: datetime) -> tuple[str, list[list[dict[str, str]]]]:
    from bot.telegram.handlers.tasks.task_text import question

    return question(user, task, now)


def reminder_buttons(user: User, task: Task) -> list[list[dict[str, str]]]:
    from bot.telegram.handlers.tasks.task_text import reminder_buttons as below

    return below(user, task)


def grouped_reminder_buttons(user: User, task: Task) -> list[list[dict[str, str]]]:
    from bot.telegram.handlers.tasks.task_text import grouped_reminder_buttons as below

    return below(user, task)


def companion_wording() -> Wording:
    from bot.telegram.handlers.companion.companion_text import CompanionWording

    return CompanionWording()


def ask_owner(connection: Connection, user_id: int, links: dict[str, str], now: datetime) -> None:
    # Imported here: aiogram takes most of a second, and `laplaced archive` seldom has a question to ask.
    from bot.telegram.handlers.own_initiative import ask_first

    ask_first(connection, user_id, links, now)


def ask_about_memory(connection: Connection, user: User, asked: AskedQuestion, now: datetime) -> None:
    from bot.telegram.handlers.own_initiative import ask_about

    ask_about(connection, user, asked, now)


def notify_user(
    connection: Connection, user_id: int, key: str, dedupe: str, links: dict[str, str], now: datetime
) -> None:
    from bot.telegram.handlers.own_initiative import notify

    notify(connection, user_id, key, dedupe, links, now)


def said(lang: Language, key: str, **values: str) -> str:
    from bot.telegram.i18n import phrase

    return phrase(lang, key, **values)
