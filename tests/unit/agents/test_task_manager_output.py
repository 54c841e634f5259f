"""What the task manager's model may answer."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from internal.agents.known_task import KnownTask
from internal.agents.model import TranscriptLine
from internal.agents.task_manager.output import ProposedTask, SettledTask, parse
from internal.tasks.model import TaskKind, TaskState

AT = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
SAID = [
    TranscriptLine(1, "user", "Alex", AT, "I promised Anna the report by Friday"),
    TranscriptLine(2, "assistant", "Laplaced", AT, "Noted."),
    TranscriptLine(3, "user", "Alex", AT, "And the bike is repaired"),
]
KNOWN = [KnownTask("T1", "01a2-task", "Repair the bike", "open")]


def test_the_short_form_means_the_same() -> None:
    """`text`, `recurrence` and `for_user`, as other programs write them, and `done` by handle or id."""
    told = {"text": "Send the report", "due": "2026-11-27", "recurrence": None, "for_user": "Anna", "evidence": [1]}
    for handle in ("T1", "01a2-task"):
        reply = parse(json.dumps({"tasks": [told], "done": [handle]}), SAID, KNOWN)
        assert reply.refused == ()
        assert reply.tasks == (ProposedTask(TaskKind.TASK, "Send the report", 1, due="2026-11-27", person="Anna"),)
        assert reply.settled == (SettledTask("01a2-task", TaskState.DONE, 3, cited=False),)


def test_what_is_done_is_known_and_done_once() -> None:
    """A task that nobody knows, and one that is settled already, are refused by themselves."""
    settled = [{"task": "T1", "outcome": "cancelled", "evidence": [3]}]
    reply = parse(json.dumps({"tasks": [], "settled": settled, "done": ["T1", "T9"]}), SAID, KNOWN)
    assert [one.outcome for one in reply.settled] == [TaskState.CANCELLED]
    assert [one.reason for one in reply.refused] == ["settled_twice", "unknown_task"]
