"""Verdicts on what was remembered."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from bot.simulator.scenarios.judge import BotMessage, JudgeContext, judge, judge_answer
from bot.simulator.scenarios.known_state import Notice, StoredMemory
from bot.simulator.scenarios.loader import load
from bot.simulator.scenarios.model import Question, Truth
from bot.simulator.scenarios.plan import plan
from bot.simulator.scenarios.report import AgentCalls, ScenarioOutcome
from internal.graph.model import Node
from internal.knowledge.model import Fact
from internal.people.model import Circle, Person
from internal.tasks.model import Task, TaskKind, TaskOrigin, TaskState

START = date(2026, 3, 2)
NOW = datetime(2026, 4, 1, 12, tzinfo=UTC)
CASE = JudgeContext("ann", "en", ZoneInfo("Europe/Kyiv"), START, NOW)


def _day(n: int) -> datetime:
    return datetime(2026, 3, 2, 10, tzinfo=UTC) + timedelta(days=n)


def _person(name: str, circle: Circle = Circle.FRIENDS, bio: str = "") -> Person:
    more: dict[str, Any] = {"first_seen": NOW, "last_seen": NOW}
    return Person(id=1, user_id=1, entity_id="e", display_name=name, circle=circle, bio=bio, **more)


def _fact(words: str, since: int | None, until: int | None = None) -> Fact:
    ended = None if until is None else _day(until)
    begun = None if since is None else _day(since)
    return Fact(1, "f", "a", "b", "LIVES_IN", words, NOW, valid_at=begun, invalid_at=ended)


def _task(title: str, state: TaskState, due: int) -> Task:
    return Task(1, "t", TaskKind.REMINDER, state, title, "UTC", next(iter(TaskOrigin)), NOW, NOW, 1, due_at=_day(due))


def _outcomes(truth: dict[str, Any], stored: StoredMemory, messages: list[BotMessage] | None = None) -> list[str]:
    return [one.outcome for one in judge(Truth.model_validate(truth), stored, messages or [], CASE)]


def test_people_are_known_once_in_their_circle_and_nobody_beside_them() -> None:
    """Twice is wrong, another circle is wrong, not at all is missed; who is not in the truth is told as beside it."""
    names = ("Kate Moss", "Олёна", "Tom", "Tom B.", "Willow")
    stored = StoredMemory([_person(name) for name in names], (), (), ())
    truth = {
        "people": [{"name": "Kate", "circle": "Friends"}, {"name": "Kate", "circle": "Family"}, {"name": "олена"},
                   {"name": "Tom"}, {"name": "Ruth"}]
    }  # fmt: skip
    assert _outcomes(truth, stored) == ["right", "wrong", "right", "wrong", "missed", "beside"]


def test_a_fact_is_right_only_with_its_times() -> None:
    """Held to be true still, ended too early, begun on another day, or not dated: wrong. In a profile only: missed."""
    facts = [_fact("Kate lives in Leeds", 0, 10), _fact("Kate lives in York", 10)]
    stored = StoredMemory([_person("Kate", bio="Kate works for Acme.")], facts, (), ())
    cases: list[tuple[dict[str, Any], str]] = [
        ({"says": ["York"], "since": 11}, "right"),
        ({"says": ["York"], "since": 20}, "wrong"),
        ({"says": ["York"], "until": 20}, "wrong"),
        ({"says": ["Leeds"], "until": 10}, "right"),
        ({"says": ["Leeds"]}, "wrong"),
        ({"says": ["Acme"]}, "missed"),
    ]
    for wanted, outcome in cases:
        assert _outcomes({"people": [{"name": "Kate"}], "facts": [{"about": "Kate", **wanted}]}, stored)[1] == outcome


def test_lines_of_the_bots_own_accord_are_right_on_their_days() -> None:
    """Too late is missed, on a day that is named as wrong it is wrong, one that nobody expects is beside the truth."""
    sent = [Notice(_day(3), "occasion", "Ellen's birthday"), Notice(_day(9), "nudge", "call grandma")]
    stored = StoredMemory((), (), (), (), notices=[*sent, Notice(_day(9), "occasion", "Easter")])
    wanted = [
        {"says": ["Ellen"], "between": [2, 3]},
        {"says": ["Ellen"], "between": [4, 5]},
        {"says": ["grandma"], "between": [8, 12], "never": [[9, 9], [20, 30]]},
        {"says": ["called off"], "never": [[1, 30]]},  # what never may come is not missed
    ]
    assert _outcomes({"notices": wanted}, stored) == ["right", "missed", "right", "wrong", "beside"]


def test_a_reminder_is_right_if_it_was_told_on_its_day() -> None:
    """State, day and the bot's own message all count."""
    stored = StoredMemory((), (), (), [_task("call Ruth", TaskState.DONE, 3)])
    messages = [BotMessage(_day(3), "Call Ruth today!")]
    wanted = {"says": ["call ruth"], "due": 3, "reminded": True}
    assert _outcomes({"tasks": [wanted]}, stored, messages) == ["right"]
    assert _outcomes({"tasks": [wanted]}, stored, [BotMessage(_day(4), "Call Ruth today!")]) == ["wrong"]
    assert _outcomes({"tasks": [wanted | {"state": "open"}]}, stored, messages) == ["wrong"]
    assert _outcomes({"tasks": [wanted | {"due": 4}]}, stored, messages) == ["wrong"]
    assert _outcomes({"tasks": [{"says": ["milk"]}]}, stored, messages) == ["missed"]


