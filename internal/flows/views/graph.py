"""Facts, memories and the chronicle as one graph, to be browsed node by node.

The chronicle's nodes and edges are derived from its rows (`internal.chronicle.view`), edges from the owner to his
people from their circles; the others are stored. Readers see no difference. Nodes being forgotten are left out.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access import repository as users
from internal.chronicle import repository as chronicle
from internal.chronicle.model import Session
from internal.chronicle.view import NOTHING_HIDDEN, ViewEdge, ViewNode, day_id, session_node, year_id
from internal.errors import NotFound
from internal.flows.visibility import sessions as visibility_sessions
from internal.flows.visibility.pending_forgettings import hidden_messages
from internal.graph import explore_repository, store
from internal.graph.labels import MENTIONED
from internal.graph.model import Edge, EdgeFilter, Node
from internal.graph.relationships import FACT, RELATIONSHIPS
from internal.knowledge import fact_repository
from internal.people import repository as people

Kind = Literal["fact", "memory", "chronicle"]
KINDS: Final[tuple[Kind, ...]] = ("fact", "memory", "chronicle")

_MANY: Final = 500
"""The most edges between the nodes of one answer."""

_KNOWLEDGE: Final = frozenset({"Entity", "Preference", "Topic"})
_EVENTS: Final = frozenset({"Request", "Response", "Feedback", "Analysis"})


@dataclass(frozen=True, slots=True)
class SeenNode:
    """A node as it is shown. `type` is an entity's person, place, ...; `text` its words beyond the name.

    `kind` is the part of the memory it belongs to, `at` when it happened, else when it was stored.
    """

    id: str
    label: str
    kind: Kind
    name: str
    type: str | None = None
    text: str = ""
    at: datetime | None = None
    person_id: int | None = None
    owner: bool = False


@dataclass(frozen=True, slots=True)
class SeenEdge:
    """A visible edge; `name` is the relation of a fact and `text` its sentence, or for IN_CIRCLE the circle."""

    id: str
    type: str
    kind: Kind
    source: str
    target: str
    name: str
    text: str = ""
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    valid_at_precision: str | None = None
    invalid_at_precision: str | None = None
    strength: float | None = None


@dataclass(frozen=True, slots=True)
class GraphFilter:
    """The part of the graph to show: kinds of edges, a moment (None: now), and the most nodes of each kind.

    `beside` are the ids of nodes already shown: edges to them are included.
    """

    kinds: Collection[Kind] = KINDS
    as_of: datetime | None = None
    limit: int = 40
    beside: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A node, its neighbours, and the edges among them all; `count` edges lead from it, with those left out."""

    node: SeenNode
    nodes: Sequence[SeenNode]
    edges: Sequence[SeenEdge]
    count: int


@dataclass(slots=True)
class _Found:
    nodes: dict[str, SeenNode] = field(default_factory=dict)
    edges: dict[str, SeenEdge] = field(default_factory=dict)
    count: int = 0


def neighbourhood(
    connection: Connection, user_id: int, node_id: str, filter_: GraphFilter, *, now: datetime
) -> Neighbourhood:
    """The neighbours of a node of any label. Raises NotFound for a node that this owner does not have."""
    found = _Found()
    stored = store.resolve_node(connection, user_id, node_id)
    if stored is not None:
        node = _shown_nodes(connection, user_id, [stored])[0]
        _stored(connection, user_id, stored.id, filter_, now, found)
        if "chronicle" in filter_.kinds and stored.label in MENTIONED:
            _add_sessions(connection, user_id, stored, filter_, found)
    elif node_id == store.owner_node_id(user_id):
        node = _himself(connection, user_id)
    else:
        node = _of_chronicle(connection, user_id, node_id, filter_, found)
    if "fact" in filter_.kinds:
        _add_circles(connection, user_id, node, filter_, found)
    found.nodes.pop(node.id, None)
    nodes = list(found.nodes.values())
    _add_edges_between(connection, user_id, [node, *nodes], filter_, now, found)
    shown = {one.id for one in (node, *nodes)} | set(filter_.beside)
    edges = [edge for edge in found.edges.values() if edge.source in shown and edge.target in shown]
    return Neighbourhood(node, nodes, edges, found.count)


