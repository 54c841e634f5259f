"""A scenario: the virtual users, their messages with times, and what must be known at the end.

Days count from 0, the scenario's `start`; times are in the user's own zone. `docs/simulation.md` explains the
format with an example.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, time
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from bot.simulator.scenarios.date_templates import check_templates

Language = Literal["ru", "uk", "en"]


class ScenarioPart(BaseModel):
    """A part of the file; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _zone(name: str) -> str:
    if name not in available_timezones():
        raise ValueError(f"there is no time zone {name}")
    return name


def _text(text: str) -> str:
    check_templates(text)
    return text


def _act_of_text(value: object) -> object:
    return {"text": value} if isinstance(value, str) else value


def _words(text: str) -> str:
    if not all(word.strip() for word in text.split("|")):
        raise ValueError("words are separated by single |, none of them empty")
    return text


Text = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(_text)]
"""A scripted text. `{date +3}`, `{weekday -1}` and `{month}` become dates counted from the day it is written."""

Words = Annotated[str, Field(min_length=1), AfterValidator(_words), AfterValidator(_text)]
"""Words that must occur, in upper or lower case, alternatives separated by |: `Львів|Львов`."""

Day = Annotated[int, Field(ge=0, le=3660)]


class ScriptedAct(ScenarioPart):
    """One act: exactly one of a text, a choice of texts, a button press, or an edit of the user's last message.

    `press` is how a button's label begins, alternatives separated by |; the newest message with such a button
    counts. If there is none, nothing is pressed, and the report says so. `after` is the number of seconds since the act
    before; by default the user's pace and the seed decide.
    """

    text: Text | None = None
    one_of: Annotated[list[Text], Field(min_length=1)] | None = None
    press: Words | None = None
    edit: Text | None = None
    after: Annotated[int, Field(ge=1, le=86_400)] | None = None

    @model_validator(mode="after")
    def _is_one_act(self) -> ScriptedAct:
        given = [name for name in ("text", "one_of", "press", "edit") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"an act is one of text, one_of, press and edit, not {' and '.join(given) or 'nothing'}")
        return self


class Pace(ScenarioPart):
    """The pace of a user: seconds between two messages, and by how many minutes a talk may begin later."""

    gap: tuple[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=1, le=1500)]] = (25, 90)
    late: Annotated[int, Field(ge=0, le=240)] = 15

    @model_validator(mode="after")
    def _gap_is_a_range(self) -> Pace:
        if self.gap[0] > self.gap[1]:
            raise ValueError("gap is [least, most] seconds")
        return self


class VirtualUser(ScenarioPart):
    """A persona. `id` is the Telegram id; the first three of the local Telegram are 1001, 1002 and 1003.

    `taps` are button labels that this person presses whenever the bot offers them.
    """

    id: Annotated[int, Field(ge=1, le=2**52)]
    first_name: Annotated[str, Field(min_length=1, max_length=64)]
    last_name: Annotated[str, Field(max_length=64)] = ""
    username: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{0,32}$")] = ""
    language: Language
    timezone: Annotated[str, AfterValidator(_zone)]
    persona: Annotated[str, Field(min_length=1)]
    pace: Pace = Pace()
    taps: list[Annotated[str, Field(min_length=1)]] = []


class Sitting(ScenarioPart):
    """The messages of one sitting, on a day, from a time of day on."""

    day: Day
    at: time
    who: str
    say: Annotated[list[Annotated[ScriptedAct, BeforeValidator(_act_of_text)]], Field(min_length=1)]


class SmallTalk(ScenarioPart):
    """Small talk between the conversations, some times a week; the seed decides when and which lines."""

    who: str
    per_week: Annotated[float, Field(gt=0, le=50)]
    lines: Annotated[list[Text], Field(min_length=1)]


