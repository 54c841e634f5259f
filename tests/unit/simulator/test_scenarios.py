"""Scenarios: their format, and the plan that a seed makes of them."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.simulation.load import FIRST_ID, load_report, scheduled_messages
from bot.simulation.load_options import Load
from bot.simulator.scenarios import loader
from bot.simulator.scenarios.date_templates import fill_dates
from bot.simulator.scenarios.plan import plan, shifted

TINY: dict[str, Any] = {
    "name": "tiny",
    "title": "Two days",
    "start": "2026-03-02",
    "days": 14,
    "users": {
        "ann": {"id": 9001, "first_name": "Ann", "language": "en", "timezone": "Europe/London", "persona": "Short."},
        "ola": {"id": 9002, "first_name": "Оля", "language": "uk", "timezone": "Europe/Kyiv", "persona": "Коротко."},
    },
    "story": [
        {"day": 0, "at": "10:00", "who": "ann", "say": ["Hello.", {"one_of": ["A.", "B.", "C."]}, {"edit": "D."}]},
        {"day": 1, "at": "23:59", "who": "ola", "say": ["Нагадай у {weekday +2}.", {"press": "Так|Yes", "after": 5}]},
    ],
    "chatter": [{"who": "ola", "per_week": 3, "lines": ["Дощ.", "Сніг."]}],
    "questions": [{"who": "ann", "ask": "Who?", "expect": ["Kate"]}],
}


def _changed(**changes: Any) -> dict[str, Any]:
    return deepcopy(TINY) | changes


@pytest.mark.parametrize(
    ("tree", "told"),
    [
        ([], "a scenario is a mapping"),
        (_changed(dayz=3), "dayz: no such key"),
        ({key: value for key, value in TINY.items() if key != "story"}, "story: is missing"),
        (_changed(start="someday"), "start: Input should be a valid date"),
        (
            _changed(story=[{"day": 0, "at": "10:00", "who": "bob", "say": ["Hi."]}]),
            "story.0.who: there is no user",
        ),
        (_changed(story=[{"day": 14, "at": "10:00", "who": "ann", "say": ["Hi."]}]), "story.0.day: 14 is not among"),
        (
            _changed(story=[{"day": 0, "at": "10:00", "who": "ann", "say": [{"text": "a", "edit": "b"}]}]),
            "an act is one of text, one_of, press and edit, not text and edit",
        ),
        (
            _changed(story=[{"day": 0, "at": "10:00", "who": "ann", "say": ["On {day +3}."]}]),
            "in braces stand {date}, {weekday} or {month}",
        ),
        (_changed(users={"ann": TINY["users"]["ann"] | {"timezone": "Mars"}}), "users.ann.timezone: there is no time"),
        (_changed(users=TINY["users"] | {"eve": TINY["users"]["ann"]}), "two of them have the same id"),
        (_changed(questions=[{"who": "ann", "ask": "Who?"}]), "questions.0: a question needs expect or never"),
        (_changed(truth={"bob": {}}), "truth: there is no user bob"),
        (_changed(truth={"ann": {"unknown": ["a||b"]}}), "words are separated by single |"),
    ],
)
def test_a_fault_is_told_by_its_place(tree: Any, told: str) -> None:
    """Whoever writes a scenario reads where it is wrong, and how."""
    with pytest.raises(loader.ScenarioInvalid) as refused:
        loader.parsed(tree, "mine.yaml")
    assert str(refused.value).startswith("mine.yaml: ")
    assert told in str(refused.value)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """No file, no YAML, no such name: a sentence each, with the line where there is one."""
    broken = tmp_path / "broken.yaml"
    broken.write_text("name: [tiny\n", encoding="utf-8")
    for wanted, told in (
        (str(broken), "line 2, column 1"),
        (str(tmp_path / "none.yaml"), "cannot be read"),
        ("nobody", "there is no scenario nobody; there are another_year, caregiver, "),
    ):
        with pytest.raises(loader.ScenarioInvalid, match=told):
            loader.load(wanted)


@pytest.mark.parametrize("name", loader.shipped())
def test_every_shipped_scenario_can_be_played_and_judged(name: str) -> None:
    """It bears its file's name, everybody in it says something, and it has a truth and questions."""
    scenario = loader.load(name)
    assert scenario.name == name
    assert {talk.who for talk in scenario.story} == set(scenario.users) == set(scenario.truth)
    assert scenario.questions
    made = plan(scenario, 1)
    assert len(made.acts) > len(scenario.story)


