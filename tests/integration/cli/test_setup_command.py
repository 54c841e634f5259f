"""`laplaced setup` over real HTTP: what it asks, what it tries, what it writes, and when it writes nothing."""

from __future__ import annotations

import asyncio
import logging
import os
import pty
import select
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
import yaml
from click.testing import CliRunner, Result
from support.paths import ROOT
from support.product.models_tried import AGENTS, MODEL, answers

from bot.cli.main import main
from internal.config.settings import load
from internal.llm.presets import presets
from internal.testing.script import Fault
from internal.testing.server import ScriptedModel

KEY = "sk-of-a-test-1234567890"


def written(name: str = "config.yaml") -> str:
    return Path(name).read_text(encoding="utf-8")


def put(name: str, text: str) -> None:
    Path(name).write_text(text, encoding="utf-8")


@pytest.fixture(autouse=True)
def _level() -> Iterator[None]:
    """The command makes the log of its process quiet, which here is that of all tests."""
    root = logging.getLogger()
    level = root.level
    yield
    root.setLevel(level)


def mode(name: str) -> int:
    return Path(name).stat().st_mode & 0o777


@pytest_asyncio.fixture
async def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ScriptedModel]:
    """A server that stands for Ollama: on another port, which Ollama's own variable names."""
    monkeypatch.chdir(tmp_path)
    async with ScriptedModel(offered=["nomic-embed-text", MODEL]) as model:
        monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{model.port}")
        model.always(MODEL, answers)
        yield model


async def setup(*words: str, typed: str = "") -> Result:
    return await asyncio.to_thread(CliRunner().invoke, main, ["setup", *words], input=typed)


async def test_flags_alone_try_every_agent_and_write_a_small_file(model: ScriptedModel, tmp_path: Path) -> None:
    """No question is asked; the file holds what was chosen and is what the next start reads."""
    done = await setup("--provider", "ollama", "--yes")
    assert (done.exit_code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == AGENTS
    assert [line for line in lines[:-1] if not line.endswith(f"{MODEL}: ok")] == []
    assert yaml.safe_load(written()) == {"llm": {"base_url": model.url, "model": MODEL}}
    config = load(tmp_path / "config.yaml", {})
    assert (config.offline_models, config.agents.archivist.model) == (False, MODEL)
    assert {asked.model for asked in model.requests} == {MODEL}
    [first, *_] = model.requests
    assert first.body["stream"]
    assert [tool["function"]["name"] for tool in first.body["tools"]] == ["list_tasks"]


async def test_what_else_stands_in_the_file_stays_with_its_comments(model: ScriptedModel) -> None:
    """The shipped file with a change of one's own differs only in the lines of the model; the key lies in its own."""
    before = written(str(ROOT / "config.yaml")).replace("daily_cost_usd: 5.0", "daily_cost_usd: 1.5  # enough")
    os.close(os.open("config.yaml", os.O_CREAT, 0o640))
    put("config.yaml", before)
    typed = f"{model.url}\n{KEY}\n\ny\n"
    done = await setup("--provider", "other", typed=typed)
    assert done.exit_code == 0, done.output
    assert KEY not in done.output
    after = written()
    assert mode("config.yaml") == 0o640
    changed = sorted(set(after.splitlines()) ^ set(before.splitlines()))
    assert changed == sorted(
        [
            "  base_url: https://openrouter.ai/api/v1",
            f"  base_url: {model.url}",
            '  model: ""',
            f"  model: {MODEL}",
            "  api_key_file: data/llm_api_key",
        ]
    )
    assert KEY not in after
    assert written("data/llm_api_key") == f"{KEY}\n"
    assert mode("data/llm_api_key") == 0o600
    assert model.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    assert load(Path("config.yaml"), {}).llm.api_key.get_secret_value() == KEY


async def test_embeddings_are_tried_where_they_are_a_servers(model: ScriptedModel) -> None:
    """The built-in ones need no trial; vectors of another length than configured are named as such."""
    put("config.yaml", "embedding: {provider: api, model: nomic-embed-text, dimensions: 64}")
    done = await setup("--provider", "ollama", "--yes")
    assert done.stdout.splitlines()[-2].endswith("nomic-embed-text: ok")
    model.script("nomic-embed-text", Fault("wrong_size"))
    done = await setup("--provider", "ollama", "--yes")
    assert "failed: the embedding server's vectors do not have 64 numbers each" in done.stdout


async def test_a_server_that_refuses_tools_and_schemas_is_shown_with_it(model: ScriptedModel) -> None:
    """What the server does not take stands beside the answers that came all the same."""
    model.refused_formats = {"tools", "json_schema"}
    done = await setup("--provider", "ollama", "--yes")
    assert done.exit_code == 0
    assert done.stdout.count(f"{MODEL}: ok, takes no tools, takes no json_schema") == len(AGENTS) - 1


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ((), 401, "the model server answered 401: wrong key"),
        (("--model", "absent"), 404, 'the model server answered 404: model "absent" not found'),
        (("--base-url", "http://127.0.0.1:9/v1", "--model", "m"), 200, "127.0.0.1 cannot be reached"),
    ],
)
async def test_nothing_is_written_where_no_model_answers(
    model: ScriptedModel, words: tuple[str, ...], status: int, said: str
) -> None:
    """A bad key, an unknown model, a server that is not there: one clear line, exit code 1, no file."""
    model.forget()
    message = said.partition(": ")[2]
    model.always("*", Fault("status", status=status, body={"error": {"message": message, "code": status}}))
    put("key", KEY)
    provider = () if "--base-url" in words else ("--provider", "ollama")
    done = await setup(*provider, *words, "--key-file", "key", "--yes")
    assert done.exit_code == 1
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert os.listdir() == ["key"]


