"""What a judge's word opens and ends where no rule knows the words, and where grammar speaks against it."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from internal.agents.archivist.offline.occasions import ended_occasions
from internal.agents.archivist.offline.people import Reading
from internal.agents.model import TranscriptLine
from internal.language.facts.occasions import find_occasions
from internal.language.facts.statements import SURE, Judge, stated
from internal.language.tasks.completion import Completion, find_completions
from internal.language.tasks.promises import find_promised
from internal.language.tasks.requests import find_tasks
from internal.language.text.spelling import text_language

AT = datetime(2026, 11, 28, 20, tzinfo=ZoneInfo("Europe/Kyiv"))


def saying(kind: str, chance: float = 0.9) -> Judge:
    """A judge who takes every sentence for this kind."""
    return lambda _: defaultdict(float, {kind: chance, "none": 1 - chance})


def test_only_a_sure_judge_states_anything() -> None:
    """Chances of the kinds in question add up; nobody judges without a judge."""
    assert stated("x", saying("promise"), ("promise", "mine")) == "promise"
    assert stated("x", lambda _: {"promise": 0.3, "mine": 0.4}, ("promise", "mine")) == "mine"
    assert stated("x", saying("promise", SURE), ("promise",)) is None
    assert stated("x", saying("promise"), ("mine",)) is None
    assert stated("x", None, ("promise",)) is None


@pytest.mark.parametrize(
    ("text", "promises"),
    [
        ("Gavin's dropping the ladder round on Tuesday", True),
        ("мастера подъедут к нам в четверг", True),
        ("Богдан підкине саджанці у вівторок", True),
        ("Сьогодні каву пила з Уляною, вона переїздить до Львова", False),
        ("Today I met Priya, she got a new job", False),
        ("напиши начальнику, что Оля приедет во вторник", False),
        ("will Gavin drop the ladder round on Tuesday?", False),
        ("rain on Tuesday", False),
    ],
)
def test_a_promise_needs_somebody_who_acts_and_a_day_to_come(text: str, promises: bool) -> None:
    """An order to the bot is none, and the day on which something is told is not the one on which it is due."""
    assert bool(find_promised(text, AT, text_language(text), saying("promise"))) == promises


@pytest.mark.parametrize(
    ("text", "promises"),
    [
        ("Kayla is counting on me to watch the twins on Saturday night", True),
        ("бабуля ждёт лекарство до четверга, так и сказал", True),
        ("дід вірить, що телевізор запрацює у вівторок", True),
        ("У меня нашли грыжу, операция 15 декабря", False),
        ("мені зроблять щеплення у вівторок", False),
        ("having the stitches out on Tuesday", False),
        ("write an email to my boss saying I'm off sick tomorrow", False),
    ],
)
def test_what_the_author_owes_he_owes_to_somebody(text: str, promises: bool) -> None:
    """A day of his own, and words that the bot is to write, are not owed."""
    found = find_tasks(text, AT, text_language(text), saying("mine"))
    assert any(one.kind == "promise" for one in found) == promises
    assert promises or not found


@pytest.mark.parametrize(
    ("text", "people", "expected"),
    [
        ("gran is ninety come the 5th of March", ["gran"], ("birthday", 0)),
        ("Olga says Dima is five on the 5th of March", ["Olga", "Dima"], ("birthday", 1)),
        ("Olga takes Dima to the font on the 5th of March", ["Olga", "Dima"], None),
    ],
)
def test_a_judged_occasion_is_of_the_only_person_that_can_be_meant(
    text: str, people: list[str], expected: tuple[str, int] | None
) -> None:
    """Of two people it is nobody's, unless one only says so."""
    spans = [(text.index(one), text.index(one) + len(one)) for one in people]
    found = [(one.kind, one.whose) for one in find_occasions(text, AT, spans, "en", saying("birthday"))]
    assert found == ([expected] if expected else [])


def test_a_funeral_comes_once() -> None:
    """It is no day of death."""
    text = "we lay grandpa to rest on 5 December, the funeral is at ten"
    (found,) = find_occasions(text, AT, [(7, 14)], "en", saying("memorial"))
    assert found.kind == "event"


@pytest.mark.parametrize(
    ("known", "ended"),
    [
        (["Ann: wedding, June 5"], ["June 5"]),
        (["Ann: wedding, June 5", "Ann: graduation, July 1"], []),
        (["Ann: birthday, June 5"], []),
        (["Ben: wedding, June 5"], []),
    ],
)
def test_what_is_off_in_unknown_words_ends_the_only_celebration(known: list[str], ended: list[str]) -> None:
    """That of the person who is named, and no birthday."""
    reading = Reading((), "en")
    reading.read_all([TranscriptLine(1, "user", "", AT, "Ann is keeping the dress but not the man")])
    found = [fact for said in reading.said for fact, _ in ended_occasions(said, reading, known, saying("off"))]
    assert [fact["target"] for fact in found] == ended


def test_a_judge_ends_the_task_that_is_named_in_unknown_words() -> None:
    """And takes a long sentence's word for nothing if it means something else."""
    titles = ["Fix the garden fence", "Call Maria"]
    assert find_completions("that garden fence is history", titles, saying("off")) == [Completion(0, "cancelled")]
    assert find_completions("the garden fence looks like new", titles, saying("done")) == [Completion(0, "done")]
    assert find_completions("the garden fence looks like new", titles, saying("none")) == []
    long = "I already called Maria a cab home from that awful party of his"
    assert find_completions(long, titles) == [Completion(1, "done")]
    assert find_completions(long, titles, saying("none", 1.0)) == []
