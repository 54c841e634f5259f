"""One ordered lane for each chat and thread: its turns are answered one after another, several chats at once."""

import asyncio
import logging
from collections.abc import Collection
from datetime import datetime, timedelta

from bot.telegram.ordered_tasks import OrderedTasks
from internal.dialogue import turn_repository as turns
from internal.dialogue.model import Turn, TurnState
from internal.errors import LeaseLost
from internal.flows.turn.answer import TurnFlow
from internal.scheduling.clock import Clock
from internal.scheduling.retry import retry_delay
from internal.scheduling.shards import ALL_SHARDS, Shards, shard_of
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for
from internal.storage.engine.write_guard import with_check

log = logging.getLogger(__name__)

PARALLEL_TURNS = 64
"""Answers written at once. Further turns wait in the database and need only a task in memory."""


STARTS_AT_ONCE = 2
"""Attempts at a turn without a pause before them, though the program ended during the earlier ones."""

MOST_WAITING = 2
"""The most jobs of a lane: the running one, which may have missed a new turn, and one after it that sees all turns."""


class Lanes:
    """Starts a lane's task when it has a turn; a lane without turns has no task."""

    def __init__(self, database: Database, clock: Clock, flow: TurnFlow, shards: Shards = ALL_SHARDS) -> None:
        self._database, self._clock, self._flow, self._shards = database, clock, flow, shards
        self._chains = OrderedTasks("lane")
        self._writing = asyncio.Semaphore(PARALLEL_TURNS)

    async def resume(self, bot_id: int, shards: Collection[int] | None = None) -> int:
        """Takes up every turn of this bot without an answer, at start. Returns how many.

        `shards`: only the turns in these, which another worker served before.
        """
        unanswered = await self._database.read(lambda c: turns.unfinished(c, bot_id, shards))
        for turn in unanswered:
            self.wake(turn)
        return len(unanswered)

    def wake(self, turn: Turn) -> None:
        """Starts answering the lane's turns. Repeated calls for a busy lane are remembered once."""
        key = (turn.bot_id, turn.lane)
        if self._chains.waiting(key) < MOST_WAITING:
            chat_id = turn.chat_id
            self._chains.add(key, lambda: self._of_chat(chat_id, *key), shard=shard_of(chat_id))

    def at_work(self) -> set[int]:
        """The shards with unanswered turns."""
        return self._chains.at_work()

    async def leave(self, shards: Collection[int], seconds: float) -> None:
        """Starts no more turns there, and waits up to `seconds` for those running."""
        await self._chains.leave(shards, seconds)

    async def drain(self, seconds: float) -> None:
        await self._chains.drain(seconds)

    async def _of_chat(self, chat_id: int, bot_id: int, lane: str) -> None:
        with with_check(self._shards.fence(chat_id)):
            await self._answer_next(bot_id, lane)

    async def _answer_next(self, bot_id: int, lane: str) -> None:
        """Answers the lane's open turns, the earliest first, until there is none."""
        failures = 0
        waited_for: datetime | None = None
        while (turn := await self._next(bot_id, lane)) is not None:
            if turn.close_at != waited_for and (wait := self._until_due(turn)) > timedelta(0):
                with acting_for(turn.user_id), self._flow.preparing(turn):
                    await asyncio.sleep(wait.total_seconds())
                waited_for = turn.close_at
                continue
            try:
                async with self._writing:
                    with acting_for(turn.user_id):
                        await self._flow.answer(turn)
            except LeaseLost:
                raise
            except Exception:  # outermost handler of a lane: the turn stays open, and the database counts its attempts
                failures += 1
                log.exception("turn_failed", extra={"turn": turn.id})
                await asyncio.sleep(retry_delay(failures, timedelta(seconds=1), timedelta(minutes=1)).total_seconds())

    async def _next(self, bot_id: int, lane: str) -> Turn | None:
        return await self._database.read_quickly(lambda c: turns.next_in_lane(c, bot_id, lane))

    def _until_due(self, turn: Turn) -> timedelta:
        """The time until the turn takes no more messages; at most its whole window, since the clock may be set back.

        A turn during which the program ended repeatedly waits longer each time; it is mostly not the cause.
        """
        if turn.state is TurnState.COLLECTING:
            return min(turn.close_at - self._clock.now(), turn.close_at - turn.opened_at)
        interrupted = turn.attempts - STARTS_AT_ONCE
        return retry_delay(interrupted, timedelta(seconds=1), timedelta(minutes=1)) if interrupted > 0 else timedelta(0)
