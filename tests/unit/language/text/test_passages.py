"""Long texts become passages that hold every word."""

from __future__ import annotations

import time

from hypothesis import given, settings, strategies as st

from internal.language.text.passages import MAX_CHARACTERS, batches, passages

texts = st.lists(
    st.sampled_from(["Петров переїхав.", "Она работает!", "Bob plays chess?", "слово", "\n\n", "\n", "  ", "х" * 1500]),
    max_size=120,
).map(" ".join)


@settings(deadline=None)
@given(st.text() | texts, st.sampled_from([MAX_CHARACTERS, 600]))
def test_no_word_is_lost(text: str, most: int) -> None:
    """Joined again, the passages are the text without its blanks; each is short and none is empty."""
    found = passages(text, most)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(0 < len(passage) <= most and passage == passage.strip() for passage in found)


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
    assert time.process_time() - began < 10


@given(st.lists(st.text(max_size=12)), st.integers(1, 20))
def test_batches_are_cut_by_length(items: list[str], most: int) -> None:
    """In order, none lost; at most so many characters together, unless one has more."""
    found = list(batches(items, most))
    assert [item for batch in found for item in batch] == items
    assert all(len(batch) == 1 or sum(map(len, batch)) <= most for batch in found)
