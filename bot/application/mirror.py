"""The mirror of the graph: the configured one, or a temporary one for a few queries."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn
from urllib.parse import urlsplit

from bot.shared.mirror_target import EMBEDDED, target_of
from internal.access import repository as users
from internal.config.settings import Config, GraphConfig
from internal.errors import ConfigurationError, LaplacedError, LeaseLost, MirrorUnavailable
from internal.flows.indexing.mirror import MirrorSync, StoredCursors, TemporaryCursors
from internal.flows.operations.health_checks import Check, finding, fine, note
from internal.graph.mirror import repository
from internal.graph.mirror.falkordb import Falkor, imported
from internal.graph.mirror.falkordb_server import binaries, running
from internal.graph.mirror.projection import Rows
from internal.scheduling.clock import Clock
from internal.scheduling.leases import Leases
from internal.scheduling.worker_membership import MIRROR
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for, acting_for_everyone
from internal.storage.types import new_id
from internal.telemetry.logs import redact

_IDLE_S: Final = 300.0
"""Seconds without a query after which a temporary mirror ends; rebuilding a big one takes seconds."""


class Mirrors:
    """Queries the mirror, rebuilds it, and keeps it up to date by `run`.

    Without a configured one, the first query starts one in a temporary folder. It is brought up to date only by
    queries, leaves no cursor in the database, and ends when nobody uses it any more.
    """

    def __init__(self, config: Config, database: Database, clock: Clock) -> None:
        self._config, self._database, self._clock = config, database, clock
        self._leases = Leases(database, new_id())
        self._kept: MirrorSync | None = None
        self._passing: tuple[MirrorSync, contextlib.AsyncExitStack] | None = None
        self._opening = asyncio.Lock()
        self._asking = 0
        self._asked_at = 0.0

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[Mirrors]:
        """Yields the mirrors. Raises ConfigurationError if one is configured and what it needs is not installed."""
        async with contextlib.AsyncExitStack() as stack:
            if self._config.graph.mirror_url:
                imported()
                falkor = await stack.enter_async_context(_falkor(self._config.graph))
                self._kept = await self._mirroring(falkor, stack, passing=False)
            stack.push_async_callback(self._end_passing)
            yield self

    async def run(self, while_leading: Callable[[Callable[[], Awaitable[object]]], Awaitable[NoReturn]]) -> None:
        """Follows the change log into the configured mirror; without one, ends the temporary one when it is idle.

        `while_leading` runs endless work in one process of the store at a time.
        """
        if self._kept is not None:
            await while_leading(self._kept.run)
        while True:
            await asyncio.sleep(_IDLE_S / 5)
            async with self._opening:
                if not self._asking and asyncio.get_running_loop().time() - self._asked_at >= _IDLE_S:
                    await self._end_passing()

    async def query(self, user_id: int, cypher: str, params: Mapping[str, Any]) -> Rows:
        """Runs a query. Raises NotFound, Refused and MirrorUnavailable, also if what it needs is not installed."""
        with acting_for(user_id):
            await self._database.read(lambda c: users.get(c, user_id))
        self._asking += 1
        try:
            return await (await self._here()).query(user_id, cypher, params)
        finally:
            self._asking -= 1
            self._asked_at = asyncio.get_running_loop().time()

    async def rebuild(self, user_id: int | None) -> Sequence[tuple[int, int]]:
        """Rebuilds the mirror of one owner, or (None) of everybody. Returns each owner's number of nodes and edges.

        Raises NotFound, and MirrorUnavailable, also where none is configured.
        """
        if self._kept is None:
            raise MirrorUnavailable("no mirror is configured (graph.mirror_url): there is none to be rebuilt")
        owners = [user_id] if user_id is not None else await self._everybody()
        return [(owner, await self._kept.rebuild(owner)) for owner in owners]

    async def _everybody(self) -> list[int]:
        with acting_for_everyone():
            return [user.user_id for user in await self._database.read(users.everybody)]

    async def _here(self) -> MirrorSync:
        if self._kept is not None:
            return self._kept
        async with self._opening:
            if self._passing is None:
                _need_installed()
                async with contextlib.AsyncExitStack() as stack:
                    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="laplaced-"))
                    falkor = await stack.enter_async_context(_embedded(Path(folder), folder, self._config.graph))
                    mirroring = await self._mirroring(falkor, stack, passing=True)
                    self._passing = mirroring, stack.pop_all()
            return self._passing[0]

    async def _mirroring(self, falkor: Falkor, stack: contextlib.AsyncExitStack, *, passing: bool) -> MirrorSync:
        cursors = TemporaryCursors() if passing else StoredCursors(self._database, self._clock, falkor.target)
        runs = self._config.runs
        mirroring = MirrorSync(
            self._database,
            self._clock,
            falkor,
            cursors,
            retry_base=runs.retry_base,
            retry_max=runs.retry_max,
            alone=self._free_of_others if passing or not self._database.shared else self._alone,
        )
        stack.push_async_callback(mirroring.aclose)
        return mirroring

    @contextlib.asynccontextmanager
    async def _alone(self, user_id: int) -> AsyncIterator[None]:
        """Lets one process of the store at a time write into an owner's mirror."""
        try:
            async with self._leases.kept(f"{MIRROR}{user_id}"):
                yield
        except LeaseLost as error:
            raise MirrorUnavailable("another worker brings this mirror up to date") from error

    @contextlib.asynccontextmanager
    async def _free_of_others(self, user_id: int) -> AsyncIterator[None]:
        yield

    async def _end_passing(self) -> None:
        passing, self._passing = self._passing, None
        if passing is not None:
            await passing[1].aclose()


