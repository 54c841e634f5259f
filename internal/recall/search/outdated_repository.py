"""Statements that read what messages state: claims with their facts, and typed memories with what superseded them."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, and_, bindparam, literal, select

from internal.storage.chunks import rows_of
from internal.storage.forgetting import hidings
from internal.storage.tables import claims, evidence, graph_edges, graph_nodes, observations

_CLAIM: Final = "claim:"
_OBSERVATION: Final = "observation:"
CONTENT_LABELS: Final = ("Memory", "Goal", "Decision", "Question", "Preference")
"""The labels of typed memories that have content of their own and come from messages."""

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
        claims.c.invalid_at.label("stated_end"),
        graph_edges.c.invalid_at.label("ended"),
        graph_edges.c.expired_at.label("expired"),
    )
    .select_from(claims)
    .join(
        graph_edges,
        and_(
            graph_edges.c.user_id == claims.c.user_id,
            graph_edges.c.id == claims.c.edge_id,
            hidings.visible(graph_edges.c.id),
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
    .select_from(observations)
    .join(
        graph_nodes,
        and_(
            graph_nodes.c.user_id == observations.c.user_id,
            graph_nodes.c.id == observations.c.target,
            graph_nodes.c.label.in_(CONTENT_LABELS),
            hidings.visible(graph_nodes.c.id),
        ),
    )
    .outerjoin(
        graph_edges,
        and_(
            graph_edges.c.user_id == graph_nodes.c.user_id,
            graph_edges.c.target == graph_nodes.c.id,
            graph_edges.c.type == literal("SUPERSEDES"),
            hidings.visible(graph_edges.c.id),
        ),
    )
    .where(observations.c.user_id == bindparam("owner"), observations.c.id.in_(bindparam("ids", expanding=True)))
)


@dataclass(frozen=True, slots=True)
class Statements:
    """What cites one message: its claims, retracted ones too, with the end of their fact, and its typed memories
    (`target`), each with what superseded it, or None.
    """

    claims: Sequence[Row[Any]]
    memories: Sequence[Row[Any]]


def statements_of(connection: Connection, user_id: int, message_ids: Collection[str]) -> dict[str, Statements]:
    """What each of these messages states, by message id; messages that nothing cites are left out."""
    targets_of: dict[str, list[str]] = defaultdict(list)
    for row in rows_of(connection, _CITED, sorted(message_ids), owner=user_id):
        targets_of[row.message_id].append(row.target)
    claimed = _by_target(connection, user_id, _CLAIMS, _CLAIM, targets_of)
    observed = _by_target(connection, user_id, _MEMORIES, _OBSERVATION, targets_of)
    return {
        message_id: Statements(
            [row for target in targets for row in claimed.get(target, ())],
            [row for target in targets for row in observed.get(target, ())],
        )
        for message_id, targets in targets_of.items()
    }


def _by_target(
    connection: Connection, user_id: int, query: Select[Any], prefix: str, cited: Mapping[str, Sequence[str]]
) -> dict[str, list[Row[Any]]]:
    """The rows of what is cited under this prefix, by evidence target."""
    ids = {target.removeprefix(prefix) for targets in cited.values() for target in targets if target.startswith(prefix)}
    rows: dict[str, list[Row[Any]]] = defaultdict(list)
    for row in rows_of(connection, query, sorted(ids), owner=user_id):
        rows[f"{prefix}{row[0]}"].append(row)
    return rows
