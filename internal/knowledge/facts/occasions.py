"""Occasions: facts whose target is a day that comes back or that somebody looks forward to (`BORN_ON`, `WEDDING_ON`).

They have receipts, corrections, audiences, merges and forgetting like all facts. The day is read from the
attributes `date` (`06-05`) and `year`, else from the name of the target, in any form.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final

from sqlalchemy import Connection

from internal.errors import Refused
from internal.graph import store
from internal.knowledge import fact_repository
from internal.knowledge.claims.changes import ClaimLine, NewClaim, RecordOutcome
from internal.knowledge.claims.record import cite_node, record_claims
from internal.knowledge.facts.read import filled
from internal.knowledge.model import FactFilter, ProposedFact, SetBy
from internal.knowledge.relations import relation_name
from internal.language.dates.parse import resolve_plainly
from internal.language.facts.occasion_names import KINDS, day_attributes, day_words

YEARLY: Final = frozenset({"birthday", "name_day", "anniversary", "memorial"})
"""Kinds that recur every year; a wedding recurs as its anniversary."""

_KIND_OF: Final = {relation: kind for kind, relation in KINDS.items()}
_DIED: Final = "DIED_ON"
_MONTH_DAY: Final = re.compile(r"-{0,2}(\d\d)-?(\d\d)")
_YEAR: Final = re.compile(r"(?<!\d)(\d{4})(?!\d)")
_LEAP_YEAR: Final = 2000


@dataclass(frozen=True, slots=True)
class Occasion:
    """An important day of the node `node_id` with the name `name`, which may be the owner's. `fact_id` is its source.

    `year` is that of the beginning (birth, wedding), None if unknown.
    """

    fact_id: str
    node_id: str
    name: str
    kind: str
    month: int
    day: int
    year: int | None
    text: str
    said_at: datetime

    def falls_on(self, begin: date, end: date) -> Iterator[tuple[str, date]]:
        """The kind and day of each time it comes between two days, both included.

        The 29th of February falls on the 28th in other years. A day that comes once keeps its year, or the first
        after it was said; the years after a wedding are its anniversaries.
        """
        for year in range(begin.year, end.year + 1):
            found = day_of(year, self.month, self.day)
            if not begin <= found <= end:
                continue
            if self.kind in YEARLY:
                if self.year is None or year > self.year:
                    yield self.kind, found
            elif year == self._once():
                yield self.kind, found
            elif self.kind == "wedding" and year > self._once():
                yield "anniversary", found

    def years(self, on: date) -> int | None:
        """The number of years from its beginning to this day; None if unknown."""
        begun = self.year if self.kind in YEARLY else self._once() if self.kind == "wedding" else None
        return on.year - begun if begun is not None and on.year > begun else None

    def _once(self) -> int:
        said = self.said_at.date()
        return self.year or said.year + (day_of(said.year, self.month, self.day) < said)


def day_of(year: int, month: int, day: int) -> date:
    """The date of a day in a year; the 28th of February for the 29th in a year without it."""
    try:
        return date(year, month, day)
    except ValueError:
        return date(year, month, day - 1)


def of_owner(connection: Connection, user_id: int, *, now: datetime, node_id: str | None = None) -> list[Occasion]:
    """Every occasion of an owner, or of one node; birthdays of the dead are left out."""
    wanted = FactFilter(node_id=node_id, relations=[*_KIND_OF, _DIED])
    versions = fact_repository.listing(connection, user_id, wanted, now=now, limit=None)
    facts = filled(connection, user_id, versions)
    dead = {fact.source for fact in facts if fact.name == _DIED}
    found = []
    for fact in facts:
        kind = _KIND_OF.get(fact.name)
        dated = read_day(fact.target_name, fact.attributes, fact.created_at) if kind else None
        if kind and dated and not (fact.source in dead and kind != "memorial"):
            said = fact.valid_at or fact.created_at
            one = Occasion(fact.id, fact.source, fact.source_name, kind, *dated, text=fact.fact, said_at=said)
            found.append(one)
    return found


def read_day(name: str, attributes: Mapping[str, object], at: datetime) -> tuple[int, int, int | None] | None:
    """(month, day, year or None) of a target; None if no day is named."""
    year = attributes.get("year")
    match = _MONTH_DAY.fullmatch(str(attributes.get("date") or name).strip())
    if match:
        month, day = int(match[1]), int(match[2])
    else:
        dated = resolve_plainly(name, at)
        if dated is None or dated.precision != "day":
            return None
        month, day = dated.moment.month, dated.moment.day
        named = _YEAR.search(name)
        year = year or (named and named[1])
    try:
        date(_LEAP_YEAR, month, day)
        return month, day, int(str(year)) if year else None
    except ValueError:
        return None


def add_occasion(
    connection: Connection,
    user_id: int,
    node_id: str,
    kind: str,
    month: int,
    day: int,
    year: int | None = None,
    *,
    text: str,
    now: datetime,
    language: str = "en",
    set_by: SetBy = "owner",
    episode_id: str | None = None,
    lines: Sequence[ClaimLine] = (),
) -> RecordOutcome:
    """Records an occasion of a node, such as `person.entity_id`, as a fact with the words `text`.

    Other sources than the owner need the episode and its supporting lines. An owner's correction stands against
    later imports. Raises Refused("occasion") for an unknown kind or a day that no year has.
    """
    if kind not in KINDS:
        raise Refused("occasion", f"kind: one of {', '.join(KINDS)} is expected")
    try:
        date(year if year and (month, day) != (2, 29) else _LEAP_YEAR, month, day)
    except ValueError:
        raise Refused("occasion", f"there is no day {month}-{day}") from None
    words = day_words(month, day, language)
    called = [one for one in store.nodes_called(connection, user_id, [words]) if one.subtype != "person"]
    target = called[0] if called else store.add_node(
        connection, user_id, "Entity", {"name": words, "type": "concept"}, now=now
    )  # fmt: skip
    if episode_id is not None:
        segments = {line.segment: line.message_id for line in lines}
        cite_node(connection, user_id, target.id, episode_id, segments, operation="referenced")
    claim = NewClaim(
        source=node_id,
        relation=KINDS[kind],
        target=target.id,
        fact=text,
        said_at=now,
        valid_at=now,
        attributes=day_attributes(month, day, year),
        episode_id=episode_id,
        lines=lines,
        set_by=set_by,
    )
    source = f"user:{user_id}" if set_by == "owner" else "system:occasions"
    return record_claims(connection, user_id, [claim], now=now, source=source)


def with_days(facts: Iterable[ProposedFact], at: datetime, language: str) -> tuple[ProposedFact, ...]:
    """Proposed facts with the days of occasions in one form, so that "5 June 1990" and 1990-06-05 are equal."""
    return tuple(_with_day(fact, at, language) for fact in facts)


def _with_day(fact: ProposedFact, at: datetime, language: str) -> ProposedFact:
    dated = read_day(fact.target, fact.attributes, at) if relation_name(fact.relation) in _KIND_OF else None
    if dated is None:
        return fact
    return replace(
        fact, target=day_words(*dated[:2], language), attributes={**fact.attributes, **day_attributes(*dated)}
    )
