"""A getUpdates loop in place of aiogram's: updates are on disk before the offset moves (C1).

aiogram confirms updates whose handlers still run, and one update it cannot parse blocks it for ever.
"""

import asyncio
import json
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import urlsplit

import aiohttp

from bot.telegram.intake.update_kinds import ALLOWED_UPDATES
from internal.certificates import ssl_context
from internal.errors import ConfigurationError, LaplacedError, StorageError
from internal.scheduling.retry import retry_delay

log = logging.getLogger(__name__)

LONG_POLL_S = 25
DEAF_AFTER_S = LONG_POLL_S + 15
"""Seconds without an answer after which the connection is rebuilt: it is dead, even if it looks open."""
RETRY_BASE, RETRY_MAX = timedelta(seconds=0.5), timedelta(seconds=30)
CONNECT_S = 10
QUIET_S = 86_400.0
"""Seconds without updates after which the offset is dropped: Telegram restarts its ids after a week of silence."""
MOST_UPDATE_ID = 2**63 - 1
"""The largest id that a database column holds; Telegram's ids have 32 bits."""
SHORTEST_S = 0.3
"""Seconds between two polls without new updates: a server that answers at once is not polled without a pause."""
CONFLICTS = 4
"""Conflicts that are tolerated: our own previous poll may still hang after a restart; a second poller stays."""
CONFLICT_WINDOW_S = 120.0
"""Seconds in which conflicts are counted, even with updates in between: two pollers get a share of the updates each."""

RawUpdate = tuple[int, str]
"""(update_id, the update's JSON)."""


class SecondPoller(LaplacedError):
    """Another program polls with this bot token (409). Stop it, or give this bot a token of its own."""


class BadToken(ConfigurationError):
    """Telegram does not know this bot token; check telegram.token."""


class PollObserver(Protocol):
    def polled(self) -> None:
        """A poll was answered."""

    def telegram_error(self, method: str, kind: str) -> None: ...


