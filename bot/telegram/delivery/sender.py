"""Sends the outbox: one message of a chat at a time, within the flood limits, and records each outcome."""

import asyncio
import base64
import logging
import re
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Protocol

import aiohttp
from aiogram import Bot
from aiogram.exceptions import (
    TelegramAPIError,
    TelegramBadRequest,
    TelegramEntityTooLarge,
    TelegramForbiddenError,
    TelegramMigrateToChat,
    TelegramNetworkError,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramServerError,
    TelegramUnauthorizedError,
)
from aiogram.types import (
    BufferedInputFile,
    ForceReply,
    InlineKeyboardMarkup,
    InputRichMessage,
    LinkPreviewOptions,
    Message,
    MessageEntity,
    ReactionTypeEmoji,
    ReactionTypeUnion,
    ReplyParameters,
)

from bot.telegram.delivery.flood_limits import Budget
from bot.telegram.ordered_tasks import OrderedTasks
from internal.dialogue.mailbox.model import OutboxRow, Outgoing
from internal.errors import StorageError
from internal.flows.turn.delivery import Delivery
from internal.scheduling.clock import Clock
from internal.scheduling.retry import retry_delay
from internal.scheduling.shards import ALL_SHARDS, Shards, shard_of
from internal.storage.engine.owner_scope import acting_for
from internal.storage.engine.write_guard import with_check

log = logging.getLogger(__name__)

BATCH = 200
LONGEST_SLEEP = timedelta(seconds=5)
"""The longest pause between two reads of the outbox, even if nothing is expected."""


_NO_THREAD = re.compile(r"thread not found|topic_(?:closed|deleted|id_invalid)", re.IGNORECASE)


class SendObserver(Protocol):
    def telegram_request(self, method: str) -> None: ...

    def telegram_error(self, method: str, kind: str) -> None: ...

    def send_unknown(self) -> None: ...


Speak = Callable[[int, str], Awaitable[bytes]]
"""Turns a text for a user into speech: an Ogg file with Opus."""


