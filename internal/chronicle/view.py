"""The chronicle as the graph of its specification: nodes and edges derived from the rows, checked by the registry.

They are derived only here: the REST interface, the mirror, the traversal and the audit all use this module.
"""

import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import pairwise
from typing import Any, Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.chronicle import repository
from internal.chronicle.model import AGENT, ChronicleEvent, EventLabel, Mention, Session
from internal.chronicle.service import topic_from_words
from internal.graph import registry, store
from internal.graph.labels import MENTIONED, beginning
from internal.graph.model import Node

_CALENDAR: Final = uuid.UUID("6f1f8f0e-5d0c-5c0b-9b5e-3c3f0f6d2a10")
"""The namespace of the ids of years and days, so that a day of one owner is always the same node."""

_TYPES: Final = {
    "person": "Person",
    "project": "Project",
    "technology": "Technology",
    "tool": "Technology",
    "rule": "Rule",
}
"""The chronicle's names of entity types; all others are a Concept."""

_USERS: Final = (EventLabel.REQUEST, EventLabel.FEEDBACK)
_RULINGS: Final = ("verdict", "rules_used", "rules_ignored", "errors", "lessons")


@dataclass(frozen=True, slots=True)
class ViewNode:
    """A node of the chronicle; `properties` are those of its label, checked, without `id`."""

    id: str
    label: str
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ViewEdge:
    """An edge of the chronicle, identified by its type and ends; `properties` are checked."""

    type: str
    source: str
    target: str
    source_label: str
    target_label: str
    properties: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class View:
    """Nodes, each once, and edges, each once; edges may lead to events of other sessions that are not in `nodes`.

    `entities` are the mentioned entities as stored: they are nodes of the whole graph.
    """

    nodes: Sequence[ViewNode]
    edges: Sequence[ViewEdge]
    entities: Sequence[Node] = ()


@dataclass(frozen=True, slots=True)
class HiddenMessages:
    """The messages that pending forgettings hide: these ids, and all up to a moment."""

    message_ids: frozenset[str] = frozenset()
    until: datetime | None = None

    def hides(self, event: ChronicleEvent) -> bool:
        return event.message_id in self.message_ids or (self.until is not None and event.at <= self.until)


NOTHING_HIDDEN: Final = HiddenMessages()


def of_session(
    connection: Connection, user_id: int, session_id: str, *, hidden: HiddenMessages = NOTHING_HIDDEN
) -> View | None:
    """One session with the NEXT edges into and out of it; None if there is none, or nothing visible."""
    session = repository.session(connection, user_id, session_id)
    if session is None:
        return None
    line = visible(repository.events_around(connection, user_id, session_id), hidden)
    if not any(event.session_id == session_id for event in line):
        return None
    earlier = _beyond(connection, line[0], repository.event_before, hidden)
    later = _beyond(connection, line[-1], repository.after, hidden)
    shown = [_with_visible_topic(connection, session, hidden)]
    return _view(connection, user_id, shown, [*earlier, *line, *later], hidden)


def of_owner(connection: Connection, user_id: int, *, hidden: HiddenMessages = NOTHING_HIDDEN) -> View:
    """The whole chronicle of an owner."""
    line = visible(repository.events(connection, user_id), hidden)
    visible_ids = {event.session_id for event in line}
    sessions = [one for one in repository.listing(connection, user_id) if one.id in visible_ids]
    return _view(connection, user_id, [_with_visible_topic(connection, one, hidden) for one in sessions], line, hidden)


def topic_shown(session: Session, events: Sequence[ChronicleEvent], hidden: HiddenMessages) -> Session:
    """The session, with its first visible words as topic if the topic may reveal hidden messages."""
    if session.topic_by == "owner" or not any(hidden.hides(event) for event in events):
        return session
    seen = (event.text for event in visible(events, hidden) if event.label in _USERS and event.text.strip())
    return replace(session, topic=topic_from_words(next(seen, "")))


def _with_visible_topic(connection: Connection, session: Session, hidden: HiddenMessages) -> Session:
    if hidden == NOTHING_HIDDEN:
        return session
    return topic_shown(session, repository.events_of_session(connection, session.user_id, session.id), hidden)


def visible(events: Iterable[ChronicleEvent], hidden: HiddenMessages = NOTHING_HIDDEN) -> list[ChronicleEvent]:
    """The visible events, without Analyses whose text was wiped and reactions to hidden answers."""
    listed = list(events)
    numbers = {event.n for event in listed if hidden.hides(event)}
    return [
        event
        for event in listed
        if event.n not in numbers
        and not (event.is_reaction and event.answers_n in numbers)
        and (event.label is not EventLabel.ANALYSIS or "verdict" in event.attrs)
    ]


def entity_happened(user_id: int, node: Node, tz: str) -> tuple[list[ViewNode], list[ViewEdge]]:
    """HAPPENED_AT of an entity, the time at which it became known, with its day and year."""
    calendar = _Calendar(user_id)
    calendar.add(node.id, "Entity", node.created_at, tz)
    return calendar.nodes, calendar.edges


