"""What a turn may be asked to do besides answering, and the cards that show it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal, Protocol

from sqlalchemy import Connection

from internal.access.model import User
from internal.dialogue.mailbox.model import Rendered
from internal.dialogue.model import Turn
from internal.flows.correcting.facts import CorrectedFact
from internal.graph.model import Node
from internal.knowledge.model import Fact
from internal.language.commands.vocabulary import Page
from internal.language.tasks.times import TimeFound
from internal.people.model import Person
from internal.tasks.model import Schedule, Task, TaskKind


@dataclass(frozen=True, slots=True)
class Forget:
    """Asks whether to forget everything, one person (`messages` are about that person), or one of several."""

    everything: bool = False
    people: Sequence[Person] = ()
    facts: Sequence[Fact] = ()
    words: str = ""
    messages: int = 0


@dataclass(frozen=True, slots=True)
class ChangeTask:
    """Does something with a task, or asks with which of several; with `every` one of them only after a yes.

    `sure`: the owner's own words ask for it; else it is done by his tap.
    "show": he says something of it, and taps what becomes of it.
    `last`: what was done last is to be taken back, of a task that was just moved the move.
    """

    how: Literal["done", "cancel", "move", "show"]
    tasks: Sequence[str]
    time: TimeFound | None = None
    every: bool = False
    sure: bool = True
    last: bool = False


@dataclass(frozen=True, slots=True)
class CallOwner:
    """Calls the owner by another name from now on."""

    name: str


@dataclass(frozen=True, slots=True)
class Correct:
    """Asks whether to correct a fact in the owner's `words`, or which; `coming` is what would become of the one."""

    words: str
    facts: Sequence[Fact]
    coming: CorrectedFact | None = None


@dataclass(frozen=True, slots=True)
class Remember:
    """Keeps something in memory at once, in the owner's words."""

    text: str


@dataclass(frozen=True, slots=True)
class ShowOwner:
    """Lists what is known of the owner."""


@dataclass(frozen=True, slots=True)
class ShowTasks:
    """Lists the open tasks of some days, all where no day is named; `last` is not included.

    With a `kind` what others owe or the owner promised, of these `tasks` if there are any; `none`: nothing is known.
    `plans` are his own words about those days, each with its moment: what he told without asking for a task.
    """

    first: datetime | None = None
    last: datetime | None = None
    kind: TaskKind | None = None
    tasks: Sequence[str] = ()
    none: bool = False
    plans: Sequence[tuple[str, datetime]] = ()


@dataclass(frozen=True, slots=True)
class ShowBrief:
    """Shows what to know before meeting somebody, or asks which of several."""

    people: Sequence[int]


@dataclass(frozen=True, slots=True)
class ShowPage:
    """Shows a page that a command of the same name shows too: birthdays, what was shared, what can be taken back."""

    name: Page = "changes"


@dataclass(frozen=True, slots=True)
class Undone:
    """Says that nothing was done, where a reply claimed it."""


Action = Forget | ChangeTask | CallOwner | Correct | Remember | ShowOwner | ShowTasks | ShowBrief | ShowPage | Undone


@dataclass(frozen=True, slots=True)
class ActionCard:
    """A message about an action, with its buttons in Bot API form."""

    parts: Sequence[Rendered]
    keyboard: list[list[dict[str, Any]]] | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """A task after a change, and what it was before."""

    task: Task
    before: Task
    person: str | None = None


class Cards(Protocol):
    """Words and buttons for what was done or is asked."""

    def forget(self, connection: Connection, user: User, asked: Forget) -> ActionCard: ...

    def choose_task(
        self, user: User, asked: ChangeTask, schedule: Schedule | None, found: Sequence[Task]
    ) -> ActionCard: ...

    def cancel_all(self, user: User, found: Sequence[Task]) -> ActionCard: ...

    def task(self, user: User, how: str, changed: Changed, now: datetime) -> ActionCard: ...

    def refused(self, user: User, reason: str) -> ActionCard: ...

    def undone(self, user: User) -> ActionCard: ...

    def called(self, user: User, name: str) -> ActionCard: ...

    def correct(self, user: User, asked: Correct) -> ActionCard: ...

    def remembered(self, user: User, node: Node) -> ActionCard: ...

    def owner(self, connection: Connection, user: User, now: datetime) -> ActionCard: ...

    def brief(self, connection: Connection, user: User, people: Sequence[int], now: datetime) -> ActionCard: ...

    def page(self, connection: Connection, user: User, page: Page, turn: Turn, now: datetime) -> ActionCard: ...

    def tasks(self, user: User, asked: ShowTasks, found: Sequence[Task], now: datetime) -> ActionCard: ...


@dataclass(frozen=True, slots=True)
class Commands:
    """What a question asks for; `only` = it says nothing else."""

    actions: Sequence[Action] = ()
    only: bool = False

    @property
    def note(self) -> str:
        """The note for the responder where there is more to answer."""
        named = ", ".join(_NOTED[type(one)] for one in self.actions)
        return (
            f"The program itself takes care of this wish in the owner's newest message: {named}. It shows a card with"
            " buttons below your answer. Do not say that it is done, and do not ask about it; answer what else was"
            " said, in a sentence or two."
        )

    def with_more(self, more: Sequence[Action]) -> "Commands":
        """Adds what the model's tools asked for and was not recognised already."""
        known = {_target(one) for one in self.actions}
        return replace(self, actions=[*self.actions, *(one for one in more if _target(one) not in known)])


def _target(action: Action) -> tuple[type, Sequence[str]]:
    """What decides whether two actions are one: their kind, of tasks the task too."""
    return type(action), tuple(action.tasks) if isinstance(action, ChangeTask) else ()


NO_COMMANDS: Final = Commands()

_NOTED: Final = {
    Forget: "to forget something",
    ChangeTask: "to change a task",
    CallOwner: "to be called by another name",
    Correct: "to correct a fact",
    Remember: "to remember something",
    ShowOwner: "to see what is known of the owner",
    ShowBrief: "to know about somebody before a meeting",
    ShowTasks: "to see the tasks of that time",
    ShowPage: "to see a page of what is kept",
    Undone: "",
}
