"""Queries for memories that were not used for long, and for those that are the only record of something."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Exists, Select, and_, exists, func, literal, or_, select

from internal.graph.node_repository import VISIBLE
from internal.memory.plasticity.repository import RELATES_TO
from internal.storage.chunks import chunks
from internal.storage.forgetting import hidings
from internal.storage.tables import evidence, graph_edges, graph_nodes, observations

THINGS: Final = ("Decision", "Goal", "Question", "Preference", "Entity", "TemporalMarker")
"""Labels whose last record is kept. Concepts, keywords, topics, contexts and sources only sort memories."""


@dataclass(frozen=True, slots=True)
class Unused:
    """An unused memory with the values from which its retention is computed."""

    id: str
    summary: str
    created: datetime
    last_accessed: datetime | None
    access_count: int
    confidence: float


def unused_since(connection: Connection, user_id: int, before: datetime) -> Iterator[Unused]:
    """Visible memories that were stored and last used before a moment."""
    node = graph_nodes.c
    # Two comparisons instead of the later of both times, which would need a function.
    long_ago = and_(node.created_at < before, or_(node.last_accessed.is_(None), node.last_accessed < before))
    query = select(node.id, node.props, node.created_at, node.last_accessed, node.access_count).where(
        node.user_id == user_id, node.label == "Memory", VISIBLE, long_ago
    )
    for row in connection.execute(query):
        properties = row.props
        yield Unused(
            row.id,
            properties["summary"],
            row.created_at,
            row.last_accessed,
            row.access_count,
            properties.get("confidence", 1.0),
        )


def only_records(connection: Connection, user_id: int, memory_ids: Collection[str]) -> set[str]:
    """The memories among these that are the only record of something.

    That is: no other memory is linked to a thing of it and no fact is about that thing, or it is part of an open
    contradiction, or none of its lines is stored and no other memory shares a link with it.
    """
    found: set[str] = set()
    for ids in chunks(sorted(set(memory_ids))):
        for query in (_alone(user_id, ids), _in_conflict(user_id, ids), _unsupported(user_id, ids)):
            found |= set(connection.execute(query).scalars())
    return found


def count_memories(connection: Connection, user_id: int) -> int:
    query = select(func.count()).select_from(graph_nodes)
    return connection.execute(query.where(graph_nodes.c.user_id == user_id, _IS_MEMORY)).scalar_one()


_IS_MEMORY: Final = and_(graph_nodes.c.label == "Memory", VISIBLE)


def _alone(user_id: int, ids: Sequence[str]) -> Select[Any]:
    """Memories linked to a thing that has no other link or fact."""
    edge, thing = graph_edges.alias("edge"), graph_nodes.alias("thing")
    fact = graph_edges.alias("fact")
    facts = [
        exists().where(
            fact.c.user_id == user_id, fact.c[end] == thing.c.id, fact.c.type == "FACT", fact.c.expired_at.is_(None)
        )
        for end in ("source", "target")
    ]
    return (
        select(edge.c.source)
        .join_from(edge, thing, and_(thing.c.user_id == user_id, thing.c.id == edge.c.target))
        .where(edge.c.user_id == user_id, edge.c.source.in_(ids), thing.c.label.in_(THINGS))
        .where(hidings.visible(thing.c.id), ~_derived_from_another(user_id, edge), *(~fact for fact in facts))
        .distinct()
    )


def _in_conflict(user_id: int, ids: Sequence[str]) -> Select[Any]:
    edge, conflict = graph_edges.alias("edge"), graph_nodes.alias("conflict")
    return (
        select(edge.c.target)
        .join_from(edge, conflict, and_(conflict.c.user_id == user_id, conflict.c.id == edge.c.source))
        .where(edge.c.user_id == user_id, edge.c.target.in_(ids), edge.c.type == "CONFLICTS_WITH")
        .where(conflict.c.status == "unresolved")
        .distinct()
    )


def _unsupported(user_id: int, ids: Sequence[str]) -> Select[Any]:
    """Memories without a stored line that share nothing with another memory."""
    memory = graph_nodes.alias("memory")
    line = (
        exists()
        .where(observations.c.user_id == user_id, observations.c.target == memory.c.id)
        .where(evidence.c.user_id == user_id, evidence.c.target == literal("observation:") + observations.c.id)
    )
    edge = graph_edges.alias("edge")
    shared = exists().where(
        edge.c.user_id == user_id, edge.c.source == memory.c.id, _derived_from_another(user_id, edge)
    )
    # One search for each end: with OR, SQLite would read every link of the owner for each memory.
    linked = [
        exists().where(edge.c.user_id == user_id, edge.c[end] == memory.c.id, edge.c.type == RELATES_TO)
        for end in ("source", "target")
    ]
    alone = (~line, ~shared, *(~one for one in linked))
    return select(memory.c.id).where(memory.c.user_id == user_id, memory.c.id.in_(ids), *alone)


def _derived_from_another(user_id: int, edge: Any) -> Exists:
    """Whether another visible memory is linked to the target of an edge in the same way."""
    other, memory = graph_edges.alias("other"), graph_nodes.alias("other_memory")
    is_memory: ColumnElement[bool] = and_(
        memory.c.user_id == user_id,
        memory.c.id == other.c.source,
        memory.c.label == "Memory",
        memory.c.merged_into.is_(None),
        hidings.visible(memory.c.id),
    )
    return exists().where(
        other.c.user_id == user_id,
        other.c.target == edge.c.target,
        other.c.type == edge.c.type,
        other.c.source != edge.c.source,
        is_memory,
    )
