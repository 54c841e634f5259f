"""Which questions ask for a whole circle, in three languages."""

from __future__ import annotations

import pytest

from internal.people.circle_words import circles_in_question
from internal.people.model import Circle


@pytest.mark.parametrize(
    ("question", "circle"),
    [
        ("Who are my friends?", Circle.FRIENDS),
        ("Who do I work with at Contoso?", Circle.WORK_INNER),
        ("С кем я работаю?", Circle.WORK_INNER),
        ("Хто в моїй родині?", Circle.FAMILY),
        ("Who does Tom Baker work for?", None),
        ("Who do I work for?", None),
        ("На кого работает Том?", None),
        ("Who is in Tom's family?", None),
        ("Хто друзі Марії?", None),
        ("Кто друзья Олега?", None),
    ],
)
def test_a_circle_is_asked_for_by_its_owner_alone(question: str, circle: Circle | None) -> None:
    """Somebody's employer, and the friends of somebody who is named, are none of the owner's circles."""
    assert circles_in_question(question)[:1] == ((circle,) if circle else ())
