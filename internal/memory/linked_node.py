"""Stores a node that the owner wrote together with its links: all of them or nothing."""

from datetime import UTC, datetime, tzinfo

from sqlalchemy import Connection

from internal.errors import NotFound
from internal.graph import registry, store
from internal.graph.model import Node
from internal.memory import service as memory
from internal.memory.model import NAMING
from internal.memory.observations.owner_statement import StatedLink, StatedNode


def store_node(connection: Connection, user_id: int, linked: StatedNode, *, now: datetime, zone: tzinfo = UTC) -> Node:
    """Stores a new node and its links as the owner's own. Raises NotFound, and Refused like the registry."""
    properties = dict(linked.properties)
    if linked.label == "Question" and properties.get("status") is None:
        # Set by the owner, because otherwise a link to a possible answer would change the status.
        properties["status"] = "open"
    node = memory.put_node(connection, user_id, linked.label, properties, now=now, zone=zone)
    for link in linked.links:
        target = _target(connection, user_id, link, now, zone)
        memory.put_edge(connection, user_id, link.type, node.id, target.id, link.properties, now=now, zone=zone)
    return node


def _target(connection: Connection, user_id: int, link: StatedLink, now: datetime, zone: tzinfo) -> Node:
    if link.node_id is not None:
        found = store.resolve_node(connection, user_id, link.node_id)
        if found is None:
            raise NotFound(f"links: there is no node {link.node_id}")
        return found
    checked = registry.check_node(link.label, link.other, zone=zone)
    known = store.nodes_named(connection, user_id, link.label, [checked[NAMING[link.label]]])
    if known:
        return known[0]
    return memory.put_node(connection, user_id, link.label, link.other, now=now, zone=zone)
