"""Finds patterns and changes in what was told. All functions are pure, and count no judgement, only days and people."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2s
from typing import Final
from zoneinfo import ZoneInfo

from internal.flows.reflections.model import Change, Line, Reflection
from internal.people.model import Person

MONTH: Final = timedelta(days=30)
LOOKED_BACK: Final = 3 * MONTH
OFTEN: Final = 3
"""Days on which somebody was met, or people who speak of a matter, from which it is a pattern."""
_TALKATIVE: Final = 8
"""Lines of the month from which it says something that somebody is not in them."""


@dataclass(frozen=True, slots=True)
class Life:
    """What an owner's patterns are found in: lines in the order of time. `began`: when the bot came to know him."""

    lines: Sequence[Line]
    changes: Sequence[Change]
    people: Mapping[int, Person]
    zone: ZoneInfo
    began: datetime


def patterns(life: Life, now: datetime) -> Iterator[Reflection]:
    """What shows at a moment, in no order."""
    month = [line for line in life.lines if now - MONTH < line.at <= now]
    before = [line for line in life.lines if now - LOOKED_BACK < line.at <= now - MONTH]
    met, met_before = _met(month), _met(before)
    for who, lines in met.items():
        if (days := _days(lines, life.zone)) >= OFTEN:
            yield _of_person("met", life.people[who], days, lines)
    for who, lines in met_before.items():
        days = _days(lines, life.zone)
        if days >= OFTEN and who not in met and len(month) >= _TALKATIVE:
            yield _of_person("quiet", life.people[who], days, lines)
    yield from _new(life, month, now)
    yield from _matters(life, month)
    for change in life.changes:
        said = [line for line in change.lines if line.at <= now]
        if any(line.at > now - MONTH for line in said):
            yield Reflection(_key("change", change.fact_id), "change", change.after, 1, said, before=change.before)


def _met(lines: Sequence[Line]) -> Mapping[int, list[Line]]:
    found: dict[int, list[Line]] = defaultdict(list)
    for line in lines:
        for who in line.told.met:
            found[who].append(line)
    return found


def _new(life: Life, month: Sequence[Line], now: datetime) -> Iterator[Reflection]:
    """People of whom nothing was told before this month; in the bot's own first months everybody is new."""
    if now - life.began < 2 * MONTH:
        return
    for person in life.people.values():
        lines = [line for line in month if person.entity_id in line.entities]
        if person.first_seen > now - MONTH and (days := _days(lines, life.zone)) >= OFTEN:
            yield _of_person("new", person, days, lines)


def _matters(life: Life, month: Sequence[Line]) -> Iterator[Reflection]:
    told: dict[str, list[tuple[Line, frozenset[int]]]] = defaultdict(list)
    for line in month:
        for matter, who in line.told.spoke.items():
            told[matter].append((line, who))
    for matter, lines in told.items():
        speakers = sorted({one for _, some in lines for one in some})
        if (count := len(speakers)) >= OFTEN:
            names, said = [life.people[one].display_name for one in speakers], [line for line, _ in lines]
            yield Reflection(_key("matter", matter), "matter", matter, count, said, names=names)


def _of_person(kind: str, person: Person, days: int, lines: Sequence[Line]) -> Reflection:
    key = _key(kind, person.entity_id)
    return Reflection(key, kind, person.display_name, days, lines, person_id=person.id)  # type: ignore[arg-type]


def _days(lines: Sequence[Line], zone: ZoneInfo) -> int:
    return len({line.at.astimezone(zone).date() for line in lines})


def _key(kind: str, about: str) -> str:
    return f"{kind}-{blake2s(about.encode(), digest_size=6).hexdigest()}"
