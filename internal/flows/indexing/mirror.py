"""Keeps a mirror of the graph in step with the change log, and queries it. No message ever waits for it.

The mirror stores a mark for each owner, and the store a cursor: the last change that both have. While they agree, what
changed since is read in its current state and written by id, so that a repetition changes nothing. Otherwise, the
mirror was lost, belongs to another store, or the store was restored from a backup: then it is rebuilt.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from sqlalchemy import Connection

from internal.access import repository as users
from internal.errors import MirrorUnavailable, Refused
from internal.flows.indexing import mirror_batch
from internal.graph.mirror import repository
from internal.graph.mirror.projection import PROJECTION, Batch, GraphMirror, MirrorMark, Rows
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.engine.commit_order import ReadPosition
from internal.storage.engine.owner_scope import acting_for, acting_for_everyone
from internal.storage.forgetting.forgettings import EVERYTHING, FORGOTTEN
from internal.storage.types import new_id

log = logging.getLogger(__name__)

_CHANGES: Final = 500
"""Changes of one batch, applied and marked together."""

_MANY: Final = 20_000
"""The most changes that a mirror follows; after more it is rebuilt, which is faster."""

_TOGETHER_S: Final = 0.2
"""Seconds that a change waits for others, to be written with them."""

_EXAMINED: Final = timedelta(minutes=1)
"""How often a mirror is checked while nothing changes."""

_BUILDS: Final = 3
"""The most rebuilds in a row: an owner's first nodes may be written while the mirror is found empty."""

_FRESH_S: Final = 5.0
"""Seconds that a query waits for changes that were written before it."""

_REST: Final = timedelta(minutes=10)
"""How long an owner waits after a statement that only ended with the engine, which costs all owners their mirrors."""

_STORE: Final = "store_id"

_ALL_ANEW: Final = (EVERYTHING, FORGOTTEN)
"""Changes after which everything is rebuilt: an erasure removes forgotten words from rows that no change names."""


class Cursors(Protocol):
    """The last mirrored change of each owner. Stored cursors outlive the process."""

    async def get(self, user_id: int) -> int | None: ...
    async def move(self, user_id: int, seq: int) -> None: ...
    async def owners(self) -> list[int]: ...


class StoredCursors:
    """The table `mirrors`. Moving one is commit point C12."""

    def __init__(self, database: Database, clock: Clock, target: str) -> None:
        self._database, self._clock, self._target = database, clock, target

    async def get(self, user_id: int) -> int | None:
        return await self._database.read(lambda c: repository.cursor(c, user_id, self._target))

    async def move(self, user_id: int, seq: int) -> None:
        now = self._clock.now()
        await self._database.write(lambda c: repository.move_cursor(c, user_id, self._target, seq, now), point="C12")

    async def owners(self) -> list[int]:
        return await self._database.read(lambda c: repository.followed(c, self._target))


