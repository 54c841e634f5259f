"""Keeps out what a model made up: tasks that nobody asked for, and ends of tasks of which nobody spoke."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from internal.agents.model import TaskManagerRequest
from internal.agents.task_manager.output import ProposedTask, SettledTask, TaskReply
from internal.flows.runs.slices import evidence_texts
from internal.language.search.grounding import Proposed, ungrounded
from internal.language.tasks.intentions import without_request
from internal.people.operations import RefusedOperation
from internal.tasks.model import TaskKind


def grounded(reply: TaskReply, request: TaskManagerRequest, titles: Mapping[str, str]) -> TaskReply:
    """The reply without what is refused as no_request_in_evidence or not_in_evidence.

    `titles` are those of the known tasks, by id. For the language process.
    """
    judge = _Judge(request, titles)
    unasked = without_request([judge.line(task) for task in reply.tasks], request.owner.language)
    unasked = [place for place in unasked if reply.tasks[place].kind is not TaskKind.WAITING]
    asked = [task for place, task in enumerate(reply.tasks) if place not in unasked]
    tasks = [task for task in asked if judge.stated(task.title, task.line)]
    settled = [end for one in reply.settled if (end := judge.settled(one)) is not None]
    lost = len(asked) + len(reply.settled) - len(tasks) - len(settled)
    refused = [RefusedOperation("no_request_in_evidence", "nobody asks for it or promises it")] * len(unasked)
    refused += [RefusedOperation("not_in_evidence", "nothing of it stands in the line it cites")] * lost
    return TaskReply(tuple(tasks), tuple(settled), (*reply.refused, *refused))


class _Judge:
    def __init__(self, request: TaskManagerRequest, titles: Mapping[str, str]) -> None:
        self._request, self._titles = request, titles
        self._lines = {line.number: line for line in request.transcript}

    def line(self, task: ProposedTask) -> tuple[str, datetime]:
        line = self._lines[task.line]
        return line.text, line.at

    def stated(self, title: str, number: int) -> bool:
        proposed = Proposed((), title, evidence_texts(self._request.transcript, (number,)))
        return not ungrounded([proposed], self._request.owner.language)

    def settled(self, one: SettledTask) -> SettledTask | None:
        """The end of a task with the line that tells of it; where none is cited, the last of the owner's that does."""
        title = self._titles.get(one.task_id, "")
        own = [line.number for line in reversed(self._request.transcript) if line.owners_word]
        found = next((number for number in ([one.line] if one.cited else own) if self.stated(title, number)), None)
        return None if found is None else replace(one, line=found, cited=True)
