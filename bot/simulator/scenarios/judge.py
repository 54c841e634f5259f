"""Holds memory and answers against a scenario's own truth: right, wrong, missed, and what is beside the truth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from bot.simulator.scenarios.date_templates import spoken
from bot.simulator.scenarios.known_state import Held, fact_words, memory_words
from bot.simulator.scenarios.model import KnownFact, KnownMemory, KnownPerson, KnownTask, Question, Truth
from internal.knowledge.model import Fact
from internal.people.model import Person
from internal.tasks.model import Task

Outcome = Literal["right", "wrong", "missed", "beside"]
Kind = Literal["people", "facts", "memories", "tasks", "forgotten", "answers"]

KINDS: tuple[Kind, ...] = ("people", "facts", "memories", "tasks", "forgotten", "answers")


@dataclass(frozen=True, slots=True)
class Verdict:
    """One thing that ought to be known (or, `forgotten`: not to be), and what was found. `beside` = known, not told."""

    kind: Kind
    who: str
    wanted: str
    outcome: Outcome
    found: str = ""


@dataclass(frozen=True, slots=True)
class ResolveContext:
    """Whose truth it is, in which language and zone, on which day the scenario began, and what time it is."""

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
        """Whether one of the alternatives occurs. Days in them count from the scenario's first."""
        folded = _folded(text)
        return any(_folded(one.strip()) in folded for one in spoken(words, self.start, self.language).split("|"))

    def all_fit(self, wanted: Iterable[str], text: str) -> bool:
        return all(self.fits(words, text) for words in wanted)


@dataclass(frozen=True, slots=True)
class Told:
    """A message of the bot: when it came, and what it says."""

    at: datetime
    text: str


def judge(truth: Truth, held: Held, told: Sequence[Told], case: ResolveContext) -> list[Verdict]:
    """A verdict for each line of the truth, and one for each person who is known beside it."""
    verdicts = [_person(one, held.people, case) for one in truth.people]
    verdicts += _beside(truth, held.people, case)
    verdicts += [_fact(one, held, case) for one in truth.facts]
    verdicts += [_memory(one, held, case) for one in truth.memories]
    verdicts += [_task(one, held.tasks, told, case) for one in truth.tasks]
    return verdicts + [_unknown(words, held, case) for words in truth.unknown]


def judge_answer(question: Question, answer: str, case: ResolveContext) -> Verdict:
    """Wrong if it says what it never should, missed if it lacks something, else right."""
    if any(case.fits(words, answer) for words in question.never):
        outcome: Outcome = "wrong"
    else:
        outcome = "right" if case.all_fit(question.expect, answer) else "missed"
    return Verdict("answers", case.who, question.ask, outcome, _short(answer))


def _person(wanted: KnownPerson, known: Sequence[Person], case: ResolveContext) -> Verdict:
    found = [person for person in known if case.fits(wanted.name, _names(person))]
    told = _short("; ".join(f"{person.display_name} ({person.circle}): {person.bio}" for person in found))
    if not found:
        return Verdict("people", case.who, wanted.name, "missed")
    if len(found) > 1:
        return Verdict("people", case.who, wanted.name, "wrong", f"{len(found)} of them: {told}")
    if wanted.circle is not None and found[0].circle != wanted.circle:
        return Verdict("people", case.who, f"{wanted.name} in {wanted.circle}", "wrong", told)
    missing = [words for words in wanted.says if not case.fits(words, f"{_names(found[0])} {found[0].bio}")]
    if missing:
        return Verdict("people", case.who, f"{wanted.name}: {', '.join(missing)}", "missed", told)
    return Verdict("people", case.who, wanted.name, "right", told)


def _beside(truth: Truth, known: Sequence[Person], case: ResolveContext) -> Iterator[Verdict]:
    for person in known:
        if not any(case.fits(one.name, _names(person)) for one in truth.people):
            yield Verdict("people", case.who, "nobody of this name", "beside", f"{person.display_name}: {person.bio}")


