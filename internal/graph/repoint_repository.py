"""Moves or deletes the edges, claims and mentions of a node that is merged, split or erased."""

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, Select, Table, delete, insert, select, update

from internal.errors import expect_found
from internal.graph import mention_repository, name_repository
from internal.graph.edge_repository import delete_edges
from internal.graph.model import EDGE_CHANGE, NODE_CHANGE, Deleted, MergeUndo
from internal.graph.node_repository import get_node, item_kind
from internal.graph.relationships import FACT
from internal.storage import evidence, search_items
from internal.storage.change_log import record_change
from internal.storage.chunks import chunks
from internal.storage.owner_counters import next_rev
from internal.storage.tables import claims, facts, graph_edges, graph_nodes

_ENDS: Final = ("source", "target")
_TIMES: Final = ("valid_at", "invalid_at", "expired_at")


def repoint(connection: Connection, user_id: int, from_id: str, to_id: str) -> MergeUndo:
    """Moves edges and claims from one node to another. Returns the data that their origins do not restore.

    An edge that would duplicate one of the target's, or lead from it to itself, is deleted and returned, except facts,
    which are projected again afterwards.
    """
    claim_rows = _rows(connection, claims, user_id, [from_id, to_id])
    shared = {row.name for row in claim_rows if from_id in (row.source, row.target)}
    live = _unexpired(connection, user_id, {row.edge_id for row in claim_rows if row.name in shared})
    projected = tuple((row.id, row.edge_id) for row in claim_rows if row.name in shared and row.edge_id in live)
    removed = _take_doubles(connection, user_id, from_id, to_id)
    for end in _ENDS:
        _move_edges(connection, user_id, graph_edges.c[end] == from_id, end, to_id)
        one = (claims.c.user_id == user_id) & (claims.c[end] == from_id)
        connection.execute(update(claims).where(one).values({end: to_id}))
    mention_repository.repoint(connection, user_id, from_id, to_id)
    return MergeUndo(removed, projected)


def restore_ends(
    connection: Connection, user_id: int, from_id: str, to_id: str, origins: Collection[str], moved: MergeUndo
) -> None:
    """Undoes `repoint(from_id, to_id)`: moves rows written at one of `origins` back and restores what it returned.

    `origins` are `from_id` and every node merged into it before. Later additions to the target stay there.
    """
    for end in _ENDS:
        origin = f"{end}_origin"
        _move_edges(
            connection, user_id, (graph_edges.c[end] == to_id) & graph_edges.c[origin].in_(origins), end, from_id
        )
        one = (claims.c[end] == to_id) & claims.c[origin].in_(origins)
        connection.execute(update(claims).where(claims.c.user_id == user_id, one).values({end: from_id}))
    mention_repository.restore(connection, user_id, from_id, to_id, origins)
    _put_back(connection, user_id, moved)
    _project_as_before(connection, user_id, moved)


def delete_node(connection: Connection, user_id: int, node_id: str) -> Deleted:
    """Deletes a node, its edges, the claims about it and every row that is about it alone. Raises NotFound."""
    node = expect_found(get_node(connection, user_id, node_id, hidden=True), f"there is no node {node_id}")
    deleted = _delete_edges_at(connection, user_id, node_id)
    search_items.remove(connection, user_id, item_kind(node.label), [node_id])
    name_repository.drop_names(connection, user_id, [node_id])
    mention_repository.drop(connection, user_id, node_id)
    evidence.remove(connection, user_id, "entity", [node_id])
    evidence.remove_parts(connection, user_id, "name", node_id)
    connection.execute(delete(graph_nodes).where(graph_nodes.c.user_id == user_id, graph_nodes.c.id == node_id))
    record_change(connection, user_id, NODE_CHANGE, node_id, "delete")
    return deleted


def _delete_edges_at(connection: Connection, user_id: int, node_id: str) -> Deleted:
    """Deletes edges and claims at a node, with the evidence of those claims."""
    edges = _rows(connection, graph_edges, user_id, [node_id])
    claim_rows = _rows(connection, claims, user_id, [node_id])
    for chunk in chunks(claim_rows):
        ids = [row.id for row in chunk]
        evidence.remove(connection, user_id, "claim", ids)
        connection.execute(delete(claims).where(claims.c.user_id == user_id, claims.c.id.in_(ids)))
    others = {end for row in (*edges, *claim_rows) for end in (row.source, row.target)} - {node_id}
    return Deleted(tuple(delete_edges(connection, user_id, [row.id for row in edges])), tuple(sorted(others)))


