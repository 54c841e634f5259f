"""The task manager without a model: finds plain requests, needs, promises, appointments, and statements of their end.

It misses tasks in words that its rules do not know.
"""

import json
from datetime import datetime
from typing import Any, Final

from internal.agents.model import AgentReply, TaskManagerRequest, TranscriptLine
from internal.language.commands.recognise import find_commands
from internal.language.facts.occasions import is_occasion
from internal.language.facts.statements import Judge
from internal.language.tasks.completion import find_completions
from internal.language.tasks.promises import Promised, find_promised
from internal.language.tasks.requests import TaskFound, find_tasks
from internal.language.tasks.times import TimeFound
from internal.language.tasks.titles import shortened, title_of
from internal.language.text.spelling import Language, text_language
from internal.language.worker.embedding import judge_statement
from internal.language.worker.process_pool import LanguageWorker
from internal.tasks.model import TaskKind

MODEL = "offline-rules"

_NOBODY_KNOWS_OF_WHAT = {"ru": "Напоминание", "uk": "Нагадування", "en": "Reminder"}


class OfflineTaskManager:
    """The TaskManager by rules, run in the language process."""

    def __init__(self, worker: LanguageWorker) -> None:
        self._worker = worker

    async def ask(self, request: TaskManagerRequest) -> AgentReply:
        """Proposes tasks at no cost. Raises ModelUnavailable if the language process cannot answer."""
        return AgentReply(await self._worker.run_bulk(propose, request), MODEL)


def propose(request: TaskManagerRequest) -> str:
    """The reply in the format of the contract; pure. Takes some 2 ms for a line."""
    tasks: list[dict[str, Any]] = []
    ends: list[dict[str, Any]] = []
    known = list(request.tasks)
    before: TranscriptLine | None = None
    for line in (one.unquoted() for one in request.transcript if one.owners_word):
        language = text_language(line.text, request.owner.language)
        promised = find_promised(line.text, line.at, language, judge_statement)
        found = [one for one in own_tasks(line.text, line.at, language, judge_statement) if one.asked or not promised]
        tasks += [_item(one, line, before) for one in found]
        tasks += [_waiting_task(one, line) for one in promised]
        for one in find_completions(line.text, [task.title for task in known], judge_statement) if not found else ():
            task = known.pop(one.index)
            ends.append({"task": task.handle, "outcome": one.outcome, "evidence": [line.number]})
        before = line
    return json.dumps({"tasks": tasks, "done": ends}, ensure_ascii=False)


def own_tasks(text: str, at: datetime, language: Language, judge: Judge | None = None) -> list[TaskFound]:
    """The reminders and tasks of a line's author, without birthdays and orders to the bot."""
    found = [one for one in find_tasks(text, at, language, judge) if one.asked or not is_occasion(one.title)]
    if all(one.asked for one in found):
        return found
    orders = [
        one.span
        for one in find_commands(text, at, language)
        if one.kind == "move" or (one.sure and one.kind in _ORDERS)
    ]
    return [one for one in found if one.asked or not any(start <= one.span[0] < end for start, end in orders)]


_ORDERS: Final = ("cancel", "move", "forget", "forget_all", "name")


def titled(found: TaskFound, text: str, before: str | None) -> str:
    """The title of a task; one that only has a time is about the line before it."""
    if found.title:
        return found.title
    said = shortened(title_of(before or "", ()))
    return said or _NOBODY_KNOWS_OF_WHAT[text_language(text)]


def due_of(time: TimeFound | None) -> str | None:
    """A time in the contract's format."""
    if time is None:
        return None
    return f"{time.moment:%Y-%m-%d}" if time.whole_day else f"{time.moment:%Y-%m-%dT%H:%M}"


def _waiting_task(found: Promised, line: TranscriptLine) -> dict[str, Any]:
    return {
        "kind": TaskKind.WAITING.value,
        "title": shortened(found.title),
        "due": due_of(found.time),
        "repeat": None,
        "person": found.who or None,
        "asked": False,
        "evidence": [line.number],
    }


def _item(found: TaskFound, line: TranscriptLine, before: TranscriptLine | None) -> dict[str, Any]:
    return {
        "kind": found.kind,
        "title": titled(found, line.text, before.text if before else None),
        "due": due_of(found.time),
        "repeat": found.time.recurrence if found.time else None,
        "person": found.whom or None,
        "asked": found.asked,
        "evidence": [line.number],
    }
