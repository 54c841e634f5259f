"""Shows an answer while it is written: as a native draft with a stop button, or as a message that is edited.

All of this is cosmetic and dropped first under load. Only the placeholder message must survive a crash: it is an
outbox row like any other.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from aiogram import Bot
from aiogram.exceptions import TelegramAPIError, TelegramBadRequest, TelegramNotFound, TelegramRetryAfter
from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup, Message, MessageEntity

from bot.telegram.delivery.flood_limits import Budget
from bot.telegram.delivery.sender import describe
from bot.telegram.rendering import draft
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import OutboxRow, Outgoing, Rendered
from internal.dialogue.model import Turn
from internal.scheduling.clock import Clock
from internal.storage.database import Database

log = logging.getLogger(__name__)

INTERVAL_S = 0.9
"""Seconds between two updates of one draft; faster updates only use up the flood limit."""

QUIET_S = 0.25
"""Seconds before "typing" or a draft is shown: a faster answer needs neither."""

REFRESH_S = 20.0
"""Seconds after which an unchanged draft is sent again: Telegram shows a draft for 30 seconds."""

EDIT_TIMEOUT_S = 5
"""Seconds that the answer waits for a running edit of its placeholder: an aborted edit could still arrive later."""

PLACEHOLDER = "…"
STOP_CALLBACK = "stop:"


@dataclass(slots=True)
class _ActiveDraft:
    turn: Turn
    text: str = ""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    native: bool = True
    enqueued: bool = False
    placeholder: int | None = None
    editing: asyncio.Task[Message | bool] | None = None


class TelegramDrafts:
    """Shows drafts of several turns at once. Each has its own task, so that streaming never waits for Telegram."""

    def __init__(
        self, bot: Bot, budget: Budget, database: Database, clock: Clock, wake_outbox: Callable[[], None]
    ) -> None:
        self._bot, self._budget, self._database, self._clock = bot, budget, database, clock
        self._wake_outbox = wake_outbox
        self._showing: dict[str, _ActiveDraft] = {}
        self._native = True

    async def begin(self, turn: Turn) -> None:
        if turn.id in self._showing:
            await self.show(turn, "")
            return
        active = _ActiveDraft(turn)
        self._showing[turn.id] = active
        active.task = asyncio.create_task(self._pump(active), name=f"draft-{turn.id}")

    async def show(self, turn: Turn, text: str) -> None:
        active = self._showing.get(turn.id)
        if active is not None:
            active.text = text
            active.changed.set()

    async def end(self, turn: Turn) -> str | None:
        active = self._showing.pop(turn.id, None)
        if active is not None and active.task is not None:
            active.task.cancel()
            await asyncio.gather(active.task, return_exceptions=True)
        if active is not None and active.editing is not None:
            await asyncio.gather(active.editing, return_exceptions=True)
        if active is not None and active.enqueued:
            # After a write that may still be running: an earlier read would miss its placeholder.
            placeholder = await self._database.write(
                lambda c: mailbox.by_dedupe(c, turn.user_id, _placeholder_key(turn))
            )
        else:
            placeholder = await self._placeholder(turn)
        return _placeholder_key(turn) if placeholder is not None else None

    def turn_of(self, chat_id: int, draft_id: int) -> str | None:
        """The turn whose draft the user stopped."""
        for active in self._showing.values():
            if active.turn.chat_id == chat_id and draft_id_of(active.turn.id) == draft_id:
                return active.turn.id
        return None

    async def close(self) -> None:
        """Ends all drafts that are still shown because their turns were aborted."""
        shown = [(active.task, active.editing) for active in self._showing.values()]
        tasks = [task for both in shown for task in both if task is not None]
        self._showing.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _pump(self, active: _ActiveDraft) -> None:
        await asyncio.sleep(QUIET_S)
        await self._typing(active.turn)
        while True:
            active.changed.clear()
            try:
                await self._update(active)
            except TelegramAPIError as error:
                self._log_dropped(active.turn, "draft_shed", error)
            except Exception:  # outermost handler of a cosmetic task: the answer itself must not fail with it
                log.exception("draft_failed", extra={"turn": active.turn.id})
            await asyncio.sleep(INTERVAL_S)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(REFRESH_S):
                    await active.changed.wait()

    async def _typing(self, turn: Turn) -> None:
        try:
            if self._budget.try_take(turn.chat_id):
                await self._bot.send_chat_action(turn.chat_id, "typing", message_thread_id=turn.thread_id)
        except TelegramAPIError as error:
            self._log_dropped(turn, "typing_shed", error)

    def _log_dropped(self, turn: Turn, event: str, error: TelegramAPIError) -> None:
        if isinstance(error, TelegramRetryAfter):
            self._budget.mute(turn.chat_id, error.retry_after)
        log.debug(event, extra={"error": describe(error)})

    async def _update(self, active: _ActiveDraft) -> None:
        turn = active.turn
        if not self._budget.try_take(turn.chat_id):
            active.changed.set()  # dropped now, shown with the next piece
            return
        if turn.chat_id < 0:  # a group has 20 messages a minute, edits included
            await self._typing(turn)
        elif self._native and active.native:
            await self._draft(active)
        else:
            await self._edit(active)

    async def _draft(self, active: _ActiveDraft) -> None:
        turn, part = active.turn, draft(active.text) or Rendered("")
        try:
            await self._bot.send_message_draft(
                turn.chat_id,
                draft_id_of(turn.id),
                message_thread_id=turn.thread_id,
                text=part.text,
                entities=[MessageEntity(**entity) for entity in part.entities] or None,
                parse_mode=None,
                can_stop=True,
            )
        except TelegramNotFound as error:  # a Bot API server that is older than drafts
            log.info("drafts_unsupported", extra={"error": describe(error)})
            self._native = False
            active.changed.set()  # shown as a message instead
        except TelegramBadRequest as error:
            log.info("draft_refused", extra={"error": describe(error)})
            active.native = False
            active.changed.set()

    async def _edit(self, active: _ActiveDraft) -> None:
        turn = active.turn
        if active.placeholder is None and (row := await self._placeholder(turn)) is not None:
            active.placeholder = row.tg_id
        if active.placeholder is None:
            if active.text:
                await self._enqueue_placeholder(active)
            else:
                await self._typing(turn)
            return
        part = draft(active.text) or Rendered(PLACEHOLDER)
        call = self._bot.edit_message_text(
            part.text,
            chat_id=turn.chat_id,
            message_id=active.placeholder,
            entities=[MessageEntity(**entity) for entity in part.entities] or None,
            parse_mode=None,
            reply_markup=_stop_button(turn),
            request_timeout=EDIT_TIMEOUT_S,
        )
        active.editing = asyncio.create_task(call, name=f"edit-{turn.id}")
        await asyncio.shield(active.editing)

    async def _enqueue_placeholder(self, active: _ActiveDraft) -> None:
        turn = active.turn
        active.enqueued = True
        placeholder = Outgoing(
            turn.user_id,
            turn.bot_id,
            turn.chat_id,
            PLACEHOLDER,
            dedupe=_placeholder_key(turn),
            thread_id=turn.thread_id,
            keyboard=[[{"text": "⏹", "callback_data": f"{STOP_CALLBACK}{turn.id}"}]],
            links={"turn": turn.id},
        )
        now = self._clock.now()
        await self._database.write(lambda c: mailbox.enqueue(c, placeholder, now))
        self._wake_outbox()

    async def _placeholder(self, turn: Turn) -> OutboxRow | None:
        return await self._database.read_quickly(lambda c: mailbox.by_dedupe(c, turn.user_id, _placeholder_key(turn)))


def draft_id_of(turn_id: str) -> int:
    """A draft id, never zero, that stays the same after a restart."""
    return UUID(turn_id).int % 0x7FFF_FFFE + 1


def _placeholder_key(turn: Turn) -> str:
    return f"turn:{turn.id}:placeholder"


def _stop_button(turn: Turn) -> InlineKeyboardMarkup:
    button = InlineKeyboardButton(text="⏹", callback_data=f"{STOP_CALLBACK}{turn.id}")
    return InlineKeyboardMarkup(inline_keyboard=[[button]])