def starting_points(connection: Connection, user_id: int, *, limit: int) -> list[SeenNode]:
    """Nodes to begin with: the owner, if he has facts or people, then the nodes with most edges."""
    himself = store.owner_node_id(user_id)
    busiest = explore_repository.busiest(connection, user_id, limit=limit)
    ids = list(dict.fromkeys((himself, *busiest)))
    known = store.nodes_by_ids(connection, user_id, ids)
    seen = _shown_nodes(connection, user_id, [known[one] for one in ids if one in known])
    if himself not in known and people.listing(connection, user_id, limit=1):
        seen.insert(0, _himself(connection, user_id))
    return seen[:limit]


# Stored nodes and edges


def _stored(
    connection: Connection, user_id: int, node_id: str, filter_: GraphFilter, now: datetime, found: _Found
) -> None:
    for kind in ("fact", "memory"):
        if kind not in filter_.kinds:
            continue
        edges, count = explore_repository.latest_edges(
            connection, user_id, node_id, _filter(kind, filter_), now=now, limit=filter_.limit
        )
        found.count += count
        _add(connection, user_id, edges, filter_, found)


def _add(connection: Connection, user_id: int, edges: Sequence[Edge], filter_: GraphFilter, found: _Found) -> None:
    ends = {end for edge in edges for end in (edge.source, edge.target)}
    nodes = [one for one in store.nodes_by_ids(connection, user_id, ends).values() if _existed(one, filter_)]
    found.nodes |= {one.id: one for one in _shown_nodes(connection, user_id, nodes)}
    found.edges |= {edge.id: one for edge, one in zip(edges, _seen_edges(connection, user_id, edges), strict=True)}


def _add_edges_between(
    connection: Connection, user_id: int, nodes: Sequence[SeenNode], filter_: GraphFilter, now: datetime, found: _Found
) -> None:
    """Adds the stored edges among the nodes of an answer, and to those already shown."""
    ids = [one.id for one in nodes]
    if "fact" in filter_.kinds:
        found.edges |= _circle_edges(connection, user_id, [*ids, *filter_.beside], filter_)
    for kind in ("fact", "memory"):
        if kind in filter_.kinds:
            edges = explore_repository.edges_between(
                connection, user_id, ids, [*ids, *filter_.beside], _filter(kind, filter_), now=now, limit=_MANY
            )
            found.edges |= {one.id: one for one in _seen_edges(connection, user_id, edges)}


def _filter(kind: str, filter_: GraphFilter) -> EdgeFilter:
    return EdgeFilter(types=[FACT] if kind == "fact" else _MEMORY_TYPES, at=filter_.as_of)


_MEMORY_TYPES: Final = sorted({one.name for one in RELATIONSHIPS.values() if not one.derived} - {FACT})


def _existed(node: Node, filter_: GraphFilter) -> bool:
    """Whether a node existed as of the filter's moment: ends of facts always did, a memory since it was stored."""
    return filter_.as_of is None or node.label in _KNOWLEDGE or node.created_at <= filter_.as_of


def _shown_nodes(connection: Connection, user_id: int, nodes: Sequence[Node]) -> list[SeenNode]:
    persons = people.people_at(connection, user_id, [one.id for one in nodes if one.label == "Entity"])
    himself = store.owner_node_id(user_id)
    return [
        SeenNode(
            id=one.id,
            label=one.label,
            kind="fact" if one.label in _KNOWLEDGE else "memory",
            name=one.name,
            type=one.subtype,
            text=str(one.properties.get("content") or one.summary or ""),
            at=one.dated,
            person_id=persons.get(one.id),
            owner=one.id == himself,
        )
        for one in nodes
    ]


def _seen_edges(connection: Connection, user_id: int, edges: Sequence[Edge]) -> list[SeenEdge]:
    ids = [one.id for one in edges if one.type == FACT]
    facts = fact_repository.versions(connection, user_id, ids, hidden=False) if ids else {}
    seen = []
    for edge in edges:
        version = facts.get(edge.id)
        name = version.fact.name if version is not None else edge.type
        one = SeenEdge(edge.id, edge.type, "memory", edge.source, edge.target, name, strength=edge.strength)
        if version is not None:
            fact = version.fact
            one = replace(one, kind="fact", text=fact.fact, valid_at=edge.valid_at, invalid_at=edge.invalid_at)
            one = replace(one, valid_at_precision=fact.valid_precision, invalid_at_precision=fact.invalid_precision)
        seen.append(one)
    return seen


