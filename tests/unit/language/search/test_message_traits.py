"""What a message shows at a glance."""

from __future__ import annotations

import pytest

from internal.language.search.message_traits import (
    ASKS,
    ENDS_AS_QUESTION,
    MOST_NAMES,
    NAMES_SHIFT,
    NUMBER,
    TIME,
    WISH,
    names_in,
    traits_of,
)

_BITS = (1 << NAMES_SHIFT) - 1


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("Где ты был?", ENDS_AS_QUESTION | ASKS),
        ("Really? I never knew.", ASKS),
        ("And you? 😀", ENDS_AS_QUESTION | ASKS),
        ("Вчора бачила її", TIME),
        ("Позавчера звонил брат", TIME),
        ("We moved in May", TIME),
        ("I may come", 0),
        ("П'ять днів тому", TIME | NUMBER),
        ("in 2019", TIME | NUMBER),
        ("три кошки", NUMBER),
        ("She has 12 hens", NUMBER),
        ("", 0),
        ("Просто привет", 0),
    ],
)
def test_questions_times_and_numbers_are_seen(text: str, bits: int) -> None:
    """In Russian, Ukrainian and English; a verb that looks like a month is none."""
    assert traits_of(text) & _BITS == bits


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("Always name the source when I ask about history.", True),
        ("Thanks! From now on, call me Max.", True),
        ("Впредь отвечай коротко", True),
        ("Если я спрошу о деньгах, напоминай о долге", True),
        ("Завжди пиши українською, коли я питаю про роботу", True),
        ("I always ask when I want to know", False),
        ("When I was young I asked a lot", False),
        ("Если я приду поздно, не жди", False),
        ("Always answer in verse when I ask. " + "It is nice. " * 40, False),
    ],
)
def test_a_standing_wish_is_seen_by_its_beginning(text: str, wish: bool) -> None:
    """In three languages; what only tells of habits is none, nor is a long text."""
    assert bool(traits_of(text) & WISH) is wish


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Anna and Bob went to Paris", 2),
        ("Вчора ми з Марією були у Львові", 2),
        ("Hi! It was great. Then home\nAgain", 0),
        ("Yes, I'm here and I go", 0),
        ("a " + "Bob " * 40, MOST_NAMES),
    ],
)
def test_names_stand_inside_sentences(text: str, names: int) -> None:
    """The first word of a sentence or line has its capital anyway, and so has the English "I"."""
    assert names_in(text) == names
    assert traits_of(text) >> NAMES_SHIFT == names
