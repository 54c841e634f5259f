"""What messages told, as it stands in the database now: claims with their facts, typed memories with their winners."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, and_, bindparam, literal, select

from internal.storage.chunks import chunks
from internal.storage.tables import claims, evidence, facts, graph_edges, graph_nodes, observations

_CLAIM: Final = "claim:"
_OBSERVATION: Final = "observation:"
SAYING: Final = ("Memory", "Goal", "Decision", "Question", "Preference")
"""The labels of typed memories that say something by themselves and come from what somebody said."""

# Run for every prompt: built once, for building a statement takes longer than running it.
_CITED: Final = select(evidence.c.message_id, evidence.c.target).where(
    evidence.c.user_id == bindparam("owner"), evidence.c.message_id.in_(bindparam("ids", expanding=True))
)
_CLAIMS: Final = (
    select(
        claims.c.id,
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
    .join(
        graph_edges,
        and_(
            graph_edges.c.user_id == claims.c.user_id,
            graph_edges.c.id == claims.c.edge_id,
            graph_edges.c.hidden_until.is_(None),
        ),
    )
    .where(claims.c.user_id == bindparam("owner"), claims.c.id.in_(bindparam("ids", expanding=True)))
)
_MEMORIES: Final = (
    select(
        observations.c.id,
        observations.c.target,
        graph_edges.c.source.label("winner"),
        graph_edges.c.created_at.label("since"),
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
    .where(observations.c.user_id == bindparam("owner"), observations.c.id.in_(bindparam("ids", expanding=True)))
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


@dataclass(frozen=True, slots=True)
class Told:
    """What one message told: every claim that cites it, retracted ones too, with the end of the fact that it supports,
    and the typed memories (`target`) that cite it, each with what superseded it, or None."""

    claims: Sequence[Row[Any]]
    memories: Sequence[Row[Any]]


def told(connection: Connection, user_id: int, message_ids: Collection[str]) -> dict[str, Told]:
    """What each of these messages told, by its id; those that nothing cites are left out."""
    cited: dict[str, list[str]] = defaultdict(list)
    for row in _rows(connection, user_id, _CITED, message_ids):
        cited[row.message_id].append(row.target)
    claimed = _by_target(connection, user_id, _CLAIMS, _CLAIM, cited)
    observed = _by_target(connection, user_id, _MEMORIES, _OBSERVATION, cited)
    return {
        message_id: Told(
            [row for target in targets for row in claimed.get(target, ())],
            [row for target in targets for row in observed.get(target, ())],
        )
        for message_id, targets in cited.items()
    }


def _by_target(
    connection: Connection, user_id: int, query: Select[Any], prefix: str, cited: Mapping[str, Sequence[str]]
) -> dict[str, list[Row[Any]]]:
    """The rows of what is cited under this prefix, by the name under which it is."""
    ids = {one.removeprefix(prefix) for targets in cited.values() for one in targets if one.startswith(prefix)}
    found: dict[str, list[Row[Any]]] = defaultdict(list)
    for row in _rows(connection, user_id, query, ids):
        found[f"{prefix}{row[0]}"].append(row)
    return found


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
    for part in chunks(sorted(ids)):
        yield from connection.execute(query, {"owner": user_id, "ids": part, **more}).all()
