"""Agents with one model read a part of the dialogue once: the calls are counted at the model, over HTTP."""

import json
from pathlib import Path

import pytest
from support.product.running_product import ARCHIVIST, KEEPING, MINDING, RESPONDER, Product, product, until

from internal.testing import Fault

SAID = "Mira repaired my bike. Remind me to call her on 5 May 2031."
UNION = {
    "people_operations": [{"type": "Added", "person": {"display_name": "Mira", "bio": "Repairs."}, "evidence": [1]}],
    "tasks": [{"text": "Call Mira", "due": "2031-05-05", "recurrence": None, "for_user": None, "evidence": [1]}],
    "done": [],
    "snapshot": {"who": [], "now": [{"text": "The bike is repaired", "from": [], "evidence": [1]}], "threads": []},
}
APPLIED = "SELECT agent, state FROM runs WHERE state = 'applied' AND agent != 'analyst' ORDER BY agent"
ALL = [("archivist", "applied"), ("context_manager", "applied"), ("task_manager", "applied")]
KILLS_IN_LONG = [pytest.param(point, marks=pytest.mark.long) for point in ("C9:before", "C10:after")]


async def talked(bot: Product, people: object) -> None:
    """One exchange; the fragment is published a second later."""
    assert bot.model is not None
    assert people is not None
    user = await people.add_user("Alex", language_code="en")  # type: ignore[attr-defined]
    bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = str(user)
    bot.model.always(RESPONDER, "Noted.")
    await bot.start()
    await people.say(user, SAID)  # type: ignore[attr-defined]


async def test_a_plain_session_costs_one_call_besides_its_answers(tmp_path: Path) -> None:
    """Archivist, task manager and context manager share a request; each has its run, event and receipt as before."""
    async with product(tmp_path, scripted=True, LAPLACED_DIALOGUE__IDLE_TIMEOUT="1s") as (bot, people):
        assert bot.model is not None
        bot.model.script(ARCHIVIST, {"result": UNION})
        await talked(bot, people)
        await until(lambda: bot.rows(APPLIED) == ALL)
        [asked] = bot.model.asked(ARCHIVIST)
        assert asked.text.count("<transcript>") == 1
        assert {MINDING in asked.text, KEEPING in asked.text} == {True}
        others = [one for one in bot.model.requests if one.path.endswith("completions") and one.model != RESPONDER]
        assert others == [asked]
        assert bot.rows("SELECT display_name FROM people") == [("Mira",)]
        assert bot.rows("SELECT title FROM tasks") == [("Call Mira",)]
        [(kept,)] = bot.rows("SELECT content FROM context_snapshots")
        assert json.loads(kept)["now"][0]["text"] == "The bike is repaired"
        await until(lambda: len(bot.rows("SELECT 1 FROM model_calls WHERE agent != 'responder'")) == 3)
        receipts = "SELECT agent, prompt_tokens > 0 FROM model_calls WHERE agent != 'responder' ORDER BY agent"
        assert bot.rows(receipts) == [("archivist", 1), ("context_manager", 0), ("task_manager", 0)]
        started = "SELECT DISTINCT source FROM events WHERE event_type = ? ORDER BY source"
        agents = [("agent:Analyst",), ("agent:Archivist",), ("agent:ContextManager",), ("agent:TaskManager",)]
        for kind in ("agent_activity_start", "agent_result"):
            assert [row for row in bot.rows(started, kind) if row in agents] == agents


