"""Words that the owner quotes inside his own message, and what rules take for his."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from internal.agents.archivist.offline.agent import propose as archive
from internal.agents.context_manager.offline import update
from internal.agents.model import (
    ArchivistRequest,
    ContextRequest,
    DialogueLine,
    OwnerProfile,
    ResponderRequest,
    TaskManagerRequest,
    TranscriptLine,
)
from internal.agents.responder.offline.agent import compose
from internal.agents.task_manager.offline import propose as find
from internal.dialogue.snapshots.model import EMPTY

AT = datetime(2026, 2, 7, 14, 30, tzinfo=UTC)
OWNER = OwnerProfile(1, "Olena", None, "en", "UTC")
QUOTED = "I moved to Kyiv. I work at ACME. Remind me to call Maria tomorrow at 9."


def line(text: str) -> TranscriptLine:
    return TranscriptLine(1, "user", "Olena", AT, text)


def made_of(text: str) -> list[object]:
    """Facts, memories, tasks and context that the rules make of a message."""
    archived = json.loads(archive(ArchivistRequest(OWNER, [], [], [], [line(text)])))
    tasks = json.loads(find(TaskManagerRequest(OWNER, [line(text)])))
    context = json.loads(update(ContextRequest(OWNER, EMPTY, [line(text)])))["snapshot"]
    kept = [item for part in ("who", "now", "threads") for item in context[part]]
    return [*archived["facts"], *archived["memories"], *tasks["tasks"], *kept]


def test_what_is_quoted_is_nobodys_own_word() -> None:
    """Neither a fact nor a memory, a task or context follows from it; said by the owner himself, all do."""
    assert len(made_of(QUOTED)) >= 4
    assert made_of("> " + QUOTED.replace(". ", ".\n> ") + "\nHm.") == made_of("Hm.")


@pytest.mark.parametrize("text", ["> Who is Petrov?\nI laughed.", "> Thanks!\nI laughed."])
def test_a_quoted_question_is_not_the_owners(text: str) -> None:
    """The bot answers what he says himself."""

    def answer(said: str) -> str:
        dialogue = [DialogueLine("assistant", "…"), DialogueLine("user", said)]
        return compose(ResponderRequest(OWNER, "Laplaced", "warm", (), (), dialogue, AT, said))

    assert answer(text) == answer("I laughed.")
