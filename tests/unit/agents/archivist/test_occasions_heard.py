"""Birthdays and other occasions heard in passing, in three languages, by the archivist without a model."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml
from support.paths import DATA

from internal.agents.archivist.offline.agent import propose
from internal.agents.archivist.output import parse
from internal.agents.model import ArchivistRequest, OwnerProfile, TranscriptLine
from internal.language.facts.occasion_names import KINDS
from internal.language.facts.occasions import find_occasions
from internal.language.facts.statements import OCCASIONS
from internal.language.text.spelling import text_language

CASES: list[list[Any]] = yaml.safe_load((DATA / "occasions.yaml").read_text(encoding="utf-8"))
MONDAY = datetime(2026, 11, 23, 12, tzinfo=UTC)


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_what_is_heard_of_an_occasion(case: list[Any]) -> None:
    """Its kind, its day, its year, whose it is; and nothing of what is none."""
    text, *expected = case
    owner = OwnerProfile(1, "Owner", None, text_language(text), "UTC")
    line = TranscriptLine(1, "user", "Owner", MONDAY, text)
    request = ArchivistRequest(owner, people=[], hints=[], facts=[], transcript=[line])
    reply = parse(propose(request), request.transcript, set())
    assert reply.refused == ()
    kinds = {relation: kind for kind, relation in KINDS.items()}
    found = [
        [kinds[fact["relation"]], fact["attributes"]["date"], fact["attributes"].get("year"), fact["source"]]
        for fact in json.loads(propose(request))["facts"]
        if fact["relation"] in kinds
    ]
    assert found == expected


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Зоя родила дочку 2 ноября", 0),
        ("Зоя народила сина 2 листопада", 0),
        ("Zoe gave birth to a girl on November 2", 0),
        ("Зоя ждёт всех гостей 2 ноября", 1),
    ],
)
def test_the_day_of_a_birth_is_not_the_parents(text: str, found: int) -> None:
    """Even if the judge takes the sentence for a birthday, as it does with a feast."""
    chances = dict.fromkeys(OCCASIONS, 0.0) | {"birthday": 1.0}
    assert len(list(find_occasions(text, MONDAY, [(0, 3)], text_language(text), lambda _: chances))) == found


@pytest.mark.parametrize(
    ("text", "known", "ended"),
    [
        ("well, the wedding's off, Ann has moved back home", "Ann: wedding, June 5 (since 2026-10-02)", True),
        ("Ben called off their wedding", "Ben: wedding, June 5", True),
        ("Ann's wedding won't happen", "Ann: wedding, June 5", True),
        ("Ann's graduation has been cancelled", "Ann: graduation, June 5", True),
        ("there won't be a wedding, Ann and Ben split up", "Ann: wedding, June 5", True),
        ("if the wedding is off, Ann will cry", "Ann: wedding, June 5", False),
        ("is Ann's wedding off?", "Ann: wedding, June 5", False),
        ("Ann's wedding is off the coast of Spain", "Ben: wedding, June 5", False),
        ("всё, свадьбы не будет, Оля и Петя разбежались", "Оля: свадьба, 5 июня (since 2026-10-02)", True),
        ("не будет у Оли никакой свадьбы", "Оля: свадьба, 5 июня", True),
        ("свадьба Оли отменяется", "Оля: свадьба, 5 июня", True),
        ("Оля с Петей отменили свадьбу", "Оля: свадьба, 5 июня", True),
        ("крестин у Пети не будет", "Петя: крестины, 5 июня", True),
        ("не буде в Дениса ніякого весілля", "Денис: весілля, 5 червня", True),
        ("Оля скасувала весілля", "Оля: весілля, 5 червня", True),
        ("Лёха отменил свадьбу, разошлись они", "Лёха Рябов: свадьба, 5 июня", True),
        ("Marcus called off the wedding", "Marcus Bell: wedding, June 5", True),
        ("весілля в Олі не відбудеться", "Оля: весілля, 5 червня", True),
        ("хрестини в Олі скасовуються", "Оля: хрестини, 5 червня", True),
        ("новосілля в Олі не буде", "Оля: новосілля, 5 червня", True),
        ("на весіллі в Олі буде весело", "Оля: весілля, 5 червня", False),
    ],
)
def test_an_occasion_that_is_called_off_has_ended(text: str, known: str, ended: bool) -> None:
    """That of the person who is named, not one that may be called off."""
    owner = OwnerProfile(1, "Owner", None, text_language(text), "UTC")
    line = TranscriptLine(1, "user", "Owner", MONDAY, text)
    request = ArchivistRequest(owner, people=[], hints=[], facts=[known], transcript=[line])
    day = known.rpartition(", ")[2].partition(" (")[0]
    found = [(fact["target"], fact["invalid_at"]) for fact in json.loads(propose(request))["facts"]]
    assert found == ([(day, "2026-11-23T12:00+00:00")] if ended else [])


@pytest.mark.parametrize(
    ("known", "said"), [("Алиса", "Алиски"), ("Света", "Светки"), ("Зоя", "Зойки"), ("Юля", "Юльки"), ("Ира", "Ирки")]
)
def test_a_fond_form_of_a_name_is_the_same_person(known: str, said: str) -> None:
    """So that a corrected birthday replaces the one before."""
    owner = OwnerProfile(1, "Owner", None, "ru", "UTC")
    texts = [
        f"у {known[:-1]}{'и' if known[-1] == 'я' or known == 'Юля' else 'ы'} день рождения 9 апреля",
        f"не 9, а 19 апреля у {said} день рождения",
    ]
    lines = [TranscriptLine(n, "user", "Owner", MONDAY, text) for n, text in enumerate(texts, 1)]
    request = ArchivistRequest(owner, people=[], hints=[], facts=[], transcript=lines)
    assert len({fact["source"] for fact in json.loads(propose(request))["facts"]}) == 1
