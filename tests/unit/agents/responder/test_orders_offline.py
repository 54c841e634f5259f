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


def test_a_question_in_latin_letters_is_answered_in_the_owners_language() -> None:
    """Also without its mark; an English one in English."""
    assert "Твои слова" in answer("ru", "gde ya zhivu", ("я живу в Самаре", EARLIER))
    assert "You wrote" in answer("ru", "where do I live", ("я живу в Самаре", EARLIER))