async def test_a_weak_model_is_shown_as_it_is_and_the_owner_decides(model: ScriptedModel) -> None:
    """An agent whose answer cannot be read is named with the reason; no is no."""
    model.forget()
    model.always(MODEL, lambda asked: "nonsense" if "people_operations" in asked.text else answers(asked))
    done = await setup("--provider", "ollama", typed="\nn\n")
    assert done.exit_code == 0
    [line] = [line for line in done.stdout.splitlines() if line.startswith("archivist")]
    assert "failed: twice: " in line
    assert os.listdir() == []
    undecided = await setup("--provider", "ollama", "--yes")
    assert (undecided.exit_code, os.listdir()) == (1, [])
    assert undecided.stderr.startswith("laplaced: nothing was written")


async def test_a_provider_without_its_key_is_not_tried() -> None:
    """OpenRouter is what works offline without one: that would not be what was chosen."""
    done = await setup("--provider", "openrouter", "--model", "m", "--yes")
    assert (done.exit_code, done.stderr) == (1, "laplaced: https://openrouter.ai/api/v1 needs a key\n")


@pytest.mark.parametrize(
    ("value", "port"), [("0.0.0.0", 11434), ("", 11434), ("[::]:81", 81), ("http://h:82/", 82), ("83", 83)]
)
def test_the_port_is_that_of_the_servers_own_variable(monkeypatch: pytest.MonkeyPatch, value: str, port: int) -> None:
    """Always on loopback, however the server is told to listen."""
    monkeypatch.setenv("OLLAMA_HOST", value)
    assert presets()["ollama"].url == f"http://127.0.0.1:{port}/v1"


async def test_environment_that_would_win_is_told_before_anything_is_tried(
    model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written would not be what works."""
    monkeypatch.setenv("LAPLACED_LLM__MODEL", "other")
    done = await setup("--provider", "ollama", "--yes")
    assert (done.exit_code, model.requests) == (1, [])
    assert "LAPLACED_LLM__MODEL in the environment would win" in done.stderr


async def test_three_questions_in_a_terminal(model: ScriptedModel) -> None:
    """Servers on this machine are offered first; the key is not echoed; Enter takes what is offered."""
    terminal, inside = pty.openpty()
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "setup", stdin=inside, stdout=inside, stderr=inside,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, start_new_session=True,
    )  # fmt: skip
    os.close(inside)
    seen = ""
    for question, typed in (("answer [1]: ", "1"), (f"Model [{MODEL}]: ", ""), ("Write config.yaml? [Y/n]: ", "")):
        while question not in seen:
            assert (await asyncio.to_thread(select.select, [terminal], [], [], 20))[0], seen
            seen += os.read(terminal, 4096).decode()
        os.write(terminal, f"{typed}\n".encode())
    assert await program.wait() == 0
    os.close(terminal)
    assert "1  Ollama on this machine\r\n" in seen
    assert "2  OpenRouter\r\n" in seen
    assert yaml.safe_load(written())["llm"]["model"] == MODEL
