"""The product without delivery: storage, models and what works in the background. `laplaced archive` needs no more."""

from __future__ import annotations

import contextlib
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from bot.runtime.agents import (
    ask_about_memory,
    background_agents,
    buttons_together,
    notify_user,
    reminder_buttons,
    said,
)
from bot.runtime.database import last_backup, open_database
from bot.runtime.mirror import Mirrors
from bot.runtime.models import Models, entity_types, open_models
from bot.shared.mirror_target import target_of
from bot.web.admin.router import ArchiveReport
from internal.access import repository as users
from internal.access.model import User
from internal.chronicle.model import Session, Trigger
from internal.config import Config
from internal.dialogue import repository as dialogue
from internal.dialogue.buffers import DialogueBuffers
from internal.errors import NotFound
from internal.flows.archival.archive_now import ArchivedCounts, archive_now
from internal.flows.archival.publication import Publication
from internal.flows.correcting.dates import WorkerDates
from internal.flows.correcting.facts import FactCorrections
from internal.flows.forgetting.requests import ForgettingService
from internal.flows.indexing.fragments import FragmentBackfill
from internal.flows.indexing.messages import MessageBackfill
from internal.flows.notifications.questions import QuestionScheduler
from internal.flows.notifications.reminders import ReminderScheduler
from internal.flows.notifications.teams import PromiseNotices
from internal.flows.operations.clock_rollback import ClockRollback
from internal.flows.operations.event_retention import EventRetention
from internal.flows.operations.jobs import Job, Maintenance, drop_settled
from internal.flows.operations.model_call_log import CallRecorder
from internal.flows.operations.nightly import NightlyMaintenance
from internal.flows.runs.loop import RunLoop
from internal.flows.sessions.audit import ChronicleAudit
from internal.flows.sessions.lifecycle import ANALYST, SessionLifecycle
from internal.flows.transfer.export import export_document
from internal.flows.visibility.prompt_filter import PromptFilter
from internal.language.worker.process_pool import LanguageWorker
from internal.recall.index.embed import VectorBackfill
from internal.recall.index.terms import TermsBackfill, WorkerTerms
from internal.recall.messages.search import MessageSearch
from internal.recall.prompt.lessons import LessonRecall
from internal.recall.prompt.memories import MemoryRecall
from internal.recall.prompt.overview import Overview, OverviewSearch, PeopleFinder
from internal.recall.prompt.passages import PassageRecall
from internal.recall.search.knowledge import KnowledgeSearch
from internal.recall.search.names import WorkerNames
from internal.recall.search.people import PeopleSearch
from internal.scheduling import repository as runs
from internal.scheduling.clock import Clock, SystemClock
from internal.scheduling.model import RunState
from internal.scheduling.store_clock import ASKED, StoreClock, clock_of
from internal.scheduling.ticker import Ticker
from internal.scheduling.worker_membership import WorkerMembership
from internal.storage.backup import backup
from internal.storage.database import Database
from internal.storage.engine.data_lock import FolderLock, hold_for
from internal.storage.engine.owner_scope import acting_for
from internal.storage.key_files import ensure_key
from internal.telemetry.logs import redact
from internal.telemetry.metrics import Metrics

log = logging.getLogger(__name__)

ARCHIVE_PATIENCE_S = 600.0
"""How long an order to archive waits for one owner's runs before it reports what is still waiting."""

TICK = "tick"
"""The bell by which processes of one store wake each other to look for what is due."""

CLEANING = timedelta(hours=1)
LOOKING = timedelta(minutes=1)
"""How often it is looked up whose night has come."""


