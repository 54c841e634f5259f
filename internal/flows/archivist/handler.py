"""The archivist's part of a run over a slice: its prompt, and how its reply is resolved and applied (C8-C10)."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Protocol

from sqlalchemy import Connection

from internal.access import repository as users
from internal.access.model import User
from internal.agents.archivist.output import NOTHING, ArchivistReply, parse
from internal.agents.model import AgentReply, Archivist, ArchivistRequest, OwnerProfile, SamePersonHint
from internal.errors import Refusal
from internal.flows.archivist.known_facts import KnownThings, known_things
from internal.flows.archivist.known_memories import from_snapshot, known_memories, snapshot_of
from internal.flows.archivist.reply_guard import ReplyGuard
from internal.flows.archivist.resolve_reply import ReplyResolver
from internal.flows.archivist.write_facts import WrittenFacts, write_facts
from internal.flows.archivist.write_memories import WrittenMemories, write_memories
from internal.flows.archivist.write_mentions import MentionFinder, SliceMentions, mention_slice
from internal.flows.runs.handler import Applied, MetricCounts, Prepared, RefusalObserver, RunHandler
from internal.flows.runs.rerun import known_people, settle_profiles, take_back_profiles
from internal.flows.runs.slices import SliceLine, read_slice, revs
from internal.knowledge import service as knowledge
from internal.knowledge.entities.resolve import ResolveContext
from internal.knowledge.entities.resolved_names import FactLookup
from internal.knowledge.entities.types import EntityTypes
from internal.knowledge.facts.occasions import with_days
from internal.language.text.spelling import without_attachments
from internal.memory import service as memory
from internal.memory.model import KnownMemory, MemoryLookup
from internal.people import apply_operations, repository as people, service as people_service
from internal.people.model import INNER_CIRCLE, Person
from internal.people.operations import ApplyContext, ApplyOutcome
from internal.scheduling.clock import Clock
from internal.scheduling.run import Run
from internal.storage.database import Database

log = logging.getLogger(__name__)

SHOWN_PEOPLE = 200
"""The most people in a prompt; among more, those the slice may mean come first, then the closest and most recent."""


class NameReader(Protocol):
    """Reads names in texts in any declension, diminutive or transliteration."""

    async def hints(self, people: Sequence[Person], texts: Sequence[str]) -> list[SamePersonHint]:
        """The names in these texts that may mean a known person: suggestions, never a merge."""

    async def mentions(self, people: Sequence[Person], texts: Sequence[str]) -> list[set[int]]:
        """For each text, the ids of the people whom it means."""


AskOwner = Callable[[Connection, int, dict[str, str], datetime], None]
"""Asks the owner about what the archivist may only suggest: (connection, user_id, links, now)."""


class ArchivistObserver(RefusalObserver, Protocol):
    def people_applied(self, user_id: int, op_type: str, count: int = 1) -> None: ...

    def facts_changed(self, outcome: str, count: int = 1) -> None:
        """`outcome` is created, closed, updated ..., or entities for things that are new."""

    def memories_changed(self, outcome: str, count: int = 1) -> None:
        """`outcome` is created, changed, referenced, linked, unlinked, deleted, contradictions or suggested."""

    def extraction_seconds(self, user_id: int, seconds: float) -> None: ...


@dataclass(frozen=True, slots=True)
class ArchivistInput:
    """The archivist's input for one slice.

    `mentioned` are the people whom the owner's own messages mean, with the times of those messages.
    """

    request: ArchivistRequest
    lines: tuple[SliceLine, ...]
    mentioned: Mapping[int, list[datetime]]


@dataclass(frozen=True, slots=True)
class ResolvedReply:
    """A reply as typed proposals, with resolved names, dates and memories, and the mentions of the lines."""

    proposal: ArchivistReply
    names: FactLookup
    memories: MemoryLookup
    mentions: SliceMentions


class ArchivistHandler(RunHandler[ArchivistInput, ResolvedReply]):
    """The archivist's part of a run. `wake` is called after each commit, to compute vectors."""

    agent = "archivist"
    source = "agent:Archivist"

    def __init__(
        self,
        database: Database,
        clock: Clock,
        archivist: Archivist,
        names: NameReader,
        resolver: ReplyResolver,
        observer: ArchivistObserver,
        *,
        mentions: MentionFinder,
        types: EntityTypes,
        persona_name: str,
        tombstone_key: bytes,
        ask_owner: AskOwner,
        wake: Callable[[], None],
        guard: ReplyGuard | None = None,
    ) -> None:
        """`guard` checks a model's reply; rules make nothing up."""
        super().__init__(database, observer, persona_name=persona_name, wake=wake)
        self._clock, self._archivist, self._observer = clock, archivist, observer
        self._names, self._resolver, self._mentions = names, resolver, mentions
        self._guard = guard
        self._types, self._tombstone_key, self._ask_owner = types, tombstone_key, ask_owner

    async def prepare(self, run: Run) -> Prepared[ArchivistInput]:
        known = await self._database.read(lambda c: _read_known(c, run, self._persona, self._clock.now()))
        mentioned = await self._mentioned(known.people, known.lines)
        hints = await self._names.hints(known.people, [line.shown.text for line in known.lines])
        people_shown = choose(known.people, set(mentioned) | {hint.person_id for hint in hints})
        person_ids = {person.id for person in people_shown}
        request = ArchivistRequest(
            owner=OwnerProfile.of(known.user),
            people=people_shown,
            hints=[hint for hint in hints if hint.person_id in person_ids],
            facts=known.things.facts,
            transcript=[line.shown for line in known.lines],
            entities=known.things.entities,
            memories=known.memories,
        )
        snapshot = {
            "rev": known.rev,
            "messages": revs(known.lines),
            "people": sorted(person_ids),
            "memories": snapshot_of(known.memories),
        }
        # The bot's own words prove nothing, and deleted messages are not there.
        written = any(line.shown.role == "user" for line in known.lines)
        return Prepared(ArchivistInput(request, known.lines, mentioned), snapshot, None if written else NOTHING)

    async def _mentioned(self, known: Sequence[Person], lines: Sequence[SliceLine]) -> dict[int, list[datetime]]:
        own = [line for line in lines if line.shown.owners_word]
        mentioned_in_each = await self._names.mentions(known, [without_attachments(line.shown.text) for line in own])
        times: dict[int, list[datetime]] = {}
        for line, person_ids in zip(own, mentioned_in_each, strict=True):
            for person_id in person_ids:
                times.setdefault(person_id, []).append(line.said_at)
        return times

    async def _ask(self, asked: ArchivistInput) -> AgentReply:
        return await self._archivist.ask(asked.request)

    def took(self, asked: ArchivistInput, seconds: float) -> None:
        self._observer.extraction_seconds(asked.request.owner.user_id, seconds)

    async def resolve(self, run: Run, prepared: Prepared[ArchivistInput], reply: str) -> ResolvedReply:
        snapshot, request = run.snapshot or prepared.snapshot, prepared.input.request
        redirected = await self._database.read(lambda c: people.redirected_ids(c, run.user_id))
        known_ids = {*snapshot["people"], *redirected}
        proposal = parse(reply, request.transcript, known_ids, self._types, from_snapshot(snapshot))
        if self._guard is not None:
            proposal = await self._guard.kept(proposal, request)
        days = with_days(proposal.facts, run.created_at, request.owner.language)
        proposal = replace(proposal, facts=days)
        reply_lines = (run.user_id, proposal, request.transcript, request.owner.language)
        return ResolvedReply(
            proposal,
            await self._resolver.names(*reply_lines),
            await self._resolver.memories(*reply_lines),
            await self._mentions.of_slice(run.user_id, prepared.input.lines, proposal),
        )

    def _write(
        self,
        connection: Connection,
        run: Run,
        prepared: Prepared[ArchivistInput],
        resolved: ResolvedReply,
        now: datetime,
    ) -> Applied:
        slice_, proposal = prepared.input, resolved.proposal
        snapshot_rev = (run.snapshot or prepared.snapshot)["rev"]
        lost = take_back_profiles(connection, run) if run.replaces is not None else None
        outcome = self._write_people(connection, run, slice_, proposal, snapshot_rev, now)
        facts = write_facts(
            connection,
            run,
            slice_.lines,
            proposal,
            resolved.names,
            _circumstances(run, slice_, snapshot_rev, now),
            self._types,
            tombstone_key=self._tombstone_key,
        )
        memories = write_memories(
            connection, run, slice_.lines, resolved.memories, facts.nodes, tombstone_key=self._tombstone_key, now=now
        )
        if lost is not None:
            settle_profiles(connection, run, lost, slice_.mentioned, now)
        mention_slice(connection, run, slice_.lines, proposal, facts.nodes, resolved.mentions)
        if outcome.suggested or facts.asked or memories.asked:
            self._ask_owner(connection, run.user_id, {"run": run.id}, now)
        return self._result(run, outcome, facts, memories, (*proposal.refused, *facts.refused, *memories.refused))

    def _write_people(
        self,
        connection: Connection,
        run: Run,
        slice_: ArchivistInput,
        proposal: ArchivistReply,
        snapshot_rev: int,
        now: datetime,
    ) -> ApplyOutcome:
        context = ApplyContext(
            episode_id=run.episode_id,
            run_id=run.id,
            lines={line.shown.number: line.source for line in slice_.lines},
            snapshot_rev=snapshot_rev,
            tombstone_key=self._tombstone_key,
            now=now,
        )
        outcome = apply_operations.apply(connection, run.user_id, proposal.operations, context)
        people_service.note_mentions(connection, run.user_id, run.episode_id, slice_.mentioned, now=now)
        knowledge.reproject(connection, run.user_id, outcome.merged_entities, now=now)
        memory.reproject(connection, run.user_id, outcome.merged_entities, now=now)
        return outcome

    def _result(
        self,
        run: Run,
        outcome: ApplyOutcome,
        facts: WrittenFacts,
        memories: WrittenMemories,
        refused: Sequence[Refusal],
    ) -> Applied:
        """Adds `refused` without those of `outcome`, which `apply_operations` has reported."""
        payload = {
            "applied": outcome.applied,
            "facts": dict(facts.counts),
            "memories": dict(memories.counts),
            "refused": len(refused) + len(outcome.refused),
            "suggested": outcome.suggested,
            **({"people": sorted(outcome.added)} if outcome.added else {}),
        }
        counts: list[MetricCounts] = [
            (partial(self._observer.people_applied, run.user_id), outcome.applied),
            (self._observer.facts_changed, facts.counts),
            (self._observer.memories_changed, memories.counts),
        ]
        return Applied(payload, refused, counts, outcome.refused)


