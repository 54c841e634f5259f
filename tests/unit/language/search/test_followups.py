"""Questions that stand alone, and those that lean on what was said before."""

from __future__ import annotations

import pytest

from internal.language.search.followups import depends_on_preceding, leans_on_dialogue, without_pointers
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
        "а что он сказал потом?",
        "What did he say about the new contract and the bonus last summer?",
        "Сколько ей будет лет, когда мы поедем на море в августе?",
        "Що вони вирішили про ремонт кухні та нові меблі?",
    ],
)
def test_a_model_is_asked_what_it_means(question: str) -> None:
    """Somebody is meant who was named before, in a question of any length."""
    assert leans_on_dialogue(question, len(query_terms(question)))


@pytest.mark.parametrize(
    "question",
    [
        "Кто такой Петров и что он делает на работе?",
        "Remind me to buy milk and bread tomorrow morning",
        "Що подарувати мамі на день народження?",
        "I moved to Lviv last week",
    ],
)
def test_no_model_is_asked_what_it_means(question: str) -> None:
    """It names whom it means, or means nobody."""
    assert not leans_on_dialogue(question, len(query_terms(question)))


def test_words_that_point_back_are_left_out() -> None:
    """What is left is what the question says itself."""
    assert without_pointers("а что он купил?").split() == ["что", "купил?"]


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