class TemporaryCursors:
    """Cursors of a temporary mirror for a few queries."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}

    async def get(self, user_id: int) -> int | None:
        return self._seen.get(user_id)

    async def move(self, user_id: int, seq: int) -> None:
        self._seen[user_id] = seq

    async def owners(self) -> list[int]:
        return list(self._seen)


class MirrorSync:
    """One mirror and the cursors into the log. `only_asked`: it follows only the owners that were queried."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        mirror: GraphMirror,
        cursors: Cursors,
        *,
        retry_base: timedelta = timedelta(seconds=2),
        retry_max: timedelta = timedelta(minutes=15),
        alone: Callable[[int], AbstractAsyncContextManager[None]] = lambda user_id: nullcontext(),
    ) -> None:
        """`alone` waits until no other process writes into this owner's mirror, and raises MirrorUnavailable."""
        self._alone = alone
        self._database, self._clock, self._mirror, self._cursors = database, clock, mirror, cursors
        self._retry_base, self._retry_max = retry_base.total_seconds(), retry_max.total_seconds()
        self._one_at_a_time: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._one_statement: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._stuck: dict[int, datetime] = {}
        self._looked_at = ReadPosition()
        self._examined = clock.now() - _EXAMINED
        self._store: str | None = None
        self._following: set[asyncio.Task[int]] = set()

    async def run(self) -> None:
        """Follows every commit until cancelled; retries an unusable mirror after growing pauses."""
        pause = self._retry_base
        while True:
            before = self._database.commits_seen
            try:
                with acting_for_everyone():
                    await self.follow_due()
            except MirrorUnavailable as error:
                log.warning("mirror_unavailable", extra={"error": str(error), "again_in_s": pause})
            except Exception:  # outermost handler of a job: due work is found by a query, so it is tried again
                log.exception("job_failed", extra={"job": "mirror"})
            else:
                pause = self._retry_base
                await self._something(before)
                continue
            await asyncio.sleep(pause)
            pause = min(pause * 2, self._retry_max)

    async def follow_due(self) -> int:
        """Brings the mirrors of all changed owners up to date. Returns the number of changes.

        Sometimes checks that the mirror still has what was written. Raises MirrorUnavailable.
        """
        looked_at = self._looked_at
        owners, here = await self._database.read(lambda c: repository.changed_owners(c, looked_at))
        now = self._clock.now()
        if not self._examined <= now < self._examined + _EXAMINED:
            owners |= set(await self._cursors.owners())
            self._examined = now
        followed = 0
        for user_id in sorted(owners):
            followed += await self.follow(user_id)
        self._looked_at = here
        return followed

    async def follow(self, user_id: int) -> int:
        """Brings one owner's mirror up to date. Returns the number of changes. Raises MirrorUnavailable."""
        with acting_for(user_id):
            async with self._one_at_a_time[user_id], self._alone(user_id):
                return await self._follow(user_id)

    async def rebuild(self, user_id: int) -> int:
        """Rebuilds one owner's mirror. Returns its numbers of nodes and edges. Raises NotFound, MirrorUnavailable."""
        with acting_for(user_id):
            await self._database.read(lambda c: users.get(c, user_id))
            async with self._one_at_a_time[user_id], self._alone(user_id):
                return await self._rebuild(user_id, await self._version(user_id))

    async def query(self, user_id: int, cypher: str, params: Mapping[str, Any]) -> Rows:
        """Queries the mirror in the state after everything written before the query.

        If a mirror lags for more than some seconds, it is queried as it is. Raises what `GraphMirror.query` raises, and
        MirrorUnavailable during the first build.
        """
        # Not cancelled with the query: the next one would begin the rebuild again.
        following = asyncio.create_task(self.follow(user_id))
        self._following.add(following)
        following.add_done_callback(self._following.discard)
        done, _ = await asyncio.wait({following}, timeout=_FRESH_S)
        if done:
            following.result()
        elif await self._mirror.mark(user_id) is None:
            raise MirrorUnavailable("the mirror of this graph is being built; try again in a moment")
        async with self._turn(user_id):
            return await self._ask(user_id, cypher, params)

    async def aclose(self) -> None:
        """Ends the work that queries began."""
        for task in self._following:
            task.cancel()
        await asyncio.gather(*self._following, return_exceptions=True)

    @asynccontextmanager
    async def _turn(self, user_id: int) -> AsyncIterator[None]:
        """Waits for the owner's earlier statement: the engine has few threads, and other owners need one too."""
        one_statement = self._one_statement[user_id]
        try:
            async with asyncio.timeout(_FRESH_S):
                await one_statement.acquire()
        except TimeoutError:
            raise MirrorUnavailable("an earlier statement about this graph is still running; try again later") from None
        try:
            yield
        finally:
            one_statement.release()

    async def _ask(self, user_id: int, cypher: str, params: Mapping[str, Any]) -> Rows:
        stuck_at, now = self._stuck.get(user_id), self._clock.now()
        if stuck_at is not None and now < stuck_at + _REST:
            minutes = _REST // timedelta(minutes=1)
            raise MirrorUnavailable(
                f"a statement had to be stopped by force; the next is taken {minutes} minutes later"
            )
        try:
            return await self._mirror.query(user_id, cypher, params)
        except Refused as refusal:
            if refusal.reason == "stuck":
                self._stuck[user_id] = now
            raise

    async def _something(self, before: int) -> None:
        """Returns after a commit, or when a check is due; commits close together count as one."""
        try:
            async with asyncio.timeout(_EXAMINED.total_seconds()):
                await self._database.committed(before)
                await asyncio.sleep(_TOGETHER_S)
        except TimeoutError:
            pass

    async def _follow(self, user_id: int) -> int:
        if await self._database.read(lambda c: users.find(c, user_id)) is None:
            return 0  # a message was stored of somebody who was never admitted
        version, followed = await self._version(user_id), 0
        for _ in range(_BUILDS):
            if await self._agrees(user_id, version):
                break
            followed += await self._rebuild(user_id, version)
        else:
            raise MirrorUnavailable("the mirror does not keep what is written into it")
        while (step := await self._step(user_id, version)) is not None:
            followed += step
        return followed

    async def _agrees(self, user_id: int, version: str) -> bool:
        """Whether mark and cursor agree and belong to this store's log."""
        seen, mark = await self._cursors.get(user_id), await self._mirror.mark(user_id)
        if seen is None or mark is None:
            return False
        newest = await self._newest(user_id)
        return mark.version == version and mark.seq == seen <= newest and (mark.graph or seen == newest)

    async def _step(self, user_id: int, version: str) -> int | None:
        """Follows one batch, or rebuilds. Returns the number of changes; None if there was nothing to do."""
        seen = await self._cursors.get(user_id) or 0
        changes = await self._database.read(lambda c: repository.changes_after(c, user_id, seen, _MANY + 1))
        if not changes:
            return None
        if len(changes) > _MANY or any(change.kind in _ALL_ANEW for change in changes):
            return await self._rebuild(user_id, version)
        some = changes[:_CHANGES]
        put = await self._database.read(lambda c: mirror_batch.put_nodes(c, user_id, some))
        known = await self._mirror.known(user_id, put)
        batch = await self._database.read(lambda c: mirror_batch.batch_of(c, user_id, some, known))
        await self._mirror.apply(user_id, batch, MirrorMark(version, some[-1].seq))
        await self._cursors.move(user_id, some[-1].seq)
        return len(some)

    async def _newest(self, user_id: int) -> int:
        return await self._database.read(lambda c: repository.newest(c, user_id))

    async def _rebuild(self, user_id: int, version: str) -> int:
        """Rebuilds a mirror. Rows read while others write may be outdated: their changes are followed afterwards."""

        def begin(connection: Connection) -> tuple[int, bool]:
            return repository.newest(connection, user_id), mirror_batch.is_empty(connection, user_id)

        seq, empty = await self._database.read(begin)
        counted = [0]
        await self._mirror.rebuild(user_id, self._batches(user_id, counted), MirrorMark(version, seq, graph=not empty))
        await self._cursors.move(user_id, seq)
        log.info("mirror_built", extra={"user_id": user_id, "things": counted[0]})
        return counted[0]

    async def _batches(self, user_id: int, counted: list[int]) -> AsyncIterator[Batch]:
        page: mirror_batch.Page | None = mirror_batch.everything(user_id)
        while page is not None:
            batch, page = await self._database.read(page)
            counted[0] += len(batch.nodes) + len(batch.edges)
            yield batch

    async def _version(self, user_id: int) -> str:
        """The version of a mirror: a mirror with another one is of another program, store or zone."""
        user = await self._database.read(lambda c: users.get(c, user_id))
        if self._store is None:
            self._store = await self._database.write(_store_id)
        return f"{PROJECTION}:{self._store}:{user.tz}"


def _store_id(connection: Connection) -> str:
    """The id by which mirrors know this database, created at the first use."""
    known = users.read_setting(connection, _STORE)
    if known is None:
        known = new_id()
        users.write_setting(connection, _STORE, known)
    return str(known)
