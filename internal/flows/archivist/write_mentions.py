"""Writes what events of the chronicle mention when an agent's reply is applied, for lines and for Analyses.

A line mentions what cites it, and all known people and things that its words name. Names are found beforehand in
the language process (`MentionFinder`); their nodes are looked up in the transaction, as a reply creates some.
"""

import logging
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from sqlalchemy import Connection

from internal.agents.archivist.output import ArchivistReply
from internal.chronicle import mention_repository, repository as sessions
from internal.chronicle.model import ChronicleEvent, EventLabel
from internal.errors import ModelUnavailable
from internal.flows.runs.handler import StaleResolution
from internal.flows.runs.slices import SliceLine
from internal.graph import name_repository, store
from internal.graph.labels import MENTIONED
from internal.knowledge import line_repository
from internal.knowledge.entities import repository as entities
from internal.knowledge.model import OWNER_NODE
from internal.language.text.spelling import name_key
from internal.language.worker.process_pool import LanguageCallFailed
from internal.people import repository as people
from internal.people.model import names_of
from internal.people.operations import Added
from internal.scheduling.run import Run
from internal.storage.database import Database

log = logging.getLogger(__name__)

CITED: Final = 4
"""The relevance, 1..5, of what cites a line if the reply does not say how central it is."""

NAMED_BY_OWNER: Final = 3
NAMED_BY_ASSISTANT: Final = 2
"""The relevance of what a line or Analysis only names."""

_BY_ID = re.compile(r"person:\d+", re.IGNORECASE)

Relevances = dict[str, dict[str, int]]
"""The highest relevance by event id and entity id."""


class NameFinder(Protocol):
    """Finds names in texts over declension. Both calls may raise ModelUnavailable or LanguageCallFailed."""

    async def people_named(self, texts: Sequence[str], names: Mapping[int, Sequence[str]]) -> list[set[int]]:
        """For each text, the keys of the people whom it means."""

    async def things_named(self, texts: Sequence[str], names: Sequence[Sequence[str]]) -> list[set[int]]:
        """For each text, the indexes of the things that it names."""


@dataclass(frozen=True, slots=True)
class MentionedNames:
    """The mentions of one text: ids of known entities, and names that the reply adds. `people`: whether anybody."""

    nodes: frozenset[str] = frozenset()
    new_names: frozenset[str] = frozenset()
    people: bool = False


@dataclass(frozen=True, slots=True)
class NewNames:
    """The names that a reply adds, by the name under which the node is looked up afterwards."""

    people: Mapping[str, Sequence[str]] = field(default_factory=dict)
    things: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SliceMentions:
    """The mentions of a slice's lines, by number, and of the Analyses of their sessions, by event id."""

    lines: Mapping[int, MentionedNames] = field(default_factory=dict)
    analyses: Mapping[str, MentionedNames] = field(default_factory=dict)


class MentionFinder:
    """Finds names in texts. Without the language process it finds none, but what cites a line is mentioned anyway."""

    def __init__(self, database: Database, reader: NameFinder) -> None:
        self._database, self._reader = database, reader

    async def of_slice(self, user_id: int, lines: Sequence[SliceLine], proposal: ArchivistReply) -> SliceMentions:
        """The mentions of known names and of the reply's new ones in a slice. Empty for a text without messages."""
        ids = [line.message_id for line in lines if line.message_id is not None]
        if not ids:
            return SliceMentions()
        analyses = await self._database.read(lambda c: _analyses_beside(c, user_id, ids))
        texts = [*(line.shown.text for line in lines), *(analysis_text(event) for event in analyses)]
        named = await self.read(user_id, texts, new_names(proposal))
        numbers = [line.shown.number for line in lines]
        return SliceMentions(
            dict(zip(numbers, named, strict=False)),
            dict(zip((event.id for event in analyses), named[len(numbers) :], strict=True)),
        )

    async def read(self, user_id: int, texts: Sequence[str], new: NewNames | None = None) -> list[MentionedNames]:
        """The mentions of each text."""
        new = new or NewNames()
        known = await self._database.read(lambda c: names_known(c, user_id))
        persons = dict(enumerate((*known.people.values(), *new.people.values())))
        things = [*known.things.values(), *new.things.values()]
        try:
            meant = await self._reader.people_named(texts, persons)
            named = await self._reader.things_named(texts, things)
        except (ModelUnavailable, LanguageCallFailed) as error:
            log.warning("mentions_not_read", extra={"reason": type(error).__name__})
            return [MentionedNames() for _ in texts]
        people_keys, thing_keys = [*known.people, *new.people], [*known.things, *new.things]
        mentions: list[MentionedNames] = []
        for people_indexes, thing_indexes in zip(meant, named, strict=True):
            node_ids = {people_keys[n] for n in people_indexes if n < len(known.people)}
            node_ids |= {thing_keys[n] for n in thing_indexes if n < len(known.things)}
            names = {people_keys[n] for n in people_indexes if n >= len(known.people)}
            names |= {thing_keys[n] for n in thing_indexes if n >= len(known.things)}
            mentions.append(MentionedNames(frozenset(node_ids), frozenset(names), bool(people_indexes)))
        return mentions


