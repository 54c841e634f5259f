"""A group's members speak for themselves, each known by his Telegram id, also without a model."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from internal.agents.archivist.offline.agent import propose
from internal.agents.model import ArchivistRequest, DialogueLine, OwnerProfile, ResponderRequest, TranscriptLine
from internal.agents.prompts import owner_block
from internal.agents.responder.offline.agent import compose
from internal.people.model import Circle, Person

AT = datetime(2026, 2, 7, 14, 30, tzinfo=UTC)
GROUP = OwnerProfile(-1001, "Dacha", None, "en", "UTC")
SAID = (
    ("Kate", "I live in Odesa and I love kayaking"),
    ("Вера", "я живу в Киеве"),
    ("Олесь", "я працюю вчителем у Львові"),
    ("Вера", "клёв лучше всего в шесть утра"),
)


def answer(asker: str, question: str) -> str:
    talk = [DialogueLine("user", text, {"speaker": name}, AT) for name, text in SAID]
    noted = DialogueLine("assistant", "Noted.", None, AT)
    asked = DialogueLine("user", question, {"speaker": asker}, AT)
    return compose(ResponderRequest(GROUP, "Laplaced", "warm", [], [], [*talk, noted, asked], AT))


@pytest.mark.parametrize(
    ("asker", "question", "answered"),
    [
        ("Вера", "где живёт Kate?", "Odesa"),
        ("Kate", "where do I live?", "Odesa"),
        ("Вера", "где я живу?", "Киеве"),
        ("Олесь", "где живёт Вера?", "Киеве"),
        ("Вера", "де працює Олесь?", "Львові"),
    ],
)
def test_a_question_finds_the_line_of_the_member_it_means(asker: str, question: str, answered: str) -> None:
    """ "I" is who speaks, and a name means the lines of whoever bears it."""
    said = answer(asker, question)
    assert answered in said
    assert "шесть утра" not in said


def test_facts_of_a_member_are_about_that_member() -> None:
    """A first name is enough: the message has the id. Nothing is about the group's `user`."""
    kate = Person(7, -1001, "e", "Kate", Circle.OTHER, "", AT, AT, telegram_id=500)
    line = TranscriptLine(1, "user", "Kate", AT, "I live in Odesa.", telegram_ids=(500,), own=False)
    stranger = TranscriptLine(2, "user", "Max", AT, "I live in Lviv.", own=False)
    reply = json.loads(propose(ArchivistRequest(GROUP, [kate], [], [], [line, stranger])))
    assert [(fact["source"], fact["target"]) for fact in reply["facts"]] == [("Person:7", "Odesa")]


def test_a_prompt_says_that_the_owner_is_a_group() -> None:
    """Of a private owner it says nothing of the kind."""
    assert "group chat" in owner_block(GROUP)
    assert "group chat" not in owner_block(OwnerProfile(1, "Olena", None, "en", "UTC"))
