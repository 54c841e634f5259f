"""`laplaced import` as its user meets it: real processes over the data of a stopped bot."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, insert
from support.product.program import BEFORE_PYTHON, BOT, completed

from bot.application.bootstrap import open_app
from bot.application.rest import open_rest
from bot.cli.imports import ImportOptions, run_import
from internal.access.repository import add_spend
from internal.config.settings import Config, load
from internal.errors import NotFound, Refused
from internal.import_formats.model import Unreadable
from internal.people import service as people
from internal.storage.crash_points import CRASH_VARIABLE
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.tables import users
from internal.testing.clock import FIRST_MOMENT, FrozenClock

OWNER = 500


def owner(connection: Connection) -> None:
    row = {"user_id": OWNER, "role": "owner", "state": "active", "name": "Олена", "lang": "uk", "tz": "Europe/Kyiv"}
    connection.execute(insert(users).values(**row, settings={}, created_at=FIRST_MOMENT))


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """The folder of an installation whose bot does not run and knows one user."""
    async with Database.open(tmp_path / "data/laplaced.db") as database:
        await database.exclusive(migrate)
        await database.write(owner)
    return tmp_path


def imported(folder: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LAPLACED_")}
    return completed(BOT, ["import", "--user", str(OWNER), *words], kept | BEFORE_PYTHON | environ, folder)


def export(path: Path, messages: int, per_day: int = 3) -> Path:
    """A chat of so many messages on so many days, half of them the owner's own."""

    def message(n: int) -> dict[str, Any]:
        unix = 1_709_290_800 + n // per_day * 86_400 + n % per_day
        author = {"from": "Олена", "from_id": f"user{OWNER}"} if n % 2 else {"from": "Bob", "from_id": "user9"}
        return {"id": n, "type": "message", "date_unixtime": str(unix), "text": f"Петров сказав {n}"} | author

    whole = {"name": "Bob", "type": "personal_chat", "id": 9, "messages": [message(n) for n in range(messages)]}
    path.write_text(json.dumps(whole, ensure_ascii=False), encoding="utf-8")
    return path


def keys(folder: Path) -> list[str]:
    connection = sqlite3.connect(f"file:{folder / 'data/laplaced.db'}?mode=ro", uri=True)
    try:
        return [key for (key,) in connection.execute("SELECT key FROM segments ORDER BY rowid")]
    finally:
        connection.close()


async def run(folder: Path, *paths: str, **more: Any) -> str:
    """What the command prints, done in this process: a second is saved where no process is needed."""
    settings = more.pop("settings", {})
    config = load(None, {"LAPLACED_DATA_DIR": str(folder / "data")} | settings)
    asked = {"user_id": OWNER, "format": None, "dry_run": False} | more
    async with open_rest(config, "started") as rest:
        options = ImportOptions(paths=tuple(folder / path for path in paths), **asked)
        return "\n".join(await run_import(config, options, rest))