def entity_name(name: str) -> str:
    """A name in the CamelCase of the chronicle: `Київська політехніка` -> `КиївськаПолітехніка`."""
    words = re.findall(r"[^\W_]+", name)
    return "".join(word[:1].upper() + word[1:] for word in words) or name


def entity_type(subtype: str | None) -> str:
    """The chronicle's type of an entity: Technology, Concept, Project, Person or Rule."""
    return _TYPES.get(subtype or "", "Concept")


def day_id(user_id: int, day: date) -> str:
    return str(uuid.uuid5(_CALENDAR, f"{user_id}:{day.isoformat()}"))


def year_id(user_id: int, year: int) -> str:
    return str(uuid.uuid5(_CALENDAR, f"{user_id}:{year:04d}"))


def session_node(session: Session) -> ViewNode:
    """A session with its required attributes."""
    local = session.opened_at.astimezone(ZoneInfo(session.tz))
    properties = {
        "name": f"Session {local:%Y-%m-%d %H:%M}",
        "topic": session.topic,
        "status": session.status,
        "trigger": session.trigger,
    }
    return ViewNode(session.id, "Session", registry.check_node("Session", properties, derived=True))


def event_node(event: ChronicleEvent, tz: str) -> ViewNode:
    """An event with the required attributes of its label; `tz` is its session's zone, for its name."""
    local = event.at.astimezone(ZoneInfo(tz))
    properties: dict[str, Any] = {"name": f"{event.label} {local:%Y-%m-%d %H:%M:%S}"}
    match event.label:
        case EventLabel.REQUEST:
            properties |= {"author": "user", "text": event.text, "type": event.attrs.get("type", "text")}
        case EventLabel.FEEDBACK:
            properties |= {"author": "user", "text": event.text}
        case EventLabel.RESPONSE:
            summary = event.attrs.get("summary") or beginning(event.text)
            properties |= {"author": AGENT, "summary": summary, "full_text": event.text, "type": "text"}
        case EventLabel.ANALYSIS:
            properties |= {"type": event.attrs["type"]} | {name: event.attrs.get(name, []) for name in _RULINGS}
    return ViewNode(event.id, event.label.value, registry.check_node(event.label.value, properties, derived=True))


def entity_node(node: Node) -> ViewNode:
    """An entity with the chronicle's attributes; in the graph it is the node of all three specifications."""
    properties = {
        "name": entity_name(node.name),
        "type": entity_type(node.subtype),
        "description": entity_description(node),
    }
    return ViewNode(node.id, "Entity", properties)


def entity_description(node: Node) -> str:
    """The description that the chronicle requires, else the name as written."""
    return node.summary or node.name


def _beyond(
    connection: Connection,
    event: ChronicleEvent,
    step: Callable[[Connection, int, int], ChronicleEvent | None],
    hidden: HiddenMessages,
) -> list[ChronicleEvent]:
    """The first visible event beside this one."""
    beside = step(connection, event.user_id, event.n)
    while beside is not None and not visible([beside], hidden):
        beside = step(connection, event.user_id, beside.n)
    return [] if beside is None else [beside]


def _view(
    connection: Connection,
    user_id: int,
    sessions: Sequence[Session],
    line: Sequence[ChronicleEvent],
    hidden: HiddenMessages,
) -> View:
    """Builds a view. `line` is in the order of NEXT; its events of other sessions are only targets of edges."""
    known = {session.id: session for session in sessions}
    ours = [event for event in line if event.session_id in known]
    mentions = repository.mentions(connection, user_id, [event.id for event in ours])
    found = store.nodes_by_ids(connection, user_id, list(dict.fromkeys(one.entity_id for one in mentions)))
    entities = {node_id: node for node_id, node in found.items() if node.label in MENTIONED}
    calendar = _Calendar(user_id)
    for session in sessions:
        calendar.add(session.id, "Session", session.opened_at, session.tz)
    for event in ours:
        calendar.add(event.id, event.label.value, event.at, known[event.session_id].tz)
    nodes = [session_node(session) for session in sessions]
    nodes += [event_node(event, known[event.session_id].tz) for event in ours]
    by_number = {event.n: event for event in line}
    elsewhere = {event.answers_n for event in ours if event.answers_n is not None} - by_number.keys()
    answers = repository.events_numbered(connection, user_id, elsewhere) if elsewhere else ()
    by_number |= {event.n: event for event in visible(answers, hidden)}
    edges = [
        *_next(line, known),
        *_in_sessions(ours, known, by_number),
        *calendar.edges,
        *_mentioned(ours, known, mentions, entities),
    ]
    return View([*nodes, *calendar.nodes], edges, list(entities.values()))


def _next(line: Sequence[ChronicleEvent], known: Mapping[str, Session]) -> Iterator[ViewEdge]:
    for one, other in pairwise(line):
        if one.session_id in known or other.session_id in known:
            yield _edge("NEXT", one, other)


