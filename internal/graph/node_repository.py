"""Nodes in the database, written through the registry with names, search item and change log."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any, Final
from uuid import UUID, uuid5

from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, func, insert, select, update

from internal.errors import Refused, expect_found
from internal.graph import name_repository, registry
from internal.graph.model import ANY_NODE, NODE_CHANGE, Node, NodeFilter
from internal.language.text.spelling import name_key
from internal.storage import search_items
from internal.storage.change_log import record_change
from internal.storage.chunks import CHUNK, rows_of
from internal.storage.engine.row_policies import across_owners
from internal.storage.forgetting import hidings
from internal.storage.owner_counters import next_rev
from internal.storage.rows import owner_lookup, reader
from internal.storage.tables import graph_nodes, search_items as items
from internal.storage.types import new_id

VISIBLE: Final[ColumnElement[bool]] = graph_nodes.c.merged_into.is_(None) & hidings.visible(graph_nodes.c.id)
"""The condition that a node is neither merged away nor being forgotten."""

# Asked at every write: built once, for building a statement takes longer than running it.
_BY_ID: Final = select(graph_nodes).where(
    graph_nodes.c.user_id == bindparam("owner"), graph_nodes.c.id == bindparam("node")
)
_UNHIDDEN_BY_ID: Final = _BY_ID.where(hidings.visible(graph_nodes.c.id))
_BY_IDS: Final = select(graph_nodes).where(
    graph_nodes.c.user_id == bindparam("owner"), graph_nodes.c.id.in_(bindparam("ids", expanding=True)), VISIBLE
)

_OWNERS: Final = UUID("6c61706c-6163-5564-a077-6e65726e6f64")
"""The namespace of owners' own nodes; it may never change, or every owner would get a second one."""


def owner_node_id(user_id: int) -> str:
    """The id of the owner's own entity, stored or not."""
    return str(uuid5(_OWNERS, str(user_id)))


def ensure_owner_node(connection: Connection, user_id: int, name: str, now: datetime) -> Node:
    """The owner's own entity, created on first use; it has no name keys."""
    known = get_node(connection, user_id, owner_node_id(user_id), hidden=True)
    if known is not None:
        return known
    properties = {"name": name.strip() or str(user_id), "type": "person"}
    node_id = owner_node_id(user_id)
    return add_node(connection, user_id, "Entity", properties, now=now, node_id=node_id, findable=False)


def add_node(
    connection: Connection,
    user_id: int,
    label: str,
    properties: Mapping[str, Any],
    *,
    now: datetime,
    by: str = "archivist",
    node_id: str | None = None,
    run_id: str | None = None,
    findable: bool = True,
    zone: tzinfo = UTC,
) -> Node:
    """Stores a checked node. Raises Refused like `registry.check_node`, and "id_taken"; NotFound for an unknown owner.

    `by` marks who set the given properties, without defaults; `zone` is for times without one. Nodes that are found in
    another way, like people by their profiles, are not `findable`: no search item, no name keys.
    """
    checked = registry.check_node(label, properties, zone=zone)
    if node_id is not None and _is_taken(connection, node_id):
        raise Refused("id_taken", f"there is a node {node_id} already")
    rev = next_rev(connection, user_id)
    columns = registry.columns_of(label, checked)
    row = {
        "user_id": user_id,
        "id": node_id or new_id(),
        "label": label,
        "created_at": now,
        "field_meta": _marks(_given(columns["props"], properties), by, rev, now),
        "schema_v": registry.SCHEMA_VERSION,
        "rev": rev,
        "run_id": run_id,
        **columns,
    }
    stored = node_of(connection.execute(insert(graph_nodes).returning(graph_nodes), row).one())
    if findable:
        _make_findable(connection, stored)
    record_change(connection, user_id, NODE_CHANGE, stored.id)
    return stored


def get_node(connection: Connection, user_id: int, node_id: str, *, hidden: bool = False) -> Node | None:
    """A node of this owner; with `hidden` also one that is merged away or being forgotten."""
    row = _row(connection, user_id, node_id, hidden=hidden)
    return node_of(row) if row is not None and (hidden or row.merged_into is None) else None


owner_of_node = owner_lookup(graph_nodes)


def nodes_by_ids(connection: Connection, user_id: int, ids: Collection[str]) -> dict[str, Node]:
    """The visible nodes of this owner among these, by id."""
    return {row.id: node_of(row) for row in rows_of(connection, _BY_IDS, sorted(set(ids)), owner=user_id)}


