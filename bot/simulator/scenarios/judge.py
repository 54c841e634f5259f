"""Compares memory and answers with a scenario's truth: right, wrong, missed, or not part of the truth."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from bot.simulator.scenarios.date_templates import fill_dates
from bot.simulator.scenarios.known_state import Notice, StoredMemory, fact_words, memory_words
from bot.simulator.scenarios.model import (
    ExpectedMemory,
    ExpectedNotice,
    ExpectedTask,
    KnownFact,
    KnownPerson,
    Question,
    Truth,
)
from internal.knowledge.model import Fact
from internal.people.model import Person
from internal.tasks.model import Task

Outcome = Literal["right", "wrong", "missed", "beside"]
Kind = Literal["people", "facts", "memories", "tasks", "notices", "forgotten", "answers"]

KINDS: tuple[Kind, ...] = ("people", "facts", "memories", "tasks", "notices", "forgotten", "answers")


@dataclass(frozen=True, slots=True)
class Verdict:
    """An expected item (`forgotten`: one that must be gone) and what was found. `beside`: known but not expected."""

    kind: Kind
    who: str
    wanted: str
    outcome: Outcome
    found: str = ""


@dataclass(frozen=True, slots=True)
class JudgeContext:
    """The context of a verdict: the user, language and zone, the scenario's first day, and the current time."""

    who: str
    language: str
    zone: ZoneInfo
    start: date
    now: datetime

    def day(self, n: int) -> date:
        return self.start + timedelta(days=n)

    def date_of(self, moment: datetime) -> date:
        return moment.astimezone(self.zone).date()

    def fits(self, words: str, text: str) -> bool:
        """Whether one of the alternatives occurs in the text. Days in them count from the scenario's first day."""
        folded = _folded(text)
        return any(_folded(one.strip()) in folded for one in fill_dates(words, self.start, self.language).split("|"))

    def all_fit(self, expected: Iterable[str], text: str) -> bool:
        return all(self.fits(words, text) for words in expected)


@dataclass(frozen=True, slots=True)
class BotMessage:
    """A message of the bot: its time and text."""

    at: datetime
    text: str


def judge(truth: Truth, stored: StoredMemory, messages: Sequence[BotMessage], case: JudgeContext) -> list[Verdict]:
    """A verdict for each line of the truth, and one for each person who is known but not expected."""
    verdicts = [_person(one, stored.people, case) for one in truth.people]
    verdicts += _unexpected(truth, stored.people, case)
    verdicts += [_fact(one, stored, case) for one in truth.facts]
    verdicts += [_memory(one, stored, case) for one in truth.memories]
    verdicts += [_task(one, stored.tasks, messages, case) for one in truth.tasks]
    if truth.notices:
        verdicts += [verdict for one in truth.notices for verdict in _notice(one, stored.notices, case)]
        verdicts += _needless(truth, stored.notices, case)
    return verdicts + [_unknown(words, stored, case) for words in truth.unknown]


def judge_answer(question: Question, answer: str, case: JudgeContext) -> Verdict:
    """Wrong if the answer contains a forbidden text, missed if it lacks an expected one, else right."""
    if any(case.fits(words, answer) for words in question.never):
        outcome: Outcome = "wrong"
    else:
        outcome = "right" if case.all_fit(question.expect, answer) else "missed"
    return Verdict("answers", case.who, question.ask, outcome, _short(answer))


def _person(expected: KnownPerson, known: Sequence[Person], case: JudgeContext) -> Verdict:
    found = [person for person in known if case.fits(expected.name, _names(person))]
    summary = _short("; ".join(f"{person.display_name} ({person.circle}): {person.bio}" for person in found))
    if not found:
        return Verdict("people", case.who, expected.name, "missed")
    if len(found) > 1:
        return Verdict("people", case.who, expected.name, "wrong", f"{len(found)} of them: {summary}")
    if expected.circle is not None and found[0].circle != expected.circle:
        return Verdict("people", case.who, f"{expected.name} in {expected.circle}", "wrong", summary)
    missing = [words for words in expected.says if not case.fits(words, f"{_names(found[0])} {found[0].bio}")]
    if missing:
        return Verdict("people", case.who, f"{expected.name}: {', '.join(missing)}", "missed", summary)
    return Verdict("people", case.who, expected.name, "right", summary)


def _unexpected(truth: Truth, known: Sequence[Person], case: JudgeContext) -> Iterator[Verdict]:
    for person in known:
        if not any(case.fits(one.name, _names(person)) for one in truth.people):
            yield Verdict("people", case.who, "nobody of this name", "beside", f"{person.display_name}: {person.bio}")


def _fact(expected: KnownFact, stored: StoredMemory, case: JudgeContext) -> Verdict:
    def verdict(outcome: Outcome, found: str = "") -> Verdict:
        return Verdict("facts", case.who, _expected_text(expected, case), outcome, found)

    says = (expected.about, *expected.says)
    fitting = [fact for fact in stored.facts if case.all_fit(says, fact_words(fact))]
    if not fitting:
        profiles = [f"{_names(person)}: {person.bio}" for person in stored.people]
        elsewhere = profiles + [memory_words(node) for node in stored.memories]
        profiled = [text for text in elsewhere if case.all_fit(says, text)]
        return verdict("missed", f"no fact; a profile or memory says: {_short(profiled[0])}" if profiled else "")
    faults = [_fault(expected, fact, case) for fact in fitting]
    if None in faults:
        return verdict("right", _fact_text(fitting[faults.index(None)], case))
    return verdict("wrong", f"{faults[0]}: {_fact_text(fitting[0], case)}")