def _fact(wanted: KnownFact, held: Held, case: ResolveContext) -> Verdict:
    def verdict(outcome: Outcome, found: str = "") -> Verdict:
        return Verdict("facts", case.who, _told_fact(wanted, case), outcome, found)

    says = (wanted.about, *wanted.says)
    fitting = [fact for fact in held.facts if case.all_fit(says, fact_words(fact))]
    if not fitting:
        elsewhere = [f"{_names(one)}: {one.bio}" for one in held.people] + [memory_words(one) for one in held.memories]
        profiled = [text for text in elsewhere if case.all_fit(says, text)]
        return verdict("missed", f"no fact; a profile or memory says: {_short(profiled[0])}" if profiled else "")
    faults = [_fault(wanted, fact, case) for fact in fitting]
    if None in faults:
        return verdict("right", _shown(fitting[faults.index(None)], case))
    return verdict("wrong", f"{faults[0]}: {_shown(fitting[0], case)}")


def _fault(wanted: KnownFact, fact: Fact, case: ResolveContext) -> str | None:
    """What is wrong with the times of a fact, None if nothing."""
    holds = fact.holds(case.now)
    if wanted.until is None and not holds:
        return "it is held to have ended"
    if wanted.until is not None:
        if holds or fact.invalid_at is None:
            return "it is held to be true still"
        if not _near(fact.invalid_at, wanted.until, wanted.slack, case):
            return "it ended on another day"
    if wanted.since is not None and fact.valid_at is None:
        return "it is not known since when"
    if wanted.since is not None and not _near(fact.valid_at, wanted.since, wanted.slack, case):
        return "it began on another day"
    return None


def _near(moment: datetime | None, day: int, slack: int, case: ResolveContext) -> bool:
    return moment is not None and abs((case.date_of(moment) - case.day(day)).days) <= slack


def _memory(wanted: KnownMemory, held: Held, case: ResolveContext) -> Verdict:
    named = f"{wanted.label or 'memory'}: {', '.join(wanted.says)}"
    fitting = [node for node in held.memories if case.all_fit(wanted.says, memory_words(node))]
    if not fitting:
        return Verdict("memories", case.who, named, "missed")
    labelled = [node for node in fitting if wanted.label in {None, node.label}]
    shown = (labelled or fitting)[0]
    told = f"{shown.label}: {_short(shown.name)}"
    return Verdict("memories", case.who, named, "right" if labelled else "wrong", told)


def _task(wanted: KnownTask, known: Sequence[Task], told: Sequence[Told], case: ResolveContext) -> Verdict:
    named = ", ".join(wanted.says) + (f", due on {case.day(wanted.due)}" if wanted.due is not None else "")
    fitting = [task for task in known if case.all_fit(wanted.says, f"{task.title} {task.details or ''}")]
    if not fitting:
        return Verdict("tasks", case.who, named, "missed")
    faults = [_task_fault(wanted, task, told, case) for task in fitting]
    best = faults.index(None) if None in faults else 0
    task, shown = fitting[best], faults[best]
    when = "no date" if task.due_at is None else f"due {case.date_of(task.due_at)}"
    state = f"{task.title} ({task.state}, {when})"
    return Verdict("tasks", case.who, named, "right", state) if shown is None else Verdict(
        "tasks", case.who, named, "wrong", f"{shown}: {state}"
    )  # fmt: skip


def _task_fault(wanted: KnownTask, task: Task, told: Sequence[Told], case: ResolveContext) -> str | None:
    if wanted.state is not None and task.state != wanted.state:
        return f"it is {task.state}, not {wanted.state}"
    if wanted.due is not None and (task.due_at is None or case.date_of(task.due_at) != case.day(wanted.due)):
        return "it is due on another day"
    day = case.day(wanted.due or 0)
    if wanted.told and not any(case.date_of(one.at) == day and case.all_fit(wanted.says, one.text) for one in told):
        return "nobody was told of it that day"
    return None


def _unknown(words: str, held: Held, case: ResolveContext) -> Verdict:
    leaks = [text for text in held.derived() if case.fits(words, text)]
    return Verdict("forgotten", case.who, words, "wrong" if leaks else "right", _short(leaks[0]) if leaks else "")


def _told_fact(wanted: KnownFact, case: ResolveContext) -> str:
    since = f", since {case.day(wanted.since)}" if wanted.since is not None else ""
    until = f", until {case.day(wanted.until)}" if wanted.until is not None else ""
    return f"{wanted.about}: {', '.join(wanted.says)}{since}{until}"


def _shown(fact: Fact, case: ResolveContext) -> str:
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
