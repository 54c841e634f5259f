"""Whether a text holds a trace of a line, a name or a person."""

import json
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, strategies as st

from internal.storage.forgetting.traces import LineTest, mention_pattern, name_pattern

WORDS = st.text("абвгґїєabcxyz0123456789", min_size=1, max_size=9)
MARKS = st.sampled_from([" ", ", ", " – ", '" ', " «", "... ", "\n", " & ", " <", "\\"])
TEXTS = st.lists(st.tuples(WORDS, MARKS), min_size=1, max_size=12).map(
    lambda parts: "".join(word + mark for word, mark in parts)
)


@given(TEXTS, TEXTS, TEXTS)
def test_a_line_is_found_however_it_is_quoted(before: str, line: str, after: str) -> None:
    """As it is, in a prompt with its tags neutralised, as JSON and as JSON within JSON, in capitals."""
    whole = f"{before} {line} {after}"
    forms = [whole, escape(whole), json.dumps(whole, ensure_ascii=False), whole.upper()]
    forms += [json.dumps({"reply": json.dumps([whole], ensure_ascii=False)}, ensure_ascii=False)]
    holds = LineTest([line])
    if sum(letter.isalnum() for letter in line) >= 12 and "\n" not in line and "." not in line:
        assert [holds(form) for form in forms] == [True] * len(forms)


@given(st.lists(WORDS, min_size=1, max_size=9), st.lists(WORDS, min_size=1, max_size=99))
def test_what_does_not_hold_the_words_in_their_order_is_no_trace(line: list[str], text: list[str]) -> None:
    """Whatever the number of lines, only whole words one after another count."""
    phrase, joined = f" {' '.join(line)} ", f" {' '.join(text)} "
    expected = phrase in joined and len(phrase.strip()) >= 4
    assert LineTest([" ".join(line)])(" ".join(text)) == expected
    many = [f"слово{n} другое{n}" for n in range(100)]
    assert LineTest([" ".join(line), *many])(" ".join(text)) == expected


@pytest.mark.parametrize("line", ["", "да", "ok", "!!!", None])
def test_lines_that_say_nothing_leave_no_trace(line: str | None) -> None:
    """They would be found in every text."""
    assert not LineTest([line])("да, ok!!!")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Пётр ушёл", True),
        ("вместе с Петром", False),  # another stem: the pattern knows endings only
        ("дом Канарейкиных", True),
        ("КАНАРЕЙКИН", True),
        ("канарейка поёт", False),
        ("Канарейкинбург", False),
        ("Машей довольны", True),
        ("машина", False),
    ],
)
def test_a_fact_goes_by_the_name_itself_not_by_longer_words(text: str, named: bool) -> None:
    """Peter is not Petersburg, and Masha no car."""
    assert name_pattern(["Пётр", "Канарейкин", "Маша"])(text) == named


def test_without_names_nothing_is_mentioned() -> None:
    """An empty pattern would be found in every text."""
    for pattern in (name_pattern([]), name_pattern([" "]), mention_pattern([], [])):
        assert not pattern("anything")
