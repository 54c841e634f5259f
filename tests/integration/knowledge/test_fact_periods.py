"""What held in a whole period, what has ended, and what is known of a beginning."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update
from support.knowledge.knowledge_stage import NOON, OWNER, Knowledge, memory, year

from internal.knowledge import service
from internal.knowledge.claims.changes import BOTH
from internal.knowledge.facts.read import answer_given
from internal.storage.tables import claims


def told(knowledge: Knowledge) -> None:
    knowledge.tell("anna", "WORKS_FOR", "Aval", 2019, 2021)
    knowledge.tell("anna", "WORKS_FOR", "ACME", 2021)
    knowledge.tell("anna", "LIVES_IN", "Kyiv", None)


@pytest.mark.parametrize(
    ("first", "until", "targets"),
    [
        (2018, 2019, ["Kyiv"]),
        (2018, 2020, ["Aval", "Kyiv"]),
        (2020, 2021, ["Aval", "Kyiv"]),
        (2020, 2022, ["ACME", "Aval", "Kyiv"]),
        (2021, 2022, ["ACME", "Kyiv"]),
    ],
)
def test_what_held_at_any_time_of_a_period(first: int, until: int, targets: list[str]) -> None:
    """Half-open as everything is: what ended when the period began, or began when it ended, did not hold in it."""
    with memory() as connection:
        knowledge = Knowledge(connection)
        told(knowledge)
        period = {"as_of": year(first), "until": year(until)}
        assert sorted(fact.target_name for fact in knowledge.facts(**period)) == targets
        then = knowledge.facts(**period, known_at=NOON + timedelta(days=1))
        assert sorted(fact.target_name for fact in then) == targets


def test_what_has_ended_is_asked_for_by_itself() -> None:
    """Without old versions, and without what still holds; what was known then knows the same."""
    with memory() as connection:
        knowledge = Knowledge(connection)
        told(knowledge)
        aval = knowledge.current("Aval")
        service.update_fact(connection, OWNER, aval.id, "Anna worked for Bank Aval", now=knowledge.later())
        [ended] = knowledge.facts(ended=True)
        assert ended.fact == "Anna worked for Bank Aval"
        [before] = knowledge.facts(ended=True, known_at=NOON + timedelta(minutes=3))
        assert before.id == aval.id


def test_a_beginning_that_was_said_is_told_from_one_that_was_not() -> None:
    """A date that was taken from the time of the message says so, now and as it was known."""
    with memory() as connection:
        knowledge = Knowledge(connection)
        knowledge.tell("anna", "WORKS_FOR", "ACME", 2021)
        knowledge.tell("anna", "LIKES", "tea", 2022)
        connection.execute(update(claims).where(claims.c.name == "LIKES").values(valid_stated=False))
        stated = {fact.target_name: fact.valid_stated for fact in knowledge.facts()}
        assert stated == {"ACME": True, "tea": False}
        then = {fact.target_name: fact.valid_stated for fact in knowledge.facts(known_at=NOON + timedelta(days=1))}
        assert then == stated


def test_dates_stay_as_exact_as_they_were_stated() -> None:
    """A year stays a year, also as the end of what it closes; a more exact word on the same moment counts."""
    with memory() as connection:
        knowledge = Knowledge(connection)

        def exact(**wanted: Any) -> dict[str, tuple[str | None, str | None]]:
            found = knowledge.facts(include_invalid=True, **wanted)
            return {
                one.target_name: (one.valid_precision, one.invalid_precision) for one in found if not one.expired_at
            }

        knowledge.tell("anna", "WORKS_FOR", "Aval", 2018, exact=("year", None))
        knowledge.tell("anna", "WORKS_FOR", "ACME", 2021, exact=("month", None))
        knowledge.tell("anna", "LIKES", "tea", 2019, 2022, exact=("day", "year"))
        knowledge.tell("anna", "LIKES", "jazz", 2019, stated=False)
        stated = {"Aval": ("year", "month"), "ACME": ("month", None), "tea": ("day", "year"), "jazz": (None, None)}
        before = knowledge.now
        assert exact() == stated
        knowledge.tell("anna", "WORKS_FOR", "Aval", 2018, exact=("day", None), text="anna works for Aval bank")
        assert exact()["Aval"] == ("day", "month")
        assert exact(known_at=before) == stated
        acme = knowledge.current("ACME")
        dates = {"begins": year(2022), "begins_as": "year", "over": year(2025), "over_as": "day"}
        service.update_fact(connection, OWNER, acme.id, "anna worked for ACME", **dates, now=knowledge.later())
        assert (exact()["Aval"], exact()["ACME"]) == (("day", "year"), ("year", "day"))


def test_how_a_contradiction_was_settled_can_be_looked_up() -> None:
    """Nothing as long as it is open, nothing to another owner."""
    with memory() as connection:
        knowledge = Knowledge(connection)
        knowledge.tell("anna", "LIVES_IN", "Kyiv", 2020)
        knowledge.tell("anna", "LIVES_IN", "Lviv", 2020)
        [contradiction] = service.open_contradictions(connection, OWNER)
        assert answer_given(connection, OWNER, contradiction.id) is None
        service.resolve_contradiction(connection, OWNER, contradiction.id, BOTH, now=knowledge.later())
        assert answer_given(connection, OWNER, contradiction.id) == BOTH
        assert answer_given(connection, OWNER + 1, contradiction.id) is None
