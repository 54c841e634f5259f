"""What messages told, as it stands in the database now: claims with their facts, typed memories with their winners."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, and_, bindparam, func, literal, select

from internal.storage.tables import claims, evidence, facts, graph_edges, graph_nodes, observations

_CHUNK: Final = 500
_CLAIM: Final = "claim:"
_OBSERVATION: Final = "observation:"
SAYING: Final = ("Memory", "Goal", "Decision", "Question", "Preference")
"""The labels of typed memories that say something by themselves and come from what somebody said."""

# Run for every prompt: built once, for building a statement takes longer than running it.
_CITED: Final = and_(
    evidence.c.user_id == bindparam("owner"), evidence.c.message_id.in_(bindparam("ids", expanding=True))
)
_CLAIMS: Final = (
    select(
        evidence.c.message_id,
        claims.c.edge_id,
        claims.c.source,
        claims.c.name,
        claims.c.target,
        claims.c.statement,
        claims.c.set_by,
        claims.c.retracted_at,
        claims.c.invalid_at.label("told_end"),
        graph_edges.c.invalid_at.label("ended"),
        graph_edges.c.expired_at.label("expired"),
    )
    .select_from(evidence)
    .join(
        claims,
        and_(claims.c.user_id == evidence.c.user_id, claims.c.id == func.substr(evidence.c.target, len(_CLAIM) + 1)),
    )
    .join(
        graph_edges,
        and_(
            graph_edges.c.user_id == claims.c.user_id,
            graph_edges.c.id == claims.c.edge_id,
            graph_edges.c.hidden_until.is_(None),
        ),
    )
    .where(_CITED, evidence.c.target.startswith(_CLAIM))
)
_MEMORIES: Final = (
    select(
        evidence.c.message_id,
        observations.c.target,
        graph_edges.c.source.label("winner"),
        graph_edges.c.created_at.label("since"),
    )
    .select_from(evidence)
    .join(
        observations,
        and_(
            observations.c.user_id == evidence.c.user_id,
            observations.c.id == func.substr(evidence.c.target, len(_OBSERVATION) + 1),
        ),
    )
    .join(
        graph_nodes,
        and_(
            graph_nodes.c.user_id == observations.c.user_id,
            graph_nodes.c.id == observations.c.target,
            graph_nodes.c.label.in_(SAYING),
            graph_nodes.c.hidden_until.is_(None),
        ),
    )
    .outerjoin(
        graph_edges,
        and_(
            graph_edges.c.user_id == graph_nodes.c.user_id,
            graph_edges.c.target == graph_nodes.c.id,
            graph_edges.c.type == literal("SUPERSEDES"),
            graph_edges.c.hidden_until.is_(None),
        ),
    )
    .where(_CITED, evidence.c.target.startswith(_OBSERVATION))
)
_NEXT: Final = select(facts.c.supersedes, facts.c.edge_id).where(
    facts.c.user_id == bindparam("owner"), facts.c.supersedes.in_(bindparam("ids", expanding=True))
)
_HOLDING: Final = (
    select(graph_edges.c.id, graph_edges.c.source, facts.c.name, graph_edges.c.target)
    .join(facts, and_(facts.c.user_id == graph_edges.c.user_id, facts.c.edge_id == graph_edges.c.id))
    .where(
        graph_edges.c.user_id == bindparam("owner"),
        graph_edges.c.source.in_(bindparam("ids", expanding=True)),
        graph_edges.c.type == literal("FACT"),
        facts.c.name.in_(bindparam("names", expanding=True)),
        graph_edges.c.invalid_at.is_(None),
        graph_edges.c.expired_at.is_(None),
        graph_edges.c.hidden_until.is_(None),
    )
    .order_by(graph_edges.c.valid_at.nulls_first(), graph_edges.c.id)
)


def claims_told(connection: Connection, user_id: int, message_ids: Collection[str]) -> Iterator[Row[Any]]:
    """Every claim that cites one of these messages, retracted ones too, with the end of the fact that it supports."""
    return _rows(connection, user_id, _CLAIMS, message_ids)


def memories_told(connection: Connection, user_id: int, message_ids: Collection[str]) -> Iterator[Row[Any]]:
    """The typed memories (`target`) that cite one of these messages, each with what superseded it, or None."""
    return _rows(connection, user_id, _MEMORIES, message_ids)


def next_versions(connection: Connection, user_id: int, fact_ids: Collection[str]) -> dict[str, str]:
    """The next version of each of these facts that has one."""
    return {row.supersedes: row.edge_id for row in _rows(connection, user_id, _NEXT, fact_ids)}


def holding(
    connection: Connection, user_id: int, sources: Collection[str], names: Collection[str]
) -> Mapping[tuple[str, str], tuple[str, str]]:
    """By source and relation the fact that has no end, the latest of several: its id and its target."""
    rows = _rows(connection, user_id, _HOLDING, sources, names=sorted(names))
    return {(row.source, row.name): (row.id, row.target) for row in rows}


def _rows(
    connection: Connection, user_id: int, query: Select[Any], ids: Collection[str], **more: Any
) -> Iterator[Row[Any]]:
    for part in _chunks(sorted(ids)):
        yield from connection.execute(query, {"owner": user_id, "ids": part, **more})


def _chunks(values: Sequence[str]) -> Iterable[Sequence[str]]:
    return (values[start : start + _CHUNK] for start in range(0, len(values), _CHUNK))