def _circumstances(run: Run, slice_: ArchivistInput, snapshot_rev: int, now: datetime) -> ResolveContext:
    owner = slice_.request.owner
    return ResolveContext(
        now=now,
        owner_name=owner.name,
        owner_username=owner.username,
        own_lines={line.shown.number for line in slice_.lines if line.shown.owners_word},
        run_id=run.id,
        snapshot_rev=snapshot_rev,
    )


def choose(known: Sequence[Person], likely: set[int]) -> list[Person]:
    """The people in an archivist's prompt: all, or of many the likely, the closest and the most recent, by id."""
    if len(known) <= SHOWN_PEOPLE:
        return list(known)
    ranked = sorted(known, key=lambda p: (p.id not in likely, p.circle not in INNER_CIRCLE, -p.last_seen.timestamp()))
    return sorted(ranked[:SHOWN_PEOPLE], key=lambda person: person.id)


@dataclass(frozen=True, slots=True)
class _Known:
    user: User
    lines: tuple[SliceLine, ...]
    people: list[Person]
    things: KnownThings
    memories: Sequence[KnownMemory]
    rev: int


def _read_known(connection: Connection, run: Run, persona: str, now: datetime) -> _Known:
    user = users.get(connection, run.user_id)
    lines = read_slice(connection, run, user, persona)
    texts = [line.shown.text for line in lines]
    return _Known(
        user=user,
        lines=lines,
        people=known_people(connection, run),
        things=known_things(connection, user, texts, now),
        memories=known_memories(connection, run.user_id, texts, read_again=run.replaces and run.episode_id),
        rev=people.current_rev(connection, run.user_id),
    )
