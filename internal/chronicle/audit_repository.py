"""Queries of an audit for the log, mentions, and unconnected nodes."""

from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, and_, delete, exists, func, literal, or_, select

from internal.chronicle.repository import mark_changed
from internal.graph.node_repository import owner_node_id
from internal.storage.forgetting import hidings
from internal.storage.tables import (
    chronicle,
    event_mentions,
    evidence,
    graph_edges,
    graph_nodes,
    messages,
    observations,
    people,
    users,
)

_HIDDEN: Final = "hidden_instruction"
"""Key in a message's metadata that marks a hidden instruction, which is no event."""

_NOTIFICATION: Final = "notification"
"""Key in a message's metadata that marks a notification, which answers nothing and is no event either."""


class LoggedMessage(NamedTuple):
    """A message of the log that belongs in the chronicle."""

    id: str
    role: str
    at: Any
    turn_id: str | None
    words: str


class Name(NamedTuple):
    """The name of an entity; `person_id` is set for a person."""

    node_id: str
    subtype: str
    name: str
    person_id: int | None


def chronicle_messages(connection: Connection, user_id: int) -> list[LoggedMessage]:
    """Every message that belongs in the chronicle, in log order; `words` is the beginning of its text."""
    hidden = messages.c.user_metadata[_HIDDEN].as_boolean()
    query = (
        select(
            messages.c.id,
            messages.c.role,
            messages.c.timestamp,
            messages.c.turn_id,
            func.substr(messages.c.content, 1, 400),
        )
        .where(messages.c.user_id == user_id, messages.c.role.in_(("user", "assistant")))
        .where(or_(messages.c.user_metadata.is_(None), hidden.is_(None), hidden.is_(False)))
        .where(or_(messages.c.user_metadata.is_(None), messages.c.user_metadata[_NOTIFICATION].as_string().is_(None)))
        .order_by(messages.c.seq)
    )
    return [LoggedMessage(*row) for row in connection.execute(query)]


def zone(connection: Connection, user_id: int) -> str:
    """The owner's zone; UTC for an unknown owner."""
    return connection.execute(select(users.c.tz).where(users.c.user_id == user_id)).scalar_one_or_none() or "UTC"


def lost_mentions(connection: Connection, user_id: int) -> list[tuple[str, str]]:
    """(event id, entity id as written) of mentions whose event or entity does not exist."""
    query = select(event_mentions.c.event_id, event_mentions.c.entity_origin).where(
        event_mentions.c.user_id == user_id, _leads_nowhere()
    )
    return [(event_id, entity_id) for event_id, entity_id in connection.execute(query)]


def drop_lost_mentions(connection: Connection, user_id: int) -> int:
    """Deletes mentions whose event or entity does not exist. Returns how many."""
    events = [event_id for event_id, _ in lost_mentions(connection, user_id)]
    connection.execute(delete(event_mentions).where(event_mentions.c.user_id == user_id, _leads_nowhere()))
    mark_changed(connection, user_id, dict.fromkeys(events))
    return len(events)


def lone_nodes(connection: Connection, user_id: int) -> list[str]:
    """Nodes without edges, without evidence, and not set by the owner.

    Contradictions of facts are left out: they have no edges but name the facts, which are edges themselves.
    """
    node = graph_nodes.c
    ours = and_(node.user_id == user_id, node.merged_into.is_(None), node.id != owner_node_id(user_id))
    known = (
        exists().where(graph_edges.c.user_id == user_id, graph_edges.c.source == node.id),
        exists().where(graph_edges.c.user_id == user_id, graph_edges.c.target == node.id),
        exists().where(observations.c.user_id == user_id, observations.c.target == node.id),
        exists().where(event_mentions.c.user_id == user_id, event_mentions.c.entity_id == node.id),
        exists().where(people.c.user_id == user_id, people.c.entity_id == node.id),
        exists().where(
            evidence.c.user_id == user_id,
            evidence.c.target.in_([literal("entity:").concat(node.id), literal("node:").concat(node.id)]),
        ),
    )
    rows = connection.execute(select(node.id, node.field_meta, node.props).where(ours, *(~one for one in known)))
    return [row.id for row in rows if not _set_by_owner(row) and not row.props.get("facts")]


def entity_names(connection: Connection, user_id: int) -> list[Name]:
    """Every entity by its name, except the owner and those merged or being forgotten."""
    node = graph_nodes.c
    shown = and_(node.label == "Entity", node.merged_into.is_(None), hidings.visible(node.id))
    query = (
        select(node.id, node.subtype, node.name, people.c.id)
        .outerjoin(people, and_(people.c.user_id == user_id, people.c.entity_id == node.id))
        .where(node.user_id == user_id, shown, node.id != owner_node_id(user_id), node.name.is_not(None))
        .order_by(node.created_at, node.id)
    )
    return [Name(row[0], row[1] or "", row[2], row[3]) for row in connection.execute(query)]


def _leads_nowhere() -> Any:
    event = exists().where(chronicle.c.user_id == event_mentions.c.user_id, chronicle.c.id == event_mentions.c.event_id)
    entity = exists().where(
        graph_nodes.c.user_id == event_mentions.c.user_id, graph_nodes.c.id == event_mentions.c.entity_id
    )
    return or_(~event, ~entity)


def _set_by_owner(row: Any) -> bool:
    return any(mark.get("by") == "owner" for mark in (row.field_meta or {}).values())
