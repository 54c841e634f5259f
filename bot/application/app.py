"""The product without delivery, which is all that `laplaced archive` needs. `bootstrap` opens it."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Sequence
from datetime import timedelta

from bot.application.agents import (
    ask_about_memory,
    background_agents,
    companion_wording,
    grouped_reminder_buttons,
    notify_user,
    reading_together,
    reminder_buttons,
    said,
)
from bot.application.backups import Backups
from bot.application.contacts import contact_sync
from bot.application.mirror import Mirrors
from bot.application.models import Models
from bot.application.searches import Searches
from bot.web.admin.operations import ArchiveReport
from internal.access import repository as users
from internal.access.model import User
from internal.artifacts.store import ArtifactStore
from internal.chronicle.model import Session, SessionCommand
from internal.config.settings import Config
from internal.dialogue import repository as dialogue
from internal.dialogue.buffers import DialogueBuffers
from internal.errors import NotFound
from internal.flows.archival.archive_now import ArchivedCounts, archive_now
from internal.flows.archival.publication import Publication
from internal.flows.artifacts.file_bytes import MOST_IN_CHAT, UnusedFiles, files_of
from internal.flows.companion.contacts import Contacts
from internal.flows.companion.scheduler import CompanionScheduler
from internal.flows.contacts.imports import ContactBook
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
from internal.flows.reflections.past_questions import LifeAnswers
from internal.flows.reflections.service import Reflections
from internal.flows.runs.loop import RunLoop
from internal.flows.sessions.audit import ChronicleAudit
from internal.flows.sessions.lifecycle import ANALYST, SessionLifecycle
from internal.flows.transfer.export import export_document
from internal.flows.views.people_map import PeopleMaps
from internal.flows.views.status import reading_state
from internal.flows.visibility.prompt_filter import PromptFilter
from internal.language.worker.process_pool import LanguageWorker
from internal.recall.index.embed import VectorBackfill
from internal.recall.index.terms import TermsBackfill
from internal.scheduling import run_repository as runs
from internal.scheduling.clock import Clock
from internal.scheduling.run import RunState
from internal.scheduling.store_clock import ASKED, StoreClock
from internal.scheduling.ticker import Ticker
from internal.scheduling.worker_membership import WorkerMembership
from internal.storage.backup import backup
from internal.storage.database import Database
from internal.storage.engine.data_lock import FolderLock
from internal.storage.engine.owner_scope import acting_for
from internal.tasks.model import time_of_day
from internal.telemetry.metrics import Metrics
from internal.text_caches import TextHolder

READ_POLLS = 60
"""Polls of `read_now`; if messages are still unread after the last one, the card to forget says so."""
READ_POLL_S = 0.2
"""Seconds between two polls of `read_now`."""

log = logging.getLogger(__name__)

ARCHIVE_PATIENCE_S = 600.0
"""Seconds that an order to archive waits for one owner's runs before it reports what still waits."""

TICK = "tick"
"""The signal by which processes of one store wake each other to look for work."""

CLEANING = timedelta(hours=1)
MAINTENANCE_POLL = timedelta(minutes=1)
"""How often the program looks for owners whose nightly maintenance is due."""

SMALL_CALLS = 8
"""Most calls of the embedder at a tick that are not full."""


