"""Long texts become passages that hold every word; JSON becomes lines."""

from __future__ import annotations

import json
import time
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from internal.import_formats.passages import MAX_CHARACTERS, json_lines, passages

texts = st.lists(
    st.sampled_from(["Петров переїхав.", "Она работает!", "Bob plays chess?", "слово", "\n\n", "\n", "  ", "х" * 1500]),
    max_size=120,
).map(" ".join)


@settings(deadline=None)
@given(st.text() | texts)
def test_no_word_is_lost(text: str) -> None:
    """Joined again, the passages are the text without its blanks; each is short and none is empty."""
    found = passages(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(0 < len(passage) <= MAX_CHARACTERS and passage == passage.strip() for passage in found)


def test_paragraphs_and_sentences_stay_whole() -> None:
    """Two paragraphs that fill a passage each are two; a long one is cut behind a sentence."""
    first, second = "Олена живе у Львові. " * 25, "Петров работает в Киеве. " * 60
    found = passages(f"{first.strip()}\n\n{second.strip()}")
    assert found[0] == first.strip()
    assert len(found) == 3
    assert all(passage.endswith(".") for passage in found)


def test_a_short_text_is_one_passage() -> None:
    """What fits is not cut, nor is a blank text a passage."""
    assert passages("Короткий текст.\n\nІ ще рядок.") == ["Короткий текст.\n\nІ ще рядок."]
    assert passages(" \n\n ") == []


def test_a_text_without_end_is_cut_in_one_go() -> None:
    """A single word of ten million letters takes no longer for each letter than a short one."""
    began = time.process_time()
    assert len(passages("х" * 10_000_000)) == 10_000
    assert time.process_time() - began < 2


scalars = st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1)
trees = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(min_size=1), inner))


@settings(deadline=None)
@given(trees)
def test_every_scalar_has_a_line(value: Any) -> None:
    """As many lines as scalars, each ending with one."""

    def count(inner: Any) -> int:
        if isinstance(inner, dict | list):
            return sum(map(count, inner.values() if isinstance(inner, dict) else inner))
        return 1

    assert len(json_lines(value)) == count(value)


def test_lines_say_where_a_value_stands() -> None:
    """Paths as they are written; nulls and empty texts say nothing."""
    raw = '{"team": {"lead": "Олена", "size": 3, "open": true, "note": null}, "tags": ["a", {"b": 1.5}], "none": " "}'
    assert json_lines(json.loads(raw)) == [
        "team.lead: Олена",
        "team.size: 3",
        "team.open: true",
        "tags[0]: a",
        "tags[1].b: 1.5",
    ]
    assert json_lines("слово") == ["слово"]
    deep: Any = "дно"
    for _ in range(500):
        deep = [deep]
    assert len(json_lines(deep)) == 1
