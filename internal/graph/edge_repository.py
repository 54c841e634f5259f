"""Edges in the database, written through the registry and recorded in the change log."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from typing import Any, Final, Literal

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    and_,
    bindparam,
    delete,
    exists,
    insert,
    or_,
    select,
    union_all,
    update,
)

from internal.errors import Refused, expect_found
from internal.graph import registry
from internal.graph.model import CURRENT_EDGES, EDGE_CHANGE, Edge, EdgeFilter, Node
from internal.graph.node_repository import VISIBLE, get_node, resolve_node
from internal.storage import search_items
from internal.storage.change_log import record_change
from internal.storage.engine.row_policies import across_owners
from internal.storage.forgetting import hidings
from internal.storage.owner_counters import next_rev
from internal.storage.rows import owner_lookup, read_one, reader
from internal.storage.tables import facts, graph_edges, graph_nodes
from internal.storage.types import new_id

EdgeTime = Literal["valid_at", "invalid_at", "expired_at"]

FACT_ITEM: Final = "fact"
"""The kind of search item that a fact's edge has."""

_HIDDEN_END: Final = exists().where(
    graph_nodes.c.user_id == graph_edges.c.user_id,
    graph_nodes.c.id.in_((graph_edges.c.source, graph_edges.c.target)),
    ~VISIBLE,
)


def add_edge(
    connection: Connection,
    user_id: int,
    type: str,
    source_id: str,
    target_id: str,
    properties: Mapping[str, Any],
    *,
    now: datetime,
    edge_id: str | None = None,
    valid_at: datetime | None = None,
    invalid_at: datetime | None = None,
    run_id: str | None = None,
    zone: tzinfo = UTC,
) -> Edge:
    """Stores a checked edge between two visible nodes of this owner; ends that were merged away are followed.

    Raises NotFound for a missing end, Refused like `registry.check_edge`, and also "self_loop" and "id_taken".
    """
    source, target = (_end_node(connection, user_id, end) for end in (source_id, target_id))
    checked = registry.check_edge(type, source.label, target.label, properties, zone=zone)
    if source.id == target.id:
        raise Refused("self_loop", f"{type}: a node cannot be linked to itself")
    if edge_id is not None and _is_taken(connection, edge_id):
        raise Refused("id_taken", f"there is an edge {edge_id} already")
    row = {
        "user_id": user_id,
        "id": edge_id or new_id(),
        "type": type,
        "source": source.id,
        "target": target.id,
        "source_origin": source.id,
        "target_origin": target.id,
        "created_at": now,
        "valid_at": valid_at,
        "invalid_at": invalid_at,
        "schema_v": registry.SCHEMA_VERSION,
        "rev": next_rev(connection, user_id),
        "run_id": run_id,
        **_stored_columns(checked, now),
    }
    edge = connection.execute(_ADD, row).one()
    record_change(connection, user_id, EDGE_CHANGE, edge.id)
    return edge_of(edge)


def _is_taken(connection: Connection, edge_id: str) -> bool:
    """Whether an edge of any owner has this id: edges may be looked up by id alone."""
    with across_owners(connection):
        return connection.execute(select(graph_edges.c.id).where(graph_edges.c.id == edge_id)).first() is not None


def get_edge(connection: Connection, user_id: int, edge_id: str, *, hidden: bool = False) -> Edge | None:
    """An edge of this owner with any times; with `hidden` also if it or an end is hidden or merged away."""
    return read_one(connection.execute(_ANY if hidden else _SEEN, {"owner": user_id, "edge": edge_id}), edge_of)


owner_of_edge = owner_lookup(graph_edges)


def edges_of(
    connection: Connection,
    user_id: int,
    node_id: str,
    wanted: EdgeFilter = CURRENT_EDGES,
    *,
    now: datetime,
    limit: int | None = None,
    offset: int = 0,
) -> list[Edge]:
    """Visible edges at a node, in the order in which they were stored."""
    at_node = _at_node(user_id, node_id)
    query = select(graph_edges).where(graph_edges.c.user_id == user_id, at_node, *visible(), *holding(wanted, now))
    query = query.order_by(graph_edges.c.created_at, graph_edges.c.id).limit(limit).offset(offset)
    return [edge_of(row) for row in connection.execute(query)]


def has_edge(connection: Connection, user_id: int, node_id: str) -> bool:
    """Whether any edge begins or ends at a node, hidden ones too."""
    query = select(graph_edges.c.id).where(graph_edges.c.user_id == user_id, _at_node(user_id, node_id))
    return connection.execute(query.limit(1)).first() is not None


