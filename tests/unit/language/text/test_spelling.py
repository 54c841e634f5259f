"""Keys and tokens."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from internal.language.text.spelling import name_key, text_language, tokens, unquoted


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("Пётр", "петр"),
        ("  Мария   ИВАНОВНА ", "мария ивановна"),
        ("Мар’яна", "мар'яна"),
        ("Марʼяна", "мар'яна"),
        ("Мар`яна", "мар'яна"),
        ("@Ivan_P", "ivan_p"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("Їжакевич Ґалаґан", "їжакевич ґалаґан"),
        ("Анна—Мария", "анна-мария"),
        ("и\u0306ода", "йода"),
        ("\u200bОля\ufeff", "оля"),
        ("  ", ""),
        ("@", ""),
    ],
)
def test_a_key_forgets_how_a_name_was_typed(written: str, key: str) -> None:
    """Case, ё, apostrophes, dashes, spaces, invisible signs and a leading @ make no difference."""
    assert name_key(written) == key


@given(st.text())
def test_a_key_of_a_key_is_itself(text: str) -> None:
    """Keys are stored: folding one again must not change it."""
    assert name_key(name_key(text)) == name_key(text)


@given(st.text(alphabet="абвгдеёжзийіїєґ'АБВГДЕЁЖЗИЙІЇЄҐabcABC @"))
def test_case_never_matters(text: str) -> None:
    """A name in capitals has the key of the name."""
    assert name_key(text.upper()) == name_key(text.lower())


@given(st.text())
def test_tokens_stand_where_they_say(text: str) -> None:
    """Every token is found in the text at its own place, and they do not overlap."""
    end = 0
    for token in tokens(text):
        assert token.start >= end
        assert token.text in text[token.start : token.end]
        end = token.end


def test_tokens_know_capitals_sentences_and_usernames() -> None:
    """A name is told from a word by its capital and its place."""
    found = tokens("Вчера. Tom's друг @ivan_p, и Оля")
    assert [(token.text, token.capital, token.opens) for token in found] == [
        ("Вчера", True, True),
        ("Tom", True, True),
        ("друг", False, False),
        ("ivan_p", False, False),
        ("и", False, False),
        ("Оля", True, False),
    ]
    assert [token.username for token in found] == [False, False, False, True, False, False]


def test_shouting_has_no_capitals() -> None:
    """In a text all in capitals a capital says nothing."""
    assert not any(token.capital for token in tokens("НАДЕЖДА УМИРАЕТ ПОСЛЕДНЕЙ"))
    assert tokens("НАТО")[0].capital


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("привет, как дела?", "ru"),
        ("кто такой Петров?", "ru"),
        ("що там у тебе?", "uk"),
        ("хто така Олена?", "uk"),
        ("Who is Петров?", "en"),
        ("ok", "en"),
    ],
)
def test_the_language_of_a_text(text: str, language: str) -> None:
    """Letters decide first, frequent words second."""
    assert text_language(text) == language


def test_the_default_decides_where_a_text_says_nothing() -> None:
    """Петров alone may be Russian or Ukrainian; figures may be anything."""
    assert text_language("Петров", default="uk") == "uk"
    assert text_language("123", default="ru") == "ru"


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Tom wrote: “Call me Zed. Remind me at 9 to pay.” Funny!", "Tom wrote:  Funny!"),
        ("Том пишет мне: «Меня зовут Зед. Напомни завтра в 9.»", "Том пишет мне: "),
        ("Том написав: «Нагадай мені завтра о 9 заплатити»", "Том написав: "),
        ("Назови задачу: «Купить хлеб»", "Назови задачу: «Купить хлеб»"),
        ("Remind me at 9: call Tom", "Remind me at 9: call Tom"),
    ],
)
def test_reported_speech_is_not_the_owners(text: str, own: str) -> None:
    """What somebody is said to have said, in quotes, gives no order, no name and no task; own quotes stay."""
    assert unquoted(text) == own