def node_ids(connection: Connection, user_id: int) -> list[str]:
    """Every node that is not merged away, hidden ones too, in the order of creation."""
    query = select(graph_nodes.c.id).where(graph_nodes.c.user_id == user_id, graph_nodes.c.merged_into.is_(None))
    return list(connection.execute(query.order_by(graph_nodes.c.created_at, graph_nodes.c.id)).scalars())


def resolve_node(connection: Connection, user_id: int, node_id: str, *, hidden: bool = False) -> Node | None:
    """The node of this id, redirects of merges followed; None if unknown or, without `hidden`, being forgotten."""
    seen: set[str] = set()
    while node_id not in seen:
        seen.add(node_id)
        row = _row(connection, user_id, node_id, hidden=hidden)
        if row is None or row.merged_into is None:
            return None if row is None else node_of(row)
        node_id = row.merged_into
    return None


def nodes(
    connection: Connection, user_id: int, wanted: NodeFilter = ANY_NODE, *, limit: int = 100, offset: int = 0
) -> list[Node]:
    """Visible nodes that pass the filter, in the order of storing."""
    query = _select(user_id, wanted).order_by(graph_nodes.c.created_at, graph_nodes.c.id)
    return [node_of(row) for row in connection.execute(query.limit(limit).offset(offset))]


def count_nodes(connection: Connection, user_id: int, wanted: NodeFilter = ANY_NODE) -> int:
    return connection.execute(_select(user_id, wanted).with_only_columns(func.count())).scalar_one()


def nodes_named(connection: Connection, user_id: int, label: str, names: Collection[str]) -> list[Node]:
    """Visible nodes of a label whose own name (term, reference, preference) is one of these in any case.

    Labels without a name are found by the identifying sentence: a goal's description, a memory's content. The name of a
    merged node means the node it was merged into.
    """
    keys = sorted({registry.key_of(label, name) for name in names} - {""})[:CHUNK]
    one = (graph_nodes.c.label == label) & graph_nodes.c.name_key.in_(keys) & hidings.visible(graph_nodes.c.id)
    query = select(graph_nodes).where(graph_nodes.c.user_id == user_id, one)
    rows = connection.execute(query.order_by(graph_nodes.c.created_at, graph_nodes.c.id)).all()
    meant = [resolve_node(connection, user_id, row.id) if row.merged_into else node_of(row) for row in rows]
    return list({node.id: node for node in meant if node is not None}.values())


def nodes_called(connection: Connection, user_id: int, names: Collection[str]) -> list[Node]:
    """Visible entities, preferences and topics, people among them, that have one of these as a name or an alias."""
    keys = {name_key(name) for name in names} - {""}
    called = name_repository.entities_named(connection, user_id, keys, limit=CHUNK)
    return list(nodes_by_ids(connection, user_id, called).values())


def update_node(
    connection: Connection,
    user_id: int,
    node_id: str,
    changes: Mapping[str, Any],
    *,
    now: datetime,
    by: str = "archivist",
    run_id: str | None = None,
    zone: tzinfo = UTC,
    hidden: bool = False,
) -> Node:
    """Merges changed properties into a visible node (with `hidden` any) and marks who set them; None removes one.

    `id` and `created` are accepted if they are as stored. Raises NotFound, and Refused like `registry.check_node`. The
    caller decides whether a model may override the owner (`Node.owner_set`).
    """
    before = expect_found(get_node(connection, user_id, node_id, hidden=hidden), f"there is no node {node_id}")
    known = registry.specified_properties(before)
    fresh = {name: value for name, value in changes.items() if name not in known or known[name] != value}
    confirmed = [name for name in changes.keys() - fresh.keys() if name in before.properties]
    checked = registry.merged(before.label, before.properties, fresh, zone=zone)
    columns = registry.columns_of(before.label, checked)
    changed = [name for name, value in columns["props"].items() if before.properties.get(name) != value]
    changed += [name for name in before.properties if name not in columns["props"]]
    if not fresh and not (by == "owner" and confirmed):
        return before
    rev = next_rev(connection, user_id)
    # A property that the owner confirmed unchanged counts as set by the owner.
    meta = {**before.field_meta, **_marks([*changed, *(confirmed if by == "owner" else ())], by, rev, now)}
    values = columns | {"field_meta": meta, "updated_at": now, "rev": rev} | ({"run_id": run_id} if run_id else {})
    written = update(graph_nodes).where(_one(user_id, node_id)).values(values).returning(graph_nodes)
    stored = node_of(connection.execute(written).one())
    if _is_findable(connection, stored):
        _make_findable(connection, stored)
    record_change(connection, user_id, NODE_CHANGE, node_id)
    return stored


