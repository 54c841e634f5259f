"""What a ranking in memory found, as it stands in the store: what is gone or hidden meanwhile is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from internal.graph import store
from internal.knowledge import episode_repository as episodes
from internal.knowledge import service
from internal.knowledge.model import FactFilter
from internal.recall.index.fact_order import nearest_first, successors_first
from internal.recall.index.hits import EpisodeHit, FactHit, NodeHit
from internal.recall.index.items import Moment
from internal.recall.index.ranking import Candidate


@dataclass(frozen=True, slots=True)
class FactsWanted:
    """Which facts are to be read: `fitting` says it to the store, `moment` to the ranking. `centre` is a node."""

    fitting: FactFilter
    moment: Moment
    centre: str | None = None


def facts_of(
    connection: Connection, user_id: int, candidates: Sequence[Candidate], wanted: FactsWanted
) -> list[FactHit]:
    """These facts, best first, those nearest to the centre before all others. NotFound for an unknown centre."""
    now = wanted.moment.now
    facts = service.facts(connection, user_id, [one.id for one in candidates], wanted=wanted.fitting, now=now)
    found = [FactHit(facts[one.id], one.score, one.reasons) for one in candidates if one.id in facts]
    # Of several versions that were found the one that was known then stands for all.
    hits = list({hit.fact.id: hit for hit in reversed(found)}.values())[::-1]
    if wanted.moment.include_invalid:
        hits = successors_first(connection, user_id, hits, wanted.fitting, now)
    if wanted.centre is not None:
        hits = nearest_first(connection, user_id, hits, wanted.centre, wanted.moment)
    return hits


def nodes_of(connection: Connection, user_id: int, candidates: Sequence[Candidate]) -> list[NodeHit]:
    """These nodes, best first."""
    nodes = store.nodes_by_ids(connection, user_id, [one.id for one in candidates])
    return [NodeHit(nodes[one.id], one.score, one.reasons) for one in candidates if one.id in nodes]


def episodes_of(connection: Connection, user_id: int, candidates: Sequence[Candidate]) -> list[EpisodeHit]:
    """These episodes, best first."""
    if not candidates:
        return []
    found = episodes.episodes_by_ids(connection, user_id, [one.id for one in candidates])
    return [EpisodeHit(found[one.id], one.score, one.reasons) for one in candidates if one.id in found]
