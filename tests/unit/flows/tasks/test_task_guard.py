"""What a model makes up about tasks."""

from datetime import UTC, datetime

from internal.agents.model import OwnerProfile, TaskManagerRequest, TranscriptLine
from internal.agents.task_manager.output import ProposedTask, SettledTask, TaskReply
from internal.flows.tasks.handler import grounded
from internal.tasks.model import TaskKind, TaskState

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
SAID = (
    "Mum's birthday is on Friday, remind me to call her", "Petrov works at ACME", "The bike is repaired at last",
    "Remind me about that tomorrow",
)  # fmt: skip
REQUEST = TaskManagerRequest(
    OwnerProfile(7, "Alex", None, "en", "UTC"),
    [TranscriptLine(number, "user", "Alex", NOON, text) for number, text in enumerate(SAID, start=1)],
)
TITLES = {"bike": "Repair the bike", "tax": "File the tax return"}


def reasons(reply: TaskReply) -> list[str]:
    return [refusal.reason for refusal in reply.refused]


def test_a_task_needs_a_request_and_its_words_in_the_line_or_the_one_before() -> None:
    """Small models make tasks of whatever is told, and of the examples of their prompt."""
    real = ProposedTask(TaskKind.REMINDER, "Call mum", 1)
    before = ProposedTask(TaskKind.REMINDER, "Pick up the bike", 4)
    told, foreign = ProposedTask(TaskKind.TASK, "Work at ACME", 2), ProposedTask(TaskKind.TASK, "Feed the parrot", 1)
    reply = grounded(TaskReply((real, told, foreign, before)), REQUEST, TITLES)
    assert reply.tasks == (real, before)
    assert reasons(reply) == ["no_request_in_evidence", "not_in_evidence"]


def test_the_end_of_a_task_is_found_in_the_line_that_tells_of_it() -> None:
    """A bare id is proved by the owner's line with words of the task; without one the task stays open."""
    bare = [SettledTask(one, TaskState.DONE, 4, cited=False) for one in TITLES]
    cited = SettledTask("tax", TaskState.CANCELLED, 2)
    reply = grounded(TaskReply((), (*bare, cited)), REQUEST, TITLES)
    assert reply.settled == (SettledTask("bike", TaskState.DONE, 4),)
    assert reasons(reply) == ["not_in_evidence", "not_in_evidence"]