def _take_doubles(connection: Connection, user_id: int, from_id: str, to_id: str) -> tuple[dict[str, Any], ...]:
    """Deletes the edges at `from_id` that moving would make superfluous. Returns their rows as plain JSON values."""
    rows = [row for row in _rows(connection, graph_edges, user_id, [from_id, to_id]) if row.type != FACT]
    known = {_identity(row, from_id, to_id) for row in rows if from_id not in (row.source, row.target)}
    doubles = []
    for row in rows:
        if from_id not in (row.source, row.target):
            continue
        identity = _identity(row, from_id, to_id)
        if identity in known or identity[1] == identity[2]:
            doubles.append(_plain(row))
    delete_edges(connection, user_id, [double["id"] for double in doubles])
    return tuple(doubles)


def _identity(row: Row[Any], from_id: str, to_id: str) -> tuple[Any, ...]:
    ends = [to_id if end == from_id else end for end in (row.source, row.target)]
    return (row.type, *ends, *(getattr(row, name) for name in _TIMES))


def _move_edges(connection: Connection, user_id: int, moving: ColumnElement[bool], end: str, to_id: str) -> None:
    ids = connection.execute(select(graph_edges.c.id).where(graph_edges.c.user_id == user_id, moving)).scalars().all()
    for edge_id in ids:
        one = (graph_edges.c.user_id == user_id) & (graph_edges.c.id == edge_id)
        moved = {end: to_id, "rev": next_rev(connection, user_id)}
        connection.execute(update(graph_edges).where(one).values(moved))
        record_change(connection, user_id, EDGE_CHANGE, edge_id)


def _put_back(connection: Connection, user_id: int, moved: MergeUndo) -> None:
    for plain in moved.removed:
        row = {column.name: _stored(column.name, plain[column.name]) for column in graph_edges.columns}
        ends = [get_node(connection, user_id, row[end], hidden=True) for end in _ENDS]
        if None in ends:
            continue  # an end was forgotten since
        connection.execute(insert(graph_edges).values(row | {"rev": next_rev(connection, user_id)}))
        record_change(connection, user_id, EDGE_CHANGE, row["id"])


def _project_as_before(connection: Connection, user_id: int, moved: MergeUndo) -> None:
    """Restores the edge ids of claims, so that projecting them gives every fact its old id.

    Facts that the merge combined exist again. What the owner reworded since stays.
    """
    by_owner = select(facts.c.supersedes).where(facts.c.user_id == user_id, facts.c.set_by == "owner")
    edges = {edge_id for _, edge_id in moved.claims}
    corrected = set(_chosen(connection, by_owner, facts.c.supersedes, edges))
    for claim_id, edge_id in moved.claims:
        one = (claims.c.user_id == user_id) & (claims.c.id == claim_id)
        if edge_id in corrected or not connection.execute(update(claims).where(one).values(edge_id=edge_id)).rowcount:
            continue
        _revive(connection, user_id, edge_id)


def _revive(connection: Connection, user_id: int, edge_id: str) -> None:
    expired = (graph_edges.c.id == edge_id) & graph_edges.c.expired_at.is_not(None)
    again = update(graph_edges).where(graph_edges.c.user_id == user_id, expired)
    if connection.execute(again.values(expired_at=None, rev=next_rev(connection, user_id))).rowcount:
        followed = update(facts).where(facts.c.user_id == user_id, facts.c.supersedes == edge_id)
        connection.execute(followed.values(supersedes=None, original_fact=None))
        record_change(connection, user_id, EDGE_CHANGE, edge_id)


def _unexpired(connection: Connection, user_id: int, edge_ids: Collection[str]) -> set[str]:
    """The edges among these that are not expired."""
    live = select(graph_edges.c.id).where(graph_edges.c.user_id == user_id, graph_edges.c.expired_at.is_(None))
    return set(_chosen(connection, live, graph_edges.c.id, edge_ids))


def _chosen(
    connection: Connection, query: Select[Any], column: ColumnElement[Any], wanted: Collection[str]
) -> Iterator[str]:
    values = sorted(id for id in wanted if id is not None)
    for chunk in chunks(values):
        yield from connection.execute(query.where(column.in_(chunk))).scalars()


def _rows(connection: Connection, table: Table, user_id: int, ids: Collection[str]) -> list[Row[Any]]:
    # One search for each end: with OR, SQLite would read all rows of the owner.
    found = {
        row.id: row
        for end in _ENDS
        for row in connection.execute(select(table).where(table.c.user_id == user_id, table.c[end].in_(ids)))
    }
    return sorted(found.values(), key=lambda row: (row.created_at, row.id))


def _plain(row: Row[Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row._mapping.items()}


def _stored(name: str, value: Any) -> Any:
    moment = name.endswith(("_at", "_until")) and value is not None
    return datetime.fromisoformat(value) if moment else value