class Sender:
    """Sends due messages until cancelled; `wake` reports new ones."""

    def __init__(
        self,
        bot: Bot,
        delivery: Delivery,
        budget: Budget,
        observer: SendObserver,
        clock: Clock,
        shards: Shards = ALL_SHARDS,
        speak: Speak | None = None,
        *,
        rich: bool = True,
    ) -> None:
        """`rich`: tables are sent as rich messages, until the server says that it does not support them."""
        self._speak, self._rich = speak, rich
        self._bot, self._delivery, self._budget = bot, delivery, budget
        self._observer, self._clock, self._shards = observer, clock, shards
        self._chains = OrderedTasks("send")
        self._woken = asyncio.Event()

    def wake(self) -> None:
        self._woken.set()

    async def run(self) -> None:
        while True:
            self._woken.clear()
            try:
                _, next_due_at = await self._send_due()
                wait = self._until(next_due_at)
            except Exception:  # outermost handler of the sender: the rows are still in the outbox
                log.exception("outbox_lookup_failed")
                wait = LONGEST_SLEEP
            await self._sleep(wait)

    def at_work(self) -> set[int]:
        """The shards with messages being sent."""
        return self._chains.at_work()

    async def leave(self, shards: Collection[int], seconds: float) -> None:
        """Waits up to `seconds` for the answers to messages being sent in these shards."""
        await self._chains.leave(shards, seconds)

    async def drain(self, seconds: float) -> None:
        """Sends for up to `seconds`; requests under way have that long to be answered."""
        try:
            async with asyncio.timeout(seconds):
                await self._send_all()
        except TimeoutError:
            log.info("outbox_left", extra={"reason": "deadline"})
        await self._chains.drain(0)

    async def _send_all(self) -> None:
        while (await self._send_due())[0] or self._chains:
            self._woken.clear()  # otherwise no other task would run meanwhile
            await self._sleep(timedelta(milliseconds=50))

    async def _send_due(self) -> tuple[int, datetime | None]:
        """Starts sending due messages. Returns how many are due, and when the next one becomes due."""
        rows, next_due_at = await self._delivery.look(BATCH, self._shards.served)
        served = self._shards.served
        for row in rows:
            chat_id = row.outgoing.chat_id
            shard = shard_of(chat_id)
            if not self._chains.busy(chat_id) and (served is None or shard in served):
                self._chains.add(chat_id, lambda row=row: self._send(row), shard=shard)  # type: ignore[misc]
        return len(rows), next_due_at

    def _until(self, due_at: datetime | None) -> timedelta:
        if due_at is None:
            return LONGEST_SLEEP
        # Rows that are due but busy wake the sender when they are done; this covers only those due later.
        return min(max(due_at - self._clock.now(), timedelta(seconds=1)), LONGEST_SLEEP)

    async def _sleep(self, wait: timedelta) -> None:
        try:
            async with asyncio.timeout(wait.total_seconds()):
                await self._woken.wait()
        except TimeoutError:
            return

    async def _send(self, row: OutboxRow) -> None:
        with with_check(self._shards.fence(row.outgoing.chat_id)):
            await self._send_fenced(row)

    async def _send_fenced(self, row: OutboxRow) -> None:
        await self._budget.take(row.outgoing.chat_id)
        try:
            with acting_for(row.outgoing.user_id):
                out = await self._delivery.sending(row)
                if out is not None:
                    await self._deliver(row, out)
        except StorageError:
            # The row is still due: without a pause a failing database would be queried in a tight loop.
            log.exception("send_interrupted", extra={"outbox": row.id})
            await asyncio.sleep(LONGEST_SLEEP.total_seconds())
        finally:
            self.wake()

    async def _deliver(self, row: OutboxRow, out: Outgoing) -> None:
        method = out.kind
        self._observer.telegram_request(method)
        try:
            tg_id = await self._call(out)
        except TelegramAPIError as error:
            self._observer.telegram_error(method, type(error).__name__)
            await self._until_written(lambda error=error: self._record(row, out, error))  # type: ignore[misc]
        except Exception as error:  # outermost handler of a message: one that cannot be built must not block its chat
            log.exception("message_not_built", extra={"outbox": row.id})
            error_text = type(error).__name__
            await self._until_written(lambda: self._delivery.refused(row, error_text))
        else:
            with with_check(None):  # it arrived, even if this process is stopped
                await self._until_written(lambda: self._delivery.sent(row, tg_id))

    async def _until_written(self, write: Callable[[], Awaitable[None]]) -> None:
        """Repeats `write` until the database accepts it: only this process knows the outcome of the message."""
        failures = 0
        while True:
            try:
                return await write()
            except StorageError:
                failures += 1
                log.exception("outcome_not_written")
                await asyncio.sleep(retry_delay(failures, timedelta(seconds=0.2), LONGEST_SLEEP).total_seconds())

    async def _record(self, row: OutboxRow, out: Outgoing, error: TelegramAPIError) -> None:
        error_text = describe(error)
        match error:
            case TelegramRetryAfter():
                self._budget.mute(row.outgoing.chat_id, error.retry_after)
                await self._delivery.retry(row, error_text, float(error.retry_after))
            case TelegramMigrateToChat():
                await self._delivery.moved(row, error.migrate_to_chat_id)
            case TelegramForbiddenError():
                await self._delivery.left(row, error_text)
            case TelegramEntityTooLarge():
                await self._delivery.refused(row, error_text, too_big=True)
            case TelegramNetworkError() if not out.repeatable and not never_left(error):
                self._observer.send_unknown()
                await self._delivery.unknown(row, error_text)
            case TelegramNetworkError() | TelegramServerError() | TelegramUnauthorizedError():
                await self._delivery.retry(row, error_text, server_failed=isinstance(error, TelegramServerError))
            case _:
                await self._delivery.refused(row, error_text)
        log.warning("send_failed", extra={"outbox": row.id, "error": error_text})

    async def _call(self, out: Outgoing) -> int | None:
        """Sends a message; a part that Telegram refuses (formatting, thread, the message to edit) is left out."""
        if out.rich is not None and not self._rich:
            out = replace(out, rich=None)
        while True:
            try:
                return await self._call_once(out)
            except TelegramNotFound:
                if out.rich is None:
                    raise
                log.info("no_rich_messages")
                self._rich, out = False, replace(out, rich=None)
            except TelegramBadRequest as error:
                if out.kind == "edit" and "not modified" in error.message.lower():
                    return out.tg_id
                acceptable = _without_refused(out, error.message)
                if acceptable is None:
                    raise
                log.warning("sent_otherwise", extra={"error": error.message})
                out = acceptable

    async def _call_once(self, out: Outgoing) -> int | None:
        match out.kind:
            case "edit" if out.tg_id is not None:
                return await self._edit(out)
            case "react" if out.tg_id is not None:
                reaction: list[ReactionTypeUnion] = [ReactionTypeEmoji(emoji=out.text)]
                await self._bot.set_message_reaction(out.chat_id, out.tg_id, reaction)
                return None
            case "document" | "photo":
                return await self._file(out)
            case "voice" if self._speak is not None:
                sound = BufferedInputFile(await self._speak(out.user_id, out.text), "answer.ogg")
                return (await self._bot.send_voice(out.chat_id, sound, message_thread_id=out.thread_id)).message_id
            case _:
                return await self._message(out)

    async def _message(self, out: Outgoing) -> int:
        below: dict[str, Any] = {
            "message_thread_id": out.thread_id,
            "reply_markup": ForceReply() if out.force_reply else _keyboard(out),
            "reply_parameters": _reply(out),
        }
        if out.rich is not None:
            rich = InputRichMessage(markdown=out.rich)
            return (await self._bot.send_rich_message(out.chat_id, rich, **below)).message_id
        message = await self._bot.send_message(
            out.chat_id,
            out.text,
            entities=_entities(out),
            parse_mode=None,
            link_preview_options=LinkPreviewOptions(is_disabled=True),
            **below,
        )
        return message.message_id

    async def _edit(self, out: Outgoing) -> int | None:
        of: dict[str, Any] = {"chat_id": out.chat_id, "message_id": out.tg_id, "reply_markup": _keyboard(out)}
        if out.rich is not None:
            await self._bot.edit_message_text(rich_message=InputRichMessage(markdown=out.rich), parse_mode=None, **of)
            return out.tg_id
        await self._bot.edit_message_text(
            out.text,
            entities=_entities(out),
            parse_mode=None,
            link_preview_options=LinkPreviewOptions(is_disabled=True),
            **of,
        )
        return out.tg_id

    async def _file(self, out: Outgoing) -> int:
        content = out.content or ""
        raw = base64.b64decode(content) if out.binary else content.encode()
        file = BufferedInputFile(raw, out.filename or "file.txt")
        send = self._bot.send_photo if out.kind == "photo" else self._bot.send_document
        message: Message = await send(
            out.chat_id, file, message_thread_id=out.thread_id, caption=out.text, parse_mode=None
        )
        return message.message_id


