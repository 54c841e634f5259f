"""The title of a text: a phrase of it."""

from __future__ import annotations

import pytest

from internal.language.text.titles import title_of


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Where does Maria\n live?", "Where does Maria live?"),
        ("Втомилася. Але день був добрий, і все вдалося зробити вчасно!", "Втомилася. Але день був добрий…"),
        ("Обедал с Петровым, он перенёс релиз на март, а потом уехал", "Обедал с Петровым, он перенёс релиз…"),
        ("A word after a word after a word after a word", "A word after a word after a word after…"),
        ("x" * 60, "x" * 39 + "…"),
        (" \n", ""),
    ],
)
def test_a_title_is_whole_sentences_else_a_clause_else_words(text: str, title: str) -> None:
    """In one line of at most so many characters; an ellipsis tells that there is more of the sentence."""
    assert title_of(text, 40) == title
    assert len(title) <= 40
