"""Handles the inbox: a stored update becomes a message of the log, a command or a press, or is quarantined."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Hashable, Sequence
from datetime import timedelta
from functools import partial
from typing import Protocol

from aiogram import Bot
from aiogram.exceptions import TelegramAPIError, TelegramBadRequest, TelegramForbiddenError
from aiogram.types import (
    CallbackQuery,
    ChatMemberUpdated,
    InlineQuery,
    Message,
    MessageReactionUpdated,
    Update,
    User as Sender,
)
from pydantic import ValidationError

from bot.telegram.delivery.drafts import TelegramDrafts
from bot.telegram.delivery.outbox_chat import TOAST_TIMEOUT_S
from bot.telegram.handlers.awaited_answers import ADMISSION
from bot.telegram.handlers.services import Menu
from bot.telegram.intake.admission import AccessPolicy, Admission
from bot.telegram.intake.business import Business, business_of
from bot.telegram.intake.groups import Groups, Take, group_of
from bot.telegram.intake.inbox_worker import InboxWorker, Work
from bot.telegram.intake.lanes import Lanes
from bot.telegram.intake.polling import RawUpdate
from bot.telegram.intake.triggers import trigger_of
from bot.telegram.intake.update_order import found_inline, order_of, stopped_turn
from bot.telegram.intake.update_outcomes import IngestObserver, UpdateOutcomes
from bot.telegram.intake.update_reader import read_update
from bot.telegram.message_reader import (
    NOBODY,
    attachments_of,
    author_of,
    chat_of,
    forward_of,
    incoming_of,
    is_order,
    reaction_of,
    spelled_out,
)
from internal.access import repository as users, service as access
from internal.access.model import Author, User, UserState, nearest_language
from internal.config.settings import GroupsConfig
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.inbox import Inbox
from internal.dialogue.mailbox.model import InboxRow, InboxState, Outgoing
from internal.errors import LeaseLost, StorageError
from internal.events import repository as events
from internal.events.trigger import UpdateTrigger
from internal.events.trigger_events import triggered_by
from internal.flows.turn.answer import TurnFlow
from internal.flows.turn.intake import Intake, IntakePhrases, StoredMessage
from internal.scheduling.clock import Clock
from internal.scheduling.retry import retry_delay
from internal.scheduling.shards import ALL_SHARDS, Shards
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 3
"""Failed attempts after which an update is quarantined."""
RETRY, OUTAGE_PAUSE = timedelta(seconds=1), timedelta(seconds=30)
WAITING = 2_000
"""The most updates parsed and waiting; beyond that the poller waits, and Telegram keeps the rest."""
Handled = bool | Work


class Handlers(Protocol):
    async def handle(self, update: Update, row: InboxRow, user: User) -> Handled:
        """Answers a command, a button press or an awaited message. Returns False if it is none of these.

        Long work is returned, to be run in the background: the chat's later updates do not wait for it. Both may run
        again, also after a crash.
        """


class Ingest:
    """`accept` stores updates (C1); each chat's updates are then handled in order, several chats at once."""

    def __init__(
        self,
        bot: Bot,
        database: Database,
        clock: Clock,
        *,
        intake: Intake,
        lanes: Lanes,
        turns: TurnFlow,
        drafts: TelegramDrafts,
        handlers: Handlers,
        policy: AccessPolicy,
        phrases: IntakePhrases,
        menu: Menu,
        wake_outbox: Callable[[], None],
        observer: IngestObserver,
        session_ended: Callable[[int], None] = lambda user_id: None,
        retry: timedelta = RETRY,
        waiting: int = WAITING,
        shards: Shards = ALL_SHARDS,
        groups: GroupsConfig | None = None,
        business: bool = False,
    ) -> None:
        self._retry, self._session_ended = retry, session_ended
        self._bot, self._database, self._clock = bot, database, clock
        self._intake, self._lanes, self._turns, self._drafts = intake, lanes, turns, drafts
        self._handlers, self._phrases, self._wake_outbox = handlers, phrases, wake_outbox
        self._admission = Admission(database, clock, policy, bot.id, menu)
        self._outcomes = UpdateOutcomes(bot.id, database, clock, phrases, wake_outbox, observer)
        self._groups = Groups(
            bot,
            database,
            clock,
            groups or GroupsConfig(),
            intake=intake,
            outcomes=self._outcomes,
            phrases=phrases,
            admit=self._admission.admit,
            handle=self._handle,
            stored=self._stored,
        )
        self._business = Business(bot, database, clock, intake, self._outcomes, enabled=business)
        self._inbox = Inbox(database, clock, bot.id, chat_of)
        self.inbox_worker = InboxWorker(database, shards, self._task_of, waiting)
        self._resumed = asyncio.Event()
        self._resuming: asyncio.Task[None] | None = None
        self._last_resumed = 0

    async def accept(self, updates: Sequence[RawUpdate]) -> None:
        """Returns once the updates are on disk and queued after earlier ones; repeated ones are dropped.

        With several workers it returns once they are on disk, and each worker looks up its own.
        """
        fresh = await self._inbox.store(updates)
        if not self.inbox_worker.shared:
            await self._resumed.wait()
        await self.inbox_worker.take_up([row for row in fresh if row.n > self._last_resumed])

    async def resume(self) -> int:
        """Takes up accepted but unfinished updates in the background, at start. Returns how many."""
        rows = await self._database.read(mailbox.unprocessed_updates)
        self._last_resumed = max((row.n for row in rows), default=0)
        self._resuming = asyncio.create_task(self._resume(rows), name="ingest-resume")
        return len(rows)

    async def _resume(self, rows: Sequence[InboxRow]) -> None:
        await self.inbox_worker.take_up(rows)
        self._resumed.set()

    async def drain(self, seconds: float) -> None:
        """Waits up to `seconds` for what is running; the rest stays stored, and nothing more is started."""
        if self._resuming is not None:
            self._resuming.cancel()
        self._resumed.set()
        await self.inbox_worker.drain(seconds)

    def _task_of(self, row: InboxRow) -> tuple[Hashable, Work]:
        """The job of an update, and the key that keeps it in order."""
        key, work = self._work(row)
        return key, lambda: self._until_done(row, work)

    def _work(self, row: InboxRow) -> tuple[Hashable, Work]:
        if row.bot_id != self._bot.id:
            error_text = f"it came for another bot ({row.bot_id}); set its token again, then replay it"
            return ("foreign", row.n), lambda: self._outcomes.quarantine(row, error_text)
        try:
            update = read_update(row.raw, self._bot, row.received_at)
        except ValidationError as error:
            fault = f"{error.error_count()} faults, first: {error.errors()[0]['loc']}"
            return ("unreadable", row.n), lambda: self._outcomes.quarantine(row, fault, "cannot-read", kind="other")
        return order_of(update), lambda: self._route(row, update)

    async def _until_done(self, row: InboxRow, work: Work) -> None:
        """Retries in place, so that no later update of the chat overtakes; an update that keeps failing is quarantined.

        A database error is not the update's fault: it waits until the database answers again.
        """
        outages = 0
        while True:
            try:
                return await self._attempt(row, work)
            except StorageError:
                outages += 1
                log.exception("update_waits", extra={"update": row.update_id})
                await asyncio.sleep(retry_delay(outages, self._retry, OUTAGE_PAUSE).total_seconds())

    async def _attempt(self, row: InboxRow, work: Work) -> None:
        while True:
            try:
                return await work()
            except (StorageError, LeaseLost):
                raise
            except Exception as error:  # outermost handler of one update: record, try again, quarantine
                log.exception("update_failed", extra={"update": row.update_id})
                attempts = await self._database.write(lambda c: mailbox.count_attempt(c, row.n))
                if attempts >= MAX_ATTEMPTS:
                    return await self._outcomes.quarantine(
                        row, f"{type(error).__name__}: {error}"[:300], "answer-failed"
                    )
                await asyncio.sleep(retry_delay(attempts, self._retry, OUTAGE_PAUSE).total_seconds())

    async def _route(self, row: InboxRow, update: Update) -> None:
        if found_inline(update, self._bot.id):
            await self._outcomes.settle(row, InboxState.IGNORED)
            return
        if (chat := group_of(update)) is not None:
            await self._groups.route(row, update, chat)
            return
        if (about := business_of(update)) is not None:
            await self._business.route(row, about, edited=update.edited_business_message is not None)
            return
        match update:
            case Update(message=Message() as message) if message.chat.type == "private":
                await self._private(row, update, message)
            case Update(edited_message=Message() as message) if message.chat.type == "private":
                await self._of_user(row, partial(self._intake.edit, row.n, incoming_of(message, self._bot.id)))
            case Update(callback_query=CallbackQuery() as query):
                await self._pressed(row, update, query)
            case Update(message_reaction=MessageReactionUpdated() as reacted) if reacted.chat.type == "private":
                await self._of_user(row, partial(self._intake.react, row.n, reaction_of(reacted, self._bot.id)))
            case Update(my_chat_member=ChatMemberUpdated() as changed):
                await self._membership(row, changed)
            case Update(inline_query=InlineQuery() as query):
                await self._inline(row, update, query)
            case _:
                await self._stopped_or_ignored(row, update)

    async def _private(self, row: InboxRow, update: Update, message: Message) -> None:
        chat = message.chat
        sender = message.from_user or Sender(id=chat.id, is_bot=False, first_name=chat.first_name or NOBODY)
        if sender.is_bot:
            await self._outcomes.settle(row, InboxState.IGNORED)
            return
        author = author_of(sender)
        user = await self._admission.admit(author) or await self._admission.claim(author, message)
        if user is None:
            await self._stranger(row, author, chat.id)
        elif self._for_handlers(user, message):
            await self._handle(row, update, user)
        else:
            await self._take(row, user, message)

    async def _take(self, row: InboxRow, user: User, message: Message) -> None:
        incoming = incoming_of(message, self._bot.id)
        if not incoming.readable and not incoming.attachments:
            await self._outcomes.settle(row, InboxState.IGNORED)  # a service message: a pin, a new chat photo
            return
        self._stored(user, await self._intake.take(row.n, user, incoming))

    def _stored(self, user: User, taken: StoredMessage) -> None:
        if taken.closed:
            self._session_ended(user.user_id)
        if taken.turn is not None:
            self._lanes.wake(taken.turn)
        else:
            self._wake_outbox()

    def _for_handlers(self, user: User, message: Message) -> bool:
        awaited = access.awaited(user, self._clock.now(), message.message_id)
        listed = bool(spelled_out(message)) and message.location is None
        other = listed or forward_of(message) is not None or self._intake.keeps(attachments_of(message))
        if awaited is not None and awaited.kind != ADMISSION and other:
            awaited = None  # forwarded words, a file, a list or a poll do not answer a question
        return is_order(message) or awaited is not None

    async def _of_user(self, row: InboxRow, work: Callable[[], Awaitable[object]]) -> None:
        """Handles an edit or a reaction in a user's private chat; a stranger's is ignored."""
        user = await self._database.read_quickly(lambda c: users.find(c, row.chat_id or 0))
        known = user is not None and user.state is not UserState.REMOVED
        await (work() if known else self._outcomes.settle(row, InboxState.IGNORED))

    async def _pressed(self, row: InboxRow, update: Update, query: CallbackQuery) -> None:
        user = await self._admission.admit(author_of(query.from_user))
        if user is None:
            await self._outcomes.settle(row, InboxState.IGNORED)
            return
        stopped = stopped_turn(query)
        if stopped is None:
            await self._handle(row, update, user)
            return
        self._turns.stop(stopped)
        await self._outcomes.settle(row, InboxState.INGESTED, user)
        with contextlib.suppress(TelegramAPIError):  # cosmetic: it ends the spinner on the button
            await self._bot.answer_callback_query(query.id, request_timeout=TOAST_TIMEOUT_S)

    async def _inline(self, row: InboxRow, update: Update, query: InlineQuery) -> None:
        """Answers an inline search from the asker's own memory. Unknown users get nothing, and no typed text is
        stored."""
        user = await self._database.read_quickly(lambda c: users.find(c, query.from_user.id))
        with contextlib.suppress(TelegramAPIError):  # the next letter was typed meanwhile
            if user is not None and user.state is UserState.ACTIVE:
                with acting_for(user.user_id):
                    await self._handlers.handle(update, row, user)
            else:
                await self._bot.answer_inline_query(query.id, [], cache_time=0, is_personal=True)
        await self._outcomes.settle(row, InboxState.INGESTED, user)

    async def _stopped_or_ignored(self, row: InboxRow, update: Update) -> None:
        stopped = update.stopped_message_generation
        if stopped is not None:
            turn_id = self._drafts.turn_of(stopped.chat.id, stopped.draft_id)
            if turn_id is not None:
                self._turns.stop(turn_id)
        await self._outcomes.settle(row, InboxState.INGESTED if stopped else InboxState.IGNORED)

    async def _membership(self, row: InboxRow, changed: ChatMemberUpdated) -> None:
        if changed.chat.type == "private":
            await self._outcomes.settle_standing(
                row, changed.chat.id, blocked=changed.new_chat_member.status in ("kicked", "left")
            )
        else:
            await self._leave_channel(row, changed)

    async def _leave_channel(self, row: InboxRow, changed: ChatMemberUpdated) -> None:
        """Leaves a channel silently: a message would be read by all, and channels do not talk with a bot."""
        if changed.new_chat_member.status not in ("kicked", "left"):
            try:
                await self._bot.leave_chat(changed.chat.id)
            except (TelegramBadRequest, TelegramForbiddenError) as error:
                log.info("channel_left", extra={"reason": error.message})  # it was removed meanwhile
        await self._outcomes.settle(row, InboxState.IGNORED)

    async def _stranger(self, row: InboxRow, author: Author, chat_id: int) -> None:
        """Sends a stranger one polite line, once; only that fact is stored."""
        text = self._phrases(nearest_language(author.language_code), "stranger")
        line = Outgoing(0, self._bot.id, chat_id, text, f"once:stranger:{author.user_id}")
        await self._outcomes.say(row, InboxState.IGNORED, line)

    async def _handle(self, row: InboxRow, update: Update, user: User, take: Take | None = None) -> None:
        """Handles a command or button without waiting for an answer that is being written, as that has its own lane.

        Any other message is passed to `take`, by default as a private message.
        """
        now = self._clock.now()
        trigger = trigger_of(update, row, user, now)
        tell = partial(events.record_trigger, trigger=trigger, user_id=user.user_id, now=now)
        with acting_for(user.user_id), triggered_by(trigger):
            handled = await self._handlers.handle(update, row, user)
        if not isinstance(handled, bool):
            with acting_for(user.user_id):
                await self._database.write(tell)
            rest = partial(self._finish, row, user, trigger, handled)
            self.inbox_worker.run_in_background(row, user.user_id, lambda: self._until_done(row, rest))
            return
        if not handled and update.message is not None:
            await (take or self._take)(row, user, update.message)
        await self._outcomes.settle_with(row, InboxState.INGESTED, tell, user)
        self._wake_outbox()

    async def _finish(self, row: InboxRow, user: User, trigger: UpdateTrigger, rest: Work) -> None:
        """Runs a command's background work; the update counts as unfinished until it ends."""
        with acting_for(user.user_id), triggered_by(trigger):
            await rest()
        await self._outcomes.settle(row, InboxState.INGESTED, user)
        self._wake_outbox()
