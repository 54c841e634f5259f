"""A question without its mark that begins with whom it asks about is told from a statement with the same words."""

from __future__ import annotations

import pytest

from internal.language.text.unmarked_questions import asks_unmarked


@pytest.mark.parametrize(
    "text",
    [
        "гриша с кем щас гуляет",
        "а твоя кума откуда родом",
        "тетя зина теперь на какой улице",
        "оксана до якого лікаря ходить",
        "наш дід коли народився",
        "мишко шо робить",
        "у лизы кто сейчас",
        "на даче кто живёт",
        "rita is married to who again",
        "my landlord when does he come",
    ],
)
def test_a_question_may_begin_with_whom_it_asks_about(text: str) -> None:
    """In three languages, in small letters."""
    assert asks_unmarked(text)


@pytest.mark.parametrize(
    "text",
    [
        "гриша забыл где припарковался",
        "школа где мы учились закрылась",
        "вот кто мне нужен",
        "зина как обычно всё проспала",
        "оксана когда злится, молчит",
        "кіт який жив у нас помер",
        "дід кудись подівся",
        "rita knows who did it",
        "my landlord asked where the keys are",
    ],
)
def test_a_statement_with_such_a_word_is_none(text: str) -> None:
    """What somebody knows or asked, and relative clauses."""
    assert not asks_unmarked(text)
