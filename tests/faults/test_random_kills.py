"""The short form of `make torture`: the same harness, a handful of kills."""

from __future__ import annotations

from pathlib import Path

from killed_bot import ForkServer
from torture import play


async def test_kills_at_random_moments_lose_and_double_nothing(tmp_path: Path) -> None:
    """Killed again and again while people write, the bot comes to rest with everything done once."""
    async with ForkServer.running() as server:
        batch = await play(server, tmp_path, seed=3, number=1, kills=6)
    assert batch.verdict.violations == []
    assert batch.verdict.messages > 5
    assert batch.verdict.fragments > 0
    assert batch.verdict.operations == batch.verdict.fragments