def test_what_must_not_be_known_stands_in_nothing_derived() -> None:
    """Not in a profile, a fact, a memory, a task or the snapshot."""
    memory = Node(1, "m", "Goal", {"description": "Sue Crane"}, NOW)
    assert _outcomes({"unknown": ["crane"]}, StoredMemory((), (), [memory], ())) == ["wrong"]
    assert _outcomes({"unknown": ["crane"]}, StoredMemory((), (), (), (), '{"now": "Crane called"}')) == ["wrong"]
    assert _outcomes({"unknown": ["crane"]}, StoredMemory((), (), (), ())) == ["right"]
    labelled = {"memories": [{"says": ["crane"], "label": "Goal"}, {"says": ["crane"], "label": "Decision"}]}
    assert _outcomes(labelled, StoredMemory((), (), [memory], ())) == ["right", "wrong"]


def test_an_answer_is_wrong_if_it_says_what_it_never_should() -> None:
    """Else it is right with all that is expected, and missed without."""
    question = Question(who="ann", ask="Where?", expect=["York|Ripon"], never=["Leeds"])
    assert judge_answer(question, "In  york.", CASE).outcome == "right"
    assert judge_answer(question, "In York, not in Leeds.", CASE).outcome == "wrong"
    assert judge_answer(question, "I don't know.", CASE).outcome == "missed"


def test_the_report_counts_each_kind_and_shows_every_verdict() -> None:
    """The table has a row for each kind that was judged; words of people cannot break a row."""
    stored = StoredMemory([_person("Kate", bio="a | b")], (), (), ())
    verdicts = judge(Truth.model_validate({"people": [{"name": "Kate"}, {"name": "Ruth"}]}), stored, [], CASE)
    calls = [AgentCalls("archivist", 2, 3000, 200, 1500, 4.25)]
    outcome = ScenarioOutcome(plan(load("demo"), 1), NOW, 61.0, 10, 12, "offline", verdicts, calls=calls)
    outcome = outcome.with_notes(["no button"], 120.0, 0)
    asked = "archivist: 2 calls, 3000 tokens in (1500 cached), 200 out, 4.2 s"
    assert outcome.summary().splitlines()[-2:] == [asked, "120 seconds in all"]
    assert f"- {asked}" in outcome.as_markdown()
    assert outcome.counts() == {"people": {"right": 1, "wrong": 0, "missed": 1, "beside": 0}}
    shown = outcome.as_markdown()
    assert "| People | 1 | 0 | 1 | 0 |" in shown
    assert "a \\| b" in shown
    assert "- no button" in shown
    assert outcome.as_json()["took_s"] == 120.0
