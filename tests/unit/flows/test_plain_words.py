"""What owners say in plain words is understood: a table written before the mechanism, three written after it."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import yaml
from support.paths import ROOT

from internal.flows.turn.commands.recognise import Recognised, best_facts, recognise
from internal.language.tasks.requests import find_tasks
from internal.people.model import Circle, Person

AT = datetime(2026, 3, 2, 12, tzinfo=ZoneInfo("Europe/Kyiv"))
PLAIN = {"forget_all": "forget everything", "about_me": "about me", "about_you": "about you"}
LEAST = {"after": 0.94, "later": 0.94, "last": 0.8, "newest": 0.9}


@cache
def cases() -> Any:
    return yaml.safe_load((ROOT / "tests/data/plain_words.yaml").read_text(encoding="utf-8"))


def understood(language: Any, text: str) -> str:
    """What a text asks for, in the words of the table."""
    told = cases()
    people = [
        Person(number, 1, "", one[0], Circle.OTHER, one[1] if one[1:] else "", AT, AT)
        for number, one in enumerate(told["people"][language].values())
    ]
    if any(task.asked for task in find_tasks(text, AT, language)):
        return "remind"
    found, _ = recognise([("m", text, AT)], told["tasks"][language], people, "", language) or ([], False)
    return _words(found[0], list(told["people"][language]), told["facts"][language]) if found else "-"


def _words(one: Recognised, people: list[str], facts: dict[str, str]) -> str:
    day = f" {one.time.moment.date()}" if one.time and one.kind in ("move", "agenda") else ""
    if one.kind in PLAIN:
        return PLAIN[one.kind]
    if one.kind == "name":
        return f"call {one.words}"
    if one.kind == "forget":
        known = best_facts(one.words, list(facts.values()))
        named = [people[number] for number in one.people] or [list(facts)[place] for place in known]
        return f"forget {'|'.join(named)}" if named or one.sure else "-"
    return f"{one.kind}{' '.join(['', '|'.join(one.tasks)]) if one.tasks else ''}{day}"


def wrong(table: str) -> tuple[list[str], int]:
    rows = [(language, *row) for language, rows in cases()[table].items() for row in rows]
    failed = [
        f"{text!r}: {got!r}, not {meant!r}" for lang, text, meant in rows if (got := understood(lang, text)) != meant
    ]
    return failed, len(rows)


def test_what_was_written_before_the_mechanism_is_understood() -> None:
    """All of it, in three languages; what only sounds like a command starts nothing."""
    assert wrong("before")[0] == []


@pytest.mark.parametrize("table", list(LEAST))
def test_most_of_what_was_written_after_it_is_understood(table: str) -> None:
    """By other habits: slang, slips of the finger, roundabout words. Nothing starts by mistake."""
    failed, count = wrong(table)
    assert len(failed) <= (1 - LEAST[table]) * count, "\n".join(failed)
    assert not [one for one in failed if one.endswith("not '-'")]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("uk", "скасуй те, що ти зробив учора"),
        ("ru", "отмени то, что ты вчера записал"),
        ("en", "cancel what you noted yesterday"),
    ],
)
def test_who_takes_back_what_the_bot_did_sees_its_changes(language: str, text: str) -> None:
    """Not that there is no such task."""
    assert understood(language, text) == "changes"