@pytest.mark.parametrize("point", ["C9:after", "C10:before", *KILLS_IN_LONG])
async def test_a_kill_in_the_midst_of_one_reading_loses_and_doubles_nothing(tmp_path: Path, point: str) -> None:
    """What was stored is applied for every agent without asking again; what was not is asked once more."""
    async with product(tmp_path, scripted=True, LAPLACED_DIALOGUE__IDLE_TIMEOUT="1s") as (bot, people):
        assert bot.model is not None
        bot.model.always(ARCHIVIST, UNION)
        bot.settings |= {"CRASH_LAPLACED_AT": point, "LAPLACED_AGENTS__ANALYST__ENABLED": "false"}
        await talked(bot, people)
        await bot.ended()
        del bot.settings["CRASH_LAPLACED_AT"]
        await bot.start()
        await until(lambda: bot.rows(APPLIED) == ALL)
        assert bot.rows("SELECT display_name FROM people") == [("Mira",)]
        assert bot.rows("SELECT title FROM tasks") == [("Call Mira",)]
        assert len(bot.model.asked(ARCHIVIST)) == (2 if point == "C9:before" else 1)


async def test_what_is_absent_is_nothing(tmp_path: Path) -> None:
    """A reply with one agent's keys is read; the others have nothing to tell, and nobody is asked again."""
    async with product(tmp_path, scripted=True, LAPLACED_DIALOGUE__IDLE_TIMEOUT="1s") as (bot, people):
        assert bot.model is not None
        bot.model.always(ARCHIVIST, {"people_operations": UNION["people_operations"]})
        await talked(bot, people)
        await until(lambda: bot.rows(APPLIED) == ALL)
        assert bot.rows("SELECT display_name FROM people") == [("Mira",)]
        assert bot.rows("SELECT 1 FROM context_snapshots") == []
        assert len(bot.model.asked(ARCHIVIST)) == 1


async def test_one_unreadable_part_is_that_agents_alone(tmp_path: Path) -> None:
    """Broken twice, the archivist's part is given up by its own run; task and context of the reply are kept."""
    async with product(tmp_path, scripted=True, LAPLACED_DIALOGUE__IDLE_TIMEOUT="1s") as (bot, people):
        assert bot.model is not None
        bot.settings |= {"LAPLACED_RUNS__RETRY_BASE": "0.1s", "LAPLACED_RUNS__MAX_ATTEMPTS": "2"}
        bot.model.always(ARCHIVIST, UNION | {"people_operations": "Mira bakes"})
        await talked(bot, people)
        states = "SELECT agent, state FROM runs WHERE agent != 'analyst' ORDER BY agent"
        ends = [("archivist", "dead"), ("context_manager", "applied"), ("task_manager", "applied")]
        await until(lambda: bot.rows(states) == ends)
        assert bot.rows("SELECT title FROM tasks") == [("Call Mira",)]
        assert len(bot.rows("SELECT 1 FROM context_snapshots")) == 1
        assert bot.rows("SELECT 1 FROM people") == []


async def test_a_cut_reply_is_halved_for_all_who_share_it(tmp_path: Path) -> None:
    """Each half is asked once; an agent with another model asks apart, once."""
    async with product(tmp_path, scripted=True, LAPLACED_DIALOGUE__IDLE_TIMEOUT="1s") as (bot, people):
        assert bot.model is not None
        bot.model.script(ARCHIVIST, Fault("truncated", text='{"people_operations": [{"type": "Ad'))
        bot.model.always(ARCHIVIST, {"tasks": []})
        bot.settings["LAPLACED_AGENTS__CONTEXT_MANAGER__MODEL"] = "test/context"
        bot.model.always("test/context", {"snapshot": {"who": [], "now": [], "threads": []}})
        await talked(bot, people)
        state = "SELECT agent, first_n, last_n, state FROM runs WHERE agent != 'analyst' ORDER BY agent, first_n"
        await until(
            lambda: (
                bot.rows(state)
                == [
                    ("archivist", 1, 1, "applied"),
                    ("archivist", 2, 2, "applied"),
                    ("context_manager", 1, 2, "applied"),
                    ("task_manager", 1, 1, "applied"),
                    ("task_manager", 2, 2, "applied"),
                ]
            )
        )
        assert len(bot.model.asked(ARCHIVIST)) == 2  # the second half holds the bot's words alone
        assert len(bot.model.asked("test/context")) == 1
        assert bot.rows("SELECT 1 FROM people") == []
