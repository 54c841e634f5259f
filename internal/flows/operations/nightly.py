"""The nightly maintenance of memory: ages links and memories once each night of the owner's zone."""

import logging
import time
from datetime import datetime
from typing import Final, Protocol
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access import repository as users
from internal.access.model import UserState
from internal.config.settings import MemoryConfig
from internal.flows.reflections import communities
from internal.memory.plasticity import (
    decay_repository,
    maintenance,
    night_repository,
    repository as plasticity_repository,
)
from internal.memory.plasticity.decay import plasticity_of
from internal.memory.plasticity.maintenance import OFFERED, LinkPageResult, MaintenanceReport
from internal.memory.plasticity.repository import Link
from internal.scheduling.clock import Clock
from internal.storage import change_log
from internal.storage.chunks import chunks
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_apart_for, acting_for

log = logging.getLogger(__name__)

_ENTRIES_AT_ONCE: Final = 250
"""The most entries of the change log deleted in one transaction."""


class MaintenanceObserver(Protocol):
    """Called after the commit."""

    def memory_maintained(self, *, decayed: int, pruned: int) -> None: ...


class NightlyMaintenance:
    """Maintains memories: due ones at every look, one owner's at once on request."""

    def __init__(
        self, database: Database, clock: Clock, config: MemoryConfig, observer: MaintenanceObserver | None = None
    ) -> None:
        self._database, self._clock, self._observer = database, clock, observer
        self._hour, self.plasticity = config.maintenance_hour, plasticity_of(config)

    async def maintain_due(self) -> None:
        """Maintains the memory of every owner whose latest night has no maintenance yet."""
        now = self._clock.now()
        for user_id, last in await self._database.read(lambda c: self._due(c, now)):
            with acting_apart_for(user_id, log, "maintenance_failed"):
                report = await self._maintain(user_id, prune=maintenance.may_prune(last, now))
                await self._database.write(lambda c: communities.renew(c, user_id, now))  # noqa: B023 - awaited here
                log.info("memory_maintained", extra={"user_id": user_id, **report.counts()})

    async def maintain(self, user_id: int, *, dry_run: bool = False) -> MaintenanceReport:
        """Maintains one owner's memory now; a dry run returns what would change. Raises NotFound."""
        with acting_for(user_id):
            await self._database.read(lambda c: users.get(c, user_id))
            return await self._maintain(user_id, dry_run=dry_run)

    async def _maintain(self, user_id: int, *, prune: bool = True, dry_run: bool = False) -> MaintenanceReport:
        now = self._clock.now()
        links, memories = await self._database.read(lambda c: _counts(c, user_id))
        done = await self._age_links(user_id, now, prune=prune, dry_run=dry_run)
        offered, kept = await self._database.read(
            lambda c: maintenance.faded_memories(c, user_id, self.plasticity, now)
        )
        report = MaintenanceReport(
            user_id=user_id,
            at=now,
            dry_run=dry_run,
            links=links,
            decayed=done.decayed,
            pruned=done.pruned,
            memories=memories,
            faded=len(offered),
            kept=kept,
            offered=offered[:OFFERED],
        )
        if not dry_run:
            await self._database.write(lambda c: maintenance.finish(c, report))
            await compact_change_log(self._database, user_id)
            if self._observer is not None:
                self._observer.memory_maintained(decayed=done.decayed, pruned=done.pruned)
        return report

    async def _age_links(self, user_id: int, now: datetime, *, prune: bool, dry_run: bool) -> LinkPageResult:
        """Ages links a page at a time, each in its own transaction, so that messages can be stored in between."""
        decayed = pruned = 0
        after: Link | None = None
        size = maintenance.PAGE
        while page := await self._database.read(
            lambda c: plasticity_repository.links_after(c, user_id, after, size)  # noqa: B023 - awaited here
        ):
            done = maintenance.forecast(page, self.plasticity, now)
            if not dry_run and (done.decayed or done.pruned):
                began = time.perf_counter()
                done = await self._database.write(
                    lambda c: maintenance.step(c, user_id, page, self.plasticity, now, prune=prune)
                )
                size = maintenance.next_size(size, time.perf_counter() - began)
            decayed, pruned, after = decayed + done.decayed, pruned + done.pruned, page[-1]
        return LinkPageResult(decayed, pruned)

    def _due(self, connection: Connection, now: datetime) -> list[tuple[int, datetime]]:
        """The owners with the time of their last maintenance, or of joining for a new owner."""
        nights = night_repository.last_nights(connection)
        kept = [user for user in users.everybody(connection) if user.state is not UserState.REMOVED]
        lasts = [(user, nights.get(user.user_id, user.created_at)) for user in kept]
        return [
            (user.user_id, last)
            for user, last in lasts
            if maintenance.night_due(last, now, ZoneInfo(user.tz), self._hour)
        ]


def _counts(connection: Connection, user_id: int) -> tuple[int, int]:
    return (
        plasticity_repository.count_links(connection, user_id),
        decay_repository.count_memories(connection, user_id),
    )


async def compact_change_log(database: Database, user_id: int) -> int:
    """Deletes an owner's entries that later ones replace, in parts so that others do not wait. Returns their number."""
    stale = await database.read(lambda c: change_log.superseded(c, user_id))
    for part in chunks(stale, _ENTRIES_AT_ONCE):
        await database.write(lambda c: change_log.delete_entries(c, user_id, part))  # noqa: B023 - awaited here
    return len(stale)
