"""Deletes events that are old or too many, in batches; never one that a subscriber of the bus has not read."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Final, Protocol

from sqlalchemy import Connection

from internal.config.settings import EventsConfig
from internal.events import retention_repository as old_events
from internal.events.bus import EventTopic, read_by_all
from internal.events.retention_repository import Old
from internal.scheduling.clock import Clock
from internal.storage.database import Database

log = logging.getLogger(__name__)

BATCH: Final = 500
"""Events that one transaction deletes, so that others wait for some milliseconds at most."""


SUBSCRIBERS: Final = {"context_manager": EventTopic.NOTIFICATION}
"""The subscribers of each topic for every owner, also before their first cursor."""


class EventPage(Protocol):
    def __call__(self, connection: Connection, behind: Old | None) -> list[Old]: ...


@dataclass(frozen=True, slots=True)
class EventRetention:
    """Keeps events for some days, and up to some number. `subscribers` are the agents that read a topic of the bus."""

    database: Database
    clock: Clock
    config: EventsConfig
    subscribers: Mapping[str, EventTopic] = field(default_factory=lambda: SUBSCRIBERS)

    async def drop_old(self) -> int:
        """Deletes due events and returns their number. Events that a subscriber has not read stay and are counted."""
        moment = self.clock.now() - timedelta(days=self.config.keep_days)
        dropped = await self._drop(partial(old_events.events_before, moment=moment, limit=BATCH))
        position = await self.database.read(lambda c: old_events.last_beyond(c, self.config.keep_rows))
        if position:
            dropped += await self._drop(partial(old_events.up_to, position=position, limit=BATCH))
        if dropped:
            log.info("events_dropped", extra={"count": dropped})
        return dropped

    async def _drop(self, page: EventPage) -> int:
        dropped = 0
        found = await self.database.read(partial(page, behind=None))
        while found:
            dropped += await self.database.write(partial(self._drop_read, found))
            found = await self.database.read(partial(page, behind=found[-1]))
        return dropped

    def _drop_read(self, found: list[Old], connection: Connection) -> int:
        read = read_by_all(connection, self.subscribers)
        # The event of a cursor stays as well, otherwise the cursor would point to nothing.
        expired = [one for one in found if one.seq < _read_to(read, one)]
        old_events.drop(connection, expired)
        return len(expired)


def _read_to(read: Mapping[tuple[str, int], int], event: Old) -> float:
    if event.user_id is None:
        return float("inf")
    return read.get((event.event_type, event.user_id), float("inf"))
