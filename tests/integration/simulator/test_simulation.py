"""A tiny life, whole: the real bot in this process, the local Telegram, one clock for both."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from pydantic import SecretStr
from support.patience import PATIENCE_S

from bot.runtime.bot import run
from bot.simulation import launch
from bot.simulation.player import Simulation
from bot.simulator.launch import LocalTelegram
from bot.simulator.scenarios import loader
from bot.simulator.scenarios.plan import Plan, plan
from internal.config.settings import Config, TelegramConfig, load as load_config
from internal.storage.engine.data_lock import holder
from internal.storage.files.keys import existing_key

pytestmark = pytest.mark.asyncio(loop_scope="module")

TINY = {
    "name": "tiny",
    "title": "Four days of Ann",
    "start": "2026-03-02",
    "days": 4,
    "users": {
        "ann": {"id": 90001, "first_name": "Ann", "language": "en", "timezone": "Europe/Kyiv", "persona": "Brief."}
    },
    "story": [
        {
            "day": 0,
            "at": "18:00",
            "who": "ann",
            "say": ["My friend Tom Baker lives in Bath.", {"press": "No such button"}],
        },
        {"day": 2, "at": "18:00", "who": "ann", "say": ["Tom Baker moved to Leeds."]},
    ],
    "truth": {
        "ann": {
            "people": [{"name": "Tom", "circle": "Friends"}, {"name": "Ruth"}],
            "facts": [
                {"about": "Tom", "says": ["Leeds"], "since": 2, "slack": 1},
                {"about": "Tom", "says": ["Bath"], "until": 2, "slack": 1},
            ],
            "unknown": ["Crane"],
        }
    },
    "questions": [{"who": "ann", "ask": "Where does Tom Baker live?", "expect": ["Leeds"]}],
}


@dataclass(frozen=True)
class Lived:
    """What is left of a simulation: its plan, its report, and what was asked of it over REST while it stayed."""

    played: Plan
    report: dict[str, Any]
    folder: Path
    messages: list[tuple[str, str]]
    events: list[dict[str, Any]]
    ordered: list[int]
    at_the_end: dict[str, Any]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lived(running: LocalTelegram, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lived]:
    """Played once for all tests of this module: held and resumed on the way, and stayed with for a moment."""
    folder = tmp_path_factory.mktemp("life")
    played = plan(loader.parsed(TINY, "tiny"), 5)
    simulation = Simulation(played, folder / "reports", stay=True)
    bot = asyncio.create_task(run(_config(folder, running), budget=launch.unlimited_budget(), simulation=simulation))
    try:
        async with asyncio.timeout(120), _client(await _address(folder, bot), folder) as rest:
            while not (await rest.get("/simulator")).json()["acts"]:  # noqa: ASYNC110 - asked over HTTP
                await asyncio.sleep(0.05)
            ordered = [
                (await rest.post("/simulator", json=order)).status_code
                for order in (
                    {"action": "stop"},
                    {"action": "stop"},
                    {"action": "start", "scenario": "./mine.yaml"},
                    {"action": "resume", "speed": 0},
                )
            ]
            while (state := (await rest.get("/simulator")).json())["state"] == "running":  # noqa: ASYNC110 - asked over HTTP
                await asyncio.sleep(0.1)
            events = (await rest.get("/events", params={"user_id": 90001, "limit": 1000})).json()["events"]
            exported = (await rest.post("/admin/export", json={"user_id": 90001})).text
            report = (await rest.get("/simulator/report")).json()
        yield Lived(played, report, folder, _said(exported), _within(events), ordered, state)
    finally:
        bot.cancel()
        await asyncio.gather(bot, return_exceptions=True)


def _config(folder: Path, running: LocalTelegram) -> Config:
    """Talks to the Telegram of the other tests here; words are searched by a model of no size."""
    environment = {
        "LAPLACED_SERVER__PORT": "0",
        "LAPLACED_MCP__PORT": "0",
        "LAPLACED_CONSOLE__ENABLED": "false",
        "LAPLACED_ACCESS__ALLOWED_USER_IDS": "90001",
    }
    config = launch.simulated_config(load_config(None, environment), folder)
    telegram = TelegramConfig(
        token=SecretStr(running.token), api_base=running.url, group_window=config.telegram.group_window
    )
    access = config.access.model_copy(update={"allowed_user_ids": [90001]})
    return config.model_copy(update={"telegram": telegram, "access": access})


async def _address(folder: Path, bot: asyncio.Task[int]) -> str:
    while not bot.done():
        found = holder(folder)
        if found is not None and found.url is not None:
            return found.url
        await asyncio.sleep(0.05)
    raise AssertionError(bot.result())


def _client(url: str, folder: Path) -> httpx.AsyncClient:
    key = existing_key(folder, "server_api_key")
    return httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=PATIENCE_S)


def _within(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events up to the end of the scenario: then the clock is this machine's, months later, and the bot goes on."""
    [end] = (n for n, one in enumerate(events) if (one["payload"] or {}).get("reason") == "finished")
    return events[: end + 1]


