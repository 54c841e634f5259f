"""Chooses the runs to work on: owners in parallel, each in order; a run that crashed the process, alone.

Level-triggered: due runs are found by a query, so a crash at any point loses no work. A handler is one agent's part.
"""

import asyncio
import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection

from internal.config.settings import RunsConfig
from internal.flows.runs.attempt import Notify, RunAttempts, RunObserver
from internal.flows.runs.handler import RunHandler
from internal.flows.runs.joint_requests import Together
from internal.scheduling import open_run_repository as open_runs, run_repository as runs
from internal.scheduling.clock import Clock
from internal.scheduling.run import SUSPECT, Run
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for, acting_for_everyone

log = logging.getLogger(__name__)

PARALLEL = 4
"""The most runs at once: they wait for a model, and owners must not wait for one another."""

REVIVED_AFTER = timedelta(days=1)
"""Time after which a run that ended the process is tried again: a newer program, or more memory, may manage it."""


class RunLoop:
    """Starts ready runs: one at a time for each owner and agent, several owners in parallel."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        handlers: Sequence[RunHandler[Any, Any]],
        config: RunsConfig,
        observer: RunObserver,
        daily_cost_usd: float,
        notify: Notify,
        worker: str | None = None,
        together: Together | None = None,
    ) -> None:
        """`worker` is the name of this process if others may work on the same store, else None."""
        self._database, self._clock, self._handlers, self._worker = database, clock, handlers, worker
        self._together = together or Together(database, None, (), {})
        self._attempts = RunAttempts(database, clock, config, observer, daily_cost_usd, notify, self._together, worker)
        self._working: dict[tuple[str, int], asyncio.Task[None]] = {}
        self._lookups: set[asyncio.Task[None]] = set()
        self._stopping = False
        self._alone = False
        self._fresh = True

    async def start_ready(self) -> None:
        """Starts every run that may be worked on now; each that ends looks for the next.

        Runs that were interrupted repeatedly go first and alone, after running ones have ended.
        """
        if self._fresh:
            await self._database.write(lambda c: runs.hurry_denied(c, self._clock.now()))
            self._fresh = False
        ready = [
            (handler, run)
            for handler, its in zip(self._handlers, await self._ready(), strict=True)
            for run in its
            if (handler.agent, run.user_id) not in self._working
        ]
        suspects = [pair for pair in ready if pair[1].interruptions >= SUSPECT]
        if self._alone or (suspects and self._working):
            return
        self._alone = bool(suspects)
        for handler, run in suspects[:1] or ready:
            self._start(handler, run)

    async def revive_interrupted(self) -> None:
        """Tries parked runs again after a day, if the process ended during them."""
        now = self._clock.now()
        await self._database.write(lambda c: runs.revive_interrupted(c, now, now - REVIVED_AFTER))

    async def work_off(self, user_id: int, seconds: float) -> None:
        """Starts this owner's runs without waiting for a tick. Returns when none is ready, or after `seconds`."""
        deadline = self._clock.now() + timedelta(seconds=seconds)
        while self._clock.now() < deadline:
            await self.start_ready()
            working = [task for (_, owner), task in self._working.items() if owner == user_id]
            if not working and not await self._ready_for(user_id):
                return
            await asyncio.wait(working, timeout=1) if working else await asyncio.sleep(0.1)

    async def _ready_for(self, user_id: int) -> bool:
        now, agents = self._clock.now(), [handler.agent for handler in self._handlers]
        with acting_for(user_id):
            return await self._database.read(
                lambda c: any(not self._together.waits(c, run) for run in open_runs.ready_of(c, user_id, agents, now))
            )

    async def drain(self, seconds: float) -> None:
        """Waits up to `seconds` for running runs, then cancels them: the claim ends with the process, or its lease."""
        self._stopping = True
        tasks = [*self._working.values(), *self._lookups]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _ready(self) -> list[list[Run]]:
        """The runs that may be worked on now, of each handler."""
        now, worker, agents = self._clock.now(), self._worker, [handler.agent for handler in self._handlers]

        def read(connection: Connection) -> list[list[Run]]:
            ready = [runs.ready_runs(connection, agent, now, limit=PARALLEL * 4, worker=worker) for agent in agents]
            return [[run for run in its if not self._together.waits(connection, run)] for its in ready]

        with acting_for_everyone():
            return await self._database.read(read)

    def _start(self, handler: RunHandler[Any, Any], run: Run) -> None:
        lane = (handler.agent, run.user_id)
        if self._stopping or lane in self._working or len(self._working) >= PARALLEL:
            return
        task = asyncio.create_task(self._attempts.make(handler, run), name=f"run-{handler.agent}-{run.user_id}")
        self._working[lane] = task
        task.add_done_callback(lambda _: self._ended(lane))

    def _ended(self, lane: tuple[str, int]) -> None:
        del self._working[lane]
        self._alone = False
        if not self._stopping:
            lookup = asyncio.create_task(self._guarded_start(), name="runs-next")
            self._lookups.add(lookup)
            lookup.add_done_callback(self._lookups.discard)

    async def _guarded_start(self) -> None:
        try:
            await self.start_ready()
        except Exception:  # the next tick asks again
            log.exception("runs_lookup_failed")
