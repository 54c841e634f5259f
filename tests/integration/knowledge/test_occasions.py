"""Occasions: facts about days, whoever states them and in whatever form, and when they come."""

from __future__ import annotations

from datetime import date

import pytest
from support.knowledge.knowledge_stage import OWNER, STRANGER, Knowledge

from internal.errors import Refused
from internal.knowledge.claims.changes import ClaimLine
from internal.knowledge.facts import occasions
from internal.knowledge.facts.occasions import Occasion


def listed(knowledge: Knowledge, owner: int = OWNER) -> list[Occasion]:
    return occasions.of_owner(knowledge.connection, owner, now=knowledge.later())


def days(one: Occasion, begin: date, end: date) -> list[tuple[str, date]]:
    return list(one.falls_on(begin, end))


def add(knowledge: Knowledge, name: str, kind: str, month: int, day: int, year: int | None = None) -> None:
    occasions.add_occasion(
        knowledge.connection,
        OWNER,
        knowledge.entity(name, type="person"),
        kind,
        month,
        day,
        year,
        text=f"{name}: {kind} {month}-{day}",
        now=knowledge.later(),
    )


@pytest.mark.parametrize("target", ["1990-06-05", "5 июня 1990", "June 5, 1990", "5 червня 1990 року"])
def test_a_birthday_is_read_from_a_date_in_any_form(knowledge: Knowledge, target: str) -> None:
    """The form is that of a model, a file, or three languages."""
    knowledge.tell("Оля", "BORN_ON", target)
    (one,) = listed(knowledge)
    assert (one.name, one.kind, one.month, one.day, one.year) == ("Оля", "birthday", 6, 5, 1990)
    assert days(one, date(2026, 6, 1), date(2027, 6, 30)) == [
        ("birthday", date(2026, 6, 5)),
        ("birthday", date(2027, 6, 5)),
    ]
    assert one.years(date(2026, 6, 5)) == 36


def test_a_day_without_a_year_has_none_and_what_is_no_day_is_no_occasion(knowledge: Knowledge) -> None:
    """Nothing is guessed."""
    knowledge.tell("Оля", "BORN_ON", "5 июня")
    knowledge.tell("Петя", "BORN_ON", "1990")
    (one,) = listed(knowledge)
    assert (one.year, one.years(date(2026, 6, 5))) == (None, None)


def test_the_last_day_of_february_comes_every_year(knowledge: Knowledge) -> None:
    """On the 28th where there is no 29th."""
    add(knowledge, "Leo", "birthday", 2, 29, 2000)
    (one,) = listed(knowledge)
    found = [day for _, day in days(one, date(2027, 1, 1), date(2028, 12, 31))]
    assert found == [date(2027, 2, 28), date(2028, 2, 29)]


def test_a_wedding_comes_once_and_then_as_its_anniversary(knowledge: Knowledge) -> None:
    """And counts its years."""
    add(knowledge, "Anna", "wedding", 6, 5, 2026)
    (one,) = listed(knowledge)
    found = days(one, date(2025, 1, 1), date(2027, 12, 31))
    assert found == [("wedding", date(2026, 6, 5)), ("anniversary", date(2027, 6, 5))]
    assert one.years(date(2027, 6, 5)) == 1


def test_a_correction_replaces_the_day_and_the_same_day_again_keeps_its_year(knowledge: Knowledge) -> None:
    """The last word counts, and adds to what was known."""
    add(knowledge, "Anna", "birthday", 6, 5, 1990)
    add(knowledge, "Anna", "birthday", 6, 5)
    assert [(one.month, one.day, one.year) for one in listed(knowledge)] == [(6, 5, 1990)]
    add(knowledge, "Anna", "birthday", 6, 6)
    assert [(one.month, one.day) for one in listed(knowledge)] == [(6, 6)]


def test_an_import_gives_the_lines_that_say_it(knowledge: Knowledge) -> None:
    """And is nobody else's."""
    anna = knowledge.entity("Anna", type="person")
    episode = knowledge.episode("BDAY:19900605")
    given = {"episode_id": episode, "lines": [ClaimLine(1, "BDAY:19900605")], "set_by": "import"}
    outcome = occasions.add_occasion(
        knowledge.connection, OWNER, anna, "birthday", 6, 5, 1990, text="Anna, June 5", now=knowledge.later(), **given
    )
    assert not outcome.refused
    assert [one.year for one in listed(knowledge)] == [1990]
    assert listed(knowledge, STRANGER) == []


def test_birthdays_of_the_dead_are_left_out(knowledge: Knowledge) -> None:
    """Nobody is congratulated on them."""
    add(knowledge, "Дед", "birthday", 6, 5)
    knowledge.tell("Дед", "DIED_ON", "2020-01-02")
    assert listed(knowledge) == []


@pytest.mark.parametrize(("kind", "month", "day"), [("party", 6, 5), ("birthday", 2, 30), ("birthday", 13, 1)])
def test_what_is_no_occasion_is_refused(knowledge: Knowledge, kind: str, month: int, day: int) -> None:
    """An unknown kind, and days of no calendar."""
    with pytest.raises(Refused):
        add(knowledge, "Anna", kind, month, day)
