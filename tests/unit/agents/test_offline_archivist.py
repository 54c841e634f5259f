"""The offline archivist against its labelled dialogues: what it promises, and no more."""

from __future__ import annotations

import json
from typing import Any

import pytest
from offline_cases import Score, cases, request_of

from internal.agents.archivist.offline import propose
from internal.language.names import name_key
from internal.people.model import Circle

# Known to be beyond the rules: a product's name that is a first name, and a capital in the middle for effect.
BEYOND = ("Купил Сони", "Лето прошло", "I use Jenkins")


def words_proposed(reply: str) -> set[str]:
    people = [operation.get("person", {}) for operation in json.loads(reply)["people_operations"]]
    names = [name for person in people for name in [person.get("display_name", ""), *person.get("aliases", [])]]
    return {word for name in names for word in name_key(name).split()}


def trap_cases() -> list[dict[str, Any]]:
    return [case for case in cases() if "never" in case and not case["say"][0].startswith(BEYOND)]


def test_it_reaches_its_floors() -> None:
    """Precision and recall of people, circles, bios and merges over the whole set."""
    score = Score()
    for case in cases():
        score.add(case, propose(request_of(case)))
    report = "\n".join(score.wrong)
    assert score.precision >= 0.96, report
    assert score.recall >= 0.97, report
    assert score.circles / score.correct >= 0.97, report
    assert score.bios / score.bios_expected >= 0.97, report
    assert score.merges == score.merges_expected, report


@pytest.mark.parametrize("language", ["ru", "uk", "en"])
def test_no_language_lags_behind(language: str) -> None:
    """Each of the three languages reaches its own floor."""
    score = Score()
    for case in cases():
        if case["lang"] == language:
            score.add(case, propose(request_of(case)))
    assert score.precision >= 0.94, score.wrong
    assert score.recall >= 0.95, score.wrong


@pytest.mark.parametrize("case", trap_cases(), ids=lambda case: case["say"][0][:40])
def test_traps(case: dict[str, Any]) -> None:
    """Places, streets, authors, months, companies, ordinary words, kinship alone, forwards and the bot's own words."""
    proposed = words_proposed(propose(request_of(case)))
    assert not proposed & {word for name in case["never"] for word in name_key(name).split()}


def test_every_circle_is_in_the_set() -> None:
    """The floors mean something only if the set asks for every circle."""
    asked = {row.get("circle") for case in cases() for row in case.get("people", [])} - {None}
    assert asked == {circle.value for circle in Circle}
