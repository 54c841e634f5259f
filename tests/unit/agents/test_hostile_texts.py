"""What a text costs grows with its length: twice the text may not take four times the work.

Work is counted in calls of Python functions, so that a busy machine changes nothing; what regular expressions cost is
bounded by the length of a sentence.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from internal.agents.analyst.offline import analyse
from internal.agents.archivist.offline.agent import propose
from internal.agents.context_manager.offline import update
from internal.agents.enricher.offline import enrich
from internal.agents.known_task import KnownTask
from internal.agents.model import (
    AnalystRequest,
    ArchivistRequest,
    ContextRequest,
    DialogueLine,
    EnricherRequest,
    OwnerProfile,
    ResponderRequest,
    TaskManagerRequest,
    TranscriptLine,
)
from internal.agents.responder.offline.agent import compose
from internal.agents.task_manager import offline as task_manager
from internal.dialogue.snapshots.model import EMPTY
from internal.language.names.same_person import same_person_reason
from internal.language.search.terms import document_terms, query_terms
from internal.language.search.word_match import match_texts
from internal.language.text.spelling import MOST_CHARACTERS, sentence_spans

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
OWNER = OwnerProfile(1, "Олена", None, "ru", "Europe/Kyiv")
TASKS = [KnownTask("T1", "1", "купить молоко", "open"), KnownTask("T2", "2", "call mom", "open")]


def line(text: str) -> TranscriptLine:
    return TranscriptLine(1, "user", "Олена", NOW, text)


AGENTS: dict[str, Callable[[str], Any]] = {
    "archivist": lambda text: propose(ArchivistRequest(OWNER, (), (), (), [line(text)])),
    "task manager": lambda text: task_manager.propose(TaskManagerRequest(OWNER, [line(text)], TASKS)),
    "analyst": lambda text: analyse(
        AnalystRequest(OWNER, "", [line(text), TranscriptLine(2, "assistant", "", NOW, text)])
    ),
    "context manager": lambda text: update(ContextRequest(OWNER, EMPTY, [line(text)])),
    "enricher": lambda text: enrich(EnricherRequest(OWNER, "А что он сказал?", [line(text)])),
    "responder": lambda text: compose(ResponderRequest(OWNER, "", "", (), (), [DialogueLine("user", text)], NOW, text)),
    "terms": lambda text: (document_terms([text]), query_terms(text)),
    "same words": lambda text: match_texts([text], [f"{text} a"], names=False),
}


def names(count: int) -> str:
    """So many people, each of another name."""
    chance = random.Random(3)
    syllables = ["".join(pair) for pair in zip("бвгдзклмнпрст" * 5, "аеиоу" * 13, strict=True)]
    found = (f"Анна {''.join(chance.sample(syllables, 3)).capitalize()}ова" for _ in range(count))
    return ", ".join(found)


HOSTILE = {
    "separators": "a-b" * 270,
    "marks": "e\u0301" * 400,
    "blanks": " " * 800,
    "commas": "," * 800,
    "dashes": "-" * 800,
    "brackets": "«([" * 270,
    "abbreviations": "A. B. " * 130,
    "one word": "я" * 800,
    "digits": "1." * 400,
    "usernames": "@abc " * 160,
    "likes": "я люблю " * 100,
    "I like": "I like " * 110,
    "requests": "напомни мне завтра в 5 " * 35,
    "names": names(50)[:800],
}


def work(agent: Callable[[str], Any], text: str) -> int:
    """How many functions of Python an agent calls for a text."""
    calls = 0

    def count(frame: Any, event: str, _: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        agent(text)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("agent", AGENTS)
def test_twice_the_text_is_not_four_times_the_work(agent: str) -> None:
    """Of no hostile text."""
    found = {}
    for kind, text in HOSTILE.items():
        AGENTS[agent](text)  # so that every word is known
        found[kind] = work(AGENTS[agent], text[: len(text) // 2]), work(AGENTS[agent], text)
    assert {kind: calls for kind, calls in found.items() if calls[1] > 3.2 * calls[0] + 500} == {}


@given(st.sampled_from(list(HOSTILE.values())) | st.text(max_size=2000))
def test_no_sentence_is_long(text: str) -> None:
    """The sentences are the text, in order, each of a length that every rule can bear."""
    found = sentence_spans(text)
    assert "".join(text[begin:end] for begin, end in found) == text
    assert all(end - begin <= MOST_CHARACTERS + 1 for begin, end in found)


def test_names_of_many_words_are_not_tried_in_every_order() -> None:
    """Ten equal words have three million orders."""
    assert same_person_reason("Ан " * 10, "Ан " * 10 + "Бо") is None


def test_nothing_that_is_written_makes_a_rule_fail() -> None:
    """Two texts of a hundred thousand once did: a long list of names in an answer, and a name of no gender."""
    for text in (names(150), "Петров" * 500, "Анна Гонкими. Олег Шаньютах. Иван Ыдвами."):
        for agent in AGENTS.values():
            agent(text)