def _need_installed() -> None:
    """Raises MirrorUnavailable instead of ConfigurationError: only the query fails, not the program."""
    try:
        binaries()
        imported()
    except ConfigurationError as error:
        raise MirrorUnavailable(str(error)) from None


async def check_mirror(config: GraphConfig, database: Database | None, *, running: bool) -> Check:
    """Checks whether the mirror answers, and how far it lags. `database` is None while there is none to read."""
    target = target_of(config)
    try:
        binaries()
        imported()
    except LaplacedError as error:
        if target:
            fix = "pip install '.[graph]' in Laplaced's folder, or leave graph.mirror_url empty"
            return finding("mirror", str(error), fix, "mirror-missing", error=str(error))
        text = f"none is configured, and Cypher cannot be asked: {error}"
        return note("mirror", text, "mirror-none-missing", error=str(error))
    if not target:
        return fine("mirror", "none is configured; `laplaced graph query` makes one for its own use", "mirror-none")
    if target.startswith(EMBEDDED) and not running:
        return note("mirror", f"{target} is started with the bot", "mirror-starts", target=target)
    async with contextlib.aclosing(_client(config, _url(config))) as falkor:
        try:
            await falkor.ping()
        except LaplacedError as error:
            fix = "check graph.mirror_url and the server; the bot goes on without it, and catches up by itself"
            return finding("mirror", f"{target}: {error}", fix, "mirror-error", target=target, error=str(error))
    behind = await database.read(lambda c: repository.lag(c, target)) if database is not None else 0
    return fine("mirror", f"{target} answers, {behind} changes behind", "mirror-answers", target=target, count=behind)


@contextlib.asynccontextmanager
async def _falkor(config: GraphConfig) -> AsyncIterator[Falkor]:
    if config.mirror_url.startswith(EMBEDDED):
        async with _embedded(_folder(config), target_of(config), config) as falkor:
            yield falkor
        return
    redact.register(urlsplit(config.mirror_url).password or "")
    async with contextlib.aclosing(_client(config, config.mirror_url)) as falkor:
        yield falkor


@contextlib.asynccontextmanager
async def _embedded(folder: Path, target: str, config: GraphConfig) -> AsyncIterator[Falkor]:
    async with running(folder, rows=config.query_rows) as server:
        falkor = Falkor(server.url, target, timeout=config.query_timeout, rows=config.query_rows, stuck=server.kill)
        async with contextlib.aclosing(falkor):
            yield falkor


def _client(config: GraphConfig, url: str) -> Falkor:
    return Falkor(url, target_of(config), timeout=config.query_timeout, rows=config.query_rows)


def _url(config: GraphConfig) -> str:
    return (
        f"unix://{_folder(config) / 'falkordb.sock'}" if config.mirror_url.startswith(EMBEDDED) else config.mirror_url
    )


def _folder(config: GraphConfig) -> Path:
    return Path(config.mirror_url.removeprefix(EMBEDDED)).expanduser()
