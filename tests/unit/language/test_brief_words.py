"""Words that ask what to know before meeting somebody, in three languages; and those that only resemble them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from internal.flows.turn.commands.recognise import recognise
from internal.language.text.spelling import text_language
from internal.people.model import Circle, Person

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
ANNA = Person(5, 1, "a", "Аня Белова", Circle.FRIENDS, "", NOW, NOW, aliases=("Anna",))
TOM = Person(6, 1, "t", "Tom", Circle.FRIENDS, "", NOW, NOW)


def meant(text: str) -> tuple[int, ...]:
    found = recognise([("m", text, NOW)], {}, [ANNA, TOM], "", text_language(text))
    assert found is not None
    return next((one.people for one in found[0] if one.kind == "brief"), ())


@pytest.mark.parametrize(
    "text",
    [
        "brief me on Anna",
        "what should I know about Anna before our meeting?",
        "tell me about Anna before I see her",
        "before I meet Anna",
        "Before my call with Anna tomorrow",
        "расскажи про Аню перед встречей",
        "Напомни, что важно знать об Ане перед встречей",
        "что я знаю про Аню перед звонком?",
        "розкажи про Аню перед зустріччю",
        "що я знаю про Аню перед зустріччю?",
    ],
)
def test_a_brief_is_asked_for_in_words(text: str) -> None:
    """Of the one who is named, in any form."""
    assert meant(text) == (ANNA.id,)


@pytest.mark.parametrize(
    "text",
    [
        "I was nervous before my meeting with Anna",
        "Перед встречей с Аней зашёл за цветами",
        "Tell me a joke before we meet",
        "remind me to call Tom tomorrow",
    ],
)
def test_what_only_tells_of_a_meeting_asks_for_none(text: str) -> None:
    """Neither does a question that names nobody."""
    assert meant(text) == ()
