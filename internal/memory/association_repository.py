"""The strongest associations of several memories at once, whichever way their links lead."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from sqlalchemy import Connection, select

from internal.graph.node_repository import VISIBLE
from internal.memory.plasticity_repository import RELATES_TO
from internal.storage.tables import graph_edges, graph_nodes

_MOST: Final = 500
"""Links of one memory that are looked at: of a hub with thousands the strongest are enough."""


def associated(
    connection: Connection, user_id: int, memory_id: str, min_strength: float, without: Collection[str], limit: int
) -> list[tuple[str, float]]:
    """(memory, strength) at the other ends of a memory's links at least so strong, strongest first, each once.

    Hidden memories and links are left out, and those of `without`.
    """
    best: dict[str, float] = {}
    for here, there in (("source", "target"), ("target", "source")):
        query = (
            select(graph_edges.c[there], graph_edges.c.strength)
            .where(graph_edges.c.user_id == user_id, graph_edges.c[here] == memory_id)
            .where(graph_edges.c.type == RELATES_TO, graph_edges.c.hidden_until.is_(None))
            .where(graph_edges.c.strength >= min_strength, graph_edges.c[there].not_in(sorted(without)))
            .order_by(graph_edges.c.strength.desc(), graph_edges.c[there])
            .limit(_MOST)
        )
        for other, strength in connection.execute(query):
            best[other] = max(best.get(other, 0.0), strength)
    seen = _visible(connection, user_id, best)
    ordered = sorted((one for one in best.items() if one[0] in seen), key=lambda one: (-one[1], one[0]))
    return ordered[:limit]


def _visible(connection: Connection, user_id: int, memory_ids: Collection[str]) -> set[str]:
    wanted = graph_nodes.c.id.in_(sorted(memory_ids))
    query = select(graph_nodes.c.id).where(graph_nodes.c.user_id == user_id, wanted, VISIBLE)
    return set(connection.execute(query).scalars()) if memory_ids else set()
