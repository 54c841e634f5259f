"""`laplaced recall` and `laplaced mcp`: through a running server, and over a stopped one's data."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.interfaces.mcp_stage import OWNER, SAID, configured, environment, scripted
from support.patience import PATIENCE_S

from bot.application.app import App
from bot.cli.main import main
from bot.cli.memory import _serve_http
from bot.runtime.headless import open_alone
from bot.runtime.http import serve_rest_and_mcp, server_key
from bot.web.client import RestClient
from bot.web.server.uvicorn import listening
from internal.errors import ConfigurationError, StorageDamaged
from internal.storage.engine.data_lock import held
from internal.testing import ScriptedModel


async def laplaced(folder: Path, model: ScriptedModel, *arguments: str) -> Result:
    """A command, in a thread of its own as it needs an event loop of its own."""
    runner = CliRunner(env=environment(folder, model))
    return await asyncio.to_thread(runner.invoke, main, arguments)


async def remember(app: App, url: str) -> None:
    """Tells SAID over REST and waits until it has been read, its vectors included."""
    rest = RestClient.of_server(url, server_key(app))
    await rest.send("POST", "/graph/episodes", {"name": "note", "content": SAID, "reference_time": "2026-02-05"})
    async with asyncio.timeout(PATIENCE_S):
        while (await rest.get("/graph/status"))["waiting"]:  # noqa: ASYNC110 - it is asked from outside
            await asyncio.sleep(0.05)
    await app.archive(OWNER, None)
    await rest.aclose()


async def test_recall_shows_what_a_question_brings_to_mind(tmp_path: Path) -> None:
    """People, facts, entities and episodes with their scores: the same from the running server and from the data."""
    question = ["recall", "--user", str(OWNER), "Де працює Олена?"]
    async with scripted() as model:
        async with open_alone(configured(tmp_path, model)) as (app, ports), serve_rest_and_mcp(app, ports) as server:
            app.lock.announce(server.rest.url)
            await remember(app, server.rest.url)
            asked = await laplaced(tmp_path, model, *question)
            stranger = await laplaced(tmp_path, model, "recall", "--user", "5", "x")
            where = await laplaced(tmp_path, model, "mcp")
            address = server.mcp
        alone = await laplaced(tmp_path, model, *question)
        plain = await laplaced(tmp_path, model, *question, "--json", "--limit", "1")
    assert (asked.exit_code, asked.stderr) == (0, "")
    lines = asked.stdout.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == ["people", "facts", "entities", "episodes"]
    assert "Олена | Friends | Працює в ACME." in lines[1]
    assert "Олена працює в ACME (2026-02 ..)" in lines[3]
    assert lines[-1].endswith("2026-02-05 00:00 UTC | user | Олена з лютого працює в ACME. Я люблю чай. | note")
    assert alone.stdout == asked.stdout
    found = json.loads(plain.stdout)
    assert [len(found[kind]) for kind in ("people", "facts", "entities", "episodes")] == [1, 1, 1, 1]
    assert set(found["facts"][0]) == {"id", "text", "score", "chance", "reasons"}
    assert (stranger.exit_code, stranger.stderr) == (1, "laplaced: there is no user 5\n")
    assert where.stdout.startswith(f"MCP: {address} (served by process ")


@pytest.mark.parametrize(
    "arguments",
    [["recall", "x"], ["recall", "--user", "1", " "], ["recall", "--user", "1", "x", "--limit", "0"], ["mcp", "x"]],
)
def test_wrong_usage_ends_with_2(tmp_path: Path, arguments: list[str]) -> None:
    """Nothing is opened for it."""
    done = CliRunner(env={"LAPLACED_DATA_DIR": str(tmp_path / "data")}).invoke(main, arguments)
    assert done.exit_code == 2
    assert not (tmp_path / "data").exists()


async def test_a_holder_that_serves_nothing_is_told(tmp_path: Path) -> None:
    """The holder of the folder announced an address at which nobody answers: one line, exit code 1."""
    async with scripted() as model, open_alone(configured(tmp_path, model)) as (app, _):
        app.lock.announce("http://127.0.0.1:9")
        for arguments in (["mcp"], ["recall", "--user", str(OWNER), "x"]):
            done = await laplaced(tmp_path, model, *arguments)
            assert done.exit_code == 1
            assert done.stderr.startswith("laplaced: process ")
            assert done.stderr.count("\n") == 1


async def test_a_taken_port_is_told_in_one_line(tmp_path: Path) -> None:
    """Also where no bot runs: the error itself comes out, nothing around it, and the folder is free again."""
    async with scripted() as model:
        config = configured(tmp_path, model)
        taken = listening("127.0.0.1", 0)
        mcp = config.mcp.model_copy(update={"port": taken.port})
        with pytest.raises(ConfigurationError, match=r"mcp\.port"):
            await _serve_http(config.model_copy(update={"mcp": mcp}), asyncio.Event())
        taken.close()
        assert not held(config.data_dir)


async def test_background_work_that_fails_ends_the_command(tmp_path: Path) -> None:
    """With its own error: a damaged database must not be worked on."""
    async with scripted() as model:
        with pytest.raises(StorageDamaged, match="broken on purpose"):  # noqa: PT012 - the block is what ends
            async with open_alone(configured(tmp_path, model)) as (app, _):
                app.database._damage.set_result(StorageDamaged("broken on purpose"))
                await asyncio.sleep(10)
