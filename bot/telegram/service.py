"""Everything between Telegram and the flows, built and stopped as one service."""

import asyncio
import contextlib
import functools
import json
import logging
import math
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus
from typing import Any, Final

from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import (
    ClientDecodeError,
    TelegramAPIError,
    TelegramBadRequest,
    TelegramEntityTooLarge,
    TelegramNetworkError,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramServerError,
)
from aiogram.methods import (
    EditMessageText,
    Response,
    SendDocument,
    SendMessage,
    SendPhoto,
    SendRichMessage,
    SendVoice,
    TelegramMethod,
)
from aiogram.methods.base import TelegramType
from aiogram.types import MessageId
from aiogram.utils.token import TokenValidationError

from bot.telegram.delivery.drafts import TelegramDrafts
from bot.telegram.delivery.sender import Sender, describe
from bot.telegram.intake.lanes import Lanes
from bot.telegram.intake.polling import Poller, RawUpdate, raw_update
from bot.telegram.intake.update_handler import Ingest
from bot.telegram.intake.update_kinds import ALLOWED_UPDATES
from bot.telegram.menu import ChatMenus
from internal.config.settings import TelegramConfig
from internal.dialogue.mailbox.repository import INBOX, OUTBOX
from internal.errors import ConfigurationError, LeaseLost, Refused
from internal.flows.artifacts.read_files import ArtifactReading
from internal.flows.turn.delivery import Delivery
from internal.scheduling.clock import Clock
from internal.scheduling.leases import Leases
from internal.scheduling.shards import WorkerShards, shard_of
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for_everyone
from internal.storage.engine.write_guard import with_check
from internal.telemetry.metrics import Metrics

log = logging.getLogger(__name__)

POLL_FRESH = timedelta(seconds=90)
"""The time without an answered poll after which the bot counts as disconnected; a poll is answered within 25 s."""


LOOK_EVERY_S = 1.0
"""Seconds between lookups for work of other workers: behind a connection pooler no notifications arrive."""


@dataclass(slots=True)
class PollMonitor:
    """A PollObserver that remembers when Telegram last answered."""

    metrics: Metrics
    clock: Clock
    last: datetime | None = None
    standing_by: bool = False
    """Whether another worker polls."""

    def polled(self) -> None:
        self.last = self.clock.now()
        self.metrics.polled()

    def telegram_error(self, method: str, kind: str) -> None:
        self.metrics.telegram_error(method, kind)

    def fresh(self) -> bool:
        return self.standing_by or (self.last is not None and self.clock.now() - self.last < POLL_FRESH)


@dataclass(frozen=True, slots=True)
class WorkerShare:
    """The part of the chats that a worker serves, and the others that share them."""

    database: Database
    leases: Leases
    shards: WorkerShards


@dataclass(slots=True)
class TelegramService:
    bot: Bot
    ingest: Ingest
    lanes: Lanes
    sender: Sender
    drafts: TelegramDrafts
    delivery: Delivery
    poller: Poller | None
    monitor: PollMonitor
    menus: ChatMenus
    part: WorkerShare | None = None
    """The worker's share, or None for the only process of a database, which serves all chats."""
    reading: ArtifactReading | None = None
    _serving: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)

    async def resume(self) -> None:
        """Takes up unfinished work of the last process: interrupted sends, accepted updates, turns without an answer.

        A worker among several does this for each shard that it gets.
        """
        if self.part is not None:
            await self._serving.enter_async_context(self.part.shards.kept(self))
            return
        unknown, turns = await self._take_up(None)
        updates = await self.ingest.resume()
        if unknown or turns or updates:
            log.info("resumed", extra={"sends_unknown": unknown, "turns": turns, "updates": updates})

    def work(self) -> list[Coroutine[Any, Any, None]]:
        """The tasks that run until the program ends."""
        endless = [self.sender.run()]
        if self.poller is not None:
            endless.append(self.poller.run() if self.part is None else self._poll_alone(self.poller, self.part.leases))
        if self.part is not None:
            endless += [self.ingest.inbox_worker.follow(), self._follow(self.part)]
        return endless

    async def stop(self) -> None:
        """Saves and drains within about 12 s; the rest is taken up at the next start."""
        if self.part is not None:
            await self.part.shards.leave()
        await self.ingest.drain(2)
        await self.lanes.drain(6)
        await self.drafts.close()
        await self.sender.drain(4)
        await self._serving.aclose()

    async def begin(self, shards: Collection[int]) -> None:
        with acting_for_everyone():
            unknown, turns = await self._take_up(shards)
        if unknown or turns:
            log.info("taken_over", extra={"sends_unknown": unknown, "turns": turns})

    async def read_files(self, reading: ArtifactReading) -> int:
        """Reads the files that no turn read in time, and answers what was said in recordings that are heard late."""
        count = await reading.read_waiting()
        if count:
            await self.lanes.resume(self.bot.id, self.part.shards.served if self.part else None)
        return count

    def look(self) -> None:
        self.ingest.inbox_worker.wake()
        self.sender.wake()

    def at_work(self) -> set[int]:
        return self.ingest.inbox_worker.at_work() | self.lanes.at_work() | self.sender.at_work()

    async def end(self, shards: Collection[int], seconds: float) -> None:
        await self.ingest.inbox_worker.leave(shards, seconds)
        await asyncio.gather(self.lanes.leave(shards, seconds), self.sender.leave(shards, seconds))

    async def _take_up(self, shards: Collection[int] | None) -> tuple[int, int]:
        """Takes up messages with unknown outcome and unanswered turns (None: of all shards). Returns their numbers."""
        unknown = await self.delivery.recover(self.bot.id, shards)
        for _ in range(unknown):
            self.monitor.metrics.send_unknown()
        return unknown, await self.lanes.resume(self.bot.id, shards)

    async def _follow(self, part: WorkerShare) -> None:
        """Looks for work that another worker stored for a chat of this worker."""

        def hear(wake: Callable[[], None], key: str) -> None:
            if part.shards.served is None or shard_of(int(key)) in part.shards.served:
                wake()

        part.database.when_rung(INBOX, partial(hear, self.ingest.inbox_worker.wake))
        part.database.when_rung(OUTBOX, partial(hear, self.sender.wake))
        while True:
            self.look()
            with acting_for_everyone():
                await self.lanes.resume(self.bot.id, part.shards.served)
            await asyncio.sleep(LOOK_EVERY_S)

    async def _poll_alone(self, poller: Poller, leases: Leases) -> None:
        """Polls while no other worker does. Updates that another worker has taken over are not stored or confirmed."""
        name = f"poller:{self.bot.id}"
        while True:
            self.monitor.standing_by = True
            with contextlib.suppress(LeaseLost):
                async with leases.kept(name):
                    self.monitor.standing_by = False
                    log.info("polling")
                    with with_check(leases.fence(name)):
                        await poller.run()


