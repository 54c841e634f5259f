"""Tokens counted word by word are those of the whole text."""

from __future__ import annotations

from hypothesis import example, given, settings, strategies as st
from support.long import examples

from internal.llm.tokens import count_tokens, load

_PIECES = [
    "дача",
    "It's",
    "It'S",
    "12345",
    "...",
    "?!",
    "/\n",
    "(",
    "e\u0301",
    "日本",
    "😀",
    " ",
    "  ",
    "\n",
    "\t",
    "\u00a0",
]


@settings(max_examples=examples(200))
@given(st.one_of(st.text(max_size=40), st.lists(st.sampled_from(_PIECES), max_size=12).map("".join)))
@example("It's 12345 o'clock,  isn't it?\n Уже поздно.")
def test_words_are_counted_one_by_one(text: str) -> None:
    """No token reaches over a single space between words, whatever stands around it."""
    assert count_tokens(text) == load().count(text.encode("utf-8", "replace").decode("utf-8"))
