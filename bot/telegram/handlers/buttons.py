"""Callback data of all buttons. `owner` is the user the button was made for; others who press it get a toast.

Telegram allows 64 bytes: prefixes are short, and where two UUIDs stand beside a Telegram id (16 digits at most) they
are written in base 85, in 20 characters each.
"""

import base64
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final
from uuid import UUID

from aiogram.filters.callback_data import CallbackData
from pydantic import BeforeValidator, PlainSerializer

from internal.access.model import Language
from internal.people.model import Circle

_SHORT = 20


def _shorten_uuid(uuid: str) -> str:
    return base64.b85encode(UUID(uuid).bytes).decode()


def _restore_uuid(value: str) -> str:
    """Decodes a UUID of callback data. Raises ValueError for anything else, before a handler sees it."""
    return str(UUID(bytes=base64.b85decode(value)) if len(value) == _SHORT else UUID(value))


Id = Annotated[str, BeforeValidator(_restore_uuid), PlainSerializer(_shorten_uuid)]
"""A UUID as text; shortened only inside callback data."""


BUTTONS: Final[dict[str, type["Owned"]]] = {}
"""Every button by its prefix."""


class Owned(CallbackData, prefix="_"):
    """A button for one user; `command` is the command that leads to it, or a word for a question that the bot asked."""

    command: ClassVar[str]
    owner: int

    def __init_subclass__(cls, *, command: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.command = command or cls.command
        BUTTONS[cls.__prefix__] = cls


class LanguageButton(Owned, prefix="l", command="/language"):
    lang: Language


class ZoneButton(Owned, prefix="z", command="/timezone"):
    """An empty `zone` asks for another one in words."""

    zone: str


class PeopleButton(Owned, prefix="pp", command="/people"):
    """A page of one circle, or the overview without a circle. Pages count from 0."""

    circle: Circle | None = None
    page: int = 0


class PersonAction(StrEnum):
    SHOW = "s"
    CIRCLE = "c"
    EDIT = "e"
    MERGE = "m"
    FORGET = "f"


class PersonButton(Owned, prefix="p", command="/person"):
    person: int
    action: PersonAction = PersonAction.SHOW


class CircleButton(Owned, prefix="c", command="/person"):
    person: int
    circle: Circle


class FieldButton(Owned, prefix="e", command="/person"):
    person: int
    field: str


class MergePageButton(Owned, prefix="mp", command="/person"):
    source: int
    page: int = 0


class MergeButton(Owned, prefix="m", command="/person"):
    """Merges two people; without `sure` it asks first."""

    source: int
    target: int
    sure: bool = False


class SplitButton(Owned, prefix="sp", command="/person"):
    source: int


class MergeThingsButton(Owned, prefix="j", command="/facts"):
    """Merges a thing into another; asks for `target` if it is missing, and for confirmation without `sure`."""

    source: Id
    target: Id | None = None
    sure: bool = False


class SplitThingsButton(Owned, prefix="ju", command="/facts"):
    source: Id


class ForgetButton(Owned, prefix="f", command="/forget"):
    """Forgets a person, or everything if `person` is 0. Without `sure` it asks first."""

    person: int = 0
    sure: bool = False


class ForgetAboutButton(Owned, prefix="fa", command="/forget"):
    """Forgets a person together with the messages about the person."""

    person: int


class UndoButton(Owned, prefix="u", command="/forget"):
    forgetting: str


class SuggestionButton(Owned, prefix="s", command="suggestion"):
    suggestion: str
    accept: bool


class SuggestionsButton(Owned, prefix="ss", command="suggestion"):
    """Shows the first suggestion that waits for the owner's decision."""


class FactsButton(Owned, prefix="G", command="/facts"):
    """A page of the facts about a node; `past`: the ended ones."""

    about: Id
    page: int = 0
    past: bool = False


NEW_MESSAGE, NO_WAY_BACK, SEVERAL_TASKS, FROM_REPLY = "+", "-", "m", "w"
"""Where a button's result goes: a new message below; no way back; a message about several tasks; a reply's sources."""


class FactButton(Owned, prefix="F", command="/facts"):
    """Opens a fact.

    `origin` and `back_to`: a node and a page of its list (`p2`: of ended facts), or a reply and FROM_REPLY.
    """

    fact: Id
    origin: Id | None = None
    back_to: str = NO_WAY_BACK


class SourcesButton(FactButton, prefix="S"):
    """Shows all sources of a fact."""


class VersionsButton(FactButton, prefix="V"):
    """Shows the earlier versions of a fact."""


class CorrectButton(FactButton, prefix="C", command="/correct"):
    """Asks for the corrected text of a fact."""


class SureCorrectButton(FactButton, prefix="CY", command="/correct"):
    """Applies a correction after confirmation."""


class UndoCorrectButton(FactButton, prefix="CU", command="/correct"):
    """Restores the version before this one."""


class ForgetFactButton(FactButton, prefix="D", command="/forget"):
    """Asks whether to forget a fact."""


class SurelyForgetFactButton(FactButton, prefix="Y", command="/forget"):
    """Forgets a fact."""


class SentenceButton(Owned, prefix="B", command="/forget"):
    """Removes a profile sentence that may say the same as a forgotten fact; `part` is the beginning of its key."""

    fact: Id
    person: int
    part: str


class MessagesButton(Owned, prefix="FM", command="/forget"):
    """Forgets the owner's own messages that state a fact which is being forgotten."""

    fact: Id


class ForgetSaidButton(Owned, prefix="FS", command="/forget"):
    """Forgets a message that the answer `origin` is based on. Without `sure` it asks first."""

    message: Id
    origin: Id
    sure: bool = False


class WhyButton(Owned, prefix="W", command="/why"):
    """Shows what a reply is based on."""

    reply: Id


class ContradictionAnswer(StrEnum):
    ONE = "1"
    BOTH = "b"
    NEITHER = "n"


class ContradictionButton(Owned, prefix="x", command="contradiction"):
    """The owner's answer to a contradiction; `fact` is the true one."""

    contradiction: Id
    answer: ContradictionAnswer
    fact: Id | None = None


class ContradictionsButton(Owned, prefix="xs", command="contradiction"):
    """Shows the first contradiction that waits for the owner's answer."""


class MemoriesButton(Owned, prefix="M", command="/memories"):
    """A page of the memories of a kind; `past`: the settled ones."""

    kind: str
    page: int = 0
    past: bool = False


class MemoryButton(Owned, prefix="N", command="/memories"):
    """Opens a memory.

    `back_to`: the kind and page of a list ("g2", of settled ones "gp2"), or FROM_REPLY (`origin` = the reply).
    """

    node: Id
    origin: Id | None = None
    back_to: str = NO_WAY_BACK


class MemorySourcesButton(MemoryButton, prefix="NS"):
    """Shows all sources of a memory."""


class CorrectMemoryButton(MemoryButton, prefix="NC", command="/correct"):
    """Asks for the corrected text of a memory."""


class ForgetMemoryButton(MemoryButton, prefix="NF", command="/forget"):
    """Asks whether to forget a memory."""


class SurelyForgetMemoryButton(MemoryButton, prefix="NY", command="/forget"):
    """Forgets a memory."""


class ReachedButton(MemoryButton, prefix="NR"):
    """Marks a goal as reached."""


class GivenUpButton(MemoryButton, prefix="NG"):
    """Marks a goal as given up, or ends an instruction."""


class AnsweredButton(MemoryButton, prefix="NA"):
    """Marks a question as answered."""


class ReopenedButton(MemoryButton, prefix="NO"):
    """Reopens a goal or question, or makes an instruction active again."""


class QuestionAnswer(StrEnum):
    """The possible answers to a question that the bot asked on its own."""

    ANSWERED = "a"
    OPEN = "o"
    NEWER = "n"
    OLDER = "e"
    BOTH = "b"
    APPLY = "y"
    KEEP = "k"
    FORGET = "f"
    NEVER = "x"


class AskedButton(Owned, prefix="Q", command="question"):
    """The owner's answer to a question that the bot asked on its own; `n` numbers the things to forget from 1."""

    asked: Id
    tap: QuestionAnswer
    n: int = 0


class SessionsButton(Owned, prefix="H", command="/sessions"):
    """A page of the sessions, the latest first. Pages count from 0."""

    page: int = 0


class SessionButton(Owned, prefix="h", command="/sessions"):
    """Shows a session word for word."""

    session: Id


class TasksButton(Owned, prefix="T", command="/tasks"):
    """A page of the tasks by time; `past`: the done and cancelled ones."""

    page: int = 0
    past: bool = False


class TaskTap(StrEnum):
    SHOW = "o"
    CONFIRM = "y"
    DONE = "d"
    HOUR = "h"
    TOMORROW = "t"
    WEEK = "w"
    CHANGE = "e"
    CANCEL = "c"
    REOPEN = "r"


class TaskButton(Owned, prefix="t", command="/tasks"):
    """Changes a task. `back_to`: a page of the list ("2", or "p2" for past tasks), or NO_WAY_BACK.

    SEVERAL_TASKS is a message about several tasks: it stays, and the result is shown below it.
    """

    task: Id
    tap: TaskTap
    back_to: str = NO_WAY_BACK


class QuietButton(Owned, prefix="q", command="/quiet"):
    """Sets quiet hours: without colons ("2200-0800"), "-" for none, "=" for the configured ones."""

    hours: str


class AccessButton(Owned, prefix="a", command="/access"):
    """Removes a user; without `sure` it asks first."""

    user: int
    sure: bool = False


class TeamAction(StrEnum):
    NEW = "n"
    INVITE = "i"
    LEAVE = "l"
    LEFT = "y"


class TeamButton(Owned, prefix="g", command="/team"):
    """Does something with a team: `LEAVE` asks first; only `NEW` needs no team."""

    action: TeamAction
    team: Id | None = None


class InvitationButton(Owned, prefix="gi", command="/team"):
    invitation: Id
    accept: bool


class KeepButton(Owned, prefix="k", command="keep"):
    """Leaves everything unchanged."""


Button = tuple[str, str]
Rows = list[list[Button]]


def button(text: str, data: CallbackData) -> Button:
    return text, data.pack()
