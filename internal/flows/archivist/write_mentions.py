"""What the events of the chronicle mention: written where an agent's reply is applied, for lines and for Analyses.

A line mentions what cites it, and everybody and everything known that its words name. Names are read in the language
process beforehand (`Mentioning.read`); what they mean is looked up in the transaction, since a reply makes things too.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from sqlalchemy import Connection

from internal.agents.archivist.output import ArchivistReply
from internal.chronicle import mention_repository
from internal.chronicle import repository as line
from internal.chronicle.model import Event, EventLabel
from internal.errors import ModelUnavailable
from internal.flows.runs.handler import StaleDigest
from internal.flows.runs.slices import SliceLine
from internal.graph import name_repository, store
from internal.knowledge import evidence_repository as evidence
from internal.knowledge.entities import repository as entities
from internal.knowledge.model import OWNER_NODE
from internal.language.text.spelling import name_key
from internal.language.worker.process_pool import LanguageCallFailed
from internal.people import repository as people
from internal.people.model import names_of
from internal.people.operations import Added
from internal.scheduling.model import Run
from internal.storage.database import Database

log = logging.getLogger(__name__)

CITED: Final = 4
"""Relevance, 1..5, of what rests on a line where the reply did not say how central it is."""

NAMED_BY_OWNER: Final = 3
NAMED_BY_ASSISTANT: Final = 2
"""Of what is only named in it."""

_BY_ID = re.compile(r"person:\d+", re.IGNORECASE)

Relevances = dict[str, dict[str, int]]
"""By event and entity, the highest that was found."""


class MentionReader(Protocol):
    """Finds names in texts over declension. Both calls may raise ModelUnavailable or LanguageCallFailed."""

    async def people_named(self, texts: Sequence[str], names: Mapping[int, Sequence[str]]) -> list[set[int]]:
        """For each text, the keys of the people whom it means."""
        ...

    async def things_named(self, texts: Sequence[str], names: Sequence[Sequence[str]]) -> list[set[int]]:
        """For each text, the places of the things that it names."""
        ...


@dataclass(frozen=True, slots=True)
class Named:
    """What one text names: known entities by id, and by name what the reply brings. `people`: whether anybody."""

    nodes: frozenset[str] = frozenset()
    fresh: frozenset[str] = frozenset()
    people: bool = False


@dataclass(frozen=True, slots=True)
class Fresh:
    """Names that a reply brings, by the one that it is looked up by afterwards."""

    people: Mapping[str, Sequence[str]] = field(default_factory=dict)
    things: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SliceNames:
    """What the lines of a slice name, by number, and what the Analyses of their sessions do, by event id."""

    lines: Mapping[int, Named] = field(default_factory=dict)
    analyses: Mapping[str, Named] = field(default_factory=dict)


class Mentioning:
    """Reads names in texts. Without the language process nothing is named; what cites a line is mentioned anyway."""

    def __init__(self, database: Database, reader: MentionReader) -> None:
        self._database, self._reader = database, reader

    async def of_slice(self, user_id: int, lines: Sequence[SliceLine], proposal: ArchivistReply) -> SliceNames:
        """What a slice names, of what is known and of what its reply brings; nothing for a text without messages."""
        ids = [one.message_id for one in lines if one.message_id is not None]
        if not ids:
            return SliceNames()
        analyses = await self._database.read(lambda c: _analyses_beside(c, user_id, ids))
        texts = [*(one.shown.text for one in lines), *(words_of(event) for event in analyses)]
        named = await self.read(user_id, texts, fresh_names(proposal))
        numbers = [one.shown.number for one in lines]
        return SliceNames(
            dict(zip(numbers, named, strict=False)),
            dict(zip((event.id for event in analyses), named[len(numbers) :], strict=True)),
        )

    async def read(self, user_id: int, texts: Sequence[str], fresh: Fresh | None = None) -> list[Named]:
        """What each text names."""
        fresh = fresh or Fresh()
        known = await self._database.read(lambda c: names_known(c, user_id))
        persons = dict(enumerate((*known.people.values(), *fresh.people.values())))
        things = [*known.things.values(), *fresh.things.values()]
        try:
            meant = await self._reader.people_named(texts, persons)
            named = await self._reader.things_named(texts, things)
        except (ModelUnavailable, LanguageCallFailed) as error:
            log.warning("mentions_not_read", extra={"reason": type(error).__name__})
            return [Named() for _ in texts]
        people_ids, thing_ids = [*known.people, *fresh.people], [*known.things, *fresh.things]
        found: list[Named] = []
        for someone, something in zip(meant, named, strict=True):
            old = {people_ids[n] for n in someone if n < len(known.people)}
            old |= {thing_ids[n] for n in something if n < len(known.things)}
            new = {people_ids[n] for n in someone if n >= len(known.people)}
            new |= {thing_ids[n] for n in something if n >= len(known.things)}
            found.append(Named(frozenset(old), frozenset(new), bool(someone)))
        return found


def fresh_names(proposal: ArchivistReply) -> Fresh:
    """The names in a reply: of people it adds, of things, and of what its facts and memories are about."""
    added = [one for one in proposal.operations if isinstance(one, Added)]
    things: dict[str, Sequence[str]] = {}
    for entity in (*proposal.entities, *proposal.mentioned):
        things.setdefault(entity.name, (entity.name, *entity.aliases))
    for end in (end for fact in proposal.facts for end in (fact.source, fact.target)):
        if end != OWNER_NODE and not _BY_ID.fullmatch(end):
            things.setdefault(end, (end,))
    things = {name: names for name, names in things.items() if not _BY_ID.fullmatch(name) and name != OWNER_NODE}
    return Fresh({one.display_name: (one.display_name, *one.aliases) for one in added}, things)


def mention_slice(
    connection: Connection,
    run: Run,
    lines: Sequence[SliceLine],
    proposal: ArchivistReply,
    nodes: Mapping[str, str],
    named: SliceNames,
) -> int:
    """C10 of the archivist: the events of a slice mention what it told and what it names; how many events changed.

    Call it after people, facts and memories were written; `nodes` are the ids of what the reply names. A second
    reading takes the place of the first. Analyses of these sessions learn the names that are new; raises StaleDigest
    if one has come since they were read.
    """
    by_message = {one.message_id: one for one in lines if one.message_id is not None}
    beside = _analyses_beside(connection, run.user_id, list(by_message))
    if {event.id for event in beside} - named.analyses.keys():
        raise StaleDigest("a session of this slice was analysed while its names were read")
    found: Relevances = {}
    told = _relevances(proposal, nodes, lines)
    cited = evidence.entities_by_segment(connection, run.user_id, run.episode_id)
    for event in line.events_of_messages(connection, run.user_id, list(by_message)):
        shown = by_message[event.message_id or ""]
        mentioned = found.setdefault(event.id, {})
        for node_id in cited.get(shown.segment, ()):
            _note(mentioned, node_id, told.get((shown.shown.number, node_id), CITED))
        least = NAMED_BY_OWNER if shown.shown.role == "user" else NAMED_BY_ASSISTANT
        for node_id in _meant(connection, run.user_id, named.lines.get(shown.shown.number, Named()), nodes):
            _note(mentioned, node_id, least)
    for event in line.events_by_ids(connection, run.user_id, list(named.analyses)):
        meant = _meant(connection, run.user_id, named.analyses[event.id], nodes)
        found[event.id] = dict.fromkeys(meant, _of_analysis(event))
    return _write(connection, run, found)


def mention_analyses(connection: Connection, run: Run, named: Mapping[str, tuple[Event, Named]]) -> int:
    """C10 of the analyst: its Analyses mention whom and what they name; how many of them mention anything."""
    found = {
        event_id: dict.fromkeys(_meant(connection, run.user_id, one, {}), _of_analysis(event))
        for event_id, (event, one) in named.items()
    }
    return _write(connection, run, found)


def words_of(event: Event) -> str:
    """Everything an Analysis tells in words of its own."""
    texts = [*event.attrs.get("errors", ()), *event.attrs.get("lessons", ()), event.attrs.get("summary", "")]
    return "\n".join(text for text in texts if text)


@dataclass(frozen=True, slots=True)
class KnownNames:
    """Names by entity id."""

    people: Mapping[str, Sequence[str]]
    things: Mapping[str, Sequence[str]]


def names_known(connection: Connection, user_id: int) -> KnownNames:
    """What a text may name now; not the same later means that a text may name more."""
    things = [one for one in entities.known_names(connection, user_id) if one.label == "Entity"]
    persons = people.listing(connection, user_id)
    with_profile = {one.entity_id for one in persons}
    return KnownNames(
        {one.entity_id: names_of(one) for one in persons},
        {one.node_id: one.names for one in things if one.node_id not in with_profile},
    )


def _analyses_beside(connection: Connection, user_id: int, message_ids: Sequence[str]) -> list[Event]:
    """The Analyses of the sessions in which these messages were said."""
    sessions = dict.fromkeys(line.session_of_messages(connection, user_id, message_ids).values())
    events = (event for one in sessions for event in line.events_of_session(connection, user_id, one))
    return [event for event in events if event.label is EventLabel.ANALYSIS]


def _relevances(
    proposal: ArchivistReply, nodes: Mapping[str, str], lines: Sequence[SliceLine]
) -> dict[tuple[int, str], int]:
    """How central the reply says a thing is, by the lines that it cites for it."""
    everywhere = [one.shown.number for one in lines]
    return {
        (number, nodes[entity.name]): entity.relevance
        for entity in proposal.entities
        if entity.relevance is not None and entity.name in nodes
        for number in entity.evidence or everywhere
    }


def _meant(connection: Connection, user_id: int, named: Named, nodes: Mapping[str, str]) -> set[str]:
    """The entities that a text names; a fresh name that several things have means none of them."""
    found = set(named.nodes)
    for name in named.fresh:
        called = (
            [nodes[name]] if name in nodes else name_repository.entities_named(connection, user_id, [name_key(name)])
        )
        found |= set(called if len(called) == 1 else ())
    return found


def _note(mentioned: dict[str, int], node_id: str, relevance: int) -> None:
    mentioned[node_id] = max(mentioned.get(node_id, 0), relevance)


def _of_analysis(event: Event) -> int:
    """A summary of a session names what it was about; a judgement names it in passing."""
    return NAMED_BY_OWNER if event.attrs.get("type") == "session_summary" else NAMED_BY_ASSISTANT


def _write(connection: Connection, run: Run, found: Relevances) -> int:
    meant = _entities(connection, run.user_id, {node_id for one in found.values() for node_id in one})
    mentioned: dict[str, dict[str, int | None]] = {event_id: {} for event_id in found}
    for event_id, relevances in found.items():
        for node_id, relevance in relevances.items():
            if node_id in meant:
                mentioned[event_id][meant[node_id]] = max(mentioned[event_id].get(meant[node_id]) or 0, relevance)
    return len(mention_repository.replace(connection, run.user_id, mentioned, run_id=run.id))


def _entities(connection: Connection, user_id: int, node_ids: Collection[str]) -> dict[str, str]:
    """Those of these nodes that are entities, as they are now: merged ones lead on. The owner is in every line."""
    visible = store.nodes_by_ids(connection, user_id, node_ids)
    current = {one: visible.get(one) or store.resolve_node(connection, user_id, one) for one in sorted(node_ids)}
    owner = store.owner_node_id(user_id)
    return {
        one: node.id
        for one, node in current.items()
        if node is not None and node.label == "Entity" and node.id != owner
    }
