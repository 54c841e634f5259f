"""Stores raw updates: those that arrive while others are being written share the next transaction."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import InboxRow
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for_everyone

BATCH: Final = 500
"""Most updates of one transaction, which takes some 5 ms: other writes wait no longer."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    updates: Sequence[tuple[int, str]]
    stored: asyncio.Future[list[InboxRow]]


class Inbox:
    """One bot's inbox. Five hundred webhook calls at once are one statement and one commit."""

    def __init__(
        self, database: Database, clock: Clock, bot_id: int, chat_of: Callable[[str], int | None] = lambda raw: None
    ) -> None:
        """`chat_of` returns the chat with which an update (JSON) stays in order."""
        self._database, self._clock, self._bot_id, self._chat_of = database, clock, bot_id, chat_of
        self._waiting: deque[_Waiting] = deque()
        self._storing: asyncio.Task[None] | None = None

    async def store(self, updates: Sequence[tuple[int, str]]) -> list[InboxRow]:
        """Stores updates (update_id, JSON) and returns the new ones once they are on disk (C1).

        Raises StorageError; then none of them is stored.
        """
        stored: asyncio.Future[list[InboxRow]] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(updates, stored))
        if self._storing is None or self._storing.done():
            self._storing = asyncio.create_task(self._store_waiting(), name="inbox")
        return await stored

    async def _store_waiting(self) -> None:
        with acting_for_everyone():
            while self._waiting:
                await self._store_together(self._next_batch())

    def _next_batch(self) -> list[_Waiting]:
        """Returns as many callers as fit into a batch, at least one; cancelled ones are left out."""
        batch: list[_Waiting] = []
        room = BATCH
        while self._waiting and (not batch or len(self._waiting[0].updates) <= room):
            first = self._waiting.popleft()
            if not first.stored.cancelled():
                batch.append(first)
                room -= len(first.updates)
        return batch

    async def _store_together(self, batch: Sequence[_Waiting]) -> None:
        updates = [update for waiting in batch for update in waiting.updates]
        chats = {update_id: chat for update_id, raw in updates if (chat := self._chat_of(raw)) is not None}
        now = self._clock.now()
        try:
            rows = await self._database.write(
                lambda c: mailbox.receive(c, self._bot_id, updates, now, chats), point="C1"
            )
        except Exception as error:  # handed to every caller, who knows what it means
            for stored in (waiting.stored for waiting in batch if not waiting.stored.done()):
                stored.set_exception(error)
            return
        fresh = {row.update_id: row for row in rows}
        for waiting in batch:
            mine = [fresh.pop(update_id) for update_id, _ in waiting.updates if update_id in fresh]
            if not waiting.stored.done():
                waiting.stored.set_result(mine)
