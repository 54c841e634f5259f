"""Reads ranked candidates from the store; what was removed or hidden meanwhile is left out."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from internal.graph import store
from internal.knowledge import episode_repository as episodes, service
from internal.knowledge.model import FactFilter
from internal.recall.index.fact_order import nearest_first, successors_first
from internal.recall.index.hits import EpisodeHit, FactHit, NodeHit
from internal.recall.index.items import Moment
from internal.recall.index.ranking import IndexCandidate
from internal.storage import search_items


@dataclass(frozen=True, slots=True)
class FactRequest:
    """Which facts to read: `fact_filter` for the store, `moment` for the ranking, `centre` a node id."""

    fact_filter: FactFilter
    moment: Moment
    centre: str | None = None


def read_facts(
    connection: Connection, user_id: int, candidates: Sequence[IndexCandidate], request: FactRequest
) -> list[FactHit]:
    """Reads these facts, best first, those nearest to the centre first. Raises NotFound for an unknown centre."""
    now = request.moment.now
    facts = service.facts(
        connection, user_id, [candidate.id for candidate in candidates], wanted=request.fact_filter, now=now
    )
    all_hits = [
        FactHit(facts[candidate.id], candidate.score, candidate.reasons)
        for candidate in candidates
        if candidate.id in facts
    ]
    # Of several versions that were found only the one that was known then is kept.
    hits = list({hit.fact.id: hit for hit in reversed(all_hits)}.values())[::-1]
    if request.moment.include_invalid:
        hits = successors_first(connection, user_id, hits, request.fact_filter, now)
    if request.centre is not None:
        hits = nearest_first(connection, user_id, hits, request.centre, request.moment)
    return hits


def read_nodes(connection: Connection, user_id: int, candidates: Sequence[IndexCandidate]) -> list[NodeHit]:
    """Reads these nodes, best first."""
    nodes = store.nodes_by_ids(connection, user_id, [candidate.id for candidate in candidates])
    return [
        NodeHit(nodes[candidate.id], candidate.score, candidate.reasons)
        for candidate in candidates
        if candidate.id in nodes
    ]


def read_episodes(connection: Connection, user_id: int, candidates: Sequence[IndexCandidate]) -> list[EpisodeHit]:
    """Reads these episodes, best first, of a document each passage that was found."""
    if not candidates:
        return []
    parts = [search_items.passage_in(candidate.id) for candidate in candidates]
    episodes_by_id = episodes.episodes_by_ids(connection, user_id, {episode_id for episode_id, _ in parts})
    return [
        EpisodeHit(episodes_by_id[episode_id], candidate.score, candidate.reasons, passage)
        for candidate, (episode_id, passage) in zip(candidates, parts, strict=True)
        if episode_id in episodes_by_id
    ]