def new_names(proposal: ArchivistReply) -> NewNames:
    """The names in a reply: of new people, of things, and of the subjects of its facts and memories."""
    added = [operation for operation in proposal.operations if isinstance(operation, Added)]
    things: dict[str, Sequence[str]] = {}
    for entity in (*proposal.entities, *proposal.mentioned):
        things.setdefault(entity.name, (entity.name, *entity.aliases))
    for end in (end for fact in proposal.facts for end in (fact.source, fact.target)):
        if end != OWNER_NODE and not _BY_ID.fullmatch(end):
            things.setdefault(end, (end,))
    things = {name: names for name, names in things.items() if not _BY_ID.fullmatch(name) and name != OWNER_NODE}
    return NewNames({person.display_name: (person.display_name, *person.aliases) for person in added}, things)


def mention_slice(
    connection: Connection,
    run: Run,
    lines: Sequence[SliceLine],
    proposal: ArchivistReply,
    nodes: Mapping[str, str],
    mentions: SliceMentions,
) -> None:
    """Writes the mentions of a slice's events: what cites them in the reply, and what their words name.

    Call it after people, facts and memories were written; `nodes` are the ids of what the reply names. A second
    reading replaces the first. Analyses of these sessions get the names that are new; raises StaleResolution
    if one was written since they were read.
    """
    by_message = {line.message_id: line for line in lines if line.message_id is not None}
    beside = _analyses_beside(connection, run.user_id, list(by_message))
    if {event.id for event in beside} - mentions.analyses.keys():
        raise StaleResolution("a session of this slice was analysed while its names were read")
    relevances: Relevances = {}
    stated = _stated_relevances(proposal, nodes, lines)
    cited = line_repository.entities_by_segment(connection, run.user_id, run.episode_id)
    for event in sessions.events_of_messages(connection, run.user_id, list(by_message)):
        line = by_message[event.message_id or ""]
        number, of_event = line.shown.number, relevances.setdefault(event.id, {})
        for node_id in cited.get(line.segment, ()):
            _raise_to(of_event, node_id, stated.get((number, node_id), CITED))
        least = NAMED_BY_OWNER if line.shown.role == "user" else NAMED_BY_ASSISTANT
        for node_id in _entity_ids(connection, run.user_id, mentions.lines.get(number, MentionedNames()), nodes):
            _raise_to(of_event, node_id, least)
    for event in sessions.events_by_ids(connection, run.user_id, list(mentions.analyses)):
        node_ids = _entity_ids(connection, run.user_id, mentions.analyses[event.id], nodes)
        relevances[event.id] = dict.fromkeys(node_ids, _of_analysis(event))
    _write(connection, run, relevances)


def mention_analyses(
    connection: Connection, run: Run, analyses: Mapping[str, tuple[ChronicleEvent, MentionedNames]]
) -> None:
    """Writes what Analyses mention, by event id."""
    relevances = {
        event_id: dict.fromkeys(_entity_ids(connection, run.user_id, mentions, {}), _of_analysis(event))
        for event_id, (event, mentions) in analyses.items()
    }
    _write(connection, run, relevances)