def _in_sessions(
    events: Sequence[ChronicleEvent], known: Mapping[str, Session], by_number: Mapping[int, ChronicleEvent]
) -> Iterator[ViewEdge]:
    response: dict[str, ChronicleEvent] = {}
    last: dict[str, ChronicleEvent] = {}
    for event in events:
        session = known[event.session_id]
        yield _to_session("PART_OF", event, session)
        yield from _answers(event, session, by_number)
        about = by_number.get(event.answers_n or 0) if event.replies or event.answers_n else response.get(session.id)
        if event.label is EventLabel.FEEDBACK and about is not None:
            yield _edge("FEEDBACK_ON", event, about)
        if event.label is EventLabel.RESPONSE:
            response[session.id] = event
        last[session.id] = event
    for session_id, event in last.items():
        registry.check_edge("LAST_EVENT", "Session", event.label.value, {}, derived=True)
        yield ViewEdge("LAST_EVENT", session_id, event.id, "Session", event.label.value)


def _answers(event: ChronicleEvent, session: Session, by_number: Mapping[int, ChronicleEvent]) -> Iterator[ViewEdge]:
    """RESPONDS_TO, ANALYZES and SUMMARIZES, from the event that the row points at."""
    if event.label is EventLabel.ANALYSIS and event.attrs["type"] == "session_summary":
        yield _to_session("SUMMARIZES", event, session)
        return
    asked = by_number.get(event.answers_n) if event.answers_n is not None else None
    if asked is None:
        return
    if event.label is EventLabel.RESPONSE:
        yield _edge("RESPONDS_TO", event, asked)
    if event.label is EventLabel.ANALYSIS:
        yield _edge("ANALYZES", event, asked)


def _mentioned(
    events: Sequence[ChronicleEvent],
    known: Mapping[str, Session],
    mentions: Sequence[Mention],
    entities: Mapping[str, Node],
) -> Iterator[ViewEdge]:
    """MENTIONS of each event, and INVOLVES: a session involves every entity that its events mention."""
    by_id = {event.id: event for event in events}
    involved: dict[tuple[str, str], None] = {}
    for one in mentions:
        if one.entity_id not in entities:
            continue
        event, label = by_id[one.event_id], entities[one.entity_id].label
        properties = {} if one.relevance is None else {"relevance": one.relevance}
        checked = registry.check_edge("MENTIONS", event.label.value, label, properties, derived=True)
        yield ViewEdge("MENTIONS", event.id, one.entity_id, event.label.value, label, checked)
        involved[event.session_id, one.entity_id] = None
    for session_id, entity_id in involved:
        topic, label = known[session_id].topic, entities[entity_id].label
        checked = registry.check_edge("INVOLVES", "Session", label, {"context": topic or None}, derived=True)
        yield ViewEdge("INVOLVES", session_id, entity_id, "Session", label, checked)


def _edge(type: str, source: ChronicleEvent, target: ChronicleEvent) -> ViewEdge:
    registry.check_edge(type, source.label.value, target.label.value, {}, derived=True)
    return ViewEdge(type, source.id, target.id, source.label.value, target.label.value)


def _to_session(type: str, event: ChronicleEvent, session: Session) -> ViewEdge:
    registry.check_edge(type, event.label.value, "Session", {}, derived=True)
    return ViewEdge(type, event.id, session.id, event.label.value, "Session")


class _Calendar:
    """The nodes of years and days of one owner, with edges from what happened on them, in the zone of the time."""

    def __init__(self, user_id: int) -> None:
        self._user_id = user_id
        self._nodes: dict[str, ViewNode] = {}
        self.edges: list[ViewEdge] = []

    @property
    def nodes(self) -> list[ViewNode]:
        return list(self._nodes.values())

    def add(self, node_id: str, label: str, at: datetime, tz: str) -> None:
        local = at.astimezone(ZoneInfo(tz))
        day = self._day(local.date())
        properties = registry.check_edge("HAPPENED_AT", label, "Day", {"time": f"{local:%H:%M:%S}"}, derived=True)
        self.edges.append(ViewEdge("HAPPENED_AT", node_id, day, label, "Day", properties))

    def _day(self, day: date) -> str:
        found = day_id(self._user_id, day)
        if found in self._nodes:
            return found
        year = year_id(self._user_id, day.year)
        if year not in self._nodes:
            properties = registry.check_node("Year", {"name": f"{day.year:04d}", "value": day.year}, derived=True)
            self._nodes[year] = ViewNode(year, "Year", properties)
        properties = registry.check_node("Day", {"name": day.isoformat(), "date": day.isoformat()}, derived=True)
        self._nodes[found] = ViewNode(found, "Day", properties)
        month = registry.check_edge("MONTH", "Year", "Day", {"number": day.month}, derived=True)
        self.edges.append(ViewEdge("MONTH", year, found, "Year", "Day", month))
        return found
