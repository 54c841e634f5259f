"""Statements over the versions of facts and the facts that hold now."""

from collections.abc import Collection, Iterable
from typing import Final

from sqlalchemy import Connection, and_, bindparam, literal, select

from internal.storage.chunks import rows_of
from internal.storage.forgetting import hidings
from internal.storage.tables import facts, graph_edges

# Run for every prompt: built once, for building a statement takes longer than running it.
_NEXT: Final = select(facts.c.supersedes, facts.c.edge_id).where(
    facts.c.user_id == bindparam("owner"), facts.c.supersedes.in_(bindparam("ids", expanding=True))
)
_CURRENT: Final = (
    select(graph_edges.c.id, graph_edges.c.source, facts.c.name, graph_edges.c.target)
    .join(facts, and_(facts.c.user_id == graph_edges.c.user_id, facts.c.edge_id == graph_edges.c.id))
    .where(
        graph_edges.c.user_id == bindparam("owner"),
        graph_edges.c.source.in_(bindparam("ids", expanding=True)),
        graph_edges.c.type == literal("FACT"),
        facts.c.name.in_(bindparam("names", expanding=True)),
        graph_edges.c.invalid_at.is_(None),
        graph_edges.c.expired_at.is_(None),
        hidings.visible(graph_edges.c.id),
    )
    .order_by(graph_edges.c.valid_at.nulls_first(), graph_edges.c.id)
)


def next_versions(connection: Connection, user_id: int, fact_ids: Iterable[str]) -> dict[str, str]:
    """Maps each of these facts to its next version; facts without one are left out."""
    return {row.supersedes: row.edge_id for row in rows_of(connection, _NEXT, sorted(fact_ids), owner=user_id)}


def latest_versions(connection: Connection, user_id: int, fact_ids: Iterable[str]) -> dict[str, str]:
    """Maps each of these facts that has later versions to the last one."""
    latest: dict[str, str] = {}
    frontier = {fact_id: fact_id for fact_id in fact_ids}
    while frontier:
        following = next_versions(connection, user_id, frontier)
        latest |= {frontier[old]: new for old, new in following.items()}
        frontier = {new: frontier[old] for old, new in following.items()}
    return latest


def current_facts(
    connection: Connection, user_id: int, sources: Collection[str], names: Collection[str]
) -> dict[tuple[str, str], tuple[str, str]]:
    """The fact without an end of each source and relation, the latest of several: its id and its target."""
    return {
        (row.source, row.name): (row.id, row.target)
        for row in rows_of(connection, _CURRENT, sorted(sources), owner=user_id, names=sorted(names))
    }
