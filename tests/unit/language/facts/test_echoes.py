"""Answers that say again what was told."""

from __future__ import annotations

import pytest

from internal.language.facts.echoes import echoes


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("Tom Baker. You told me: “My colleague Tom Baker moved it.”", "My colleague Tom Baker moved it."),
        ("Ты говорил: «Я живу в Казани».", "Я живу в Казани"),
        ("Ти живеш у Казані, я пам'ятаю: живу в Казані", "Я живу в Казані"),
        ("Марія переїхала до Львова у червні, бо там нова робота.", "Марія переїхала до Львова: нова робота, з червня"),
        ("Your flight is on 12 May at 18:40.", "flight 12 May 18:40"),
    ],
)
def test_an_answer_that_holds_what_was_told_echoes_it(answer: str, told: str) -> None:
    """Whatever stands around it, and over endings."""
    assert echoes(answer, told)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("You lived in Kazan once.", "I moved to Samara a week ago"),
        ("Noted: Kate.", "My sister Kate is getting married in Leeds."),
        ("Казань — хороший город.", "Я живу в Казани"),
        ("Ok", "Ok"),
        ("Маша работает врачом.", "Маша"),
    ],
)
def test_an_answer_of_its_own_echoes_nothing(answer: str, told: str) -> None:
    """One common word is not enough, nor is one word said twice."""
    assert not echoes(answer, told)


def test_a_long_answer_that_uses_the_words_of_a_message_says_more() -> None:
    """It answers the message, with advice of its own: it is no repetition."""
    message = "I'm trying to plan the kitchen, and I want a budget of 900 for the cupboards"
    advice = (
        "Measure twice, order hinges early, compare three joiners, leave space beneath windows, paint before fitting"
    )
    assert echoes(f"Noted: {message}.", message)
    assert not echoes(
        f"{message}: {advice}; {advice.upper()} once hung, oil oak worktops, seal edges, hide cables", message
    )