class BotSession(AiohttpSession):
    """aiogram's client, which raises only TelegramAPIErrors.

    From the answer to a sent message only the id is read: a field that this program does
    not know must not make it send the message again. A gateway's page counts as an error of the server.
    """

    def check_response(
        self, bot: Bot, method: TelegramMethod[TelegramType], status_code: int, content: str
    ) -> Response[TelegramType]:
        try:
            answer = self.json_loads(content)
        except ValueError as error:
            if status_code < HTTPStatus.BAD_REQUEST:
                raise TelegramNetworkError(method, "an answer that cannot be read") from error
            raise _refused(method, status_code, {}) from None
        answer = answer if isinstance(answer, dict) else {}
        if answer.get("ok") is True and isinstance(method, _SENDING):
            sent = answer.get("result")
            number: Any = sent.get("message_id") if isinstance(sent, dict) else None
            return _response_type(Any).model_construct(ok=True, result=MessageId.model_construct(message_id=number))
        _response_type(method.__returning__)
        try:
            return super().check_response(bot, method, status_code, content)
        except (ClientDecodeError, TypeError) as error:
            if answer.get("ok") is not False:
                raise TelegramNetworkError(method, "an answer that cannot be read") from error
            raise _refused(method, status_code, answer) from None


_SENDING: Final = SendMessage | SendRichMessage | SendDocument | SendPhoto | SendVoice | EditMessageText


@functools.cache
def _response_type(returned: Any) -> type[Response[Any]]:
    """The type with which aiogram reads an answer. Cached: pydantic drops unused types, and making one takes 4 ms."""
    return Response[returned]


def _refused(method: TelegramMethod[Any], status: int, answer: Mapping[str, Any]) -> TelegramAPIError:
    """The refusal in an answer that aiogram cannot read, such as a gateway's page."""
    said = str(answer.get("description") or f"HTTP {status}")
    match answer.get("parameters"):
        case {"retry_after": int(seconds) | float(seconds)} if seconds > 0:
            return TelegramRetryAfter(method, said, math.ceil(seconds))
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return TelegramEntityTooLarge(method, said)
    if status == HTTPStatus.NOT_FOUND and isinstance(method, SendRichMessage):
        return TelegramNotFound(method, said)  # the page of an older server, which has no such method
    of_telegram = answer and status < HTTPStatus.INTERNAL_SERVER_ERROR
    return TelegramBadRequest(method, said) if of_telegram else TelegramServerError(method, said)


def open_bot(config: TelegramConfig, api_base: str, token: str) -> Bot:
    """The Bot API client. Raises ConfigurationError for a malformed token."""
    server = TelegramAPIServer.from_base(api_base.rstrip("/"))
    try:
        return Bot(token, session=BotSession(api=server))
    except TokenValidationError:
        raise ConfigurationError("telegram.token is not a bot token (123456:ABC...)") from None


async def set_webhook(bot: Bot, config: TelegramConfig, secret: str, kinds: Sequence[str] = ALLOWED_UPDATES) -> None:
    """Sets the webhook. Raises ConfigurationError with Telegram's reason."""
    try:
        await bot.set_webhook(webhook_url(config), secret_token=secret, allowed_updates=list(kinds))
    except TelegramAPIError as error:
        raise ConfigurationError(f"the webhook cannot be set: {describe(error)}") from None


def webhook_url(config: TelegramConfig) -> str:
    """The address that Telegram calls in webhook mode; empty if none is configured."""
    return config.webhook.url.rstrip("/") + config.webhook.path if config.webhook.url else ""


def webhook_update(body: bytes) -> RawUpdate:
    """One update of a webhook call. Raises Refused if the body is no update."""
    try:
        update = raw_update(json.loads(body))
    except ValueError:
        update = None
    if update is None:
        raise Refused("no update", "the body is not an update of the Bot API")
    return update
