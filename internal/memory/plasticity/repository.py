"""Strengths of RELATES_TO in the database, changed in sets and recorded in the change log."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    ScalarSelect,
    Select,
    and_,
    bindparam,
    case,
    delete,
    func,
    literal,
    select,
    tuple_,
    update,
)

from internal.graph.edge_repository import visible
from internal.graph.model import EDGE_CHANGE, NODE_CHANGE
from internal.graph.node_repository import VISIBLE
from internal.storage import evidence
from internal.storage.change_log import record_changes, record_selected
from internal.storage.chunks import CHUNK, chunks
from internal.storage.forgetting import hidings
from internal.storage.owner_counters import next_rev
from internal.storage.tables import graph_edges, graph_nodes, observations

RELATES_TO: Final = "RELATES_TO"

_EDGE = graph_edges.c
_SINCE = func.coalesce(_EDGE.strength_at, _EDGE.created_at).label("since")


@dataclass(frozen=True, slots=True)
class Link:
    """A stored RELATES_TO edge with its strength and the time at which that was set."""

    id: str
    strength: float
    since: datetime


def change_strength(
    connection: Connection, user_id: int, source: str, target: str, amount: float, now: datetime
) -> float | None:
    """Adds an amount, which may be negative, to the links from one memory to another, within [0, 1].

    Returns the strength of the strongest of them; None if there is no link.
    """
    between = and_(_EDGE.source == source, _EDGE.target == target, _EDGE.type == RELATES_TO, *visible())
    query = select(_EDGE.id).where(_EDGE.user_id == user_id, between)
    ids = connection.execute(query).scalars().all()
    if not ids:
        return None
    chosen = and_(_EDGE.user_id == user_id, _EDGE.id.in_(ids))
    _set_strength(connection, user_id, chosen, _bounded(_EDGE.strength + amount), now)
    strength: float = connection.execute(select(func.max(_EDGE.strength)).where(chosen)).scalar_one()
    return strength


def weaken_below(connection: Connection, user_id: int, threshold: float, amount: float, now: datetime) -> int:
    """Weakens every link below the threshold and above 0 by an amount. Returns their number."""
    weak = and_(*_visible_links(user_id), _EDGE.strength < threshold, _EDGE.strength > 0)
    return _set_strength(connection, user_id, weak, _bounded(_EDGE.strength - amount), now)


def delete_below(connection: Connection, user_id: int, min_strength: float) -> int:
    """Deletes every weaker link with its observations. Returns their number."""
    return _delete(connection, user_id, and_(*_visible_links(user_id), _EDGE.strength < min_strength))


def strongest(
    connection: Connection, user_id: int, memory_id: str, min_strength: float, limit: int | None
) -> list[tuple[str, float]]:
    """(memory, strength) at the other ends of the links that lead from a memory, strongest first."""
    query = select(_EDGE.target, _EDGE.strength).where(
        _EDGE.user_id == user_id, _EDGE.source == memory_id, _EDGE.type == RELATES_TO, *visible()
    )
    # Filtered by strength here: in the query, SQLite would read all strong links of the owner, not of the memory.
    found = [(row.target, row.strength) for row in connection.execute(query) if row.strength >= min_strength]
    return sorted(found, key=lambda one: (-one[1], one[0]))[:limit]


def touch(connection: Connection, user_id: int, node_ids: Collection[str], now: datetime) -> None:
    """Counts one access of each of these nodes that exist."""
    wanted = sorted(set(node_ids))[:CHUNK]
    there = connection.execute(_THERE, {"owner": user_id, "ids": wanted}).scalars().all()
    if there:
        rev = next_rev(connection, user_id)
        connection.execute(_TOUCH, [{"owner": user_id, "node": row, "moment": now, "new_rev": rev} for row in there])
        record_changes(connection, user_id, NODE_CHANGE, there)


def links_among(connection: Connection, user_id: int, memory_ids: Collection[str]) -> list[Link]:
    """The links that have both ends among these memories."""
    wanted = sorted(set(memory_ids))[:CHUNK]
    rows = connection.execute(_AMONG, {"owner": user_id, "ids": wanted})
    # Filtered by type here: in the query, SQLite would read all links of the owner, not those at the memories.
    found = (row for row in rows if row.type == RELATES_TO)
    return [Link(row.id, row.strength, row.since) for row in found]


def links_after(connection: Connection, user_id: int, after: Link | None, limit: int) -> list[Link]:
    """A page of all links of an owner, hidden ones too, weakest first.

    A link that decays moves down, behind the page; one that grows is read once more and is settled already.
    """
    ours = and_(_EDGE.user_id == user_id, _EDGE.type == RELATES_TO, _EDGE.strength.is_not(None))
    query = select(_EDGE.id, _EDGE.strength, _SINCE).where(ours)
    if after is not None:
        query = query.where(tuple_(_EDGE.strength, _EDGE.id) > tuple_(after.strength, after.id))
    return [Link(*row) for row in connection.execute(query.order_by(_EDGE.strength, _EDGE.id).limit(limit))]


def settle(connection: Connection, user_id: int, links: Sequence[tuple[Link, float]], now: datetime) -> int:
    """Sets the strengths of these links as of `now`, except those changed since they were read. Returns the number."""
    if not links:
        return 0
    # One revision for all: they change at one moment, and later changes still have larger ones.
    given = {"owner": user_id, "at": now, "new_rev": next_rev(connection, user_id)}
    rows = [{**given, "edge": link.id, "was": link.strength, "seen": link.since, "new": new} for link, new in links]
    changed = connection.execute(_SETTLE, rows).rowcount
    record_changes(connection, user_id, EDGE_CHANGE, [link.id for link, _ in links])
    return changed


def delete_weak(connection: Connection, user_id: int, ids: Sequence[str], min_strength: float) -> int:
    """Deletes the links among these that are weaker now, hidden ones too. Returns their number."""
    removed = 0
    for chunk in chunks(ids):
        chosen = and_(_EDGE.user_id == user_id, _EDGE.id.in_(chunk))
        now = connection.execute(select(_EDGE.id, _EDGE.strength).where(chosen)).all()
        weak = [row.id for row in now if row.strength is not None and row.strength < min_strength]
        removed += _delete(connection, user_id, and_(_EDGE.user_id == user_id, _EDGE.id.in_(weak)))
    return removed


def count_links(connection: Connection, user_id: int) -> int:
    """The number of visible links."""
    return connection.execute(
        select(func.count()).select_from(graph_edges).where(*_visible_links(user_id))
    ).scalar_one()


# Run at every answer: built once, for building a statement takes several times as long as running it.
_IDS: Final[BindParameter[Any]] = bindparam("ids", expanding=True)
_THERE: Final = select(graph_nodes.c.id).where(
    graph_nodes.c.user_id == bindparam("owner"), graph_nodes.c.id.in_(_IDS), VISIBLE
)
_TOUCH: Final = (
    update(graph_nodes)
    .where(graph_nodes.c.user_id == bindparam("owner"), graph_nodes.c.id == bindparam("node"))
    .values(access_count=graph_nodes.c.access_count + 1, last_accessed=bindparam("moment"), rev=bindparam("new_rev"))
)
_AMONG: Final = select(_EDGE.id, _EDGE.type, _EDGE.strength, _SINCE).where(
    _EDGE.user_id == bindparam("owner"), _EDGE.source.in_(_IDS), _EDGE.target.in_(_IDS)
)
_SETTLE: Final = (
    update(graph_edges)
    .where(
        _EDGE.user_id == bindparam("owner"),
        _EDGE.id == bindparam("edge"),
        _EDGE.strength == bindparam("was"),
        func.coalesce(_EDGE.strength_at, _EDGE.created_at) == bindparam("seen"),
    )
    .values(strength=bindparam("new"), strength_at=bindparam("at"), rev=bindparam("new_rev"))
)


def _visible_links(user_id: int) -> Iterator[ColumnElement[bool]]:
    """Conditions that match like the specification's statements: RELATES_TO of this owner, except hidden ones.

    Hidden memories are looked up once for the statement, not once for each edge.
    """
    yield _EDGE.user_id == user_id
    yield _EDGE.type == RELATES_TO
    yield hidings.visible(_EDGE.id)
    hidden = select(graph_nodes.c.id).where(graph_nodes.c.user_id == user_id, graph_nodes.c.label == "Memory", ~VISIBLE)
    yield _EDGE.source.not_in(hidden)
    yield _EDGE.target.not_in(hidden)


def _set_strength(
    connection: Connection, user_id: int, which: ColumnElement[bool], strength: ColumnElement[Any], now: datetime
) -> int:
    _log(connection, user_id, which, "put")
    values = {"strength": strength, "strength_at": now, "rev": next_rev(connection, user_id)}
    return connection.execute(update(graph_edges).where(which).values(values)).rowcount


def _delete(connection: Connection, user_id: int, chosen: ColumnElement[bool]) -> int:
    """Deletes the chosen edges with their observations and evidence."""
    of_edges = observations.c.target.in_(_ids(chosen))
    of_links = and_(observations.c.user_id == user_id, observations.c.kind == "edge", of_edges)
    evidence.remove_selected(connection, user_id, "observation", observations.c.id, of_links)
    connection.execute(delete(observations).where(of_links))
    _log(connection, user_id, chosen, "delete")
    return connection.execute(delete(graph_edges).where(chosen)).rowcount


def _log(connection: Connection, user_id: int, chosen: ColumnElement[bool], op: str) -> None:
    """Records changes of edges in the change log; call it before a deletion, while the edges can still be found."""
    rows = select(literal(user_id), literal(EDGE_CHANGE), _EDGE.id, literal(op)).where(chosen)
    record_selected(connection, user_id, rows)


def _ids(chosen: ColumnElement[bool]) -> Select[Any] | ScalarSelect[Any]:
    return select(_EDGE.id).where(chosen)


def _bounded(strength: ColumnElement[Any]) -> ColumnElement[Any]:
    return case((strength > 1.0, 1.0), (strength < 0.0, 0.0), else_=strength)


def associated(
    connection: Connection, user_id: int, memory_ids: Collection[str], min_strength: float
) -> list[tuple[str, str, float]]:
    """(one of these, a memory linked to it, strength), strongest first, for links of at least that strength.

    Hidden links and links among the given memories are left out; the linked memories may be hidden.
    """
    wanted = sorted(set(memory_ids))[:CHUNK]
    given = {"owner": user_id, "ids": wanted}
    # Filtered by strength here: in the query, SQLite would read all strong links of the owner, not of the memories.
    links = [tuple(row) for query in _LINKS for row in connection.execute(query, given)]
    inside = set(wanted)
    outward = [
        (one, other, strength)
        for one, other, strength in links
        if strength is not None and strength >= min_strength and other not in inside
    ]
    return sorted(outward, key=lambda link: (-link[2], link[1], link[0]))


def conflicts_of(connection: Connection, user_id: int, memory_ids: Collection[str]) -> dict[str, str]:
    """The unsettled contradictions between these memories and others, each with one of its sides."""
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
