"""Finds patterns and changes in the owner's lines. All functions are pure and count only days and people."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2s
from typing import Final
from zoneinfo import ZoneInfo

from internal.flows.reflections.model import Kind, Line, Reflection
from internal.people.model import Person

MONTH: Final = timedelta(days=30)
LOOKED_BACK: Final = 3 * MONTH
OFTEN: Final = 3
"""The least days of meeting somebody, or people who speak of a matter, that make a pattern."""
_TALKATIVE: Final = 8
"""The least lines in a month for the absence of a person from them to be significant."""


@dataclass(frozen=True, slots=True)
class Life:
    """The data in which patterns are found: lines in order of time; `began` is when the bot first knew the owner."""

    lines: Sequence[Line]
    changes: Sequence[Reflection]
    people: Mapping[int, Person]
    zone: ZoneInfo
    began: datetime


def patterns(life: Life, now: datetime) -> Iterator[Reflection]:
    """The reflections of a moment, in no order."""
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
        said = [line for line in change.sources if line.at <= now]
        if any(line.at > now - MONTH for line in said):
            yield replace(change, sources=said)


def _met(lines: Sequence[Line]) -> Mapping[int, list[Line]]:
    everybody = sorted({who for line in lines for who in line.content.met})
    return {who: [line for line in lines if who in line.content.met] for who in everybody}


def _new(life: Life, month: Sequence[Line], now: datetime) -> Iterator[Reflection]:
    """People first mentioned this month. In the bot's first months all people would be new."""
    if now - life.began < 2 * MONTH:
        return
    for person in life.people.values():
        lines = [line for line in month if person.entity_id in line.entities]
        if person.first_seen > now - MONTH and (days := _days(lines, life.zone)) >= OFTEN:
            yield _of_person("new", person, days, lines)


def _matters(life: Life, month: Sequence[Line]) -> Iterator[Reflection]:
    for matter in sorted({matter for line in month for matter in line.content.spoke}):
        said = [line for line in month if matter in line.content.spoke]
        speakers = sorted({one for line in said for one in line.content.spoke[matter]})
        names = [life.people[one].display_name for one in speakers]
        if len(names) >= OFTEN:
            yield Reflection(key_of("matter", matter), "matter", matter, len(names), said, names=names)


def _of_person(kind: Kind, person: Person, days: int, lines: Sequence[Line]) -> Reflection:
    return Reflection(key_of(kind, person.entity_id), kind, person.display_name, days, lines)


def _days(lines: Sequence[Line], zone: ZoneInfo) -> int:
    return len({line.at.astimezone(zone).date() for line in lines})


def key_of(kind: Kind, about: str) -> str:
    """The key of a reflection about something: a hash, which does not reveal it."""
    return f"{kind}-{blake2s(about.encode(), digest_size=6).hexdigest()}"