# The owner and his people


def _himself(connection: Connection, user_id: int) -> SeenNode:
    """The owner, stored or not. Raises NotFound for an unknown one."""
    owner_id = store.owner_node_id(user_id)
    stored = store.nodes_by_ids(connection, user_id, [owner_id])
    if stored:
        return _shown_nodes(connection, user_id, list(stored.values()))[0]
    name = users.get(connection, user_id).name
    return SeenNode(owner_id, "Entity", "fact", name or str(user_id), "person", owner=True)


def _add_circles(connection: Connection, user_id: int, node: SeenNode, filter_: GraphFilter, found: _Found) -> None:
    """Adds his people to the owner, most mentioned first, and the owner to each of them."""
    at = filter_.as_of
    if node.owner:
        every = people.listing(connection, user_id, limit=filter_.limit if at is None else None)
        known = [one.entity_id for one in every if at is None or one.first_seen <= at]
        found.count += len(known) if at is not None else sum(people.counts(connection, user_id).values())
        stored = store.nodes_by_ids(connection, user_id, known[: filter_.limit])
        found.nodes |= {one.id: one for one in _shown_nodes(connection, user_id, list(stored.values()))}
    elif node.person_id is not None and _circle_edges(
        connection, user_id, [store.owner_node_id(user_id), node.id], filter_
    ):
        found.count += 1
        himself = _himself(connection, user_id)
        found.nodes[himself.id] = himself


def _circle_edges(
    connection: Connection, user_id: int, ids: Collection[str], filter_: GraphFilter
) -> dict[str, SeenEdge]:
    """Edges from the owner, if he is among these nodes, to the people among them."""
    owner_id = store.owner_node_id(user_id)
    if owner_id not in ids:
        return {}
    by_entity = people.people_at(connection, user_id, ids)
    edges = {}
    for person in people.by_ids(connection, user_id, list(by_entity.values())).values():
        if filter_.as_of is None or person.first_seen <= filter_.as_of:
            one = SeenEdge(f"IN_CIRCLE:{person.id}", "IN_CIRCLE", "fact", owner_id, person.entity_id, person.circle)
            edges[one.id] = one
    return edges


# Nodes and edges derived from the chronicle


def _add_sessions(connection: Connection, user_id: int, entity: Node, filter_: GraphFilter, found: _Found) -> None:
    """Adds the sessions that involve an entity, newest first."""
    sessions = chronicle.latest_sessions_mentioning(connection, user_id, entity.id, until=filter_.as_of)
    found.count += len(sessions)
    hidden = hidden_messages(connection, user_id)
    for session in sessions[: filter_.limit]:
        visible: Session | None = session
        if hidden != NOTHING_HIDDEN:
            shown = visibility_sessions.session(connection, user_id, session.id)
            visible = None if shown is None else shown.session
        if visible is not None:
            found.nodes[session.id] = _seen_session(visible)
            _add_derived([ViewEdge("INVOLVES", session.id, entity.id, "Session", entity.label)], found)


def _of_chronicle(connection: Connection, user_id: int, node_id: str, filter_: GraphFilter, found: _Found) -> SeenNode:
    """A session or one of its events, a day or a year. Raises NotFound."""
    session_id = node_id
    if chronicle.session(connection, user_id, node_id) is None:
        events = chronicle.events_by_ids(connection, user_id, [node_id])
        if not events:
            return _of_calendar(connection, user_id, node_id, filter_, found)
        session_id = events[0].session_id
    shown = visibility_sessions.session(connection, user_id, session_id)
    if shown is None or (session_id != node_id and node_id not in {event.id for event in shown.events}):
        raise NotFound(f"there is no node {node_id}")
    times = {event.id: event.at for event in shown.events}
    nodes = {one.id: _seen_derived(one, times.get(one.id)) for one in shown.view.nodes}
    nodes[session_id] = _seen_session(shown.session)
    nodes |= {one.id: one for one in _shown_nodes(connection, user_id, shown.view.entities)}
    if "chronicle" in filter_.kinds:
        touching = [one for one in shown.view.edges if node_id in (one.source, one.target) and _is_shown(one, nodes)]
        found.count += len(touching)
        _add_derived(touching[: 2 * filter_.limit], found)
        near = {end for edge in found.edges.values() for end in (edge.source, edge.target)}
        found.nodes |= {one: nodes[one] for one in near}
        _add_derived([one for one in shown.view.edges if {one.source, one.target} <= near], found)
    return nodes[node_id]