class App:
    """The product without delivery: storage, models and the flows that work in the background."""

    def __init__(
        self,
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
    ) -> None:
        self.config, self.clock, self.lock, self.database, self.metrics = config, clock, lock, database, metrics
        self.recorder, self.models, self.mirrors, self.worker = recorder, models, mirrors, worker
        self.ticker = Ticker(config.scheduler.tick, lambda: database.ring(TICK))
        database.when_rung(TICK, lambda _: self.ticker.wake_here())
        self.buffers = DialogueBuffers(kept=not database.shared)
        self.membership = WorkerMembership(database, self.ticker.wake_here)
        self.searches = Searches(config, clock, database, metrics, models, worker)
        self.corrections = FactCorrections(database, clock, worker, hmac_key)
        self.prompt_filter = PromptFilter(database, hmac_key)
        self.contacts = ContactBook(database, clock, worker, hmac_key)
        self.contact_sync = contact_sync(config, database, clock, self.contacts, metrics)
        self.people_maps = PeopleMaps(database, clock, worker)
        self.life = LifeAnswers(
            database, worker, self.searches.knowledge, self.searches.messages, self.people_maps, self.prompt_filter
        )
        self.artifacts = ArtifactStore(config.artifacts.url, config.data_dir)
        self.unused_files = UnusedFiles(database, self.artifacts)
        self.backups = Backups(config, database, clock, metrics.backup_finished)
        self.nights = NightlyMaintenance(database, clock, config.memory, metrics)
        self.reflections = Reflections(database, clock, worker, self.nights.plasticity)
        self.clock_rollback = ClockRollback(database, clock, longest=config.runs.retry_max)
        self._add_agents(hmac_key)
        self._add_backfills()
        self._add_schedulers()
        self.eraser = self._eraser(hmac_key)

    def _add_agents(self, hmac_key: bytes) -> None:
        """Adds the publication of fragments and sessions, and the loop that runs the background agents on them."""
        database, clock, config = self.database, self.clock, self.config
        handlers = background_agents(
            config, clock, database, self.metrics, self.models, self.worker, hmac_key, self.ticker
        )
        agents = [handler.agent for handler in handlers]
        self.lifecycle = SessionLifecycle([agent for agent in agents if agent == ANALYST])
        self.chronicle_audit = ChronicleAudit(database, clock, self.worker, self.lifecycle)
        of_fragments = [agent for agent in agents if agent != ANALYST]
        self.publication = Publication(database, clock, self.buffers, config.dialogue, of_fragments, self.lifecycle)
        self.runs = RunLoop(
            database,
            clock,
            handlers,
            config.runs,
            self.metrics,
            config.access.daily_cost_usd,
            notify_user,
            self.membership.name if database.shared else None,
            reading_together(config, database, self.models, handlers),
        )

    def _add_backfills(self) -> None:
        """Adds the jobs that make vectors and terms for rows without them."""
        limits = self.config.runs
        self.vectors = VectorBackfill(
            self.database, self.models.embedder, self.clock, retry_base=limits.retry_base, retry_max=limits.retry_max
        )
        self.terms = TermsBackfill(self.database, self.searches.terms)

    def _add_schedulers(self) -> None:
        """Adds the schedulers that decide when the bot writes on its own initiative."""
        database, clock, whole_day_at = self.database, self.clock, self.config.notifications.whole_day_at
        self.memory_questions = QuestionScheduler(database, clock, self.config.memory, ask_about_memory)
        self.reminders = ReminderScheduler(database, clock, whole_day_at, reminder_buttons, grouped_reminder_buttons)
        self.companion = CompanionScheduler(
            database,
            clock,
            time_of_day(whole_day_at),
            Contacts(database, self.worker),
            companion_wording,
            self.reflections,
        )

    def _eraser(self, hmac_key: bytes) -> ForgettingService:
        holders: list[TextHolder] = [self.buffers, self.unused_files, self.worker]
        holders += [self.searches.people, self.searches.knowledge, self.searches.messages]
        folder = backup.folder_of(self.config.data_dir)
        return ForgettingService(self.database, self.clock, hmac_key, holders, lambda: backup.listing(folder))

    async def archive(self, user_id: int | None, backfill: str | None, again: bool = False) -> ArchiveReport:
        """Publishes buffered messages and archives them; `again`: the agent to backfill repeats what it has applied.

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
        await self.terms.analyse_due()
        await self.vectors.embed_due(calls_for_messages=0)
        after = await self._runs_by_state(owners)
        return ArchiveReport(
            fragments=fragments,
            applied=after[RunState.APPLIED] - before[RunState.APPLIED],
            waiting=sum(after[state] for state in (RunState.DUE, RunState.CLAIMED, RunState.REPLIED)),
            dead=after[RunState.DEAD],
        )

    async def archive_soon(self, user_id: int) -> ArchivedCounts:
        """Publishes what is buffered and has it archived now, with runs that are dead or wait for another attempt."""
        with acting_for(user_id):
            ordered = await self._order(user_id)
        self.ticker.wake()
        return ordered

    async def export_document(self, user_id: int) -> str:
        """All data of this user, as JSON text."""
        now = self.clock.now()
        files = await files_of(self.database, self.artifacts, user_id, MOST_IN_CHAT)
        with acting_for(user_id):
            return await self.database.read(lambda c: export_document(c, user_id, now=now, files=files))

    async def close_session(self, user_id: int, command: SessionCommand | None, thread_id: int) -> Session | None:
        """Closes a topic's open session at once and has it published and judged. None if there is none."""
        closed = await self.publication.close_session(user_id, command, thread_id)
        self.ticker.wake()
        return closed

    def session_ended(self, user_id: int) -> None:
        """Publishes a session that a message closed, and has it judged now."""
        self.publication.session_ended(user_id)
        self.ticker.wake()

    async def restore(self) -> int:
        """Fills the buffers with messages that are in no fragment yet. Returns the number of dialogues."""
        if not self.buffers.kept:
            return 0
        restored = await self.database.read(dialogue.restorable)
        for state in restored:
            self.buffers.restore(state)
        return len(restored)

    def maintenance(self, delivery: Sequence[Job] = ()) -> Maintenance:
        """The scheduled jobs; `delivery` are those that write to users."""
        following = MessageBackfill(self.database, self.ticker.wake_here)
        return Maintenance(
            self.ticker,
            self.clock,
            [
                Job("server clock", self._ask_clock, ASKED, everywhere=True),
                Job("clock", self._look_at_clock, everywhere=True),
                Job("reminders", self.reminders.fire_due),
                *delivery,
                Job("publication", lambda: self._published(self.publication.publish_due())),
                Job("sessions", lambda: self._published(self.publication.publish_ended()), everywhere=True),
                Job("runs", self.runs.start_ready, everywhere=True),
                Job("parked runs", self.runs.revive_interrupted, CLEANING),
                Job("fragments", FragmentBackfill(self.database).follow_due),
                Job("messages", following.follow_due),
                Job("terms", self.terms.analyse_due, aside=True),
                Job("vectors", self._embed_due, aside=True),
                Job("forgetting", self.eraser.erase_due),
                Job("forgotten", self.eraser.follow, everywhere=True),
                Job("unused files", self.unused_files.delete_due),
                Job("backups", self.backups.renew, CLEANING, everywhere=True, aside=True),
                Job("translations", self.searches.dictionaries.make_due, CLEANING, everywhere=True, aside=True),
                Job("indexes", self.searches.messages.save, MAINTENANCE_POLL, everywhere=True, aside=True),
                Job("nights", self.nights.maintain_due, MAINTENANCE_POLL),
                Job("questions", self.memory_questions.ask_due, MAINTENANCE_POLL),
                Job("companion", self.companion.say_due, MAINTENANCE_POLL),
                *(
                    [Job("contacts", self.contact_sync.sync_due, MAINTENANCE_POLL, aside=True)]
                    if self.contact_sync
                    else []
                ),
                Job("teams", PromiseNotices(self.database, self.clock, said).notify_due, MAINTENANCE_POLL),
                Job("cleaning", lambda: drop_settled(self.database, self.clock), CLEANING),
                Job("calls", self.recorder.drop_old, CLEANING),
                Job("events", EventRetention(self.database, self.clock, self.config.events).drop_old, CLEANING),
                Job("workers", self.membership.drop_lapsed, CLEANING),
                Job("data_lock", self._renew_lock, MAINTENANCE_POLL, everywhere=True),
            ],
            self.membership,
            modestly=not delivery,
        )

    async def _ask_clock(self) -> None:
        if isinstance(self.clock, StoreClock):
            await self.clock.ask()

    async def _look_at_clock(self) -> None:
        if self.membership.leads:
            await self.clock_rollback.look()
        else:
            self.clock_rollback.forget()

    async def _published(self, publishing: Awaitable[int]) -> None:
        """Wakes the other processes after a publication: any of them may have a worker free."""
        if await publishing:
            self.database.ring(TICK)

    async def _renew_lock(self) -> None:
        self.lock.renew()

    async def _embed_due(self) -> None:
        """Embeds what is due, messages call by call, until nothing is left or another process leads.

        After SMALL_CALLS calls that were not full it stops: while people write, each call finds a text or two, and the
        next tick finds more together.
        """
        small = 0
        while small < SMALL_CALLS:
            await self.vectors.embed_due(calls_for_messages=1)
            small += not self.vectors.full
            if not self.vectors.more or not self.membership.leads:
                return

    async def _order(self, user_id: int) -> ArchivedCounts:
        return await archive_now(self.database, self.clock, self.publication, user_id)

    async def read_now(self, user_id: int) -> bool:
        """Archives everything that a user said and waits a while. Returns whether there was anything to read."""
        if await self.database.read(lambda c: reading_state(c, user_id)) is None:
            return False
        await self._order(user_id)
        self.ticker.wake()
        for _ in range(READ_POLLS):
            if not await self.database.read(lambda c: runs.unfinished(c, user_id)):
                break
            await asyncio.sleep(READ_POLL_S)
        return True

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
