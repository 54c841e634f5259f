"""Queries for resolving the names of a reply: names of nodes, people, vectors of entities."""

from collections.abc import Collection, Mapping

from sqlalchemy import Connection, select

from internal.graph.store import owner_node_id
from internal.knowledge.entities.resolved_names import KnownName, Vector
from internal.language.text.spelling import name_key
from internal.storage.chunks import CHUNK
from internal.storage.forgetting import hidings
from internal.storage.search_items import of_kind
from internal.storage.tables import graph_nodes, name_keys, people
from internal.storage.vectors import nearest

NAMED_LABELS = ("Entity", "Preference", "Topic")
"""Labels between whose nodes facts run."""

_VISIBLE = graph_nodes.c.merged_into.is_(None) & hidings.visible(graph_nodes.c.id)


def known_names(connection: Connection, user_id: int, labels: Collection[str] = NAMED_LABELS) -> list[KnownName]:
    """Every node with one of these labels except the owner's, in the order of creation. 10,000 nodes take 0.2 s."""
    query = (
        select(graph_nodes.c.id, graph_nodes.c.label, graph_nodes.c.subtype, graph_nodes.c.name, graph_nodes.c.props)
        .where(graph_nodes.c.user_id == user_id, graph_nodes.c.label.in_(labels), _VISIBLE)
        .where(graph_nodes.c.id != owner_node_id(user_id))
        .order_by(graph_nodes.c.created_at, graph_nodes.c.id)
    )
    return [
        KnownName(
            node_id=row.id,
            label=row.label,
            subtype=row.subtype,
            labels=tuple(row.props.get("labels", ())),
            names=(row.name, *row.props.get("aliases", ())),
            description=row.props.get("description", ""),
        )
        for row in connection.execute(query)
    ]


def node_of_person(connection: Connection, user_id: int, person_id: int) -> str | None:
    """The node of the person with this id, merges followed; None if unknown or being forgotten."""
    seen: set[int] = set()
    while person_id not in seen:
        seen.add(person_id)
        query = select(people.c.entity_id, people.c.merged_into, hidings.hidden(people.c.entity_id).label("hidden"))
        row = connection.execute(query.where(people.c.user_id == user_id, people.c.id == person_id)).one_or_none()
        if row is None or row.merged_into is None:
            return None if row is None or row.hidden else row.entity_id
        person_id = row.merged_into
    return None


def node_of_username(connection: Connection, user_id: int, username: str) -> str | None:
    """The node of the visible person with this username, in any case."""
    live = (people.c.user_id == user_id) & people.c.merged_into.is_(None) & hidings.visible(people.c.entity_id)
    query = select(people.c.entity_id).where(live, people.c.username_key == name_key(username))
    return connection.execute(query).scalar_one_or_none()


def with_profile(connection: Connection, user_id: int, node_ids: Collection[str]) -> set[str]:
    """The nodes among these that are people with a profile."""
    wanted = people.c.entity_id.in_(sorted(node_ids)[:CHUNK])
    return set(connection.execute(select(people.c.entity_id).where(people.c.user_id == user_id, wanted)).scalars())


def rejected_keys(connection: Connection, user_id: int, node_id: str) -> set[str]:
    """The keys of names that the owner removed from this node; no model adds them again."""
    ours = (name_keys.c.user_id == user_id) & (name_keys.c.entity_id == node_id)
    return set(connection.execute(select(name_keys.c.key).where(ours, name_keys.c.rejected)).scalars())


def being_forgotten(connection: Connection, user_id: int, keys: Collection[str]) -> bool:
    """Whether a hidden node has one of these name keys; it must not be made a second time."""
    called = select(name_keys.c.entity_id).where(
        name_keys.c.user_id == user_id, name_keys.c.key.in_(sorted(keys)[:CHUNK]), ~name_keys.c.rejected
    )
    called = called.order_by(name_keys.c.key, name_keys.c.entity_id).limit(CHUNK)
    ids = list(connection.execute(called).scalars())
    hidden = (graph_nodes.c.user_id == user_id) & hidings.hidden(graph_nodes.c.id)
    return connection.execute(select(graph_nodes.c.id).where(hidden, graph_nodes.c.id.in_(ids))).first() is not None


def nearest_entities(
    connection: Connection, user_id: int, model: str, wanted: Mapping[str, Vector], *, count: int = 3
) -> dict[str, list[str]]:
    """The ids of the entities with the nearest stored vectors to each name's own, best first.

    `wanted` are vectors of length 1 by `model`. Vectors of other models and sizes, and of older texts, are passed over.
    """
    found = nearest(connection, user_id, model, wanted, of_kind("entity"), count=count)
    return {name: [node_id for node_id, _ in nodes] for name, nodes in found.items()}
