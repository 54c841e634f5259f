"""Words of one root, which no dictionary form brings together."""

from __future__ import annotations

import pytest

from internal.language.search.terms import document_terms, query_terms
from internal.recall.index.bm25 import LexicalIndex


def found_by(question: str, text: str) -> float:
    """The weight of the best term of a text among the alternatives of the question's only word."""
    index = LexicalIndex.of(document_terms([text]))
    [word] = index.with_relatives(query_terms(question))
    return float(index.occurrences(word)[1].max())


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("квартирный", "Вселились у квартиру"),
        ("жениться", "Женитьба была шумной"),
        ("переезд", "Після переїзду тихо"),
    ],
)
def test_words_of_one_root_count_little(question: str, text: str) -> None:
    """Another part of speech, and the other of the two languages; the word itself counts for more."""
    assert 0 < found_by(question, text) < found_by(question, question)


@pytest.mark.parametrize(
    ("question", "text"),
    [("кот", "котлета"), ("кит", "кіт"), ("караоке", "карантин"), ("лечить", "лечебница")],
)
def test_a_short_beginning_is_no_root(question: str, text: str) -> None:
    """Four letters at least, and no more than three behind them."""
    assert found_by(question, text) == 0


def test_words_that_come_later_are_found_too() -> None:
    """Also after the index was compacted, which makes a vocabulary again."""
    index = LexicalIndex.of(["дом"])
    question = [(("свадебка", 1.0),)]
    assert index.with_relatives(question) == question
    index.put("свадебке")
    index.drop(0)
    assert [term for term, _ in index.with_relatives(question)[0]] == ["свадебка", "свадебке"]
    index.compact()
    index.put("свадебку")
    assert [term for term, _ in index.with_relatives(question)[0]] == ["свадебка", "свадебке", "свадебку"]