@dataclass(frozen=True, slots=True)
class App:
    """The product without delivery: storage, models and the flows that work in the background."""

    config: Config
    clock: Clock
    lock: FolderLock
    database: Database
    metrics: Metrics
    models: Models
    names: WorkerNames
    dates: WorkerDates
    restating: FactCorrections
    unspoken: PromptFilter
    search: PeopleSearch
    knowledge: KnowledgeSearch
    messages: MessageSearch
    lessons: LessonRecall
    buffers: DialogueBuffers
    ticker: Ticker
    publication: Publication
    chronicling: SessionLifecycle
    auditing: ChronicleAudit
    runs: RunLoop
    vectors: VectorBackfill
    terms: TermsBackfill
    eraser: ForgettingService
    nights: NightlyMaintenance
    wondering: QuestionScheduler
    reminding: ReminderScheduler
    worker: LanguageWorker
    mirrors: Mirrors
    recorder: CallRecorder
    setback: ClockRollback
    duty: WorkerMembership

    async def archive(self, user_id: int | None, backfill: str | None, again: bool = False) -> ArchiveReport:
        """Publishes what waits and works it off; `again` = also what the agent to backfill has worked on.

        Raises NotFound for an unknown user, Refused for an unknown agent.
        """
        owners = await self._owners(user_id)
        before = await self._runs_by_state(owners)
        fragments = 0
        for owner in owners:
            fragments += (await self._order(owner)).fragments
        if backfill is not None:
            fragments += await self.publication.backfill(backfill, owners, again=again)
        for owner in owners:
            await self.runs.work_off(owner, ARCHIVE_PATIENCE_S)
        await self.terms.follow_due()
        await self.vectors.embed_due(calls_for_messages=0)
        after = await self._runs_by_state(owners)
        return ArchiveReport(
            fragments=fragments,
            applied=after[RunState.APPLIED] - before[RunState.APPLIED],
            waiting=sum(after[state] for state in (RunState.DUE, RunState.CLAIMED, RunState.REPLIED)),
            dead=after[RunState.DEAD],
        )

    async def request(self, user_id: int) -> ArchivedCounts:
        """Publishes what is buffered and has it archived now, with what was given up or waits for another attempt."""
        with acting_for(user_id):
            ordered = await self._order(user_id)
        self.ticker.wake()
        return ordered

    async def document(self, user_id: int) -> str:
        """Everything kept for this user, as JSON text."""
        now = self.clock.now()
        with acting_for(user_id):
            return await self.database.read(lambda c: export_document(c, user_id, now=now))

    async def recall(self, user_id: int, query: str, limit: int) -> Overview:
        """What a question brings to mind, at most `limit` of each kind. Raises NotFound for an unknown user."""
        everything = OverviewSearch(self.finder, self.knowledge, self.memories, self.messages)
        with acting_for(user_id):
            await self.database.read(lambda c: users.get(c, user_id))
            return await everything.recall(user_id, query, limit)

    async def close_session(self, user_id: int, command: Trigger | None) -> Session | None:
        """Closes the open session at once and has it published and judged; None if there is none."""
        closed = await self.publication.close_session(user_id, command)
        self.ticker.wake()
        return closed

    def session_ended(self, user_id: int) -> None:
        """A message closed the session before it: that one is to be published and judged now."""
        self.publication.session_ended(user_id)
        self.ticker.wake()

    @property
    def memories(self) -> MemoryRecall:
        return MemoryRecall(self.database, self.knowledge, self.config.memory.associations)

    @property
    def passages(self) -> PassageRecall:
        return PassageRecall(self.messages, self.knowledge)

    @property
    def finder(self) -> PeopleFinder:
        return PeopleFinder(self.database, self.search, self.knowledge)

    async def restore(self) -> int:
        """Fills the buffers with what was said and is in no fragment yet; returns how many dialogues."""
        if not self.buffers.kept:
            return 0
        restored = await self.database.read(dialogue.restorable)
        for state in restored:
            self.buffers.restore(state)
        return len(restored)

    def maintenance(self, delivery: Sequence[Job] = ()) -> Maintenance:
        """What is due by the clock; `delivery` are the jobs of what tells users of it."""
        following = MessageBackfill(self.database, self.ticker.wake)
        return Maintenance(
            self.ticker,
            self.clock,
            [
                Job("server clock", self._ask_clock, ASKED, everywhere=True),
                Job("clock", self._look_at_clock, everywhere=True),
                Job("reminders", self.reminding.fire_due),
                *delivery,
                Job("publication", lambda: self._published(self.publication.publish_due())),
                Job("sessions", lambda: self._published(self.publication.publish_ended()), everywhere=True),
                Job("runs", self.runs.start_ready, everywhere=True),
                Job("fragments", FragmentBackfill(self.database).follow_due),
                Job("messages", following.follow_due),
                Job("terms", self.terms.follow_due),
                Job("vectors", self._embed_due),
                Job("forgetting", self.eraser.erase_due),
                Job("forgotten", self.eraser.follow, everywhere=True),
                Job("nights", self.nights.maintain_due, LOOKING),
                Job("questions", self.wondering.ask_due, LOOKING),
                Job("teams", PromiseNotices(self.database, self.clock, said).tell_due, LOOKING),
                Job("cleaning", lambda: drop_settled(self.database, self.clock), CLEANING),
                Job("calls", self.recorder.drop_old, CLEANING),
                Job("events", EventRetention(self.database, self.clock, self.config.events).drop_old, CLEANING),
                Job("workers", self.duty.drop_lapsed, CLEANING),
                Job("door", self._renew_door, LOOKING, everywhere=True),
            ],
            self.duty,
            modestly=not delivery,
        )

    async def _ask_clock(self) -> None:
        if isinstance(self.clock, StoreClock):
            await self.clock.ask()

    async def _look_at_clock(self) -> None:
        if self.duty.leads:
            await self.setback.look()
        else:
            self.setback.forget()

    async def _published(self, publishing: Awaitable[int]) -> None:
        """What was published is worked on by whoever has a place free: this process looks next, the others now."""
        if await publishing:
            self.database.ring(TICK)

    async def _renew_door(self) -> None:
        self.lock.renew()

    async def _embed_due(self) -> None:
        """Messages one call at a time: embedding all that were ever said takes hours, in which other jobs are due."""
        await self.vectors.embed_due(calls_for_messages=1)
        if self.vectors.more:
            self.ticker.wake()

    async def _order(self, user_id: int) -> ArchivedCounts:
        return await archive_now(self.database, self.clock, self.publication, user_id)

    async def _owners(self, user_id: int | None) -> list[int]:
        everybody: list[User] = await self.database.read(users.everybody)
        ids = [user.user_id for user in everybody]
        if user_id is None:
            return ids
        if user_id not in ids:
            raise NotFound(f"there is no user {user_id}")
        return [user_id]

    async def _runs_by_state(self, owners: list[int]) -> Counter[RunState]:
        total: Counter[RunState] = Counter()
        for owner in owners:
            total.update(await self._counts(owner))
        return total

    async def _counts(self, owner: int) -> dict[RunState, int]:
        with acting_for(owner):
            return await self.database.read(lambda c: runs.counts(c, owner))


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
        redact.tell(hmac_key)
        metrics = Metrics(config.metrics, hmac_key, database.path, mirror=target_of(config.graph))
        last = await last_backup(database, backups)
        if last is not None:
            metrics.backup_finished(last)
        clock = clock or await clock_of(database, metrics)
        recorder = CallRecorder(database, clock)
        stack.push_async_callback(recorder.flush)
        worker = LanguageWorker()
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
        nights=NightlyMaintenance(database, clock, config.memory, metrics),
        wondering=QuestionScheduler(database, clock, config.memory, ask_about_memory),
        reminding=ReminderScheduler(
            database, clock, config.notifications.whole_day_at, reminder_buttons, buttons_together
        ),
        worker=worker,
        mirrors=mirrors,
        recorder=recorder,
        setback=ClockRollback(database, clock, longest=config.runs.retry_max),
        duty=duty,
    )