def test_an_import_killed_in_the_middle_goes_on(folder: Path) -> None:
    """Killed in the middle of a commit, then started again: every message is there, and once."""
    path = export(folder / "result.json", 300)
    killed = imported(folder, str(path), **{CRASH_VARIABLE: "C7:during:3"})
    assert killed.returncode == -9
    half = len(keys(folder))
    assert 0 < half < 300
    done = imported(folder, str(path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{300 - half} messages imported in {(300 - half) // 3} episodes\n")
    assert f"\n{half} messages were there before\n" in done.stdout
    assert sorted(keys(folder)) == sorted(f"telegram:user9:{n}" for n in range(300))


def test_an_empty_folder_becomes_an_installation(tmp_path: Path) -> None:
    """As a start of the bot would make it, for a user who is let in; a dry run makes nothing, a stranger is refused."""
    path, allowed = export(tmp_path / "result.json", 3), {"LAPLACED_ACCESS__ALLOWED_USER_IDS": str(OWNER)}
    token = {"LAPLACED_TELEGRAM__TOKEN": "1:x"}
    would = imported(tmp_path, "--dry-run", str(path), **allowed, **token)
    assert (would.returncode, would.stdout.split("\n")[0]) == (0, "3 messages would be imported in 1 episodes")
    assert not (tmp_path / "data").exists()
    done = imported(tmp_path, str(path), **allowed, **token)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("3 messages imported in 1 episodes\n")
    assert keys(tmp_path) == [f"telegram:user9:{n}" for n in range(3)]
    refused = imported(tmp_path, str(path), **token, LAPLACED_DATA_DIR="other")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == (
        f"laplaced: there is no user {OWNER}: name him in access.allowed_user_ids, or let him write to the bot first\n"
    )


async def test_the_first_user_of_the_local_telegram_needs_no_list(tmp_path: Path) -> None:
    """Nobody can be asked whether he is one of it; the next is one only after he wrote."""
    export(tmp_path / "result.json", 3)
    assert (await run(tmp_path, "result.json")).startswith("3 messages imported")
    with pytest.raises(NotFound, match="there is no user 404"):
        await run(tmp_path, "result.json", user_id=404)


def test_a_truncated_export_keeps_what_stood_before(folder: Path) -> None:
    """One line on stderr says where it ends and how much was imported."""
    whole = export(folder / "result.json", 90).read_bytes()
    (folder / "half.json").write_bytes(whole[: len(whole) // 2])
    told = imported(folder, "half.json")
    assert (told.returncode, told.stdout, told.stderr.count("\n")) == (1, "", 1)
    before = len(keys(folder))
    assert told.stderr.startswith("laplaced: half.json is cut off: ")
    assert told.stderr.endswith(f"; {before} messages before that are imported\n")
    assert 30 < before < 46


async def test_the_whole_file_adds_the_rest(folder: Path) -> None:
    """After a broken file, and once more after the whole one: nothing is doubled."""
    whole = export(folder / "result.json", 90).read_bytes()
    (folder / "half.json").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(Unreadable, match="cut off"):
        await run(folder, "half.json")
    before = len(keys(folder))
    assert (await run(folder, "result.json")).startswith(f"{90 - before} messages imported")
    assert len(keys(folder)) == len(set(keys(folder))) == 90
    assert await run(folder, "result.json") == "0 messages imported in 0 episodes\n90 messages were there before"


async def test_a_dry_run_tells_and_stores_nothing(folder: Path) -> None:
    """How much, from when, of whom, what the archivist would ask, and what that costs at a price."""
    export(folder / "result.json", 30)
    key = {"LAPLACED_LLM__API_KEY": "x"}
    lines = (await run(folder, "result.json", dry_run=True, settings=key)).splitlines()
    assert lines[:4] == [
        "30 messages would be imported in 10 episodes",
        "from 2024-03-01 to 2024-03-10; 15 messages of Олена's own",
        "chats: Bob 30",
        "people: Bob 15",
    ]
    assert lines[4].startswith("the archivist: about 10 calls and ")
    assert lines[5].startswith("cost: not known")
    priced = await run(folder, "result.json", dry_run=True, price=2000.0, settings=key)
    assert "\ncost: about $" in priced
    assert "with access.daily_cost_usd 5 that takes " in priced
    assert (await run(folder, "result.json", dry_run=True)).endswith("cost: none, the offline models answer")
    assert keys(folder) == []


async def test_what_the_archivist_cost_so_far_is_the_price(folder: Path) -> None:
    """Dollars a token of its calls up to now; an archivist that is off costs nothing and is not foretold."""
    export(folder / "result.json", 30)
    async with Database.open(folder / "data/laplaced.db") as database:
        spent = {"tokens": 1_000_000, "cost_usd": 0.3}
        await database.write(lambda c: add_spend(c, OWNER, "2024-03-01", "archivist", **spent))  # type: ignore[arg-type]
    told = await run(folder, "result.json", dry_run=True, settings={"LAPLACED_LLM__API_KEY": "x"})
    assert "by its 1 calls so far ($0.30 a million tokens)" in told
    off = {"LAPLACED_AGENTS__ARCHIVIST__ENABLED": "false"}
    assert "archivist" not in await run(folder, "result.json", dry_run=True, settings=off)
    assert "archivist" not in await run(folder, "result.json", settings=off)


@pytest.mark.parametrize(
    ("words", "more", "error", "said"),
    [
        (["absent.json"], {}, Unreadable, r"cannot read .*absent\.json: No such file or directory"),
        (["result.json"], {"format": "slack"}, Unreadable, r"result\.json is no Slack export"),
        (["talk.vtt"], {}, Unreadable, r"talk\.vtt does not tell when the meeting began: give it with --start"),
        (
            ["result.json", "talk.vtt"],
            {},
            Refused,
            r"of several formats \(telegram, zoom\): import one after the other",
        ),
        (["result.json"], {"user_id": 404}, NotFound, "there is no user 404"),
    ],
)
async def test_what_cannot_be_done_is_said(
    folder: Path, words: list[str], more: dict[str, Any], error: type[Exception], said: str
) -> None:
    """The reason in one sentence, and nothing is stored."""
    export(folder / "result.json", 3)
    (folder / "talk.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\nBob: hi\n", encoding="utf-8")
    with pytest.raises(error, match=said):
        await run(folder, *words, **more)
    assert keys(folder) == []


async def test_a_meeting_is_imported_with_its_beginning(folder: Path) -> None:
    """--start counts in the user's zone, --me names his voice."""
    (folder / "talk.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\nOlena K: Так.\n", encoding="utf-8")
    told = await run(folder, "talk.vtt", start=datetime(2024, 3, 1, 14), me=(" Olena K",), dry_run=True)
    assert "1 messages of Олена's own" in told
    assert "--me" in await run(folder, "talk.vtt", start=datetime(2024, 3, 1, 14), dry_run=True)
    await run(folder, "talk.vtt", start=datetime(2024, 3, 1, 14), me=("olena k",))
    assert keys(folder) == ["zoom:20240301T120000Z:1000"]


async def test_the_archivist_reads_what_was_imported(folder: Path) -> None:
    """From a file to a person that can be found, by the product's own flows."""
    said = {"id": 1, "type": "message", "date_unixtime": "1709290800", "text": "My friend Bob plays chess."}
    whole = {"name": "Anna", "type": "personal_chat", "id": 9, "messages": [said | {"from_id": f"user{OWNER}"}]}
    (folder / "result.json").write_text(json.dumps(whole), encoding="utf-8")
    await run(folder, "result.json")
    async with open_app(Config(data_dir=folder / "data"), clock=FrozenClock()) as app:
        assert (await app.archive(OWNER, None)).applied == 1
        found = await app.database.read(lambda c: people.find(c, OWNER, "Bob"))
    assert [person.display_name for person in found] == ["Bob"]
