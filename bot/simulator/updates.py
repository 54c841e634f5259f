"""The queue of updates for the bot: ids, long polling, confirmation by offset, one poller at a time."""

import asyncio
import time
from typing import Any

from bot.simulator.feed import Feed
from bot.simulator.repository import Json, Repository
from bot.simulator.server.errors import conflict

FIRST_UPDATE_ID = 710_000_001
MAX_LIMIT = 100
MAX_TIMEOUT = 50.0
_NOT_BY_DEFAULT = frozenset({"chat_member", "message_reaction", "message_reaction_count"})


class UpdateQueue:
    """Keeps updates on disk until the bot asks for later ones (or the webhook has sent them)."""

    def __init__(self, repository: Repository, feed: Feed) -> None:
        self._repository = repository
        self._feed = feed
        self._changed = asyncio.Event()
        self._poll = 0
        self._terminated: dict[int, str] = {}
        self._waiting = 0
        self._closed = False
        self.last_poll_at = 0.0

    def put(self, kind: str, body: Any) -> int | None:
        """Queues an update of `kind` inside a transaction. Returns its id, or None if the bot does not want it."""
        if not self.wanted(kind):
            return None
        update_id = self._repository.count_up("update_id", FIRST_UPDATE_ID)
        self._repository.add_update(update_id, kind, {"update_id": update_id, kind: body})
        self._wake()
        return update_id

    def inject(self, raw: Json) -> int:
        """Queues any JSON object as an update. Its own `update_id` is kept, so that ids can repeat or jump."""
        given = raw.get("update_id")
        update_id = given if isinstance(given, int) else self._repository.count_up("update_id", FIRST_UPDATE_ID)
        kind = next((key for key in raw if key != "update_id"), "")
        self._repository.add_update(update_id, kind, {**raw, "update_id": update_id})
        self._wake()
        return update_id

    def wanted(self, kind: str) -> bool:
        allowed = self._repository.setting("allowed_updates", [])
        return kind in allowed if allowed else kind not in _NOT_BY_DEFAULT

    async def poll(self, offset: int, limit: int, wait: float) -> list[Json]:
        """Confirms updates below `offset`, then returns those that are there, or waits at most `wait` seconds.

        A negative offset keeps only the last -offset updates. Raises 409 when another poll begins meanwhile.
        """
        self.terminate_poll("terminated by other getUpdates request; make sure that only one bot instance is running")
        self._poll = mine = self._poll + 1
        self._touch()
        first = self._confirm(offset)
        deadline = time.monotonic() + wait
        self._waiting += 1
        try:
            while True:
                self._changed.clear()
                found = self._repository.pending_updates(first, limit)
                left = deadline - time.monotonic()
                if found or left <= 0 or self._closed:
                    return found
                await self._wait_for_change(left)
                if mine in self._terminated:
                    raise conflict(self._terminated.pop(mine))
        finally:
            self._waiting -= 1
            self._terminated.pop(mine, None)
            self._touch()

    async def _wait_for_change(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            pass

    def terminate_poll(self, reason: str) -> None:
        """Ends the waiting poll with a 409 that gives `reason`."""
        if self._waiting:
            self._terminated[self._poll] = reason
            self._changed.set()

    @property
    def poll_in_flight(self) -> bool:
        return self._waiting > 0

    def _confirm(self, offset: int) -> int:
        if offset < 0:
            first = self._repository.nth_last_update_id(-offset)
            offset = 0 if first is None else first
        if offset > 0:
            self.confirm_below(offset)
        return offset

    def confirm_below(self, update_id: int) -> None:
        if self._repository.forget_updates_below(update_id):
            self._feed.publish("confirmed")

    def confirm(self, update_id: int) -> None:
        """Removes one update that the webhook has sent."""
        self._repository.forget_update(update_id)
        self._feed.publish("confirmed")

    def _touch(self) -> None:
        was_fresh = time.time() - self.last_poll_at < 60
        self.last_poll_at = time.time()
        if not was_fresh:
            self._feed.publish("bot")

    def _wake(self) -> None:
        self._changed.set()

    async def changed(self, seconds: float) -> None:
        """Waits until something may have been queued, at most `seconds`; used by the webhook, which never polls."""
        self._changed.clear()
        if not self._closed and not self._repository.update_count():
            await self._wait_for_change(seconds)

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """Ends the waiting poll with the updates that are there: the server stops."""
        self._closed = True
        self._changed.set()
