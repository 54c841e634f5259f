"""The acts of all users with their times: a scenario and a seed always give the same acts at the same moments."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

from bot.simulator.scenarios.date_templates import fill_dates
from bot.simulator.scenarios.model import Scenario, ScriptedAct

WEEK = timedelta(days=7)

ActKind = Literal["say", "edit", "press", "ask"]

_SETTING_UP = time(8, 0)
"""The time on the first day when all users press Start and set the zone, before the first talk."""

_SETTING_UP_GAP = timedelta(seconds=20)
_ASKING_AT = time(12, 0)
_ASKING_GAP = timedelta(seconds=90)
_CHATTER_HOURS = (9 * 60, 21 * 60)


@dataclass(frozen=True, slots=True)
class Act:
    """One act of a virtual user. `at` is UTC, whole seconds. `ends`: a silence follows, in which memory is made.

    `text` is the message, the new text of an edit, or how a button's label begins; `question` is its place in the list.
    """

    at: datetime
    who: str
    kind: ActKind
    text: str
    ends: bool = False
    question: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The acts in order of time, then `questions`; a plan lasts from `begins` to `ends`."""

    scenario: Scenario
    seed: int
    start: date
    acts: tuple[Act, ...]
    questions: tuple[Act, ...]
    begins: datetime
    ends: datetime


def shifted(scenario: Scenario, last: date) -> date:
    """The latest start that is whole weeks from the scenario's own and whose days end before `last`."""
    weeks = (last - timedelta(days=scenario.days + 1) - scenario.start).days // 7
    return scenario.start + weeks * WEEK


def plan(scenario: Scenario, seed: int, start: date | None = None) -> Plan:
    """Makes the plan of a run. `start` replaces the scenario's own: whole weeks later, so that weekdays stay."""
    first = start or scenario.start
    acts = [*_setting_up(scenario, first), *_talks(scenario, seed, first), *_chatter(scenario, seed, first)]
    acts.sort(key=lambda act: act.at)
    last = first + timedelta(days=scenario.days)
    ends = max(_moment(scenario, who, last, time(0)) for who in scenario.users)
    return Plan(
        scenario=scenario,
        seed=seed,
        start=first,
        acts=tuple(_spread(acts)),
        questions=tuple(_questions(scenario, last)),
        begins=min(act.at for act in acts) - timedelta(minutes=1),
        ends=ends,
    )


def _setting_up(scenario: Scenario, first: date) -> Iterator[Act]:
    for n, (who, user) in enumerate(scenario.users.items()):
        at = _moment(scenario, who, first, _SETTING_UP) + 2 * n * _SETTING_UP_GAP
        yield Act(at, who, "say", "/start")
        yield Act(at + _SETTING_UP_GAP, who, "say", f"/timezone {user.timezone}", ends=True)


def _talks(scenario: Scenario, seed: int, first: date) -> Iterator[Act]:
    for n, talk in enumerate(scenario.story):
        chance = _chance(scenario, seed, "talk", n)
        pace = scenario.users[talk.who].pace
        day = first + timedelta(days=talk.day)
        at = _moment(scenario, talk.who, day, talk.at) + timedelta(seconds=chance.randint(0, 60 * pace.late))
        for index, say in enumerate(talk.say):
            if index:
                at += timedelta(seconds=say.after or chance.randint(*pace.gap))
            kind, text = _act_of(say, chance)
            text = fill_dates(text, day, scenario.users[talk.who].language)
            yield Act(at, talk.who, kind, text, ends=index == len(talk.say) - 1)


def _act_of(say: ScriptedAct, chance: random.Random) -> tuple[ActKind, str]:
    if say.press is not None:
        return "press", say.press
    if say.edit is not None:
        return "edit", say.edit
    return "say", say.text if say.text is not None else chance.choice(say.one_of or [])


def _chatter(scenario: Scenario, seed: int, first: date) -> Iterator[Act]:
    for n, chatter in enumerate(scenario.chatter):
        chance = _chance(scenario, seed, "chatter", n)
        for _ in range(round(chatter.per_week * scenario.days / 7)):
            day = first + timedelta(days=chance.randrange(scenario.days))
            minute = chance.randint(*_CHATTER_HOURS)
            at = _moment(scenario, chatter.who, day, time(minute // 60, minute % 60))
            text = fill_dates(chance.choice(chatter.lines), day, scenario.users[chatter.who].language)
            if day > first:  # users do not chat before they have pressed Start
                yield Act(at + timedelta(seconds=chance.randrange(60)), chatter.who, "say", text, ends=True)


def _questions(scenario: Scenario, last: date) -> Iterator[Act]:
    for n, question in enumerate(scenario.questions):
        at = _moment(scenario, question.who, last + timedelta(days=1), _ASKING_AT) + n * _ASKING_GAP
        text = fill_dates(question.ask, last, scenario.users[question.who].language)
        yield Act(at, question.who, "ask", text, question=n)


def _spread(acts: list[Act]) -> Iterator[Act]:
    """Shifts acts of the same second by one second each."""
    before = None
    for act in acts:
        at = act.at if before is None or act.at > before else before + timedelta(seconds=1)
        before = at
        yield Act(at, act.who, act.kind, act.text, act.ends, act.question)


def _chance(scenario: Scenario, seed: int, part: str, n: int) -> random.Random:
    """A random source for each part, so that an added talk does not change the others."""
    return random.Random(f"{scenario.name}:{seed}:{part}:{n}")


def _moment(scenario: Scenario, who: str, day: date, at: time) -> datetime:
    return datetime.combine(day, at, scenario.zone(who)).astimezone(UTC).replace(microsecond=0)
