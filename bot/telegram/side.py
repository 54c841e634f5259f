"""Everything between Telegram and the flows, built and stopped as one."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus

from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import ClientDecodeError, TelegramAPIError, TelegramNetworkError, TelegramServerError
from aiogram.methods import Response, TelegramMethod
from aiogram.methods.base import TelegramType
from aiogram.utils.token import TokenValidationError

from bot.telegram.delivery import Sender, describe
from bot.telegram.drafts import TelegramDrafts
from bot.telegram.ingest import Ingest
from bot.telegram.lanes import Lanes
from bot.telegram.polling import ALLOWED_UPDATES, Poller, RawUpdate, raw_update
from internal.config import TelegramConfig
from internal.errors import ConfigurationError, Refused
from internal.flows.delivery import Delivery
from internal.scheduling.clock import Clock
from internal.telemetry.metrics import Metrics

log = logging.getLogger(__name__)

POLL_FRESH = timedelta(seconds=90)
"""Without an answered poll for this long the bot counts as deaf; one in flight is answered within 25 s."""


@dataclass(slots=True)
class PollMonitor:
    """A PollObserver that remembers when it last heard from Telegram."""

    metrics: Metrics
    clock: Clock
    last: datetime | None = None

    def polled(self) -> None:
        self.last = self.clock.now()
        self.metrics.polled()

    def telegram_error(self, method: str, kind: str) -> None:
        self.metrics.telegram_error(method, kind)

    def fresh(self) -> bool:
        return self.last is not None and self.clock.now() - self.last < POLL_FRESH


@dataclass(slots=True)
class TelegramSide:
    bot: Bot
    ingest: Ingest
    lanes: Lanes
    sender: Sender
    drafts: TelegramDrafts
    delivery: Delivery
    poller: Poller | None
    monitor: PollMonitor

    async def resume(self) -> None:
        """Takes up what the last process left: interrupted sends, accepted updates, turns without an answer."""
        unknown = await self.delivery.recover(self.bot.id)
        for _ in range(unknown):
            self.monitor.metrics.send_unknown()
        turns = await self.lanes.resume(self.bot.id)
        updates = await self.ingest.resume()
        if unknown or turns or updates:
            log.info("resumed", extra={"sends_unknown": unknown, "turns": turns, "updates": updates})

    async def stop(self) -> None:
        """Persists and drains to a deadline of about 12 s in all; whatever is left is taken up at the next start."""
        await self.ingest.drain(2)
        await self.lanes.drain(6)
        await self.drafts.close()
        await self.sender.drain(4)


class Session(AiohttpSession):
    """aiogram's client, whose errors are all TelegramAPIErrors: a gateway's HTML page is one of the server's too."""

    def check_response(
        self, bot: Bot, method: TelegramMethod[TelegramType], status_code: int, content: str
    ) -> Response[TelegramType]:
        try:
            return super().check_response(bot, method, status_code, content)
        except ClientDecodeError as error:
            if status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
                raise TelegramServerError(method, f"HTTP {status_code}") from None
            raise TelegramNetworkError(method, "an answer that cannot be read") from error


def open_bot(config: TelegramConfig, api_base: str, token: str) -> Bot:
    """The Bot API client. Raises ConfigurationError for a token that cannot be one."""
    server = TelegramAPIServer.from_base(api_base.rstrip("/"))
    try:
        return Bot(token, session=Session(api=server))
    except TokenValidationError:
        raise ConfigurationError("telegram.token is not a bot token (123456:ABC...)") from None


async def set_webhook(bot: Bot, config: TelegramConfig, secret: str) -> None:
    """Tells Telegram where to call. Raises ConfigurationError with Telegram's reason."""
    url = config.webhook.url.rstrip("/") + config.webhook.path
    try:
        await bot.set_webhook(url, secret_token=secret, allowed_updates=list(ALLOWED_UPDATES))
    except TelegramAPIError as error:
        raise ConfigurationError(f"the webhook cannot be set: {describe(error)}") from None


def webhook_update(body: bytes) -> RawUpdate:
    """One update as a webhook brings it. Raises Refused if it is none."""
    try:
        update = raw_update(json.loads(body))
    except ValueError:
        update = None
    if update is None:
        raise Refused("no update", "the body is not an update of the Bot API")
    return update
