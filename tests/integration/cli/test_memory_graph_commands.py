"""`laplaced graph` for the memory graph: through a running server, and over a stopped bot's data."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from fastapi import FastAPI
from sqlalchemy import Connection, insert

from bot.application.in_process import DatabaseRouters
from bot.cli.main import main
from bot.web.http.guard import Guard
from bot.web.server.uvicorn import serving
from internal.config.settings import load
from internal.graph import store
from internal.scheduling.clock import SystemClock
from internal.storage.database import Database
from internal.storage.engine.data_lock import hold_folder
from internal.storage.files.keys import ensure_key
from internal.storage.migration import migrate
from internal.storage.tables import users

OWNER = 500
NOW = SystemClock().now()
AGO = NOW - timedelta(days=90)


def life(connection: Connection) -> dict[str, str]:
    """A user's memories of three months ago, by name."""
    row = {"user_id": OWNER, "role": "owner", "state": "active", "name": "Олена", "lang": "uk", "tz": "Europe/Kyiv"}
    connection.execute(insert(users).values(**row, settings={}, created_at=AGO))

    def node(label: str, **properties: Any) -> str:
        return store.add_node(connection, OWNER, label, properties, now=AGO, by="owner").id

    def edge(type: str, source: str, target: str, **properties: Any) -> None:
        store.add_edge(connection, OWNER, type, source, target, properties, now=AGO)

    ids = {"green": node("Memory", content="Зелений чай"), "black": node("Memory", content="Чорний чай")}
    ids |= {"tea": node("Concept", name="чай"), "question": node("Question", text="Скільки чаю?")}
    ids |= {"coffee": node("Concept", name="кава")}
    ids |= {"conflict": node("Contradiction", description="чай чи кава"), "weak": node("Memory", content="Кава")}
    for name in ("green", "black"):
        edge("HAS_CONCEPT", ids[name], ids["tea"])
        edge("CONFLICTS_WITH", ids["conflict"], ids[name])
    edge("PARTIALLY_ANSWERS", ids["green"], ids["question"], completeness=0.2)
    edge("RELATES_TO", ids["green"], ids["black"], strength=0.8)
    edge("RELATES_TO", ids["green"], ids["weak"], strength=0.06)
    for name, strength in (("чай", 0.9), ("кава", -0.4)):
        node("Preference", preference=name, category="напої", strength=strength)
    return ids


@pytest.fixture
def ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An installation whose bot does not run."""
    monkeypatch.chdir(tmp_path)

    async def make() -> dict[str, str]:
        async with Database.open(tmp_path / "data" / "laplaced.db") as database:
            await database.exclusive(migrate)
            return await database.write(life)

    return asyncio.run(make())


def laplaced(*words: str) -> Result:
    return CliRunner().invoke(main, ["graph", *words[:1], "--user", str(OWNER), *words[1:]])


def rows(*words: str) -> list[dict[str, Any]]:
    done = laplaced(*words)
    assert (done.exit_code, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_queries_print_a_row_each(ids: dict[str, str]) -> None:
    """One JSON object a row, as the specification asks each."""
    assert {row["id"] for row in rows("by-concept", "чай")} == {ids["green"], ids["black"]}
    assert len(rows("by-concept", "--limit", "1", "чай")) == 1
    [answering] = rows("open-questions")
    assert (answering["question"]["id"], answering["memory"]["id"]) == (ids["question"], ids["green"])
    assert {row["memory"]["id"] for row in rows("contradictions")} == {ids["green"], ids["black"]}
    liked = [row["properties"]["preference"] for row in rows("preferences", "--category", "напої")]
    assert liked == ["чай", "кава"]
    assert rows("preferences", "--category", "одяг") == []
    assert [row["id"] for row in rows("shared-concepts", ids["green"])] == [ids["black"]]
    near = rows("associations", ids["green"])
    assert [(row["node"]["id"], row["strength"]) for row in near] == [(ids["black"], 0.8), (ids["weak"], 0.06)]
    assert len(rows("associations", ids["green"], "--min-strength", "0.5")) == 1


def test_maintenance_is_tried_and_done(ids: dict[str, str]) -> None:
    """A dry run tells what the run then does: links decay by the time that passed, the weakest go."""
    [dry] = rows("maintain", "--dry-run")
    assert len(rows("associations", ids["green"])) == 2
    [done] = rows("maintain")
    assert (dry["dry_run"], done["dry_run"]) == (True, False)
    told = ("links", "decayed", "pruned", "memories", "faded", "kept", "offered")
    assert [dry[name] for name in told] == [done[name] for name in told] == [2, 2, 1, 3, 0, 0, []]
    [left] = rows("associations", ids["green"])
    assert left["strength"] == pytest.approx(0.4, rel=0.01)
    [again] = rows("maintain")
    assert again["pruned"] == 0


def test_two_memories_of_one_thing_are_merged_and_split(ids: dict[str, str]) -> None:
    """The node that stays is printed, then both sides again; what has nothing to undo says so."""
    [stays] = rows("merge", ids["coffee"], ids["tea"])
    assert stays["id"] == ids["tea"]
    [both] = rows("split", ids["tea"])
    assert [both[side]["id"] for side in ("source", "target")] == [ids["coffee"], ids["tea"]]
    assert laplaced("split", ids["tea"]).stderr == f"laplaced: node {ids['tea']} was not merged\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["associations", "nothing"], "there is no node nothing"),
        (["shared-concepts", "{tea}"], "id: HAS_CONCEPT leads from a Memory, not from a Concept"),
    ],
)
def test_failures_are_one_line(ids: dict[str, str], words: list[str], said: str) -> None:
    """In the words of the server, with exit code 1."""
    done = laplaced(*(word.format_map(ids) for word in words))
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", f"laplaced: {said}\n")


def test_a_stranger_is_refused(ids: dict[str, str]) -> None:
    """Whoever is not known has no memory to ask."""
    done = CliRunner().invoke(main, ["graph", "maintain", "--user", "404"])
    assert (done.exit_code, done.stderr) == (1, "laplaced: there is no user 404\n")


@pytest.mark.parametrize(
    "words", [["by-concept"], ["associations", "x", "--min-strength", "2"], ["preferences", "--limit", "0"]]
)
def test_wrong_usage_ends_with_2(ids: dict[str, str], words: list[str]) -> None:
    """Before anything is opened."""
    assert laplaced(*words).exit_code == 2


def test_a_running_server_is_asked(ids: dict[str, str], tmp_path: Path) -> None:
    """Through the process that holds the data; the answers are the same."""
    alone = [rows("by-concept", "чай"), rows("maintain", "--dry-run")]
    for report in alone[1]:
        del report["at"]

    async def ask() -> list[list[dict[str, Any]]]:
        config = load(None, {"LAPLACED_DATA_DIR": str(tmp_path / "data")})
        with hold_folder(tmp_path / "data") as lock:
            async with Database.open(tmp_path / "data" / "laplaced.db") as database:
                web = FastAPI()
                web.include_router(await DatabaseRouters(config, database, SystemClock(), AsyncExitStack()).memory())
                web.add_middleware(
                    Guard, api_key=ensure_key(config.data_dir, "server_api_key"), allowed_hosts=[], own_secret=[]
                )
                async with serving(web, "127.0.0.1", 0) as server:
                    lock.announce(server.url)
                    asked: list[Callable[[], Any]] = [
                        lambda: rows("by-concept", "чай"),
                        lambda: rows("maintain", "--dry-run"),
                    ]
                    return [await asyncio.to_thread(one) for one in asked]

    found = asyncio.run(ask())
    for report in found[1]:
        del report["at"]
    assert found == alone
