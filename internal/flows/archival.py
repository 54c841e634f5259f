"""A slice of a fragment becomes people: what the archivist is shown, and how its proposals are applied (C8-C10)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access import repository as users
from internal.access.model import User
from internal.agents.archivist.output import parse
from internal.agents.model import (
    AgentReply,
    Archivist,
    ArchivistRequest,
    OwnerProfile,
    SamePersonHint,
    TranscriptLine,
)
from internal.dialogue import repository as dialogue
from internal.dialogue.model import Message
from internal.events import repository as events
from internal.flows.runs import Prepared, StaleInput
from internal.knowledge import repository as episodes
from internal.people import applying
from internal.people import repository as people
from internal.people import service as people_service
from internal.people.model import INNER_CIRCLE, Person
from internal.people.operations import ApplyContext, ApplyOutcome, SourceLine
from internal.scheduling.clock import Clock
from internal.scheduling.model import Run
from internal.storage.engine import Database

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

    def operation_refused(self, agent: str, reason: str) -> None: ...

    def extraction_seconds(self, user_id: int, seconds: float) -> None: ...


@dataclass(frozen=True, slots=True)
class ArchivalInput:
    """What one slice shows the archivist, and where each of its lines comes from.

    `mentioned` are the people whom the owner's own messages mean, with the times of those messages.
    """

    request: ArchivistRequest
    messages: tuple[Message, ...]
    segments: tuple[int, ...]
    mentioned: Mapping[int, list[datetime]]


@dataclass(frozen=True, slots=True)
class ArchivalEffects:
    user_id: int
    outcome: ApplyOutcome
    refused: Sequence[str]
    observer: ArchivalObserver
    wake: Callable[[], None]

    def after_commit(self) -> None:
        for op_type, count in self.outcome.applied.items():
            self.observer.people_applied(self.user_id, op_type, count)
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
        observer: ArchivalObserver,
        *,
        persona_name: str,
        tombstone_key: bytes,
        ask_owner: AskOwner,
        wake: Callable[[], None],
    ) -> None:
        self._database, self._clock, self._archivist, self._names = database, clock, archivist, names
        self._observer, self._persona, self._wake = observer, persona_name, wake
        self._tombstone_key, self._ask_owner = tombstone_key, ask_owner

    async def read(self, run: Run) -> Prepared[ArchivalInput]:
        read = await self._database.read(lambda c: _slice(c, run))
        lines = tuple(_line(number, m, read.user, self._persona) for number, m in enumerate(read.messages, 1))
        mentioned = await self._mentioned(read.people, lines, read.messages)
        hints = await self._names.hints(read.people, [line.text for line in lines])
        shown = choose(read.people, set(mentioned) | {hint.person_id for hint in hints})
        visible = {person.id for person in shown}
        user = read.user
        request = ArchivistRequest(
            owner=OwnerProfile(user.user_id, user.name, user.username, user.lang, user.tz),
            people=shown,
            hints=[hint for hint in hints if hint.person_id in visible],
            facts=(),
            transcript=lines,
        )
        snapshot = {
            "rev": read.rev,
            "messages": {message.id: message.rev for message in read.messages},
            "people": sorted(visible),
        }
        return Prepared(ArchivalInput(request, read.messages, read.segments, mentioned), snapshot)

    async def _mentioned(
        self, known: Sequence[Person], lines: Sequence[TranscriptLine], messages: Sequence[Message]
    ) -> dict[int, list[datetime]]:
        own = [(line, m) for line, m in zip(lines, messages, strict=True) if line.role == "user" and not m.forward]
        found = await self._names.mentions(known, [line.text for line, _ in own])
        times: dict[int, list[datetime]] = {}
        for (_, message), ids in zip(own, found, strict=True):
            for person_id in ids:
                times.setdefault(person_id, []).append(message.timestamp)
        return times

    async def ask(self, prepared: Prepared[ArchivalInput]) -> AgentReply:
        if not prepared.input.messages:
            return AgentReply('{"people_operations": []}', "none")  # all of it was deleted meanwhile
        started = time.perf_counter()
        try:
            return await self._archivist.ask(prepared.input.request)
        finally:
            seconds = time.perf_counter() - started
            self._observer.extraction_seconds(prepared.input.request.owner.user_id, seconds)

    def apply(
        self, connection: Connection, run: Run, prepared: Prepared[ArchivalInput], reply: str, now: datetime
    ) -> ArchivalEffects:
        snapshot = run.snapshot or prepared.snapshot
        slice_ = prepared.input
        _refuse_changed(connection, run, snapshot["messages"])
        known_ids = {*snapshot["people"], *people.redirected_ids(connection, run.user_id)}
        proposal = parse(reply, slice_.request.transcript, known_ids)
        context = ApplyContext(
            episode_id=run.episode_id,
            run_id=run.id,
            lines=_sources(slice_),
            snapshot_rev=snapshot["rev"],
            tombstone_key=self._tombstone_key,
            now=now,
        )
        outcome = applying.apply(connection, run.user_id, proposal.operations, context)
        people_service.note_mentions(connection, run.user_id, run.episode_id, slice_.mentioned, now=now)
        if outcome.suggested:
            self._ask_owner(connection, run.user_id, now)
        refused = (*proposal.refused, *outcome.refused)
        links = {"run": run.id, "fragment": run.episode_id}
        for refusal in proposal.refused:
            events.append(
                connection,
                "operation_refused",
                source=self.source,
                now=now,
                user_id=run.user_id,
                payload={"reason": refusal.reason, "detail": refusal.detail},
                links=links,
            )
        events.append(
            connection,
            "agent_result",
            source=self.source,
            now=now,
            user_id=run.user_id,
            payload={"applied": outcome.applied, "refused": len(refused), "suggested": outcome.suggested},
            links=links,
        )
        return ArchivalEffects(run.user_id, outcome, [r.reason for r in refused], self._observer, self._wake)


def choose(known: Sequence[Person], likely: set[int]) -> list[Person]:
    """Those an archivist is shown: all, or, where there are many, the likely, the closest and the most recent."""
    if len(known) <= SHOWN_PEOPLE:
        return list(known)
    ranked = sorted(known, key=lambda p: (p.id not in likely, p.circle not in INNER_CIRCLE, -p.last_seen.timestamp()))
    return sorted(ranked[:SHOWN_PEOPLE], key=lambda person: person.id)


@dataclass(frozen=True, slots=True)
class _Read:
    user: User
    messages: tuple[Message, ...]
    segments: tuple[int, ...]
    people: list[Person]
    rev: int


def _slice(connection: Connection, run: Run) -> _Read:
    parts = episodes.episode_segments(connection, run.user_id, run.episode_id, run.first_n, run.last_n)
    places = {part.message_id: part.n for part in parts if part.message_id is not None}
    messages = tuple(dialogue.by_ids(connection, run.user_id, list(places)))
    return _Read(
        user=users.get(connection, run.user_id),
        messages=messages,
        segments=tuple(places[message.id] for message in messages),
        people=people.listing(connection, run.user_id),
        rev=people.current_rev(connection, run.user_id),
    )


def _line(number: int, message: Message, user: User, persona: str) -> TranscriptLine:
    return TranscriptLine(
        number=number,
        role="assistant" if message.role == "assistant" else "user",
        speaker=persona if message.role == "assistant" else user.name,
        at=message.timestamp.astimezone(ZoneInfo(user.tz)),
        text=message.content or _described(message.attachments),
        forwarded_from=message.forward.name if message.forward else None,
        telegram_ids=_vouched_ids(message),
    )


def _described(attachments: Sequence[Mapping[str, Any]]) -> str:
    return " ".join(f"[{attachment.get('kind', 'attachment')}]" for attachment in attachments)


def _vouched_ids(message: Message) -> tuple[int, ...]:
    """The Telegram ids that the message's own metadata holds; an id is never taken from a model's word."""
    ids = [message.forward.user_id if message.forward else None]
    ids += [attachment.get("telegram_id") for attachment in message.attachments]
    return tuple(dict.fromkeys(found for found in ids if found is not None))


def _sources(slice_: ArchivalInput) -> dict[int, SourceLine]:
    rows = zip(slice_.request.transcript, slice_.messages, slice_.segments, strict=True)
    return {
        line.number: SourceLine(message.timestamp, segment, message.id, line.telegram_ids)
        for line, message, segment in rows
    }


def _refuse_changed(connection: Connection, run: Run, shown: Mapping[str, int]) -> None:
    """Evidence that was edited or deleted since it was shown proves nothing: the slice is asked again."""
    current = {m.id: m.rev for m in dialogue.by_ids(connection, run.user_id, list(shown))}
    if current != dict(shown):
        raise StaleInput("messages of this slice changed while the archivist read them")
