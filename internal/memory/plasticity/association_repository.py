"""Memories linked to several others in any direction, and contradictions of them."""

from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, select

from internal.graph.node_repository import VISIBLE
from internal.memory.plasticity.repository import RELATES_TO
from internal.storage.chunks import CHUNK
from internal.storage.erasure import hidings
from internal.storage.tables import graph_edges, graph_nodes


def associated(
    connection: Connection, user_id: int, memory_ids: Collection[str], min_strength: float
) -> list[tuple[str, str, float]]:
    """(one of these, a memory linked to it, strength), strongest first, for links of at least that strength.

    Hidden links are left out, and those among the given memories; what they lead to may be hidden.
    """
    wanted = sorted(set(memory_ids))[:CHUNK]
    given = {"owner": user_id, "ids": wanted}
    # Chosen by strength here: asked to, SQLite reads every strong link of the owner instead of those of the memories.
    links = [tuple(row) for query in _LINKS for row in connection.execute(query, given)]
    inside = set(wanted)
    outward = [
        (one, other, strength)
        for one, other, strength in links
        if strength is not None and strength >= min_strength and other not in inside
    ]
    return sorted(outward, key=lambda link: (-link[2], link[1], link[0]))


def conflicts_of(connection: Connection, user_id: int, memory_ids: Collection[str]) -> dict[str, str]:
    """The contradictions that nobody has settled between these memories and others, each with one of its sides."""
    found: dict[str, str] = {}
    for row in connection.execute(_CONFLICTS, {"owner": user_id, "ids": sorted(set(memory_ids))[:CHUNK]}):
        found.setdefault(row.source, row.target)
    return found


def _links(here: str, there: str) -> Select[Any]:
    edge = graph_edges.c
    return (
        select(edge[here].label("here"), edge[there].label("there"), edge.strength)
        .where(edge.user_id == bindparam("owner"), edge[here].in_(bindparam("ids", expanding=True)))
        .where(edge.type == RELATES_TO, hidings.visible(edge.id))
    )


# Asked with every question: built once, for building takes longer than running.
_LINKS: Final = (_links("source", "target"), _links("target", "source"))
_CONFLICTS: Final = (
    select(graph_edges.c.source, graph_edges.c.target)
    .select_from(graph_edges)
    .join(graph_nodes, (graph_nodes.c.user_id == graph_edges.c.user_id) & (graph_nodes.c.id == graph_edges.c.source))
    .where(graph_edges.c.user_id == bindparam("owner"), graph_edges.c.target.in_(bindparam("ids", expanding=True)))
    .where(graph_edges.c.type == "CONFLICTS_WITH", hidings.visible(graph_edges.c.id))
    .where(graph_nodes.c.status == "unresolved", VISIBLE)
    .order_by(graph_nodes.c.created_at, graph_nodes.c.id, graph_edges.c.target)
)
