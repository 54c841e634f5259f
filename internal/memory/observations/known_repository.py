"""Known nodes for an archivist: those shown under handles, and those that a proposed node may mean."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from heapq import nlargest
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select

from internal.memory.model import NAMING, RefKey
from internal.storage.chunks import CHUNK
from internal.storage.forgetting import hidings
from internal.storage.search_items import of_kind
from internal.storage.tables import graph_edges, graph_nodes, observations, search_items, vectors
from internal.storage.vectors import from_blob

Vector = NDArray[np.float32]

_ROWS: Final = 2_000
"""Vectors held at once: 24 MB at 3,072 numbers each."""

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
    """For each proposed node the stored ones of its label whose vectors are the nearest, best first, with the cosines.

    `wanted` are vectors of length 1 by `model`. Vectors of other models and sizes, and of older texts, are passed over.
    """
    best: dict[RefKey, list[tuple[float, str]]] = {}
    for label in {key.label for key in wanted}:
        keys = [key for key in wanted if key.label == label]
        matrix = np.stack([wanted[key] for key in keys])
        for ids, rows in _vectors_of(connection, user_id, label, model, matrix.shape[1]):
            for key, row in zip(keys, matrix @ rows.T, strict=True):
                best[key] = nlargest(count, [*best.get(key, ()), *zip(row.tolist(), ids, strict=True)])
    return {key: [(node_id, cosine) for cosine, node_id in found] for key, found in best.items()}


def _vectors_of(
    connection: Connection, user_id: int, label: str, model: str, dim: int
) -> Iterator[tuple[list[str], Vector]]:
    same_item = (vectors.c.user_id == search_items.c.user_id) & (vectors.c.item == search_items.c.item)
    current = (vectors.c.model == model) & (vectors.c.dim == dim) & (vectors.c.text_hash == search_items.c.text_hash)
    same_node = (graph_nodes.c.user_id == search_items.c.user_id) & (graph_nodes.c.id == search_items.c.ref_id)
    query = (
        select(search_items.c.ref_id, vectors.c.vec)
        .select_from(search_items.join(graph_nodes, same_node).join(vectors, same_item & current))
        .where(search_items.c.user_id == user_id, of_kind("node"))
        .where(graph_nodes.c.label == label, _VISIBLE)
    )
    for rows in connection.execute(query).partitions(_ROWS):
        yield [row.ref_id for row in rows], np.stack([from_blob(row.vec) for row in rows])