def test_at_least_six_lives_in_three_languages_are_shipped() -> None:
    """Russian, Ukrainian and English, a family of half a year among them."""
    scenarios = [loader.load(name) for name in loader.shipped()]
    assert len(scenarios) >= 6
    assert {user.language for one in scenarios for user in one.users.values()} == {"ru", "uk", "en"}
    assert max(one.days for one in scenarios) >= 180


def test_the_same_seed_makes_the_same_life_and_another_seed_another() -> None:
    """Messages and moments are the seed's; acts come in order, no two in one second."""
    scenario = loader.parsed(TINY, "tiny")
    first, again, other = plan(scenario, 7), plan(scenario, 7), plan(scenario, 8)
    assert first == again
    assert first.acts != other.acts
    moments = [act.at for act in first.acts]
    assert moments == sorted(set(moments))
    assert [act.text for act in first.acts[:4]] == [
        "/start", "/timezone Europe/Kyiv", "/start", "/timezone Europe/London",
    ]  # fmt: skip
    assert sum(act.text in {"Дощ.", "Сніг."} for act in first.acts) in range(4, 7)


def test_a_talk_that_is_added_leaves_the_others_where_they_were() -> None:
    """Each talk has a chance of its own, so that a scenario can grow."""
    longer = _changed(story=[*TINY["story"], {"day": 5, "at": "09:00", "who": "ann", "say": ["More."]}])
    before = plan(loader.parsed(TINY, "tiny"), 3).acts
    after = plan(loader.parsed(longer, "tiny"), 3).acts
    assert set(before) < set(after)


def test_days_are_told_in_the_speakers_own_language() -> None:
    """Counted from the day on which it is said, in the case that stands behind a preposition."""
    day = date(2026, 3, 3)
    assert fill_dates("у {weekday +3}", day, "uk") == "у п'ятницю"
    assert fill_dates("до {date +30}, с {month}", day, "ru") == "до 2 апреля, с марта"
    assert fill_dates("on {date -3}", day, "en") == "on February 28"


def test_a_life_can_end_today_on_the_same_weekdays() -> None:
    """It is shifted by whole weeks, its last day lies within the last seven and its questions in the past."""
    scenario = loader.parsed(TINY, "tiny")
    today = date(2026, 11, 22)
    start = shifted(scenario, today)
    assert (start - scenario.start).days % 7 == 0
    assert timedelta(0) <= today - (start + timedelta(days=scenario.days + 1)) < timedelta(days=7)
    made = plan(scenario, 1, start)
    assert made.questions[-1].at < datetime(2026, 11, 23, tzinfo=UTC)


def test_load_is_the_seeds_too_and_its_report_tells_the_slow_ones() -> None:
    """Messages come at about the rate, from all users; the report has median, 95th of 100 and slowest."""
    load = Load(users=5, rate=10, seconds=60, seed=1)
    planned = scheduled_messages(load)
    assert planned == scheduled_messages(load)
    assert 450 < len(planned) < 750
    assert {one.user_id for one in planned} == {FIRST_ID + n for n in range(5)}
    told = load_report(load, 100, [n / 100 for n in range(1, 101)], took_s=50)
    assert (told.median_s, told.p95_s, told.slowest_s, told.answered_per_second) == (0.51, 0.96, 1.0, 2.0)
