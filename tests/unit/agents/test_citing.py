"""Citations in replies, wherever the stream is cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal.agents.citing import CitationFilter, cited, cited_only, with_numbers, without_citations
from internal.errors import ModelReplyInvalid

_PIECES = st.sampled_from(
    ["[F1]", "[F2]", "[F12]", "[f1, F2]", "[F1;3]", "[F99]", "[Ф2]", "[", "[F", "F1]", " ", "\n", "`", "```\n", "слово"]
)


def streamed(text: str, cuts: list[int], given_numbers: set[int]) -> str:
    places = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    citations = CitationFilter(given_numbers)
    pieces = [citations.feed(text[start:end]) for start, end in pairwise(places)]
    return "".join(pieces) + citations.finish()


def test_a_citation_comes_whole() -> None:
    """However slowly it is written, whoever shows a reply never shows half of a citation."""
    citations = CitationFilter({1})
    pieces = [citations.feed(letter) for letter in "Он в ACME [F1], а [F2] нет."]
    assert [piece for piece in pieces if "[" in piece or "]" in piece] == ["[F1]"]


@given(st.lists(_PIECES, max_size=12).map("".join), st.lists(st.integers(0, 200), max_size=8))
def test_where_a_stream_is_cut_does_not_matter(text: str, cuts: list[int]) -> None:
    """What is shown is the same, and only given facts are cited in it."""
    whole = streamed(text, [], {1, 2, 12})
    assert streamed(text, cuts, {1, 2, 12}) == whole
    assert set(cited(whole)) <= {1, 2, 12}


@given(st.lists(_PIECES, max_size=12).map("".join))
def test_filtering_twice_changes_nothing(text: str) -> None:
    """What was passed is in the one form in which it stays."""
    once = streamed(text, [], {1, 2})
    assert streamed(once, [], {1, 2}) == once


@given(st.lists(_PIECES, max_size=12).map("".join), st.integers(0, 60))
def test_numbers_do_not_change_while_a_reply_is_written(text: str, length: int) -> None:
    """The beginning of a reply shows the numbers that the whole of it will show."""
    passed = streamed(text, [], {1, 2, 12})
    places = [0]
    while (place := passed.find("]", places[-1])) >= 0:
        places.append(place + 1)
    beginning = passed[: places[length % len(places)]]
    assert [number for number in cited(passed) if number in cited(beginning)] == cited(beginning)


@pytest.mark.parametrize(
    ("said", "kept", "shown"),
    [
        ("Он в ACME [F2].", "Он в ACME.", "Он в ACME¹."),
        ("Он в ACME [F2], она в Киеве [F1].", "Он в ACME, она в Киеве.", "Он в ACME¹, она в Киеве²."),
        ("Оба [F1][F2] там [F1]", "Оба там", "Оба¹˒² там¹"),
        ("Оба [F1, F2] там", "Оба там", "Оба¹˒² там"),
        ("Нет [F9] такого [F7].", "Нет такого.", "Нет такого."),
        ("Малые [f1] и кириллица [Ф2].", "Малые и кириллица.", "Малые¹ и кириллица²."),
        ("`a[f1]`\n```\nb[F1]\n```\nкод", "`a[f1]`\n```\nb[F1]\n```\nкод", "`a[f1]`\n```\nb[F1]\n```\nкод"),
        ("[Free] и [F] текст", "[Free] и [F] текст", "[Free] и [F] текст"),
    ],
)
def test_what_is_kept_and_what_is_shown(said: str, kept: str, shown: str) -> None:
    """The dialogue keeps no citation; the owner sees small numbers in the order of first use, invented ones never."""
    reply = cited_only(said, {1, 2})
    assert without_citations(reply) == kept
    assert with_numbers(reply) == shown


def test_a_reply_of_nothing_but_invented_citations_is_none() -> None:
    """It would be an empty message."""
    with pytest.raises(ModelReplyInvalid):
        cited_only("[F3] [F4]", {1})