def describe(error: TelegramAPIError) -> str:
    """Describes an error for logs and rows. aiogram's network errors contain the token: only their type is shown."""
    if isinstance(error, TelegramNetworkError):
        cause = error.__cause__ or error.__context__
        return f"network: {type(cause).__name__ if cause else 'unknown'}"
    return f"{type(error).__name__}: {error.message}"[:300]


def never_left(error: TelegramNetworkError) -> bool:
    """Whether the request certainly never reached Telegram: no connection could be made."""
    cause = error.__cause__ or error.__context__
    return isinstance(cause, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)


def _without_refused(out: Outgoing, refusal: str) -> Outgoing | None:
    """The message without the part that Telegram refused, as the words matter more; None if nothing can be left out."""
    said = refusal.lower()
    if out.rich is not None:
        return replace(out, rich=None)
    if out.entities and "entit" in said:
        return replace(out, entities=[])
    if out.thread_id is not None and _NO_THREAD.search(said):
        return replace(out, thread_id=None)
    if out.kind == "edit" and out.tg_id is not None and ("not found" in said or "can't be edited" in said):
        return replace(out, tg_id=None)
    return None


def _entities(out: Outgoing) -> list[MessageEntity] | None:
    return [MessageEntity(**entity) for entity in out.entities] or None


def _keyboard(out: Outgoing) -> InlineKeyboardMarkup | None:
    return InlineKeyboardMarkup(inline_keyboard=_rows(out.keyboard)) if out.keyboard else None


def _rows(keyboard: list[list[dict[str, Any]]]) -> Any:
    return keyboard  # pydantic turns the stored Bot API form into buttons


def _reply(out: Outgoing) -> ReplyParameters | None:
    if out.reply_to is None:
        return None
    return ReplyParameters(message_id=out.reply_to, allow_sending_without_reply=True)
