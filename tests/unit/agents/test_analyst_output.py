"""What the analyst may answer: read whatever shape it has, each judgement by itself, rules by their real names."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from internal.agents.analyst.output import MAX_LESSON, MAX_LESSONS, AnalystReply, name_of_rule, parse
from internal.agents.analyst.verdict import Judgement, joint_verdict
from internal.agents.model import TranscriptLine
from internal.agents.responder.rules import rules
from internal.errors import ModelReplyInvalid

RULES = ("Answer in the owner's language. Always.", "Never invent a memory.", "Ask which one.")
NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
LINES = [
    TranscriptLine(n, "assistant" if n % 2 == 0 else "user", "Анна", NOON, f"Line {n}") for n in range(1, 7)
]  # 2, 4 and 6 are answers


def read(reply: object, rules: tuple[str, ...] = RULES) -> AnalystReply:
    return parse(reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False), LINES, rules)


def judged(**fields: Any) -> AnalystReply:
    return read({"responses": [{"message": 2, "verdict": "correct", **fields}]})


def test_a_whole_reply_is_read() -> None:
    """The topic, a ruling on each answer under its number, and one on the session."""
    reply = read(
        {
            "topic": "Адрес офиса.",
            "responses": [
                {"message": 2, "verdict": "correct"},
                {"message": 4, "verdict": "incorrect", "errors": ["Не то"], "lessons": ["Уточнять адрес."]},
            ],
            "session_summary": {"verdict": "partially_correct", "summary": "Искали адрес.", "lessons": []},
        }
    )
    assert reply.topic == "Адрес офиса"
    assert reply.responses == {
        2: Judgement("correct"),
        4: Judgement("incorrect", errors=("Не то",), lessons=("Уточнять адрес.",)),
    }
    assert reply.session == Judgement("partially_correct", summary="Искали адрес.")
    assert reply.refused == ()


@pytest.mark.parametrize(
    "verdict", ["partially_correct", "Partially correct", " PARTIALLY-CORRECT. ", "partly correct"]
)
def test_a_verdict_is_known_in_any_case_and_spacing(verdict: str) -> None:
    """Models write it as they please."""
    assert judged(verdict=verdict).responses[2].verdict == "partially_correct"


@pytest.mark.parametrize("message", [2, 2.0, "2", "#2", "[2]", "message 2"])
def test_a_number_is_known_as_it_is_written(message: object) -> None:
    """As a number, as text, and with what stands around it."""
    assert set(judged(message=message).responses) == {2}


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"message": 3, "verdict": "correct"}, "not_a_response"),
        ({"message": 8, "verdict": "correct"}, "not_a_response"),
        ({"message": None, "verdict": "correct"}, "no_message"),
        ({"message": True, "verdict": "correct"}, "no_message"),
        ({"verdict": "correct"}, "no_message"),
        ({"message": 4, "verdict": "good"}, "unknown_verdict"),
        ({"message": 4}, "unknown_verdict"),
        ({"message": 2, "verdict": "incorrect"}, "judged_twice"),
        ("correct", "bad_shape"),
    ],
)
def test_what_breaks_a_rule_is_refused_alone(item: object, reason: str) -> None:
    """The judgement before it stays as it is."""
    reply = read({"responses": [{"message": 2, "verdict": "correct"}, item]})
    assert reply.responses == {2: Judgement("correct")}
    assert [refusal.reason for refusal in reply.refused] == [reason]


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        (["R2"], ("Never invent a memory.",)),
        ("r2", ("Never invent a memory.",)),
        (2, ("Never invent a memory.",)),
        ([2, "Rule 2", "R2: Never invent a memory."], ("Never invent a memory.",)),
        (["never invent a memory"], ("Never invent a memory.",)),
        (["R1", "3."], ("Answer in the owner's language.", "Ask which one.")),
        (["Be brief"], ("Be brief",)),
        ([], ()),
        (None, ()),
        ({"rule": 2}, ()),
    ],
)
def test_rules_are_told_in_their_own_words(told: object, meant: tuple[str, ...]) -> None:
    """By number or words; what is none of them stays as the model put it."""
    assert judged(rules_used=told).responses[2].rules_used == meant


def test_a_rule_that_is_none_is_refused() -> None:
    """The judgement that names it counts."""
    reply = judged(rules_ignored=["R4", "R1"])
    assert reply.responses[2].rules_ignored == ("Answer in the owner's language.",)
    assert [refusal.reason for refusal in reply.refused] == ["unknown_rule"]


def test_lessons_are_few_and_short() -> None:
    """A text alone is one; the same one counts once, a fourth is refused, a long one is cut between words."""
    assert judged(lessons="Отвечать короче.").responses[2].lessons == ("Отвечать короче.",)
    reply = judged(lessons=["one", "two", "two", " ", "three", "слово " * 100])
    assert reply.responses[2].lessons == ("one", "two", "three")
    assert [refusal.reason for refusal in reply.refused] == ["too_many"]
    long = judged(lessons=["слово " * 100]).responses[2].lessons[0]
    assert len(long) <= MAX_LESSON
    assert set(long.split()) == {"слово"}


def test_a_session_without_a_verdict_has_that_of_its_answers() -> None:
    """They differ, so it is partly right; a summary may be a text alone."""
    answers = [{"message": 2, "verdict": "correct"}, {"message": 4, "verdict": "incorrect"}]
    for summary in ("Говорили.", {"summary": "Говорили."}, {"summary": "Говорили.", "verdict": "so-so"}):
        assert read({"responses": answers, "session_summary": summary}).session == Judgement(
            "partially_correct", summary="Говорили."
        )
    assert read({"responses": answers}).session is None
    assert joint_verdict([]) == "correct"


@pytest.mark.parametrize(
    "reply",
    ["", "I cannot", {}, {"verdict": "correct"}, {"topic": None, "responses": None}, {"responses": {"2": "correct"}},
     {"responses": [], "session_summary": [1]}, {"topic": ["a"], "responses": []}, '{"responses": [{"message": 2'],
)  # fmt: skip
def test_a_reply_that_cannot_be_read_is_a_failed_attempt(reply: object) -> None:
    """Never an empty success."""
    with pytest.raises(ModelReplyInvalid):
        read(reply)


def test_nothing_to_judge_is_an_answer() -> None:
    """An empty list is a success."""
    assert read({"responses": []}) == AnalystReply("", {}, None)


_TOLD = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 9), st.text(max_size=30), st.lists(st.text(max_size=12), max_size=5)
)


@given(st.lists(st.dictionaries(
    st.sampled_from(["message", "verdict", "rules_used", "rules_ignored", "errors", "lessons", "summary", "x"]), _TOLD
), max_size=6))  # fmt: skip
def test_whatever_a_reply_holds_its_rulings_keep_to_the_bounds(items: list[dict[str, Any]]) -> None:
    """Only answers of the transcript, only known verdicts, few lessons; every item is taken or refused."""
    reply = read({"responses": items})
    assert set(reply.responses) <= {2, 4, 6}
    assert len(reply.responses) <= len(items)
    for ruling in reply.responses.values():
        assert len(ruling.lessons) <= MAX_LESSONS
        assert all(lesson and len(lesson) <= MAX_LESSON for lesson in ruling.lessons)
    whole = ("bad_shape", "no_message", "not_a_response", "judged_twice", "unknown_verdict")
    assert len(reply.responses) + sum(one.reason in whole for one in reply.refused) == len(items)


def test_the_rules_are_those_of_the_responders_own_prompt() -> None:
    """Each bullet of how it answers, whole and on one line, with a short name of its own."""
    found = rules()
    assert len(found) >= 5
    assert any("language of the owner's latest message" in rule for rule in found)
    assert all("\n" not in rule and not rule.startswith("-") for rule in found)
    assert len({name_of_rule(rule) for rule in found}) == len(found)
