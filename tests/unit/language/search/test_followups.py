"""Questions that stand alone, and those that lean on what was said before."""

from __future__ import annotations

import pytest

from internal.language.search.followups import depends_on_preceding
from internal.language.search.terms import query_terms


@pytest.mark.parametrize(
    "question",
    [
        "а что он сказал потом?",
        "and then?",
        "а коли це було?",
        "А Маша?",
        "почему?",
        "What did she say about it?",
        "Where does he work?",
        "What about the car?",
        "Which one did I like?",
        "Як звали того лікаря?",
        "А як щодо Олени?",
        "расскажи подробнее",
        "tell me more",
        "да",
    ],
)
def test_it_leans_on_what_was_said(question: str) -> None:
    """Pronouns, words that point back, and questions of hardly a word."""
    assert depends_on_preceding(question, len(query_terms(question)))


@pytest.mark.parametrize(
    "question",
    [
        "Кто такой Петров?",
        "где работает Петров?",
        "Что Петров сказал, когда он уехал?",
        "When did I buy the red car?",
        "What is the name of my dog?",
        "Что подарить маме на день рождения?",
        "Як пройшла співбесіда в банку?",
        "And where does Petrov's wife work?",
        "Спасибо!",
        "",
    ],
)
def test_it_stands_alone(question: str) -> None:
    """Whoever is named needs no pronoun's help, and many words say enough."""
    assert not depends_on_preceding(question, len(query_terms(question)))