def _is_shown(edge: ViewEdge, nodes: Mapping[str, SeenNode]) -> bool:
    """Whether an edge is shown: LAST_EVENT repeats PART_OF, NEXT may lead into another session, which is not read."""
    return edge.type != "LAST_EVENT" and edge.source in nodes and edge.target in nodes


def _of_calendar(connection: Connection, user_id: int, node_id: str, filter_: GraphFilter, found: _Found) -> SeenNode:
    """A day with the sessions opened on it, or a year with its days that have sessions."""
    days: dict[date, list[Session]] = {}
    for session in visibility_sessions.sessions(connection, user_id, limit=100_000, newest_first=True):
        if filter_.as_of is None or session.opened_at <= filter_.as_of:
            days.setdefault(session.opened_at.astimezone(ZoneInfo(session.tz)).date(), []).append(session)
    for day, sessions in days.items():
        if day_id(user_id, day) == node_id:
            return _day(user_id, day, sessions, filter_, found)
    for year in {day.year for day in days}:
        if year_id(user_id, year) == node_id:
            _months(user_id, year, [day for day in days if day.year == year], filter_, found)
            return _year(user_id, year)
    raise NotFound(f"there is no node {node_id}")


def _day(user_id: int, day: date, sessions: Sequence[Session], filter_: GraphFilter, found: _Found) -> SeenNode:
    here = _calendar_day(user_id, day)
    if "chronicle" in filter_.kinds:
        year = _year(user_id, day.year)
        found.count += len(sessions) + 1
        found.nodes |= {one.id: _seen_session(one) for one in sessions[: filter_.limit]} | {year.id: year}
        edges = [ViewEdge("HAPPENED_AT", one.id, here.id, "Session", "Day") for one in sessions[: filter_.limit]]
        _add_derived([ViewEdge("MONTH", year.id, here.id, "Year", "Day"), *edges], found)
    return here


def _months(user_id: int, year: int, days: Sequence[date], filter_: GraphFilter, found: _Found) -> None:
    if "chronicle" in filter_.kinds:
        found.count += len(days)
        for day in sorted(days, reverse=True)[: filter_.limit]:
            one = _calendar_day(user_id, day)
            found.nodes[one.id] = one
            _add_derived([ViewEdge("MONTH", year_id(user_id, year), one.id, "Year", "Day")], found)


def _calendar_day(user_id: int, day: date) -> SeenNode:
    return SeenNode(day_id(user_id, day), "Day", "chronicle", day.isoformat())


def _year(user_id: int, year: int) -> SeenNode:
    return SeenNode(year_id(user_id, year), "Year", "chronicle", f"{year:04d}")


def _seen_session(session: Session) -> SeenNode:
    name = session.topic or str(session_node(session).properties["name"])
    return SeenNode(session.id, "Session", "chronicle", name, at=session.opened_at)


def _seen_derived(node: ViewNode, at: datetime | None) -> SeenNode:
    properties: Mapping[str, Any] = node.properties
    own = properties.get("full_text") or properties.get("text") or "\n".join(properties.get("lessons") or ())
    text, name = str(own), ""
    if node.label in _EVENTS:
        name = str(properties.get("summary") or text or properties.get("verdict") or properties["name"])
    kind = str(properties["type"]) if node.label == "Analysis" else None
    return SeenNode(node.id, node.label, "chronicle", name or str(properties["name"]), kind, text, at)


def _add_derived(edges: Iterable[ViewEdge], found: _Found) -> None:
    for one in edges:
        edge_id = f"{one.type}:{one.source}:{one.target}"
        found.edges[edge_id] = SeenEdge(edge_id, one.type, "chronicle", one.source, one.target, one.type)