def update_edge(
    connection: Connection,
    user_id: int,
    edge_id: str,
    *,
    now: datetime,
    properties: Mapping[str, Any] | None = None,
    times: Mapping[EdgeTime, datetime | None] | None = None,
    zone: tzinfo = UTC,
) -> Edge:
    """Merges changed attributes (None removes one) and sets the given times. Raises NotFound, Refused."""
    before = expect_found(get_edge(connection, user_id, edge_id, hidden=True), f"there is no edge {edge_id}")
    values: dict[str, Any] = dict((times or {}).items())
    if properties:
        source, target = (_label(connection, user_id, end) for end in (before.source, before.target))
        checked = registry.check_edge(before.type, source, target, {**before.properties, **properties}, zone=zone)
        values |= _stored_columns(checked, now if checked.get("strength") != before.strength else before.strength_at)
    if not values:
        return before
    values["rev"] = next_rev(connection, user_id)
    changed = update(graph_edges).where(_one(user_id, edge_id)).values(values).returning(graph_edges)
    row = connection.execute(changed).one()
    record_change(connection, user_id, EDGE_CHANGE, edge_id)
    return edge_of(row)


def delete_edges(connection: Connection, user_id: int, ids: Collection[str]) -> list[str]:
    """Deletes edges with their dependent rows (a fact's row, search item and vector). Returns the ids that existed."""
    deleted: list[str] = []
    for edge_id in sorted(set(ids)):
        one = {"owner": user_id, "edge": edge_id}
        if not connection.execute(_DELETE, one).rowcount:
            continue
        deleted.append(edge_id)
        connection.execute(_DELETE_FACT, one)
        record_change(connection, user_id, EDGE_CHANGE, edge_id, "delete")
    search_items.remove(connection, user_id, FACT_ITEM, deleted)
    return deleted


def visible() -> tuple[ColumnElement[bool], ...]:
    """Conditions over rows of `graph_edges`: neither the edge nor one of its ends is hidden or merged away."""
    return hidings.visible(graph_edges.c.id), ~_HIDDEN_END


# Run once for each fact that is written, looked at or removed: built once, for building takes longer than running.
_GIVEN: Final = (graph_edges.c.user_id == bindparam("owner")) & (graph_edges.c.id == bindparam("edge"))
_ADD: Final = insert(graph_edges).returning(graph_edges)
_ANY: Final = select(graph_edges).where(_GIVEN)
_SEEN: Final = _ANY.where(*visible())
_DELETE: Final = delete(graph_edges).where(_GIVEN)
_DELETE_FACT: Final = delete(facts).where(facts.c.user_id == bindparam("owner"), facts.c.edge_id == bindparam("edge"))


def holding(wanted: EdgeFilter, now: datetime) -> list[ColumnElement[bool]]:
    """The conditions of a filter over rows of `graph_edges`.

    Without `at`, edges that have not begun yet are included; only ended ones are left out.
    """
    edge, conditions = graph_edges.c, list[ColumnElement[bool]]()
    if wanted.types:
        conditions.append(edge.type.in_(list(wanted.types)))
    if wanted.include_invalid:
        return conditions
    known, at = wanted.known_at or now, wanted.at or wanted.known_at or now
    conditions += [_after(edge.expired_at, known), _after(edge.invalid_at, at)]
    if wanted.known_at is not None:
        conditions.append(edge.created_at <= known)
    if wanted.at is not None:
        conditions.append(or_(edge.valid_at.is_(None), edge.valid_at <= at))
    return conditions


_read: Final = reader(Edge, {"properties": "props"})


def edge_of(row: Row[Any]) -> Edge:
    """A stored row as an edge, whether it is visible or not."""
    edge = _read(row)
    return edge if row.strength is None else replace(edge, properties={**row.props, "strength": row.strength})


def _stored_columns(checked: Mapping[str, Any], strength_at: datetime | None) -> dict[str, Any]:
    """The columns of checked attributes. Strength has a column only, so that one statement can weaken all edges."""
    props = {name: value for name, value in checked.items() if name != "strength"}
    strength = checked.get("strength")
    return {"props": props, "strength": strength, "strength_at": None if strength is None else strength_at}


def _end_node(connection: Connection, user_id: int, node_id: str) -> Node:
    return expect_found(resolve_node(connection, user_id, node_id), f"there is no node {node_id}")


def _at_node(user_id: int, node_id: str) -> ColumnElement[bool]:
    """The condition for a node at an end, as two index searches: with OR, SQLite would read all edges of the owner."""
    at = [
        select(graph_edges.c.id).where(graph_edges.c.user_id == user_id, graph_edges.c[end] == node_id)
        for end in ("source", "target")
    ]
    return graph_edges.c.id.in_(union_all(*at))


def _label(connection: Connection, user_id: int, node_id: str) -> str:
    node = get_node(connection, user_id, node_id, hidden=True)
    assert node is not None  # a node is deleted with its edges
    return node.label


def _after(column: ColumnElement[Any], moment: datetime) -> ColumnElement[bool]:
    return or_(column.is_(None), column > moment)


def _one(user_id: int, edge_id: str) -> ColumnElement[bool]:
    return and_(graph_edges.c.user_id == user_id, graph_edges.c.id == edge_id)
