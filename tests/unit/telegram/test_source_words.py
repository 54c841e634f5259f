"""Whose words a source is said to be."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from bot.telegram.handlers.facts.fact_text import message_line
from internal.access.model import Role, User, UserState
from internal.dialogue.model import ForwardOrigin, Message

NOON = datetime(2026, 3, 16, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("content", "more", "whose"),
    [
        ("Кафе открыто до семи", {}, "твои слова"),
        ("[voice] Кафе открыто до семи", {}, "твои слова"),
        ("вывеска\n[photo] | Кафе Василёк", {}, "твои слова"),
        ("[photo] | Кафе Василёк", {}, "в том, что прислано тобой"),
        ("[photo] | Кафе Василёк", {"forward": ForwardOrigin("user", "Лена")}, "переслано от Лена"),
        ("Кафе открыто", {"user_metadata": {"speaker": "Тарас Бульба"}}, "Тарас Бульба"),
    ],
)
def test_a_source_names_whose_words_it_is(content: str, more: dict[str, Any], whose: str) -> None:
    """A picture without words is what was sent, a member's message is the member's."""
    user = User(7, Role.MEMBER, UserState.ACTIVE, "Игорь", None, "ru", "UTC", tz_asked=True, created_at=NOON)
    said = Message(7, 1, "m", "user", content, NOON, **more)
    assert message_line(user, said).partition(" — ")[2].startswith(whose)