def _said(exported: str) -> list[tuple[str, str]]:
    rows = json.loads(exported)["tables"]["messages"]
    return [(row["timestamp"], row["content"]) for row in rows if row["role"] == "user"]


async def test_the_report_holds_memory_and_answers_against_the_truth(lived: Lived) -> None:
    """Who is known is right, who was never told of is missed; what ended has ended; the question finds the new."""
    assert lived.report["counts"]["people"] == {"right": 1, "wrong": 0, "missed": 1, "beside": 0}
    assert lived.report["counts"]["facts"]["right"] == 2
    assert lived.report["counts"]["forgotten"]["right"] == 1
    assert lived.report["counts"]["answers"]["right"] == 1
    assert any("No such button" in note for note in lived.report["notes"])
    assert (lived.folder / "reports" / "tiny-5.md").read_text(encoding="utf-8").startswith("# Four days of Ann")


async def test_a_chat_is_tried_with_one_model_for_every_agent(lived: Lived, tmp_path: Path) -> None:
    """What `laplaced eval chat --model` asks; offline nothing is asked, which the report says."""
    configured = load_config(None, {"LAPLACED_LLM__API_KEY": "k", "LAPLACED_AGENTS__ANALYST__MODEL": "another"})
    tried = launch.simulated_config(configured, tmp_path, model="small")
    assert {agent.model for _, agent in tried.agents.each()} == {"small"}
    assert tried.llm.api_key == configured.llm.api_key
    assert lived.report["calls"] == []


async def test_what_is_kept_was_said_at_the_moments_of_the_plan(lived: Lived) -> None:
    """Same seed, same messages, same times: they are the plan's own, to the second."""
    planned = [act for act in lived.played.acts if act.kind == "say" and not act.text.startswith("/")]
    asked = [*planned, *lived.played.questions]
    assert [text for _, text in lived.messages] == [act.text for act in asked]
    assert [at[:19] for at, _ in lived.messages] == [f"{act.at:%Y-%m-%dT%H:%M:%S}" for act in asked]


async def test_events_bracket_the_simulation(lived: Lived) -> None:
    """It begins and stops in the owner's own timeline, holding and resuming included; between, silences passed."""
    told = [
        (one["event_type"], one["payload"]["reason"]) for one in lived.events if one["source"] == "system:simulator"
    ]
    assert told == [
        ("sim_start", "begun"), ("sim_stop", "held"), ("sim_start", "resumed"), ("sim_stop", "finished"),
    ]  # fmt: skip
    fragments = [one for one in lived.events if one["event_type"] == "dialogue_fragment_published"]
    assert len(fragments) == 2


async def test_every_event_of_a_life_leads_back_to_something(lived: Lived) -> None:
    """Only what comes from outside, or by the clock, is without a cause."""
    outside = {"message_received", "command_received", "sim_start", "sim_stop", "memory_maintenance_done"}
    lost = [one["event_type"] for one in lived.events if not (one["links"] or {}).get("caused_by")]
    assert set(lost) <= outside
    assert len({one["event_type"] for one in lived.events} - outside) > 5


async def test_it_is_controlled_over_rest(lived: Lived) -> None:
    """What this state does not allow, and a file, is refused; at the end all acts are done, others can be started."""
    assert lived.ordered == [200, 409, 422, 200]
    assert lived.at_the_end["state"] == "finished"
    assert lived.at_the_end["acts"] == lived.at_the_end["of_acts"]
    assert "family" in lived.at_the_end["scenarios"]


async def test_a_folder_in_use_is_left_alone(lived: Lived) -> None:
    """Who lived before has another memory."""
    with pytest.raises(loader.ScenarioInvalid, match="is not empty"):
        launch.create_data_folder(lived.folder, {})
