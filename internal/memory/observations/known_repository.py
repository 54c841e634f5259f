"""Known nodes for an archivist: those shown under handles, and those that a proposed node may mean."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, func, select

from internal.memory.model import NAMING, RefKey
from internal.storage.chunks import CHUNK
from internal.storage.forgetting import hidings
from internal.storage.search_items import of_kind
from internal.storage.tables import graph_edges, graph_nodes, observations, search_items
from internal.storage.vectors import Vector, nearest

_VISIBLE: Final = graph_nodes.c.merged_into.is_(None) & hidings.visible(graph_nodes.c.id)


@dataclass(frozen=True, slots=True)
class KnownNode:
    """A stored node with its identifying `words`; `at` is its date, else when it was stored."""

    node_id: str
    label: str
    words: str
    at: datetime
    summary: str = ""
    status: str | None = None
    subtype: str | None = None


def known_nodes(
    connection: Connection,
    user_id: int,
    labels: Collection[str],
    *,
    status: str | None = None,
    limit: int | None = None,
) -> list[KnownNode]:
    """Visible nodes of these labels, the newest first; 10,000 take 0.2 s."""
    columns = ("id", "label", "status", "subtype", "at", "said_at", "created_at", "props")
    query = select(*(graph_nodes.c[name] for name in columns)).where(
        graph_nodes.c.user_id == user_id, graph_nodes.c.label.in_(sorted(labels)), _VISIBLE
    )
    said = func.coalesce(graph_nodes.c.said_at, graph_nodes.c.created_at)
    newest = query.order_by(said.desc(), graph_nodes.c.id.desc()).limit(limit)
    return [
        KnownNode(
            node_id=row.id,
            label=row.label,
            words=str(row.props.get(NAMING[row.label], "")),
            at=(row.at if row.label == "Decision" else None) or row.said_at or row.created_at,
            summary=str(row.props.get("summary", "")),
            status=row.status,
            subtype=row.subtype,
        )
        for row in connection.execute(newest)
    ]


def derived_only_from(connection: Connection, user_id: int, episode_id: str) -> set[str]:
    """The ids of the nodes that only this episode observed."""
    one = observations.c
    ours = (one.user_id == user_id) & (one.kind == "node")
    supported_here = select(one.target).where(ours, one.episode_id == episode_id)
    others = select(one.target).where(ours, one.episode_id.is_(None) | (one.episode_id != episode_id))
    return set(connection.execute(supported_here.where(one.target.not_in(others))).scalars())


def conflicting(connection: Connection, user_id: int, contradictions: Collection[str]) -> set[str]:
    """The ids of the memories in these contradictions."""
    edge = graph_edges.c
    wanted = edge.source.in_(sorted(contradictions)[:CHUNK])
    query = select(edge.target).where(edge.user_id == user_id, edge.type == "CONFLICTS_WITH", wanted)
    return set(connection.execute(query).scalars())


def nearest_nodes(
    connection: Connection, user_id: int, model: str, wanted: Mapping[RefKey, Vector], *, count: int
) -> dict[RefKey, list[tuple[str, float]]]:
    """The stored nodes nearest to each proposed node of the same label, best first, with the cosines.

    `wanted` are vectors of length 1 by `model`.
    """
    found: dict[RefKey, list[tuple[str, float]]] = {}
    same_node = (graph_nodes.c.user_id == search_items.c.user_id) & (graph_nodes.c.id == search_items.c.ref_id)
    for label in {key.label for key in wanted}:
        of_label = {key: vector for key, vector in wanted.items() if key.label == label}
        visible = same_node & (graph_nodes.c.label == label) & _VISIBLE
        found |= nearest(connection, user_id, model, of_label, of_kind("node"), visible, count=count)
    return found