class KnownPerson(ScenarioPart):
    """A person who must be known, by this name or one of the others, exactly once."""

    name: Words
    circle: Literal["Family", "Work_Inner", "Friends", "Work_Outer", "Other"] | None = None
    says: list[Words] = []


class KnownFact(ScenarioPart):
    """A fact that must be known: its text names `about` and contains all of `says`.

    `since` and `until` are days of the scenario; with `until` it must have ended. A deviation of `slack` days is right.
    """

    about: Words
    says: Annotated[list[Words], Field(min_length=1)]
    since: int | None = None
    until: int | None = None
    slack: Annotated[int, Field(ge=0)] = 3


class ExpectedMemory(ScenarioPart):
    """A goal, decision, preference or open question whose text must contain all of `says`."""

    says: Annotated[list[Words], Field(min_length=1)]
    label: str | None = None


class ExpectedTask(ScenarioPart):
    """A task whose text contains all of `says`; `due` on a day, `reminded` = the bot reminded of it that day."""

    says: Annotated[list[Words], Field(min_length=1)]
    state: Literal["proposed", "open", "done", "cancelled"] | None = None
    due: Day | None = None
    reminded: bool = False


class ExpectedNotice(ScenarioPart):
    """A line that the bot writes on its own initiative: about an occasion, a promise, a task, or being in touch.

    `between` are the first and the last day on which it is right, once; `never` are days on which it would be wrong.
    """

    says: Annotated[list[Words], Field(min_length=1)]
    between: tuple[Day, Day] | None = None
    never: list[tuple[Day, Day]] = []


class Truth(ScenarioPart):
    """What one user's memory must contain at the end. `unknown`: words that no derived text may contain any more.

    With `notices`, lines about occasions or being in touch that fit none of them count as `beside`.
    """

    people: list[KnownPerson] = []
    facts: list[KnownFact] = []
    memories: list[ExpectedMemory] = []
    tasks: list[ExpectedTask] = []
    notices: list[ExpectedNotice] = []
    unknown: list[Words] = []


class Question(ScenarioPart):
    """A question asked at the end. The answer must contain all of `expect` and nothing of `never`."""

    who: str
    ask: Text
    expect: list[Words] = []
    never: list[Words] = []

    @model_validator(mode="after")
    def _can_be_judged(self) -> Question:
        if not self.expect and not self.never:
            raise ValueError("a question needs expect or never")
        return self


class Scenario(ScenarioPart):
    """A scenario; `days` is its length, `start` its first day, unless a run is shifted by whole weeks."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
    title: Annotated[str, Field(min_length=1)]
    start: date
    days: Annotated[int, Field(ge=1, le=3660)]
    users: Annotated[dict[str, VirtualUser], Field(min_length=1)]
    story: Annotated[list[Sitting], Field(min_length=1)]
    chatter: list[SmallTalk] = []
    truth: dict[str, Truth] = {}
    questions: list[Question] = []

    @model_validator(mode="after")
    def _is_consistent(self) -> Scenario:
        ids = [user.id for user in self.users.values()]
        if len(set(ids)) < len(ids):
            raise ValueError("users: two of them have the same id")
        for where, who in self._named():
            if who not in self.users:
                raise ValueError(f"{where}: there is no user {who}; there are {', '.join(self.users)}")
        for n, talk in enumerate(self.story):
            if talk.day >= self.days:
                raise ValueError(f"story.{n}.day: {talk.day} is not among the {self.days} days of the scenario")
        return self

    def _named(self) -> Iterable[tuple[str, str]]:
        yield from ((f"story.{n}.who", part.who) for n, part in enumerate(self.story))
        yield from ((f"chatter.{n}.who", part.who) for n, part in enumerate(self.chatter))
        yield from ((f"questions.{n}.who", part.who) for n, part in enumerate(self.questions))
        yield from (("truth", who) for who in self.truth)

    def zone(self, who: str) -> ZoneInfo:
        return ZoneInfo(self.users[who].timezone)
