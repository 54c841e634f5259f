"""Questions that ask for a kind of memory by its name, in three languages."""

from __future__ import annotations

import pytest

from internal.language.search.memory_kinds import RequestedKinds, requested_kinds

ALL_OF_A_KIND = {
    "Goal": ("Какие у меня цели?", "Які в мене цілі?", "What are my goals?", "Чего я хочу?", "Про що я мрію?"),
    "Decision": ("Что я решил?", "Що я вирішила?", "What did I decide?", "Мои решения", "Які рішення я ухвалив?"),
    "Question": ("Какие вопросы остались открытыми?", "Які питання відкриті?", "What questions are still open?"),
    "Preference": ("Что я люблю?", "Що мені подобається?", "What do I like?", "Мои предпочтения", "What do I prefer?"),
}


@pytest.mark.parametrize(("label", "questions"), ALL_OF_A_KIND.items())
def test_all_of_a_kind_is_asked_for(label: str, questions: tuple[str, ...]) -> None:
    """Nothing of what is kept shares a word with such a question."""
    found = {question: requested_kinds(question) for question in questions}
    wide = {"Які рішення я ухвалив?": False}
    for question, asked in found.items():
        assert asked == RequestedKinds(frozenset({label}), wide.get(question, True)), question


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("Що я вирішив про машину?", "Decision"),
        ("What do I prefer for breakfast?", "Preference"),
        ("Какие у меня цели по учёбе?", "Goal"),
    ],
)
def test_what_is_about_something_does_not_ask_for_all(question: str, label: str) -> None:
    """A question that names a subject wants what is about it."""
    assert requested_kinds(question) == RequestedKinds(frozenset({label}), alone=False)


@pytest.mark.parametrize("question", ["Где работает Маша?", "Де живе Оля?", "Where does Anna live?", "", "Как дела?"])
def test_most_questions_ask_for_no_kind(question: str) -> None:
    """Facts and people are asked for in other words."""
    assert requested_kinds(question) == RequestedKinds()
