"""The owner's own changes and decisions, marked as such, so that no reply overrides them."""

from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any, Final, Literal

from sqlalchemy import Connection

from internal.errors import Conflict, NotFound, Refused
from internal.graph import registry, store
from internal.graph.model import Edge, Node
from internal.graph.relationships import FACT
from internal.memory.model import INSTRUCTION, NAMING, Observation, TargetKind
from internal.memory.observations import repository as observation_repository, targets_repository
from internal.memory.observations.changes import MemorySuggestion
from internal.memory.observations.fold import UNSEARCHED, in_order
from internal.memory.observations.projection import MemoryProjector
from internal.storage.types import new_id

Choice = Literal["newer", "older", "both"]

_RESOLUTIONS: Final[Mapping[Choice, str]] = {
    "newer": "the newer memory holds",
    "older": "the older memory holds",
    "both": "both memories hold",
}
"""The values of the property `resolution`, which hold no words of messages."""

_STATES: Final = ("Goal", "Question", "Context")


def put_node(
    connection: Connection,
    user_id: int,
    label: str,
    properties: Mapping[str, Any],
    *,
    now: datetime,
    node_id: str | None = None,
    zone: tzinfo = UTC,
) -> Node:
    """Stores a node as the owner's own. Raises Refused and NotFound like `store.add_node`."""
    properties = _dated(label, {}, properties, now)
    node = store.add_node(
        connection,
        user_id,
        label,
        properties,
        now=now,
        by="owner",
        node_id=node_id,
        findable=label not in UNSEARCHED,
        zone=zone,
    )
    stated = {name: value for name, value in node.properties.items() if name in properties}
    if label != "Entity":
        _observe(connection, node.user_id, node.id, "node", stated, now)
    return _project(connection, user_id, node.id, now, "created")


def change_node(
    connection: Connection, user_id: int, node_id: str, changes: Mapping[str, Any], *, now: datetime, zone: tzinfo = UTC
) -> Node:
    """Changes properties of a node as the owner's; None removes an optional one. Raises NotFound, Refused."""
    node = _node(connection, user_id, node_id)
    changes = _dated(node.label, node.properties, changes, now)
    store.update_node(connection, user_id, node.id, changes, now=now, by="owner", zone=zone)
    return _project(connection, user_id, node.id, now, "changed")


def put_edge(
    connection: Connection,
    user_id: int,
    type: str,
    source_id: str,
    target_id: str,
    properties: Mapping[str, Any],
    *,
    now: datetime,
    zone: tzinfo = UTC,
) -> Edge:
    """Stores an edge as the owner's own; an edge between the same ends gets these attributes.

    Raises NotFound for a missing end, Refused like `store.add_edge`, and "fact" for facts, which have their own
    service.
    """
    if type == FACT:
        raise Refused("fact", "FACT: facts are stated in words, they are not written as edges")
    ends = [_node(connection, user_id, one) for one in (source_id, target_id)]
    checked = registry.check_edge(type, ends[0].label, ends[1].label, properties, zone=zone)
    edge = targets_repository.edge_between(connection, user_id, type, ends[0].id, ends[1].id)
    if edge is None:
        edge = store.add_edge(connection, user_id, type, ends[0].id, ends[1].id, properties, now=now, zone=zone)
    else:
        edge = store.update_edge(connection, user_id, edge.id, now=now, properties=dict(properties), zone=zone)
    stated = {name: value for name, value in checked.items() if name in properties}
    attributes = {"type": type, "source": edge.source, "target": edge.target, "attributes": stated}
    _observe(connection, user_id, edge.id, "edge", attributes, now)
    return _project_edge(connection, user_id, edge.id, now)


def remove_edge(connection: Connection, user_id: int, edge_id: str, *, now: datetime) -> None:
    """Removes an edge with its observations. Raises NotFound."""
    edge = store.get_edge(connection, user_id, edge_id)
    if edge is None or edge.type == FACT:
        raise NotFound(f"there is no edge {edge_id}")
    observation_repository.remove_of_targets(connection, user_id, [edge_id])
    projector = MemoryProjector(connection, user_id, now=now)
    projector.edge(edge_id)
    projector.record(f"user:{user_id}")


def set_status(connection: Connection, user_id: int, node_id: str, status: str, *, now: datetime) -> Node:
    """Sets the status of a goal, a question, a context or an instruction by the owner's word; `answeredDate` follows.

    Raises NotFound for anything else, Refused for a status that the label does not know.
    """
    node = _node(connection, user_id, node_id)
    if node.label not in _STATES and node.properties.get("category") != INSTRUCTION:
        raise NotFound(f"there is no goal, question, context or instruction {node_id}")
    return change_node(connection, user_id, node_id, {"status": status}, now=now)


def contradiction_sides(connection: Connection, user_id: int, node_id: str) -> list[Node]:
    """The memories of a contradiction, the one observed first before the others. Raises NotFound."""
    node = _node(connection, user_id, node_id)
    if node.label != "Contradiction" or node.properties.get("facts"):
        raise NotFound(f"there is no contradiction of memories {node_id}")
    edges = targets_repository.edges_at(connection, user_id, node_id, "source", "CONFLICTS_WITH")
    sides = list(store.nodes_by_ids(connection, user_id, [edge.target for edge in edges]).values())
    observations = observation_repository.of_targets(connection, user_id, [side.id for side in sides])
    said = {
        side.id: min((observation.said_at for observation in observations.get(side.id, ())), default=side.created_at)
        for side in sides
    }
    return sorted(sides, key=lambda side: (said[side.id], side.created_at, side.id))


