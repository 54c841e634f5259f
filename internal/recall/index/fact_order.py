"""The order of facts that were found: successors before what they replaced, facts near a centre node first."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from internal.graph import traversal_repository
from internal.graph.model import EdgeFilter
from internal.knowledge import service
from internal.knowledge.model import Fact, FactFilter
from internal.knowledge.relations import FUNCTIONAL
from internal.recall.index import version_repository
from internal.recall.index.hits import FactHit, Reasons
from internal.recall.index.items import Moment

_HOPS: Final = 3
"""Maximum number of hops counted from the centre; facts farther away come last."""


def successors_first(
    connection: Connection, user_id: int, hits: Sequence[FactHit], fact_filter: FactFilter, now: datetime
) -> list[FactHit]:
    """Returns the same facts and all their successors, each successor before the fact it replaced."""
    by_id = {hit.fact.id: hit for hit in hits}
    pairs: dict[str, str] = {}
    unread = [hit.fact for hit in hits]
    while unread:
        successors = _successors(connection, user_id, unread)
        pairs |= successors
        missing = sorted(set(successors.values()) - by_id.keys())
        facts = service.facts(connection, user_id, missing, wanted=fact_filter, now=now)
        by_id |= {fact_id: FactHit(fact, -math.inf, Reasons(None, 0.0, 0.0)) for fact_id, fact in facts.items()}
        unread = list(facts.values())
    for old in sorted(pairs, key=lambda fact_id: by_id[fact_id].fact.created_at):
        new = by_id.get(pairs[old])
        if new is not None and new.score < by_id[old].score:
            by_id[new.fact.id] = _with_score_of(new, by_id[old])
    return sorted(by_id.values(), key=lambda hit: (-hit.score, hit.fact.id in pairs, -hit.fact.created_at.timestamp()))


def nearest_first(
    connection: Connection, user_id: int, hits: Sequence[FactHit], center: str, moment: Moment
) -> list[FactHit]:
    """Sorts by hops from the centre to the nearer end. Raises NotFound for an unknown centre."""
    edges = EdgeFilter(at=moment.as_of, known_at=moment.known_at, include_invalid=moment.include_invalid)
    distance_of = traversal_repository.distances(connection, user_id, center, hops=_HOPS, now=moment.now, edges=edges)

    def hops(fact: Fact) -> int | None:
        return min((distance_of[end] for end in (fact.source, fact.target) if end in distance_of), default=None)

    placed = [replace(hit, hops=hops(hit.fact)) for hit in hits]
    return sorted(placed, key=lambda hit: _HOPS + 1 if hit.hops is None else hit.hops)


def _with_score_of(successor: FactHit, old: FactHit) -> FactHit:
    """A successor with the score of the fact it replaced, and that fact's reasons if it was not found by itself."""
    reasons = successor.reasons if math.isfinite(successor.score) else old.reasons
    return replace(successor, score=old.score, reasons=reasons)


def _successors(connection: Connection, user_id: int, facts: Sequence[Fact]) -> dict[str, str]:
    """Maps each old fact to its latest version, or to the fact that now holds of the same relation."""
    latest = version_repository.latest_versions(
        connection, user_id, [fact.id for fact in facts if fact.expired_at is not None]
    )
    for fact in facts:
        if fact.id not in latest and fact.invalid_at is not None and fact.name in FUNCTIONAL:
            current = version_repository.current_facts(connection, user_id, [fact.source], [fact.name])
            current_id, _ = current.get((fact.source, fact.name), (fact.id, ""))
            if current_id != fact.id:
                latest[fact.id] = current_id
    return latest
