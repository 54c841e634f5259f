"""Which patterns and changes show in what was told, and which do not."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from internal.flows.reflections.model import Line, Reflection
from internal.flows.reflections.patterns import Life, patterns
from internal.language.chronicle.lines import LineContent
from internal.people.model import Circle, Person

NOW = datetime(2027, 6, 13, 9, tzinfo=UTC)
ZONE = ZoneInfo("Europe/Kyiv")


Found = list[Reflection]


def person(number: int, name: str, *, known_for: int = 300) -> Person:
    since = NOW - timedelta(days=known_for)
    return Person(number, 1, f"e{number}", name, Circle.FRIENDS, "", since, since)


OLEH, ANNA, TOM = person(1, "Oleh"), person(2, "Anna"), person(3, "Tom")


def line(days_ago: float, *met: Person, matter: str = "", of: Iterable[Person] = ()) -> Line:
    told = LineContent(frozenset(one.id for one in met), {matter: frozenset(one.id for one in of)} if matter else {})
    entities = frozenset(one.entity_id for one in (*met, *of))
    return Line(f"m{days_ago}", NOW - timedelta(days=days_ago), f"told {days_ago} days ago", entities, told)


def found(*lines: Line, changes: Iterable[Reflection] = (), people: Iterable[Person] = (OLEH, ANNA, TOM)) -> Found:
    known = {one.id: one for one in people}
    life = Life(sorted(lines, key=lambda one: one.at), list(changes), known, ZONE, NOW - timedelta(days=400))
    return list(patterns(life, NOW))


OFTEN = (line(20, OLEH), line(12, OLEH), line(3, OLEH))
BUSY = tuple(line(n / 2, ANNA if n == 1 else TOM) for n in range(1, 4)) + tuple(line(n + 0.3) for n in range(2, 9))
BEFORE = (line(80, OLEH), line(60, OLEH), line(40, OLEH))


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        pytest.param(OFTEN, [("met", "Oleh", 3)], id="three days of the month"),
        pytest.param(OFTEN[:2], [], id="two are none"),
        pytest.param((line(3.0, OLEH), line(3.1, OLEH), line(3.2, OLEH)), [], id="one day is one day"),
        pytest.param((line(33, OLEH), *OFTEN[:2]), [], id="of the month before"),
        pytest.param((*BEFORE, *BUSY), [("quiet", "Oleh", 3)], id="met before, and not since"),
        pytest.param((*BEFORE, line(2)), [], id="an owner who tells nothing misses nobody"),
        pytest.param((*BEFORE[1:], *BUSY), [], id="seldom met before"),
    ],
)
def test_being_in_touch(lines: tuple[Line, ...], shown: list[tuple[str, str, int]]) -> None:
    """Days count, not lines; who is not met any more is one who was met often."""
    assert [(one.kind, one.subject, one.count) for one in found(*lines)] == shown


def test_a_matter_of_which_three_people_speak() -> None:
    """Two lines of one person are one; the lines are the receipts."""
    lines = [line(9, matter="move", of=[OLEH]), line(8, matter="move", of=[OLEH]), line(5, matter="move", of=[ANNA])]
    assert found(*lines) == []
    [one] = found(*lines, line(2, matter="move", of=[TOM]))
    assert (one.kind, one.subject, one.count, one.names) == ("matter", "move", 3, ["Oleh", "Anna", "Tom"])
    assert [said.message_id for said in one.sources] == ["m9", "m8", "m5", "m2"]


def test_somebody_new() -> None:
    """LineContent of on three days, by an owner whom the bot has known for longer."""
    mia = person(4, "Mia", known_for=20)
    lines = [line(19, of=[mia]), line(10, of=[mia]), line(4, of=[mia])]
    assert [(one.kind, one.subject, one.count) for one in found(*lines, people=[mia])] == [("new", "Mia", 3)]
    assert found(*lines[1:], people=[mia]) == []
    young = Life(lines, [], {4: mia}, ZONE, NOW - timedelta(days=25))
    assert list(patterns(young, NOW)) == []


def test_a_change_of_the_month() -> None:
    """With what was before; an older one is no news."""
    change = Reflection("f1", "change", "Anna works at Globex", 1, [line(6)], before="Anna works at Acme")
    [one] = found(changes=[change, Reflection("f2", "change", "b", 1, [line(31)], before="a")])
    assert (one.kind, one.subject, one.before) == ("change", "Anna works at Globex", "Anna works at Acme")


def test_a_key_stays_and_holds_no_words() -> None:
    """What is dismissed is not said again when one more day is counted."""
    [one], [more] = found(*OFTEN), found(*OFTEN, line(1, OLEH))
    assert one.key == more.key
    assert "oleh" not in one.key.casefold()
