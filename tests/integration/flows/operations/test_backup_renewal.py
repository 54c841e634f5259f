"""No backup in the data folder holds what was erased for longer than a week, and a newer one takes its place."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from support.flows.flow_stage import OWNER, Talk, add_user

from bot.application.backups import Backups
from bot.application.bootstrap import open_app
from internal.config.settings import load
from internal.dialogue import repository as dialogue
from internal.errors import Refused
from internal.flows.forgetting.requests import UNDO_WINDOW, ForgettingService, ask
from internal.storage.backup.backup import HELD, folder_of
from internal.testing import FrozenClock

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
WORDS = ["Канарейка", "Синица", "Воробей"]


@pytest.fixture
def backups(talk: Talk, tmp_path: Path) -> Backups:
    return Backups(load(None, {"LAPLACED_DATA_DIR": str(tmp_path / "installation")}), talk.database, talk.clock)


async def say(talk: Talk, words: str) -> str:
    said = await talk.say(words)
    talk.clock.advance(60)
    await talk.flow().answer(said.turn)  # type: ignore[arg-type]
    return said.message.id


async def erase(talk: Talk, message_id: str) -> None:
    await ForgettingService(talk.database, talk.clock, b"k" * 32).erase_now(OWNER, "message", message_id)


def words_in(backup: Path) -> list[str]:
    return [word for word in WORDS if word.encode() in backup.read_bytes()]


async def held(backups: Backups) -> int:
    """How many backups there are after a look."""
    await backups.renew()
    return len(await backups.listing())


async def test_a_backup_with_something_erased_is_replaced_and_deleted(talk: Talk, backups: Backups) -> None:
    """An hour after the erasure one is made, for all that was erased until then; a week later the old one goes."""
    first, second, _ = [await say(talk, words) for words in WORDS]
    old = await backups.back_up()
    talk.clock.advance(2 * DAY)
    await erase(talk, first)
    assert await held(backups) == 1
    talk.clock.advance(HOUR / 2)
    await erase(talk, second)
    assert await held(backups) == 1
    talk.clock.advance(HOUR / 2)
    assert await held(backups) == 2
    assert await held(backups) == 2
    fresh, _ = await backups.listing()
    assert [words_in(one.path) for one in (fresh, old)] == [WORDS[2:], WORDS]
    talk.clock.advance(HELD - 2 * HOUR)
    assert await held(backups) == 2
    assert words_in(old.path) == WORDS
    talk.clock.advance(2 * HOUR)
    assert await held(backups) == 1
    assert not old.path.exists()


async def test_a_copy_under_a_chosen_name_holds_it_no_longer(talk: Talk, backups: Backups) -> None:
    """It stands among the backups and goes with them; other files there stay, and it can be nowhere else."""
    first, *_ = [await say(talk, words) for words in WORDS]
    folder = (await backups.back_up()).path.parent
    named = await backups.back_up(folder / "mine.db")
    (folder / "notes.txt").write_text(WORDS[0])
    with pytest.raises(Refused, match="must be in"):
        await backups.back_up(folder.parent / "mine.db")
    assert named in await backups.listing()
    talk.clock.advance(2 * DAY)
    await erase(talk, first)
    talk.clock.advance(HOUR)
    assert await held(backups) == 3
    talk.clock.advance(HELD)
    assert await held(backups) == 1
    assert sorted(path.suffix for path in folder.iterdir()) == [".db", ".txt"]


async def test_forgetting_each_hour_pushes_out_no_backups(talk: Talk, backups: Backups) -> None:
    """One a day is made at most; the operator's own of a night serves as well."""
    await backups.back_up()
    talk.clock.advance(HOUR)
    for n in range(5):
        await erase(talk, await say(talk, f"Птица {n}"))
        talk.clock.advance(2 * HOUR)
        assert await held(backups) == 1
    talk.clock.advance(DAY)
    assert await held(backups) == 2


async def test_where_none_is_made_none_appears(talk: Talk, backups: Backups, tmp_path: Path) -> None:
    """Copies are the operator's decision; and without an erasure nothing is replaced or deleted."""
    await erase(talk, await say(talk, "Канарейка"))
    talk.clock.advance(9 * DAY)
    assert await held(backups) == 0
    assert not folder_of(tmp_path / "installation").exists()
    await backups.back_up()
    talk.clock.advance(30 * DAY)
    assert await held(backups) == 1


async def test_the_product_replaces_backups_of_what_it_forgot(tmp_path: Path) -> None:
    """From the request in the chat to the last backup that held it, by the jobs of the clock alone."""
    clock = FrozenClock()
    config = load(None, {"LAPLACED_DATA_DIR": str(tmp_path), "LAPLACED_EMBEDDING__DIMENSIONS": "64"})
    async with open_app(config, clock=clock) as app:
        await app.database.write(lambda c: add_user(c, OWNER))
        said, _ = [
            await app.database.write(lambda c, one=one: dialogue.add(c, OWNER, "user", one, now=clock.now()))  # type: ignore[misc]
            for one in (WORDS[0], WORDS[2])
        ]
        await app.backups.back_up()
        await app.database.write(lambda c: ask(c, OWNER, "message", said.id, now=clock.now()))
        jobs, seen = app.maintenance(), []
        for ahead in (UNDO_WINDOW, DAY, HELD - DAY - HOUR, HOUR):
            clock.advance(ahead)
            for job in (one for one in jobs._jobs if one.name in ("forgetting", "backups")):
                await jobs._run(job)
                if job.running is not None:
                    await job.running
            seen.append([words_in(one.path) for one in await app.backups.listing()])
    with_it, without = [WORDS[0], WORDS[2]], [WORDS[2]]
    assert seen == [[with_it], [without, with_it], [without, with_it], [without]]
