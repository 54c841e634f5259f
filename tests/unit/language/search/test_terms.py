"""What a text is found by, in three languages."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from internal.language.search.terms import (
    Word,
    document_terms,
    names_oneself,
    plain_query_terms,
    query_terms,
    topic_terms,
    words_of,
)

_TEXTS = st.text(
    alphabet=st.sampled_from("абвгґеєжиіїйклмнопрстуфхцчшщьюяёАПСШabcdeghiklnoprstuyABP0123456789 .,'’@|~^-\n☂\u0301"),
    max_size=80,
)


def finds(question: str, text: str) -> list[bool]:
    """For each word of a question, whether the text has it."""
    told = {term for word in words_of(document_terms([text])[0]) for term in word}
    return [any(term in told for term, _ in word) for word in query_terms(question)]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("работал в больницах", "Она работает в больнице"),
        ("книги друзей", "Друг дал книгу"),
        ("працювала лікаркою", "Вона працює лікарка"),
        ("людина в дорозі", "Людей на дорогах"),
        ("working companies", "She worked for a company"),
        ("buying teeth", "She bought a tooth"),
        ("went", "Where people go"),
        ("где Петров", "Встретил Петровым и Петровой"),
        ("Коваленку", "Коваленко приїхав"),
        ("what about Petrov", "Петров работает"),
        ("Петров", "Petrov works"),
        ("petrov", "у Петрова кот"),
        ("Shevchenko", "зустрів Шевченка"),
        ("Саша", "Александр приехал"),
        ("саша", "Олександр приїхав"),
        ("Bob", "Robert came"),
        ("Київ", "Она живёт в Киеве"),
        ("Kyiv", "Він живе у Києві"),
        ("Lviv", "Он жил во Львове"),
        ("12", "дом 12"),
        ("3.5", "весит 3.5 кг"),
        ("@petrov_a", "пишет как @petrov_a"),
        ("covid19", "переболел COVID19"),
        ("ёлка", "купил елку"),
        ("O'Neil", "O’Neil called"),
        ("п'ять", "п’ять яблук"),
    ],
)
def test_a_word_is_found_in_every_form(question: str, text: str) -> None:
    """Case, declension, conjugation, the other alphabet, short names and marks do not hide a word."""
    assert finds(question, text)
    assert all(finds(question, text))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Петров", "Иванов работает"),
        ("кот", "собака"),
        ("Вера", "верил"),
        ("Tom", "потому что так"),
        ("работа", "робота"),
        ("and Rose", "prices rise"),
        ("13", "дом 12"),
    ],
)
def test_other_words_are_not_found(question: str, text: str) -> None:
    """What only looks alike is another word."""
    assert not any(finds(question, text))


def test_names_are_never_stemmed_away() -> None:
    """The form that was written stays beside the nominative, in both alphabets."""
    stored = document_terms(["Говорил с Петровым и Gates о Jones"])[0]
    found = [set(word) for word in words_of(stored)]
    assert [{"петровым", "петров"} <= word for word in found].count(True) == 1
    assert any("gates" in word for word in found)
    assert any("jones" in word for word in found)


@pytest.mark.parametrize("text", ["и в на о том что я мне", "та й у на про це", "the of and is to me", "?!…", ""])
def test_words_without_meaning_are_left_out(text: str) -> None:
    """Function words of the three languages give no terms."""
    assert document_terms([text]) == [""]
    assert query_terms(text) == []


@pytest.mark.parametrize("text", ["Why did I?", "when I was there", "I've been, and so have I"])
def test_the_capital_of_i_makes_it_no_name(text: str) -> None:
    """It would be shared by a question about oneself and everything the owner ever said in English."""
    assert topic_terms(text) == []


@given(_TEXTS)
def test_a_text_is_found_by_its_own_words(text: str) -> None:
    """Every word that a question looks for stands in the terms of the same text, whatever its letters."""
    told = [set(word) for word in words_of(document_terms([text])[0])]
    asked = query_terms(text)
    assert all(any({term for term, _ in word} & found for found in told) for word in asked)


@given(_TEXTS)
def test_terms_can_be_stored(text: str) -> None:
    """No term is empty or holds the marks that separate words and alternatives."""
    for word in words_of(document_terms([text])[0]):
        assert all(term and "|" not in term and not term.isspace() for term in word)
    for asked in (query_terms(text), plain_query_terms(text)):
        assert all(0 < weight <= 1 and term for word in asked for term, weight in word)


def test_without_dictionaries_names_are_found_by_sound() -> None:
    """A process that has no dictionaries still looks for the words as they were written, and as they sound."""
    plain: list[Word] = plain_query_terms("where does Petrov work")
    assert [dict(word).get("petrov") for word in plain] == [1.0, None]
    assert "~petrov" in dict(plain[0])


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("где я живу?", True),
        ("как зовут мою сестру", True),
        ("де я живу", True),
        ("моє авто", True),
        ("where do I live?", True),
        ("my dentist", True),
        ("где живёт Яна?", False),
        ("Ім'я собаки", False),
        ("Iowa in May", False),
    ],
)
def test_who_speaks_of_himself(text: str, own: bool) -> None:
    """Pronouns of the first person name the owner."""
    assert names_oneself(text) is own
