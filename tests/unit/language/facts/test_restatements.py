"""A sentence put right tells what took the place of what it named."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from internal.language.facts.restatements import renamed
from internal.language.text.spelling import Language

PUT_RIGHT: tuple[tuple[Language, str, str, str, str | None], ...] = (
    ("ru", "Петров работает в ACME.", "Петров работает в Beta", "ACME", "Beta"),
    ("ru", "Петров живёт в Львове", "Петров живёт в Одессе.", "Львов", "Одесса"),
    ("ru", "Петров живёт в Туле", "Петров живёт на Кипре уже год", "Тула", "Кипр"),
    ("ru", "Я люблю крепкий кофе", "Я люблю зелёный чай", "крепкий кофе", "зелёный чай"),
    ("uk", "Олег живе у Львові", "Олег живе в Одесі", "Львів", "Одеса"),
    ("ru", "Оля работает в «Эпицентре»", "Оля работает в Новой почте", "Эпицентр", "Новая почта"),
    ("uk", "Оля працює в «Епіцентрі»", "Оля працює у «Сільпо»", "Епіцентр", "Сільпо"),
    ("en", "Tom works for ACME", "Tom works for Initech Labs now", "ACME", "Initech Labs"),
    ("en", "I like strong coffee", "I like green tea", "strong coffee", "green tea"),
    ("ru", "Петров работает в ACME", "Петров давно работает в ACME", "ACME", None),
    ("ru", "Петров живёт в Туле", "Петров живёт под Тулой", "Тула", None),
    ("ru", "Петров живёт в Туле", "Петров никуда не переезжал", "Тула", None),
    ("en", "Tom works there", "Tom works for Beta", "ACME", None),
)


@pytest.mark.parametrize(("language", "old", "new", "name", "wanted"), PUT_RIGHT)
def test_what_took_the_place_of_a_name(language: Language, old: str, new: str, name: str, wanted: str | None) -> None:
    """In its basic form; nothing where the old name still stands, never stood, or nothing took its place."""
    assert renamed(old, new, [name], language) == wanted


@given(st.text(max_size=40), st.text(max_size=40), st.text(min_size=1, max_size=12))
def test_any_words_are_read_without_a_fault(old: str, new: str, name: str) -> None:
    """What is found stands in the new words, but for its ending."""
    found = renamed(old, new, [name], "ru")
    assert found is None or found[:1].casefold() in new.casefold()