class Poller:
    """Calls `accept` with each batch of updates; the offset moves only when it returns."""

    def __init__(
        self,
        api_url: str,
        accept: Callable[[Sequence[RawUpdate]], Awaitable[None]],
        observer: PollObserver,
        *,
        deaf_after: float = DEAF_AFTER_S,
        own_webhooks: Sequence[str] = (),
        kinds: Sequence[str] = ALLOWED_UPDATES,
    ) -> None:
        """`api_url` ends with the token and is never logged. A webhook at one of `own_webhooks` is this program's."""
        self._url, self._accept, self._observer = api_url, accept, observer
        self._deaf_after, self._own_webhooks = deaf_after, own_webhooks
        self._kinds = list(kinds)
        self._offset: int | None = None
        self._spoken_at = time.monotonic()
        self._heard = False
        self._failures = 0
        self._conflicts: deque[float] = deque(maxlen=CONFLICTS)

    async def run(self) -> None:
        """Polls until cancelled, from the first unconfirmed update. Raises SecondPoller or BadToken."""
        self._offset, self._heard = None, False
        self._conflicts.clear()
        while True:
            # Like aiogram's client, without the proxies of the environment: half of the bot behind one is of no use.
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=self._deaf_after)
            connector = aiohttp.TCPConnector(ssl=ssl_context(self._url) or True)
            async with aiohttp.ClientSession(timeout=timeout, connector=connector) as client:
                await self._poll_until_broken(client)

    async def _poll_until_broken(self, client: aiohttp.ClientSession) -> None:
        while True:
            asked_at = time.monotonic()
            try:
                updates = await self._poll(client)
                if updates is not None and not await self._take(updates):
                    await asyncio.sleep(asked_at + SHORTEST_S - time.monotonic())
            except (aiohttp.ClientError, TimeoutError, ValueError, StorageError) as error:
                await self._pause(type(error).__name__)
                return

    async def _take(self, updates: Sequence[RawUpdate]) -> bool:
        """Accepts updates. Returns whether the poll was useful: with news, or the first one, which never waits."""
        new, self._heard = not self._heard, True
        self._observer.polled()
        now = time.monotonic()
        if updates:
            await self._accept(updates)
            before, self._offset = self._offset, max(update_id for update_id, _ in updates) + 1
            self._spoken_at, new = now, self._offset != before
        elif now - self._spoken_at > QUIET_S:
            self._offset = None
        self._failures = 0
        return new

    async def _poll(self, client: aiohttp.ClientSession) -> list[RawUpdate] | None:
        """Makes one long poll. Returns None if Telegram refused it and it is to be repeated."""
        # The first poll and one after a long silence have no offset: Telegram may have restarted its ids.
        # It does not wait either: its answer shows at once that the token is valid and the bot is ready.
        wait = LONG_POLL_S if self._heard else 0
        asked: dict[str, Any] = {"timeout": wait, "allowed_updates": self._kinds}
        if self._offset is not None:
            asked["offset"] = self._offset
        answer = await self._call(client, "getUpdates", asked)
        if not isinstance(answer, dict):
            raise aiohttp.ClientPayloadError("not an object")
        if not answer.get("ok"):
            await self._refused(client, answer)
            return None
        return _updates(answer.get("result"))

    async def _call(self, client: aiohttp.ClientSession, method: str, asked: dict[str, Any] | None = None) -> Any:
        async with client.post(f"{self._url}/{method}", json=asked, allow_redirects=False) as response:
            return json.loads(await response.read())

    async def _refused(self, client: aiohttp.ClientSession, answer: dict[str, Any]) -> None:
        code = answer.get("error_code")
        if code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND):
            raise BadToken
        if code == HTTPStatus.CONFLICT:
            if "webhook" in str(answer.get("description", "")).lower():
                await self._end_own_webhook(client)
                return
            self._conflict(time.monotonic())
        match answer.get("parameters"):
            case {"retry_after": int(seconds) | float(seconds)} if seconds > 0:
                await self._pause(str(code), float(seconds))
            case _:
                await self._pause(str(code))

    async def _end_own_webhook(self, client: aiohttp.ClientSession) -> None:
        """Deletes the webhook of an earlier `telegram.mode: webhook`, but not the webhook of another program."""
        match await self._call(client, "getWebhookInfo"):
            case {"ok": True, "result": {"url": str(url)}} if url in self._own_webhooks:
                await self._call(client, "deleteWebhook")
                log.warning("webhook_deleted", extra={"reason": "telegram.mode is polling"})
            case {"ok": True, "result": {"url": str(url)}} if url:
                raise ConfigurationError(
                    f"a webhook is set for this bot, and not by this program: Telegram calls {urlsplit(url).hostname}; "
                    "stop what set it and delete it, or use telegram.mode=webhook"
                )
        await self._pause("webhook")

    def _conflict(self, now: float) -> None:
        self._conflicts.append(now)
        if len(self._conflicts) == CONFLICTS and now - self._conflicts[0] <= CONFLICT_WINDOW_S:
            raise SecondPoller

    async def _pause(self, kind: str, seconds: float | None = None) -> None:
        self._failures += 1
        self._observer.telegram_error("getUpdates", kind)
        log.warning("poll_failed", extra={"kind": kind, "failures": self._failures})
        wait = seconds if seconds is not None else retry_delay(self._failures, RETRY_BASE, RETRY_MAX).total_seconds()
        await asyncio.sleep(wait)


def _updates(result: Any) -> list[RawUpdate]:
    """The updates of an answer, without other items.

    Raises ValueError if nothing in the answer is an update: it would be asked for without end.
    """
    items = result if isinstance(result, list) else [result]
    found = [raw for item in items if (raw := raw_update(item)) is not None]
    if len(found) < len(items):
        log.error("no_updates", extra={"items": len(items) - len(found)})
        if not found:
            raise ValueError("no updates in the answer")
    return found


def raw_update(update: Any) -> RawUpdate | None:
    """An update of decoded JSON in its stored form; None without an id: it can be neither stored nor confirmed."""
    number = update.get("update_id") if isinstance(update, dict) else None
    if type(number) is not int or not 0 <= number <= MOST_UPDATE_ID:
        return None
    text = json.dumps(update, ensure_ascii=False)
    # Half of a surrogate pair is valid JSON, but databases refuse it: it would block all later updates for ever.
    return number, text if _can_be_stored(text) else json.dumps(update)


def _can_be_stored(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