def resolve_contradiction(connection: Connection, user_id: int, node_id: str, choice: Choice, *, now: datetime) -> Node:
    """Settles a contradiction by the owner's choice; the same choice again changes nothing, another one replaces it.

    `newer` and `older` choose the memory that holds, from which SUPERSEDES leads to the others; `both` accepts the
    contradiction. Raises NotFound, and Refused("one_sided") if fewer than two memories are left.
    """
    sides = contradiction_sides(connection, user_id, node_id)
    if len(sides) < 2:
        raise Refused("one_sided", "there is only one side left")
    lost = {"newer": sides[:-1], "older": sides[1:], "both": []}[choice]
    for edge in targets_repository.edges_at(connection, user_id, node_id, "source", "SUPERSEDES"):
        if edge.target not in {side.id for side in lost}:
            remove_edge(connection, user_id, edge.id, now=now)
    for side in lost:
        put_edge(connection, user_id, "SUPERSEDES", node_id, side.id, {}, now=now)
    settled = {"status": "accepted" if choice == "both" else "resolved", "resolution": _RESOLUTIONS[choice]}
    return change_node(connection, user_id, node_id, settled, now=now)


def suggestions(connection: Connection, user_id: int, *, limit: int = 100) -> list[MemorySuggestion]:
    """Pending suggestions about properties that the owner had set, oldest first."""
    pending = targets_repository.pending_suggestions(connection, user_id, limit=limit)
    there = store.nodes_by_ids(connection, user_id, [suggestion.node_id for suggestion in pending])
    return [suggestion for suggestion in pending if suggestion.node_id in there]


def accept_suggestion(connection: Connection, user_id: int, suggestion_id: str, *, now: datetime) -> Node:
    """Applies a suggestion as the owner's own change; idempotent. Raises NotFound, Conflict."""
    suggestion = _open(connection, user_id, suggestion_id, "accepted", now)
    return change_node(connection, user_id, suggestion.node_id, {suggestion.field: suggestion.value}, now=now)


def decline_suggestion(connection: Connection, user_id: int, suggestion_id: str, *, now: datetime) -> MemorySuggestion:
    """Declines a suggestion; the same one is not made again. Raises NotFound, Conflict."""
    return _open(connection, user_id, suggestion_id, "declined", now)


def _open(connection: Connection, user_id: int, suggestion_id: str, state: str, now: datetime) -> MemorySuggestion:
    found = targets_repository.suggestion(connection, user_id, suggestion_id)
    if found is None:
        raise NotFound(f"there is no suggestion {suggestion_id}")
    suggestion, before = found
    if before not in ("pending", state):
        raise Conflict("this was decided otherwise already")
    targets_repository.decide(connection, user_id, suggestion_id, state, now)
    return suggestion


def _dated(label: str, before: Mapping[str, Any], changes: Mapping[str, Any], now: datetime) -> Mapping[str, Any]:
    """The changes, with the date of a question's answer as its new status requires, if none is stated."""
    if label != "Question" or "status" not in changes or changes.get("answeredDate") is not None:
        return changes
    answered = changes["status"] == "answered"
    return {**changes, "answeredDate": (before.get("answeredDate") or now.isoformat()) if answered else None}


def _node(connection: Connection, user_id: int, node_id: str) -> Node:
    """A visible node of the memory graph, redirects followed."""
    node = store.resolve_node(connection, user_id, node_id)
    if node is None or node.label not in NAMING:
        raise NotFound(f"there is no memory {node_id}")
    return node


def _observe(
    connection: Connection, user_id: int, target: str, kind: TargetKind, stated: Mapping[str, Any], now: datetime
) -> None:
    """Stores the owner's own observation, one for each node or edge: it replaces the previous one."""
    before = [
        observation
        for observation in observation_repository.of_target(connection, user_id, target)
        if observation.set_by == "owner"
    ]
    observation_repository.remove(connection, user_id, [observation.id for observation in before])
    said = {name: value for one in in_order(before) for name, value in one.properties.items()}
    if kind == "edge":
        attributes = {name: value for one in in_order(before) for name, value in one.properties["attributes"].items()}
        stated = {**stated, "attributes": {**attributes, **stated["attributes"]}}
    one = Observation(user_id, new_id(), target, kind, {**said, **stated}, now, now, set_by="owner")
    observation_repository.add(connection, one)


def _project(
    connection: Connection, user_id: int, node_id: str, now: datetime, outcome: Literal["created", "changed"]
) -> Node:
    projector = MemoryProjector(connection, user_id, now=now)
    projector.node(node_id)
    projector.changes.note(outcome, node_id)
    projector.record(f"user:{user_id}")
    node = store.get_node(connection, user_id, node_id)
    assert node is not None  # the owner's own word keeps it
    return node


def _project_edge(connection: Connection, user_id: int, edge_id: str, now: datetime) -> Edge:
    projector = MemoryProjector(connection, user_id, now=now)
    projector.edge(edge_id)
    projector.record(f"user:{user_id}")
    edge = store.get_edge(connection, user_id, edge_id)
    assert edge is not None  # the owner's own word keeps it
    return edge


def observations_of(connection: Connection, user_id: int, target_id: str) -> list[Observation]:
    """The observations of a node or edge, from the earliest to the latest."""
    return in_order(observation_repository.of_target(connection, user_id, target_id))


def is_found_by_words(node: Node) -> bool:
    """Whether a search finds a node itself, not only through linked nodes."""
    return node.label not in UNSEARCHED and node.subtype != "session"