def touch_nodes(connection: Connection, user_id: int, ids: Collection[str], now: datetime) -> None:
    """Counts one access of each of these nodes."""
    for node_id in sorted(set(ids)):
        counted = {"access_count": graph_nodes.c.access_count + 1, "last_accessed": now}
        touched = update(graph_nodes).where(_one(user_id, node_id)).values(**counted, rev=next_rev(connection, user_id))
        if connection.execute(touched).rowcount:
            record_change(connection, user_id, NODE_CHANGE, node_id)


def date_node(connection: Connection, node: Node, said_at: datetime | None) -> None:
    """Stores when a memory was first said, the date that is shown with it; this counts as no change of it."""
    if node.said_at != said_at:
        connection.execute(update(graph_nodes).where(_one(node.user_id, node.id)).values(said_at=said_at))


def redirect_node(connection: Connection, user_id: int, node_id: str, target_id: str | None) -> None:
    """Redirects a node to another; None removes the redirect."""
    values = {"merged_into": target_id, "rev": next_rev(connection, user_id)}
    connection.execute(update(graph_nodes).where(_one(user_id, node_id)).values(values))
    record_change(connection, user_id, NODE_CHANGE, node_id, "put" if target_id is None else "delete")


node_of = reader(Node, {"properties": "props"})
"""Reads a stored row as a node, visible or not."""


def item_kind(label: str) -> str:
    """The kind of search item a node has: entities their own, every other label `node`."""
    return "entity" if label == "Entity" else "node"


def matching(wanted: NodeFilter) -> list[ColumnElement[bool]]:
    """The conditions of a filter over rows of `graph_nodes`, visibility included."""
    conditions: list[ColumnElement[bool]] = [VISIBLE]
    if wanted.labels:
        conditions.append(graph_nodes.c.label.in_(list(wanted.labels)))
    if wanted.status is not None:
        conditions.append(graph_nodes.c.status == wanted.status)
    return conditions


def make_findable(connection: Connection, user_id: int, node_id: str) -> None:
    """Restores the search item and name keys of a node, hidden or not. Raises NotFound."""
    node = expect_found(get_node(connection, user_id, node_id, hidden=True), f"there is no node {node_id}")
    _make_findable(connection, node)


def _make_findable(connection: Connection, node: Node) -> None:
    text = registry.text_of(node.label, node.properties)
    search_items.save_search_item(connection, node.user_id, item_kind(node.label), node.id, text, node.rev)
    if registry.schema_of(node.label).by_name:
        kinds = {name_key(alias): "alias" for alias in node.properties.get("aliases", ())}
        set_by = {"alias": "aliases", "name": "name" if "name" in node.properties else "preference"}
        marks = {kind: node.field_meta.get(prop, {}).get("by", "archivist") for kind, prop in set_by.items()}
        kinds[name_key(node.name)] = "name"
        name_repository.put_names(connection, node.user_id, node.id, kinds, marks)


def _is_findable(connection: Connection, node: Node) -> bool:
    item = search_items.item_of(item_kind(node.label), node.id)
    found = select(items.c.item).where(items.c.user_id == node.user_id, items.c.item == item)
    return connection.execute(found).first() is not None


def _marks(names: Collection[str], by: str, rev: int, now: datetime) -> dict[str, dict[str, Any]]:
    return {name: {"by": by, "rev": rev, "at": now.isoformat()} for name in names}


def _given(stored: Collection[str], properties: Mapping[str, Any]) -> list[str]:
    """The stored properties that were given; the `summary` of the knowledge graph is the description."""
    also = {"description"} if "summary" in properties else set()
    return [name for name in stored if name in properties or name in also]


def _row(connection: Connection, user_id: int, node_id: str, *, hidden: bool = False) -> Row[Any] | None:
    return connection.execute(_BY_ID if hidden else _UNHIDDEN_BY_ID, {"owner": user_id, "node": node_id}).one_or_none()


def _select(user_id: int, wanted: NodeFilter) -> Select[Any]:
    return select(graph_nodes).where(graph_nodes.c.user_id == user_id, *matching(wanted))


def _one(user_id: int, node_id: str) -> ColumnElement[bool]:
    return (graph_nodes.c.user_id == user_id) & (graph_nodes.c.id == node_id)


def _is_taken(connection: Connection, node_id: str) -> bool:
    """Whether a node of any owner has this id: nodes may be looked up by id alone."""
    with across_owners(connection):
        return connection.execute(select(graph_nodes.c.id).where(graph_nodes.c.id == node_id)).first() is not None
