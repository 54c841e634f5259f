"""A slice of an episode becomes people, things and facts: what the archivist is shown, what is applied (C8-C10)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import Connection

from internal.access import repository as users
from internal.access.model import User
from internal.agents.archivist.output import ArchivistReply, parse
from internal.agents.model import AgentReply, Archivist, ArchivistRequest, OwnerProfile, SamePersonHint
from internal.flows.archivist.known_facts import KnownThings, known_things
from internal.flows.archivist.known_memories import from_snapshot, remembered, snapshot_of
from internal.flows.archivist.resolve_facts import Digestion
from internal.flows.archivist.write_facts import Written, write_facts
from internal.flows.archivist.write_memories import WrittenMemories, write_memories
from internal.flows.archivist.write_mentions import Mentioning, SliceNames, mention_slice
from internal.flows.runs.handler import Prepared, StaleInput
from internal.flows.runs.rerun import known_people, settle_profiles, take_back_profiles
from internal.flows.runs.results import tell_result
from internal.flows.runs.slices import SliceLine, current_revs, read_slice, revs
from internal.knowledge import service as knowledge
from internal.knowledge.entities.resolve import Circumstances
from internal.knowledge.entities.resolved_names import Digest
from internal.knowledge.entities.types import EntityTypes
from internal.memory import service as memory
from internal.memory.model import KnownMemory, MemoryDigest
from internal.people import apply_operations
from internal.people import repository as people
from internal.people import service as people_service
from internal.people.model import INNER_CIRCLE, Person
from internal.people.operations import ApplyContext, ApplyOutcome, RefusedOperation
from internal.scheduling.clock import Clock
from internal.scheduling.model import Run
from internal.storage.database import Database

log = logging.getLogger(__name__)

SHOWN_PEOPLE = 200
"""Most people in one prompt. With more known, those the slice may mean come first, then the closest and most recent."""


class NameReader(Protocol):
    """Reads names in text over declension, diminutives and transliteration."""

    async def hints(self, people: Sequence[Person], texts: Sequence[str]) -> list[SamePersonHint]:
        """Who may be the same as whom: a suggestion, never a merge."""
        ...

    async def mentions(self, people: Sequence[Person], texts: Sequence[str]) -> list[set[int]]:
        """For each text, the ids of the people whom it means."""
        ...


AskOwner = Callable[[Connection, int, datetime], None]
"""Owes the owner a question about what the archivist may only suggest."""


class ArchivalObserver(Protocol):
    def people_applied(self, user_id: int, op_type: str, count: int = 1) -> None: ...

    def facts_changed(self, outcome: str, count: int = 1) -> None:
        """`outcome` is created, closed, updated ..., or entities for things that are new."""
        ...

    def memories_changed(self, outcome: str, count: int = 1) -> None:
        """`outcome` is created, changed, told, linked, unlinked, deleted, contradictions or suggested."""
        ...

    def operation_refused(self, agent: str, reason: str) -> None: ...

    def extraction_seconds(self, user_id: int, seconds: float) -> None: ...


@dataclass(frozen=True, slots=True)
class ArchivalInput:
    """What one slice shows the archivist, and where each of its lines comes from.

    `mentioned` are the people whom the owner's own messages mean, with the times of those messages.
    """

    request: ArchivistRequest
    lines: tuple[SliceLine, ...]
    mentioned: Mapping[int, list[datetime]]


@dataclass(frozen=True, slots=True)
class ArchivalDigest:
    """A reply as typed proposals, with what its names, dates and memories may mean, and what the lines name."""

    proposal: ArchivistReply
    names: Digest
    memories: MemoryDigest
    named: SliceNames


@dataclass(frozen=True, slots=True)
class ArchivalEffects:
    user_id: int
    outcome: ApplyOutcome
    facts: Mapping[str, int]
    memories: Mapping[str, int]
    refused: Sequence[str]
    observer: ArchivalObserver
    wake: Callable[[], None]

    def after_commit(self) -> None:
        for op_type, count in self.outcome.applied.items():
            self.observer.people_applied(self.user_id, op_type, count)
        for outcome, count in self.facts.items():
            self.observer.facts_changed(outcome, count)
        for outcome, count in self.memories.items():
            self.observer.memories_changed(outcome, count)
        for reason in self.refused:
            self.observer.operation_refused("archivist", reason)
        self.wake()


class ArchivalHandler:
    """The archivist's part of a run. `wake` is called after each commit: vectors follow."""

    agent = "archivist"
    source = "agent:Archivist"

    def __init__(
        self,
        database: Database,
        clock: Clock,
        archivist: Archivist,
        names: NameReader,
        digestion: Digestion,
        observer: ArchivalObserver,
        *,
        mentioning: Mentioning,
        types: EntityTypes,
        persona_name: str,
        tombstone_key: bytes,
        ask_owner: AskOwner,
        wake: Callable[[], None],
    ) -> None:
        self._database, self._clock, self._archivist, self._names = database, clock, archivist, names
        self._digestion, self._types, self._mentioning = digestion, types, mentioning
        self._observer, self._persona, self._wake = observer, persona_name, wake
        self._tombstone_key, self._ask_owner = tombstone_key, ask_owner

    async def read(self, run: Run) -> Prepared[ArchivalInput]:
        read = await self._database.read(lambda c: _read(c, run, self._persona, self._clock.now()))
        mentioned = await self._mentioned(read.people, read.lines)
        hints = await self._names.hints(read.people, [line.shown.text for line in read.lines])
        shown = choose(read.people, set(mentioned) | {hint.person_id for hint in hints})
        visible = {person.id for person in shown}
        user = read.user
        request = ArchivistRequest(
            owner=OwnerProfile(user.user_id, user.name, user.username, user.lang, user.tz),
            people=shown,
            hints=[hint for hint in hints if hint.person_id in visible],
            facts=read.known.facts,
            transcript=[line.shown for line in read.lines],
            entities=read.known.entities,
            memories=read.memories,
        )
        snapshot = {
            "rev": read.rev,
            "messages": revs(read.lines),
            "people": sorted(visible),
            "memories": snapshot_of(read.memories),
        }
        return Prepared(ArchivalInput(request, read.lines, mentioned), snapshot)

    async def _mentioned(self, known: Sequence[Person], lines: Sequence[SliceLine]) -> dict[int, list[datetime]]:
        own = [line for line in lines if line.shown.owners_word]
        found = await self._names.mentions(known, [line.shown.text for line in own])
        times: dict[int, list[datetime]] = {}
        for line, ids in zip(own, found, strict=True):
            for person_id in ids:
                times.setdefault(person_id, []).append(line.said_at)
        return times

    async def ask(self, prepared: Prepared[ArchivalInput]) -> AgentReply:
        if not prepared.input.lines:
            return AgentReply('{"people_operations": []}', "none")  # all of it was deleted meanwhile
        started = time.perf_counter()
        try:
            return await self._archivist.ask(prepared.input.request)
        finally:
            seconds = time.perf_counter() - started
            self._observer.extraction_seconds(prepared.input.request.owner.user_id, seconds)

    async def digest(self, run: Run, prepared: Prepared[ArchivalInput], reply: str) -> ArchivalDigest:
        snapshot, request = run.snapshot or prepared.snapshot, prepared.input.request
        redirected = await self._database.read(lambda c: people.redirected_ids(c, run.user_id))
        known_ids = {*snapshot["people"], *redirected}
        proposal = parse(reply, request.transcript, known_ids, self._types, from_snapshot(snapshot))
        told = (run.user_id, proposal, request.transcript, request.owner.language)
        names, memories = await self._digestion.digest(*told), await self._digestion.memories(*told)
        named = await self._mentioning.of_slice(run.user_id, prepared.input.lines, proposal)
        return ArchivalDigest(proposal, names, memories, named)

    def apply(
        self,
        connection: Connection,
        run: Run,
        prepared: Prepared[ArchivalInput],
        digested: ArchivalDigest,
        now: datetime,
    ) -> ArchivalEffects:
        snapshot = run.snapshot or prepared.snapshot
        slice_, proposal = prepared.input, digested.proposal
        _refuse_changed(connection, run, snapshot["messages"])
        context = ApplyContext(
            episode_id=run.episode_id,
            run_id=run.id,
            lines={line.shown.number: line.source for line in slice_.lines},
            snapshot_rev=snapshot["rev"],
            tombstone_key=self._tombstone_key,
            now=now,
        )
        lost = take_back_profiles(connection, run) if run.replaces is not None else None
        outcome = apply_operations.apply(connection, run.user_id, proposal.operations, context)
        people_service.note_mentions(connection, run.user_id, run.episode_id, slice_.mentioned, now=now)
        knowledge.reproject(connection, run.user_id, outcome.merged_entities, now=now)
        memory.reproject(connection, run.user_id, outcome.merged_entities, now=now)
        circumstances = self._circumstances(run, slice_, snapshot, now)
        written = write_facts(
            connection,
            run,
            slice_.lines,
            proposal,
            digested.names,
            circumstances,
            self._types,
            tombstone_key=self._tombstone_key,
        )
        memorised = write_memories(
            connection,
            run,
            slice_.lines,
            digested.memories,
            written.nodes,
            tombstone_key=self._tombstone_key,
            now=now,
        )
        if lost is not None:
            settle_profiles(connection, run, lost, slice_.mentioned, now)
        mention_slice(connection, run, slice_.lines, proposal, written.nodes, digested.named)
        if outcome.suggested or written.asked or memorised.asked:
            self._ask_owner(connection, run.user_id, now)
        refused = (*proposal.refused, *written.refused, *memorised.refused)
        self._tell(connection, run, now, outcome, written, memorised, refused)
        reasons = [refusal.reason for refusal in (*refused, *outcome.refused)]
        return ArchivalEffects(
            run.user_id, outcome, written.counts, memorised.counts, reasons, self._observer, self._wake
        )

    @staticmethod
    def _circumstances(run: Run, slice_: ArchivalInput, snapshot: Mapping[str, Any], now: datetime) -> Circumstances:
        owner = slice_.request.owner
        return Circumstances(
            now=now,
            owner_name=owner.name,
            owner_username=owner.username,
            own_lines={line.shown.number for line in slice_.lines if line.shown.owners_word},
            run_id=run.id,
            snapshot_rev=snapshot["rev"],
        )

    def _tell(
        self,
        connection: Connection,
        run: Run,
        now: datetime,
        outcome: ApplyOutcome,
        written: Written,
        memorised: WrittenMemories,
        refused: Sequence[RefusedOperation],
    ) -> None:
        """`refused` are those of which nobody has told yet: `apply_operations` tells of its own."""
        told = {
            "applied": outcome.applied,
            "facts": dict(written.counts),
            "memories": dict(memorised.counts),
            "refused": len(refused) + len(outcome.refused),
            "suggested": outcome.suggested,
        }
        tell_result(connection, run, told, refused, source=self.source, now=now)


