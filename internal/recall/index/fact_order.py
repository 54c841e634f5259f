"""The order of facts that were found: what took a fact's place before it, what is near a centre before what is far."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from internal.graph import traversal
from internal.graph.model import EdgeFilter
from internal.knowledge import service
from internal.knowledge.model import Fact, FactFilter
from internal.knowledge.relations import FUNCTIONAL
from internal.recall.index import item_repository
from internal.recall.index.hits import FactHit, Reasons
from internal.recall.index.items import Moment

_HOPS: Final = 3
"""How far from the centre hops are counted; whatever is farther comes last."""


def successors_first(
    connection: Connection, user_id: int, hits: Sequence[FactHit], wanted: FactFilter, now: datetime
) -> list[FactHit]:
    """The same facts and whatever took the place of one of them, each of those before what it replaced."""
    by_id = {hit.fact.id: hit for hit in hits}
    pairs: dict[str, str] = {}
    fresh = [hit.fact for hit in hits]
    while fresh:
        found = _successors(connection, user_id, fresh)
        pairs |= found
        missing = sorted(set(found.values()) - by_id.keys())
        facts = service.facts(connection, user_id, missing, wanted=wanted, now=now)
        by_id |= {fact_id: FactHit(fact, -math.inf, Reasons(None, 0.0, 0.0)) for fact_id, fact in facts.items()}
        fresh = list(facts.values())
    for old in sorted(pairs, key=lambda one: by_id[one].fact.created_at):
        new = by_id.get(pairs[old])
        if new is not None and new.score < by_id[old].score:
            by_id[new.fact.id] = _raised(new, by_id[old])
    return sorted(by_id.values(), key=lambda hit: (-hit.score, hit.fact.id in pairs, -hit.fact.created_at.timestamp()))


def nearest_first(
    connection: Connection, user_id: int, hits: Sequence[FactHit], center: str, moment: Moment
) -> list[FactHit]:
    """By hops from the centre to the nearer end, then as they were. NotFound for an unknown centre."""
    edges = EdgeFilter(at=moment.as_of, known_at=moment.known_at, include_invalid=moment.include_invalid)
    away = traversal.distances(connection, user_id, center, hops=_HOPS, now=moment.now, edges=edges)

    def hops(fact: Fact) -> int | None:
        return min((away[end] for end in (fact.source, fact.target) if end in away), default=None)

    placed = [replace(hit, hops=hops(hit.fact)) for hit in hits]
    return sorted(placed, key=lambda hit: _HOPS + 1 if hit.hops is None else hit.hops)


def _raised(new: FactHit, old: FactHit) -> FactHit:
    """A successor with the score of what it replaced, and its reasons if it was not found by itself."""
    reasons = new.reasons if math.isfinite(new.score) else old.reasons
    return replace(new, score=old.score, reasons=reasons)


def _successors(connection: Connection, user_id: int, facts: Sequence[Fact]) -> dict[str, str]:
    """Old fact -> what stands in its place: its latest version, or what holds of the same relation now."""
    latest = _latest_versions(connection, user_id, [fact.id for fact in facts if fact.expired_at is not None])
    for fact in facts:
        if fact.id not in latest and fact.invalid_at is not None and fact.name in FUNCTIONAL:
            standing = item_repository.standing_of(connection, user_id, fact.source, fact.name)
            if standing and standing[-1] != fact.id:
                latest[fact.id] = standing[-1]
    return latest


def _latest_versions(connection: Connection, user_id: int, fact_ids: Sequence[str]) -> dict[str, str]:
    latest: dict[str, str] = {}
    frontier = {fact_id: fact_id for fact_id in fact_ids}
    while frontier:
        following = item_repository.versions_after(connection, user_id, list(frontier))
        latest |= {frontier[old]: new for old, new in following.items()}
        frontier = {new: frontier[old] for old, new in following.items()}
    return latest