def analysis_text(event: ChronicleEvent) -> str:
    """The texts of an Analysis in the analyst's own words."""
    texts = [*event.attrs.get("errors", ()), *event.attrs.get("lessons", ()), event.attrs.get("summary", "")]
    return "\n".join(text for text in texts if text)


@dataclass(frozen=True, slots=True)
class KnownNames:
    """Known names by entity id."""

    people: Mapping[str, Sequence[str]]
    things: Mapping[str, Sequence[str]]


def names_known(connection: Connection, user_id: int) -> KnownNames:
    """The names that a text may mention now; if they change later, a text may mention more."""
    things = entities.known_names(connection, user_id, MENTIONED)
    persons = people.listing(connection, user_id)
    with_profile = {person.entity_id for person in persons}
    return KnownNames(
        {person.entity_id: names_of(person) for person in persons},
        {thing.node_id: thing.names for thing in things if thing.node_id not in with_profile},
    )


def _analyses_beside(connection: Connection, user_id: int, message_ids: Sequence[str]) -> list[ChronicleEvent]:
    """The Analyses of the sessions in which these messages were said."""
    session_ids = dict.fromkeys(sessions.session_of_messages(connection, user_id, message_ids).values())
    events = (event for id in session_ids for event in sessions.events_of_session(connection, user_id, id))
    return [event for event in events if event.label is EventLabel.ANALYSIS]


def _stated_relevances(
    proposal: ArchivistReply, nodes: Mapping[str, str], lines: Sequence[SliceLine]
) -> dict[tuple[int, str], int]:
    """The relevances that the reply gives its entities, by line number and node id."""
    everywhere = [line.shown.number for line in lines]
    return {
        (number, nodes[entity.name]): entity.relevance
        for entity in proposal.entities
        if entity.relevance is not None and entity.name in nodes
        for number in entity.evidence or everywhere
    }


def _entity_ids(connection: Connection, user_id: int, mentions: MentionedNames, nodes: Mapping[str, str]) -> set[str]:
    """The ids of the mentioned entities; a new name of several things means none of them."""
    node_ids = set(mentions.nodes)
    for name in mentions.new_names:
        bearers = (
            [nodes[name]] if name in nodes else name_repository.entities_named(connection, user_id, [name_key(name)])
        )
        node_ids |= set(bearers if len(bearers) == 1 else ())
    return node_ids


def _raise_to(relevances: dict[str, int], node_id: str, relevance: int) -> None:
    relevances[node_id] = max(relevances.get(node_id, 0), relevance)


def _of_analysis(event: ChronicleEvent) -> int:
    """The relevance of what an Analysis names: central for a summary, in passing for a verdict."""
    return NAMED_BY_OWNER if event.attrs.get("type") == "session_summary" else NAMED_BY_ASSISTANT


def _write(connection: Connection, run: Run, relevances: Relevances) -> None:
    current = _current_ids(
        connection, run.user_id, {node_id for of_event in relevances.values() for node_id in of_event}
    )
    mentioned: dict[str, dict[str, int]] = {event_id: {} for event_id in relevances}
    for event_id, of_event in relevances.items():
        for node_id, relevance in of_event.items():
            if node_id in current:
                _raise_to(mentioned[event_id], current[node_id], relevance)
    mention_repository.replace(connection, run.user_id, mentioned, run_id=run.id)


def _current_ids(connection: Connection, user_id: int, node_ids: Collection[str]) -> dict[str, str]:
    """The current ids of the nodes among these that events mention: merged ones have moved. Without the owner."""
    visible = store.nodes_by_ids(connection, user_id, node_ids)
    current = {id: visible.get(id) or store.resolve_node(connection, user_id, id) for id in sorted(node_ids)}
    owner = store.owner_node_id(user_id)
    return {
        id: node.id for id, node in current.items() if node is not None and node.label in MENTIONED and node.id != owner
    }