def choose(known: Sequence[Person], likely: set[int]) -> list[Person]:
    """Those an archivist is shown: all, or, where there are many, the likely, the closest and the most recent."""
    if len(known) <= SHOWN_PEOPLE:
        return list(known)
    ranked = sorted(known, key=lambda p: (p.id not in likely, p.circle not in INNER_CIRCLE, -p.last_seen.timestamp()))
    return sorted(ranked[:SHOWN_PEOPLE], key=lambda person: person.id)


@dataclass(frozen=True, slots=True)
class _Read:
    user: User
    lines: tuple[SliceLine, ...]
    people: list[Person]
    known: KnownThings
    memories: Sequence[KnownMemory]
    rev: int


def _read(connection: Connection, run: Run, persona: str, now: datetime) -> _Read:
    user = users.get(connection, run.user_id)
    lines = read_slice(connection, run, user, persona)
    texts = [line.shown.text for line in lines]
    return _Read(
        user=user,
        lines=lines,
        people=known_people(connection, run),
        known=known_things(connection, user, texts, now),
        memories=remembered(connection, run.user_id, texts, read_again=run.replaces and run.episode_id),
        rev=people.current_rev(connection, run.user_id),
    )


def _refuse_changed(connection: Connection, run: Run, shown: Mapping[str, int]) -> None:
    """Evidence that was edited or deleted since it was shown proves nothing: the slice is asked again."""
    if current_revs(connection, run.user_id, list(shown)) != dict(shown):
        raise StaleInput("messages of this slice changed while the archivist read them")
