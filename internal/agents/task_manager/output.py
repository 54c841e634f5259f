"""The task manager's reply format, and its parsing into proposals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from internal.agents.archivist.reply.fields import cited_lines, prose
from internal.agents.json_reply import read_object
from internal.agents.known_task import KnownTask
from internal.agents.model import TranscriptLine
from internal.agents.reply_items import ItemReader, array
from internal.agents.reply_schema import NUMBER, TEXT, TEXT_OR_NULL, array_of, object_of, one_of
from internal.errors import Refusal, Refused
from internal.llm.model import ReplySchema
from internal.tasks.model import MAX_TITLE, TaskKind, TaskState

KEYS: Final = ("tasks", "done", "settled")
NOTHING: Final = '{"tasks": [], "done": []}'
"""The reply to a slice without tasks."""

MAX_ITEMS: Final = 40
"""Most items of a kind in one reply: a slice has at most 60 lines."""

MAX_DUE: Final = 100
"""Most characters of a date."""

_SETTLED: Final = (TaskState.DONE, TaskState.CANCELLED)
REPLY_SCHEMA = ReplySchema(
    "task_manager_reply",
    object_of(
        {
            "tasks": array_of(
                object_of(
                    {
                        "kind": one_of(kind.value for kind in TaskKind),
                        "title": TEXT,
                        "due": TEXT_OR_NULL,
                        "repeat": TEXT_OR_NULL,
                        "person": TEXT_OR_NULL,
                        "asked": {"type": "boolean"},
                        "evidence": array_of(NUMBER),
                    }
                )
            ),
            "done": array_of(
                object_of(
                    {"task": TEXT, "outcome": one_of(state.value for state in _SETTLED), "evidence": array_of(NUMBER)}
                )
            ),
        }
    ),
)


@dataclass(frozen=True, slots=True)
class ProposedTask:
    """A proposed task. `due` and `repeat` are as written, empty if absent; `line` is its evidence.

    `person` is a name as written; `asked`: the owner says that a reminder is wanted.
    """

    kind: TaskKind
    title: str
    line: int
    due: str = ""
    repeat: str = ""
    person: str = ""
    asked: bool = False


@dataclass(frozen=True, slots=True)
class SettledTask:
    """An open task that is done or cancelled by the owner's statement in line `line`.

    Without `cited`, the line is his last one, and the line with the statement is still to be found.
    """

    task_id: str
    outcome: TaskState
    line: int
    cited: bool = True


@dataclass(frozen=True, slots=True)
class TaskReply:
    tasks: tuple[ProposedTask, ...] = ()
    settled: tuple[SettledTask, ...] = ()
    refused: tuple[Refusal, ...] = ()


def read_reply(text: str) -> dict[str, list[Any]]:
    """The lists of the reply. Raises ModelReplyInvalid when the reply as a whole cannot be read."""
    reply = read_object(text, KEYS, bare="tasks")
    return {key: array(reply, key) for key in KEYS}


def parse(text: str, transcript: Sequence[TranscriptLine], known: Sequence[KnownTask] = ()) -> TaskReply:
    """The reply as proposals; each that breaks a rule is refused with a reason.

    `text`, `recurrence` and `for_user` are read as `title`, `repeat` and `person`, and an id alone in `done` as
    a task that is done: a shorter form that is easier for small models. `settled` is read as `done`.

    Reasons: bad_shape, unknown_kind, no_title, bad_evidence, evidence_out_of_range, assistant_only, not_the_owner,
    no_evidence, unknown_task, unknown_outcome, settled_twice, too_many. Raises ModelReplyInvalid when the reply as a
    whole cannot be read.
    """
    reply = read_reply(text)
    reader = _Reader(transcript, known)
    tasks = reader.keep(reply["tasks"], reader.task, MAX_ITEMS)
    ended = [one if isinstance(one, dict) else {"task": one} for one in (*reply["settled"], *reply["done"])]
    return TaskReply(tuple(tasks), tuple(reader.keep(ended, reader.ended, MAX_ITEMS)), tuple(reader.refused))


class _Reader(ItemReader):
    def __init__(self, transcript: Sequence[TranscriptLine], known: Sequence[KnownTask]) -> None:
        super().__init__("task")
        self._lines = {line.number: line for line in transcript}
        self._known = {name.casefold(): task.task_id for task in known for name in (task.handle, task.task_id)}
        self._settled_ids: set[str] = set()

    def task(self, raw: Mapping[str, Any]) -> ProposedTask:
        kind = str(raw.get("kind") or TaskKind.TASK.value).strip().casefold()
        if kind not in set(TaskKind):
            raise Refused("unknown_kind", f"there is no kind {kind[:40]!r}")
        title = prose(raw.get("title") or raw.get("text"), MAX_TITLE).strip(" .")
        if not any(map(str.isalnum, title)):
            raise Refused("no_title", "a task needs a title")
        return ProposedTask(
            kind=TaskKind(kind),
            title=title,
            line=self._line(raw),
            due=prose(raw.get("due"), MAX_DUE),
            repeat=prose(raw.get("repeat") or raw.get("recurrence"), MAX_DUE),
            person=prose(raw.get("person") or raw.get("for_user"), MAX_DUE),
            asked=raw.get("asked") is True,
        )

    def ended(self, raw: Mapping[str, Any]) -> SettledTask:
        """A task that is done or has another outcome; without evidence the owner's last line counts."""
        task_id = self._open_task(raw)
        outcome = str(raw.get("outcome") or TaskState.DONE.value).strip().casefold()
        if outcome not in {state.value for state in _SETTLED}:
            raise Refused("unknown_outcome", f"{outcome[:40]!r} is no end of a task")
        cited = bool(raw.get("evidence"))
        own = [self._line(raw)] if cited else [number for number, line in self._lines.items() if line.owners_word]
        if not own:
            raise Refused("not_the_owner", "the owner said nothing here")
        self._settled_ids.add(task_id)
        return SettledTask(task_id, TaskState(outcome), own[-1], cited=cited)

    def _open_task(self, raw: Mapping[str, Any]) -> str:
        handle = str(raw.get("task") or raw.get("id") or "").strip(" []").casefold()
        task_id = self._known.get(handle)
        if task_id is None:
            raise Refused("unknown_task", f"there is no open task {handle[:40]!r}")
        if task_id in self._settled_ids:
            raise Refused("settled_twice", f"the task {handle} ends once")
        return task_id

    def _line(self, raw: Mapping[str, Any]) -> int:
        """The first of the owner's own lines among the cited ones."""
        cited = cited_lines(raw, self._lines)
        if not cited:
            raise Refused("no_evidence", "a task needs the line that tells it")
        own = [number for number in cited if self._lines[number].owners_word]
        if not own:
            raise Refused("not_the_owner", "somebody else said it")
        return own[-1]
