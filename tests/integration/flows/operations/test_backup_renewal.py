"""No backup in the data folder holds what was erased for longer than a week, and a newer one takes its place."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from support.flows.flow_stage import OWNER, Talk

from bot.application.backups import Backups
from internal.config import load
from internal.flows.forgetting.requests import ForgettingService
from internal.storage.backup.backup import HELD, folder_of

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def backups(talk: Talk, tmp_path: Path) -> Backups:
    return Backups(load(None, {"LAPLACED_DATA_DIR": str(tmp_path / "installation")}), talk.database, talk.clock)


async def erase(talk: Talk, words: str) -> None:
    said = await talk.say(words)
    talk.clock.advance(60)
    await talk.flow().answer(said.turn)  # type: ignore[arg-type]
    await ForgettingService(talk.database, talk.clock, b"k" * 32).erase_now(OWNER, "message", said.message.id)


async def held(backups: Backups) -> int:
    """How many backups there are after a look."""
    await backups.renew()
    return len(await backups.listing())


async def test_a_backup_with_something_erased_is_replaced_and_deleted(talk: Talk, backups: Backups) -> None:
    """An hour after the erasure one is made, for all that was erased until then; a week later the old one goes."""
    old = await backups.back_up()
    talk.clock.advance(2 * DAY)
    await erase(talk, "Канарейка")
    assert await held(backups) == 1
    talk.clock.advance(HOUR / 2)
    await erase(talk, "Синица")
    assert await held(backups) == 1
    talk.clock.advance(HOUR / 2)
    assert await held(backups) == 2
    assert await held(backups) == 2
    talk.clock.advance(HELD - 2 * HOUR)
    assert await held(backups) == 2
    assert old.path.exists()
    talk.clock.advance(2 * HOUR)
    assert await held(backups) == 1
    assert not old.path.exists()


async def test_forgetting_each_hour_pushes_out_no_backups(talk: Talk, backups: Backups) -> None:
    """One a day is made at most; the operator's own of a night serves as well."""
    await backups.back_up()
    talk.clock.advance(HOUR)
    for n in range(5):
        await erase(talk, f"Птица {n}")
        talk.clock.advance(2 * HOUR)
        assert await held(backups) == 1
    talk.clock.advance(DAY)
    assert await held(backups) == 2


async def test_where_none_is_made_none_appears(talk: Talk, backups: Backups, tmp_path: Path) -> None:
    """Copies are the operator's decision; and without an erasure nothing is replaced or deleted."""
    await erase(talk, "Канарейка")
    talk.clock.advance(9 * DAY)
    assert await held(backups) == 0
    assert not folder_of(tmp_path / "installation").exists()
    await backups.back_up()
    talk.clock.advance(30 * DAY)
    assert await held(backups) == 1
