"""What a message asks for besides memories is answered honestly, in the language that the owner writes."""

from __future__ import annotations

import pytest
from support.agents.offline_answers import EARLIER, answer


@pytest.mark.parametrize(
    ("language", "order", "says"),
    [
        ("ru", "напиши лёне поздравление", "не напишу"),
        ("uk", "склади вірш про осінь", "не напишу"),
        ("en", "please draft a toast", "can't write"),
    ],
)
def test_an_order_to_write_is_refused_in_words(language: str, order: str, says: str) -> None:
    """It is no question that memory has nothing on."""
    assert says in answer(language, order)


@pytest.mark.parametrize(
    ("language", "order", "question"),
    [
        ("en", "Draft a text to Caleb about what's new with me", "when did I last see Caleb?"),
        ("ru", "набросай Лёше сообщение про новый номер", "какой номер у Лёши?"),
        ("uk", "Скасуй концерт Юрчика", "що нового в Юрчика?"),
    ],
)
def test_an_order_is_no_statement_to_quote(language: str, order: str, question: str) -> None:
    """Neither for words nor about a task."""
    assert order not in answer(language, question, (order, EARLIER))


def test_health_is_found_by_what_touches_it() -> None:
    """The line itself has no word of the question."""
    said = "У меня нашли грыжу, операция 15 декабря"
    assert said in answer("ru", "что у меня со здоровьем?", ("Купил новый велосипед", EARLIER), (said, EARLIER))


def test_a_question_in_latin_letters_is_answered_in_the_owners_language() -> None:
    """Also without its mark; an English one in English."""
    assert "Твои слова" in answer("ru", "gde ya zhivu", ("я живу в Самаре", EARLIER))
    assert "You wrote" in answer("ru", "where do I live", ("я живу в Самаре", EARLIER))
