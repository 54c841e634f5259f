"""The shipped test seam: what it promises to those who test with it."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from support.agents.model_servers import ask
from support.patience import PATIENCE_S

from internal.errors import ModelRefused
from internal.llm.openai import OpenAIChat
from internal.testing import FIRST_MOMENT, Fault, FrozenClock, ScriptedModel, Step


@pytest.fixture
async def server() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel() as model:
        yield model


@pytest.fixture
async def chat(server: ScriptedModel) -> AsyncIterator[OpenAIChat]:
    chat = OpenAIChat(server.url)
    yield chat
    await chat.aclose()


def test_a_frozen_clock_moves_only_when_told() -> None:
    """By seconds or a timedelta."""
    clock = FrozenClock()
    assert clock.now() == clock.now() == FIRST_MOMENT
    clock.advance(1.5)
    assert clock.advance(timedelta(hours=1)) == FIRST_MOMENT + timedelta(hours=1, seconds=1.5) == clock.now()


async def test_replies_are_given_in_order_and_a_forgotten_script_shows(server: ScriptedModel, chat: OpenAIChat) -> None:
    """A request that nothing fits is refused for good."""
    server.script("m", "один", {"два": 2})
    assert [(await chat.complete(ask())).text for _ in range(2)] == ["один", '{"два": 2}']
    with pytest.raises(ModelRefused, match="no step of the script"):
        await chat.complete(ask())


async def test_steps_answer_by_what_was_asked(server: ScriptedModel, chat: OpenAIChat) -> None:
    """By regular expression, by a function, for one model or for all."""
    server.always("m", "про Петрова", match="Петров")
    server.script("m", lambda asked: asked.messages[-1]["content"].upper())
    server.script("*", Step("кто угодно", times=None))
    assert (await chat.complete(ask("что с Петровым?"))).text == "про Петрова"
    assert (await chat.complete(ask("эхо"))).text == "ЭХО"
    assert (await chat.complete(ask("эхо", model="other"))).text == "кто угодно"
    server.forget("m")
    assert (await chat.complete(ask("эхо"))).text == "кто угодно"


async def test_a_test_can_wait_for_a_request(server: ScriptedModel, chat: OpenAIChat) -> None:
    """And learns in time that it does not come."""
    server.always("m", "да")
    waiting = asyncio.create_task(server.wait_for("m", count=2))
    await chat.complete(ask("первый"))
    await chat.complete(ask("второй"))
    assert [asked.messages[-1]["content"] for asked in await waiting] == ["первый", "второй"]
    with pytest.raises(TimeoutError):
        await server.wait_for("m", count=3, within=0.05)


def test_an_unknown_fault_is_refused_when_it_is_written() -> None:
    """A typing error in a script must not pass for good behaviour."""
    with pytest.raises(ValueError, match="hangs"):
        Fault("hangs")


@pytest.mark.parametrize("suffix", ["json", "py"])
async def test_it_runs_as_a_process_of_its_own(tmp_path: Path, suffix: str) -> None:
    """Scripted by a file, then over HTTP; its requests can be read and dropped."""
    script = tmp_path / f"script.{suffix}"
    if suffix == "json":
        steps = [
            {"reply": "про Петрова", "match": "Петров", "times": None},
            {"fault": "status", "status": 503},
            {"x": 1},
        ]
        script.write_text(json.dumps({"models": {"m": steps}}))
    else:
        script.write_text("def configure(model):\n    model.always('m', lambda asked: 'про Петрова')\n")
    command = (sys.executable, "-m", "internal.testing", "--script", str(script))
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        address = json.loads(await process.stdout.readline())
        chat = OpenAIChat(address["url"])
        assert (await chat.complete(ask("Петров"))).text == "про Петрова"
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{address['port']}", timeout=PATIENCE_S) as control:
            await _replace_the_script(control, chat)
        await chat.aclose()
    finally:
        process.terminate()
        await process.communicate()


async def _replace_the_script(control: httpx.AsyncClient, chat: OpenAIChat) -> None:
    (asked,) = (await control.get("/requests", params={"model": "m"})).json()
    assert asked["body"]["messages"][-1]["content"] == "Петров"
    assert (await control.delete("/requests")).status_code == 204
    assert (await control.get("/requests")).json() == []
    assert (await control.post("/script", json={"models": {"m": [5]}})).status_code == 422
    assert (await control.post("/script", json={"models": {"m": ["новое"]}})).status_code == 204
    assert (await chat.complete(ask())).text == "новое"
