"""Builds the product without delivery on one exit stack: storage, models, and what works in the background."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from bot.application.agents import (
    ask_about_memory,
    background_agents,
    grouped_reminder_buttons,
    notify_user,
    reminder_buttons,
)
from bot.application.app import TICK, App
from bot.application.backups import Backups
from bot.application.database import last_backup, open_database
from bot.application.mirror import Mirrors
from bot.application.models import Models, entity_types, open_models
from bot.shared.mirror_target import target_of
from internal.config import Config
from internal.dialogue.buffers import DialogueBuffers
from internal.flows.archival.publication import Publication
from internal.flows.correcting.dates import WorkerDates
from internal.flows.correcting.facts import FactCorrections
from internal.flows.forgetting.requests import ForgettingService
from internal.flows.notifications.questions import QuestionScheduler
from internal.flows.notifications.reminders import ReminderScheduler
from internal.flows.operations.clock_rollback import ClockRollback
from internal.flows.operations.model_call_log import CallRecorder
from internal.flows.operations.nightly import NightlyMaintenance
from internal.flows.runs.loop import RunLoop
from internal.flows.sessions.audit import ChronicleAudit
from internal.flows.sessions.lifecycle import ANALYST, SessionLifecycle
from internal.flows.visibility.prompt_filter import PromptFilter
from internal.language.worker.process_pool import LanguageWorker
from internal.recall.index.embed import VectorBackfill
from internal.recall.index.terms import TermsBackfill, WorkerTerms
from internal.recall.messages.search import MessageSearch
from internal.recall.prompt.lessons import LessonRecall
from internal.recall.search.knowledge import KnowledgeSearch
from internal.recall.search.names import WorkerNames
from internal.recall.search.people import PeopleSearch
from internal.scheduling.clock import Clock, SystemClock
from internal.scheduling.store_clock import clock_of
from internal.scheduling.ticker import Ticker
from internal.scheduling.worker_membership import WorkerMembership
from internal.storage.backup import backup
from internal.storage.database import Database
from internal.storage.engine.data_lock import FolderLock, hold_for
from internal.storage.engine.owner_scope import current_scope
from internal.storage.key_files import ensure_key
from internal.telemetry.logs import redact
from internal.telemetry.metrics import Metrics


@contextlib.asynccontextmanager
async def open_app(config: Config, *, clock: Clock | None = None) -> AsyncIterator[App]:
    """Takes the data folder, opens and migrates the database, builds the models.

    Without a `clock` everything goes by the server's, or by this machine's where the store is a file. Raises
    StorageLocked, StorageError, SchemaTooNew and ConfigurationError.
    """
    async with contextlib.AsyncExitStack() as stack:
        lock = stack.enter_context(hold_for(config.store, config.data_dir))
        backups = backup.folder_of(config.data_dir)
        database = await stack.enter_async_context(open_database(config.store, backups, clock or SystemClock()))
        hmac_key = ensure_key(config.data_dir, "hmac_key")
        redact.register(hmac_key)
        metrics = Metrics(config.metrics, hmac_key, database.path, mirror=target_of(config.graph))
        last = await last_backup(database, backups)
        if last is not None:
            metrics.backup_finished(last)
        clock = clock or await clock_of(database, metrics)
        recorder = CallRecorder(database, clock)
        stack.push_async_callback(recorder.flush)
        worker = LanguageWorker(current_scope)
        stack.push_async_callback(worker.close)
        models = await stack.enter_async_context(open_models(config, worker, [metrics, recorder]))
        mirrors = await stack.enter_async_context(Mirrors(config, database, clock).opened())
        app = _assemble(config, clock, lock, database, metrics, recorder, models, mirrors, worker, hmac_key.encode())
        async with app.duty.on():
            yield app


def _assemble(
    config: Config,
    clock: Clock,
    lock: FolderLock,
    database: Database,
    metrics: Metrics,
    recorder: CallRecorder,
    models: Models,
    mirrors: Mirrors,
    worker: LanguageWorker,
    hmac_key: bytes,
) -> App:
    names, terms = WorkerNames(worker), WorkerTerms(worker)
    ticker = Ticker(config.scheduler.tick, lambda: database.ring(TICK))
    database.when_rung(TICK, lambda _: ticker.wake_here())
    buffers = DialogueBuffers(kept=not database.shared)
    duty = WorkerMembership(database, ticker.wake_here)
    search = PeopleSearch(database, models.embedder, names=names, observer=metrics)
    knowledge = KnowledgeSearch(
        database,
        clock,
        embedder=models.embedder,
        terms=terms,
        names=names,
        types=entity_types(config),
        observer=metrics,
    )
    messages = MessageSearch(database, clock, embedder=models.embedder, terms=terms, names=names, observer=metrics)
    handlers = background_agents(config, clock, database, metrics, models, worker, hmac_key, ticker)
    chronicling = SessionLifecycle([handler.agent for handler in handlers if handler.agent == ANALYST])
    return App(
        config=config,
        clock=clock,
        lock=lock,
        database=database,
        metrics=metrics,
        models=models,
        names=names,
        dates=WorkerDates(worker),
        restating=FactCorrections(database, clock, worker, hmac_key),
        unspoken=PromptFilter(database, hmac_key),
        search=search,
        knowledge=knowledge,
        messages=messages,
        lessons=LessonRecall(database, clock, terms, metrics),
        buffers=buffers,
        ticker=ticker,
        publication=Publication(
            database,
            clock,
            buffers,
            config.dialogue,
            [handler.agent for handler in handlers if handler.agent != ANALYST],
            chronicling,
        ),
        chronicling=chronicling,
        auditing=ChronicleAudit(database, clock, worker, chronicling),
        runs=RunLoop(
            database,
            clock,
            handlers,
            config.runs,
            metrics,
            config.access.daily_cost_usd,
            notify_user,
            duty.name if database.shared else None,
        ),
        vectors=VectorBackfill(
            database,
            models.embedder,
            clock,
            retry_base=config.runs.retry_base,
            retry_max=config.runs.retry_max,
        ),
        terms=TermsBackfill(database, terms),
        eraser=ForgettingService(
            database,
            clock,
            hmac_key,
            [buffers, search, knowledge, messages],
            lambda: backup.listing(backup.folder_of(config.data_dir)),
        ),
        backups=Backups(config, database, clock, metrics.backup_finished),
        nights=NightlyMaintenance(database, clock, config.memory, metrics),
        wondering=QuestionScheduler(database, clock, config.memory, ask_about_memory),
        reminding=ReminderScheduler(
            database, clock, config.notifications.whole_day_at, reminder_buttons, grouped_reminder_buttons
        ),
        worker=worker,
        mirrors=mirrors,
        recorder=recorder,
        setback=ClockRollback(database, clock, longest=config.runs.retry_max),
        duty=duty,
    )
