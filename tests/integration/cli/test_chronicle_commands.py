"""`laplaced graph audit` and `transcript`, as their user meets them, over a stopped bot's data."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import insert, text

from bot.cli.main import main
from internal.chronicle import repository
from internal.dialogue import repository as dialogue
from internal.flows.sessions.lifecycle import UNJUDGED
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.tables import users
from internal.testing.clock import FIRST_MOMENT

OWNER = 500


def talked(connection: Any) -> None:
    row = {"user_id": OWNER, "role": "owner", "state": "active", "name": "Олена", "lang": "uk", "tz": "Europe/Kyiv"}
    connection.execute(insert(users).values(**row, settings={}, created_at=FIRST_MOMENT))
    for number in range(3):
        asked = dialogue.add(connection, OWNER, "user", f"Питання {number}?", now=FIRST_MOMENT)
        UNJUDGED.heard(connection, asked, tz="Europe/Kyiv", now=FIRST_MOMENT)
        said = dialogue.add(connection, OWNER, "assistant", f"Відповідь {number}.", now=FIRST_MOMENT)
        UNJUDGED.answered(connection, said, [asked], tz="Europe/Kyiv", now=FIRST_MOMENT)
        UNJUDGED.close(connection, OWNER, FIRST_MOMENT)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    opened(tmp_path, talked)
    return tmp_path


def opened(folder: Path, work: Any) -> Any:
    async def make() -> Any:
        async with Database.open(folder / "data" / "laplaced.db") as database:
            await database.exclusive(migrate)
            return await database.write(work)

    return asyncio.run(make())


def laplaced(*words: str) -> Result:
    return CliRunner().invoke(main, list(words), env={"LAPLACED_DATA_DIR": "data"})


def test_audit_tells_and_mends(folder: Path) -> None:
    """One JSON object; 1 while the line is broken, 0 once it was mended."""
    told = laplaced("graph", "audit", "--user", str(OWNER))
    assert (told.exit_code, json.loads(told.stdout)["next_integrity"]) == (0, 1.0)
    opened(folder, lambda c: c.execute(text("DELETE FROM chronicle WHERE label = 'Response'")))
    broken = laplaced("graph", "audit", "--user", str(OWNER))
    assert (broken.exit_code, json.loads(broken.stdout)["full_text"]) == (1, 0.0)
    assert broken.stderr == "laplaced: the chronicle is not whole; laplaced graph audit --repair mends what can be\n"
    mended = laplaced("graph", "audit", "--user", str(OWNER), "--repair")
    done = json.loads(mended.stdout)
    assert (mended.exit_code, done["mended"], done["after"]["full_text"]) == (0, {"missing": 3, "misplaced": 4}, 1.0)


def test_transcript_of_all_or_of_one(folder: Path) -> None:
    """Every conversation, oldest first, in the owner's language; or the one that is named."""
    told = laplaced("graph", "transcript", "--user", str(OWNER))
    assert told.exit_code == 0
    assert [line for line in told.stdout.splitlines() if line.startswith("# ")] == [f"# Питання {n}?" for n in range(3)]
    assert "> Відповідь 2." in told.stdout
    last = opened(folder, lambda c: repository.listing(c, OWNER)[-1].id)
    one = laplaced("graph", "transcript", "--user", str(OWNER), "--session", last)
    assert "# Питання 2?" in one.stdout
    assert "Питання 1" not in one.stdout


def test_what_is_not_there_is_one_line(folder: Path) -> None:
    """A user or session that nobody knows: 1, and a sentence."""
    nobody = laplaced("graph", "audit", "--user", "9")
    assert (nobody.exit_code, nobody.stderr) == (1, "laplaced: there is no user 9\n")
    nothing = laplaced("graph", "transcript", "--user", str(OWNER), "--session", "none")
    assert (nothing.exit_code, nothing.stderr) == (1, "laplaced: there is no session none\n")
