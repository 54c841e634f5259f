"""The short form of the torture of several workers: the same harness, a handful of blows."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.faults.fault_record import proving
from support.faults.fleet import Fleet
from support.faults.fleet_torture import judged

KILLS, SEED = 2, "short fleet:1"


@pytest.mark.long
async def test_workers_that_are_killed_at_random_lose_and_double_nothing(tmp_path: Path) -> None:
    """Two kills, a restart of the database and cut connections, through a pooler; then all is there once."""
    with proving("kill", "of workers, a restart of PostgreSQL and cut connections", "everything once"):
        rng = random.Random(SEED)
        async with Fleet.world(tmp_path, SEED) as fleet:
            await fleet.live(rng, 1)
            await fleet.server.restart()
            await fleet.bot.somebody_acts(rng)
            fleet.server.cut_connections(rng)
            await fleet.bot.somebody_acts(rng)
            await fleet.go_on(rng, KILLS)
            await fleet.come_to_rest()
            verdict = await judged(fleet)
        assert verdict.violations == []
        assert verdict.messages > 0