def _fault(expected: KnownFact, fact: Fact, case: JudgeContext) -> str | None:
    """The first error in the dates of a fact, or None."""
    holds = fact.holds(case.now)
    if expected.until is None and not holds:
        return "it is held to have ended"
    if expected.until is not None:
        if holds or fact.invalid_at is None:
            return "it is held to be true still"
        if not _near(fact.invalid_at, expected.until, expected.slack, case):
            return "it ended on another day"
    if expected.since is not None and fact.valid_at is None:
        return "it is not known since when"
    if expected.since is not None and not _near(fact.valid_at, expected.since, expected.slack, case):
        return "it began on another day"
    return None


def _near(moment: datetime | None, day: int, slack: int, case: JudgeContext) -> bool:
    return moment is not None and abs((case.date_of(moment) - case.day(day)).days) <= slack


def _memory(expected: ExpectedMemory, stored: StoredMemory, case: JudgeContext) -> Verdict:
    named = f"{expected.label or 'memory'}: {', '.join(expected.says)}"
    fitting = [node for node in stored.memories if case.all_fit(expected.says, memory_words(node))]
    if not fitting:
        return Verdict("memories", case.who, named, "missed")
    labelled = [node for node in fitting if expected.label in {None, node.label}]
    shown = (labelled or fitting)[0]
    summary = f"{shown.label}: {_short(shown.name)}"
    return Verdict("memories", case.who, named, "right" if labelled else "wrong", summary)


def _task(expected: ExpectedTask, known: Sequence[Task], messages: Sequence[BotMessage], case: JudgeContext) -> Verdict:
    named = ", ".join(expected.says) + (f", due on {case.day(expected.due)}" if expected.due is not None else "")
    fitting = [task for task in known if case.all_fit(expected.says, f"{task.title} {task.details or ''}")]
    if not fitting:
        return Verdict("tasks", case.who, named, "missed")
    faults = [_task_fault(expected, task, messages, case) for task in fitting]
    best = faults.index(None) if None in faults else 0
    task, shown = fitting[best], faults[best]
    when = "no date" if task.due_at is None else f"due {case.date_of(task.due_at)}"
    state = f"{task.title} ({task.state}, {when})"
    return Verdict("tasks", case.who, named, "right", state) if shown is None else Verdict(
        "tasks", case.who, named, "wrong", f"{shown}: {state}"
    )  # fmt: skip


def _task_fault(expected: ExpectedTask, task: Task, messages: Sequence[BotMessage], case: JudgeContext) -> str | None:
    if expected.state is not None and task.state != expected.state:
        return f"it is {task.state}, not {expected.state}"
    if expected.due is not None and (task.due_at is None or case.date_of(task.due_at) != case.day(expected.due)):
        return "it is due on another day"
    day = case.day(expected.due or 0)
    if expected.reminded and not any(
        case.date_of(one.at) == day and case.all_fit(expected.says, one.text) for one in messages
    ):
        return "no reminder came that day"
    return None


def _notice(expected: ExpectedNotice, sent: Sequence[Notice], case: JudgeContext) -> Iterator[Verdict]:
    """Yields a verdict on the line that should come, and one for each that came when it should not."""
    named = ", ".join(expected.says)
    fitting = [one for one in sent if case.all_fit(expected.says, one.text)]
    if expected.between is not None:
        first, last = map(case.day, expected.between)
        came = [one for one in fitting if first <= case.date_of(one.at) <= last]
        found = _short("; ".join(f"{case.date_of(one.at)}: {one.text}" for one in came or fitting))
        yield Verdict("notices", case.who, f"{named} ({first} to {last})", "right" if came else "missed", found)
    for first, last in ((case.day(a), case.day(b)) for a, b in expected.never):
        for one in fitting:
            if first <= case.date_of(one.at) <= last:
                yield Verdict("notices", case.who, f"no {named} ({first} to {last})", "wrong", _short(one.text))


def _needless(truth: Truth, sent: Sequence[Notice], case: JudgeContext) -> Iterator[Verdict]:
    for one in sent:
        if one.kind != "reminder" and not any(case.all_fit(wanted.says, one.text) for wanted in truth.notices):
            yield Verdict("notices", case.who, "no such line", "beside", f"{case.date_of(one.at)}: {_short(one.text)}")


def _unknown(words: str, stored: StoredMemory, case: JudgeContext) -> Verdict:
    leaks = [text for text in stored.derived() if case.fits(words, text)]
    return Verdict("forgotten", case.who, words, "wrong" if leaks else "right", _short(leaks[0]) if leaks else "")


def _expected_text(expected: KnownFact, case: JudgeContext) -> str:
    since = f", since {case.day(expected.since)}" if expected.since is not None else ""
    until = f", until {case.day(expected.until)}" if expected.until is not None else ""
    return f"{expected.about}: {', '.join(expected.says)}{since}{until}"


def _fact_text(fact: Fact, case: JudgeContext) -> str:
    since = "?" if fact.valid_at is None else str(case.date_of(fact.valid_at))
    until = "" if fact.invalid_at is None else str(case.date_of(fact.invalid_at))
    return f"{_short(fact.fact)} [{since}..{until}]"


def _names(person: Person) -> str:
    return ", ".join(person.names)


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace("ё", "е").replace("’", "'").replace("ʼ", "'").split())


def _short(text: str, most: int = 200) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
