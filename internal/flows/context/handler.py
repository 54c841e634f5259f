"""A fragment brings the snapshot of its owner up to date: the old one and new messages in, a version out (C8-C10)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol

from sqlalchemy import Connection

from internal.access import repository as users
from internal.agents.context_manager.output import SnapshotReply, parse_snapshot
from internal.agents.model import AgentReply, ContextManager, ContextRequest, OwnerProfile
from internal.flows.runs.handler import Prepared, StaleInput
from internal.flows.runs.results import tell_result
from internal.flows.runs.slices import SliceLine, current_revs, read_slice, revs
from internal.flows.visibility.snapshot import shown_snapshot
from internal.people.operations import RefusedOperation
from internal.scheduling.model import Run
from internal.snapshots import repository as snapshots
from internal.snapshots.model import EMPTY, PARTS, Snapshot, bounded
from internal.storage.database import Database

AGENT: Final = snapshots.AGENT

_NOTHING: Final = '{"snapshot": {"who": [], "now": [], "threads": []}}'


class ContextObserver(Protocol):
    def operation_refused(self, agent: str, reason: str) -> None: ...


@dataclass(frozen=True, slots=True)
class ContextInput:
    """What is asked, the messages it is asked about, and what was said since and stays whatever the answer is.

    An older slice is read again when a message of it was edited, or when its owner asks for it.
    """

    request: ContextRequest
    lines: tuple[SliceLine, ...]
    later: Snapshot

    @property
    def told(self) -> bool:
        """Whether the owner says anything in it: otherwise there is nothing to ask about."""
        return any(line.shown.owners_word for line in self.lines)


@dataclass(frozen=True, slots=True)
class ContextEffects:
    refused: Sequence[RefusedOperation]
    observer: ContextObserver
    wake: Callable[[], None]

    def after_commit(self) -> None:
        for refusal in self.refused:
            self.observer.operation_refused(AGENT, refusal.reason)
        self.wake()


class ContextHandler:
    """The context manager's part of a run over a slice of a fragment."""

    agent = AGENT
    source = "agent:ContextManager"

    def __init__(
        self,
        database: Database,
        manager: ContextManager,
        observer: ContextObserver,
        *,
        persona_name: str,
        wake: Callable[[], None],
    ) -> None:
        self._database, self._manager, self._observer = database, manager, observer
        self._persona, self._wake = persona_name, wake

    async def read(self, run: Run) -> Prepared[ContextInput]:
        return await self._database.read(lambda c: self._read(c, run))

    def _read(self, connection: Connection, run: Run) -> Prepared[ContextInput]:
        user = users.get(connection, run.user_id)
        everything = read_slice(connection, run, user, self._persona)
        # What was imported is of years ago, and no message with which it could be forgotten.
        lines = tuple(line for line in everything if line.message_id is not None)
        snapshot = shown_snapshot(connection, run.user_id)
        owner = OwnerProfile(user.user_id, user.name, user.username, user.lang, user.tz)
        before, later = _parted(snapshot, lines)
        request = ContextRequest(owner, before, [line.shown for line in lines])
        shown = {"messages": revs(lines), "snapshot": fingerprint(snapshot)}
        return Prepared(ContextInput(request, lines, later), shown)

    async def ask(self, prepared: Prepared[ContextInput]) -> AgentReply:
        """One call; none where the owner said nothing."""
        if not prepared.input.told:
            return AgentReply(_NOTHING, "none")
        return await self._manager.update(prepared.input.request)

    async def digest(self, run: Run, prepared: Prepared[ContextInput], reply: str) -> SnapshotReply:
        asked = prepared.input
        if not asked.told:
            return SnapshotReply(_joined(asked.request.snapshot, asked.later))
        ids = {line.shown.number: line.message_id for line in asked.lines if line.message_id is not None}
        told = parse_snapshot(reply, asked.request, ids)
        return SnapshotReply(_joined(told.snapshot, asked.later), told.refused)

    def apply(
        self,
        connection: Connection,
        run: Run,
        prepared: Prepared[ContextInput],
        digested: SnapshotReply,
        now: datetime,
    ) -> ContextEffects:
        told: Mapping[str, Any] = run.snapshot or prepared.snapshot
        if current_revs(connection, run.user_id, list(told["messages"])) != dict(told["messages"]):
            raise StaleInput("messages of this slice changed while the context manager read them")
        before = shown_snapshot(connection, run.user_id)
        if fingerprint(before) != told["snapshot"]:
            raise StaleInput("the snapshot changed while the context manager read it")
        version = None
        if digested.snapshot != before:
            version = snapshots.add(connection, run.user_id, digested.snapshot, now=now, run_id=run.id).version
        self._tell(connection, run, now, digested, version)
        return ContextEffects(digested.refused, self._observer, self._wake)

    def _tell(
        self, connection: Connection, run: Run, now: datetime, digested: SnapshotReply, version: int | None
    ) -> None:
        counts: dict[str, Any] = {part: len(digested.snapshot.part(part)) for part in PARTS}
        by = "rules" if digested.snapshot.by_rules else "model"
        told = counts | {"version": version, "by": by, "refused": len(digested.refused)}
        tell_result(connection, run, told, digested.refused, source=self.source, now=now)


def _parted(snapshot: Snapshot, lines: Sequence[SliceLine]) -> tuple[Snapshot, Snapshot]:
    """What of a snapshot a slice goes on from, and what was said after it. What rests on the slice is told anew."""
    if not lines:
        return snapshot, EMPTY
    end = max(line.said_at for line in lines)
    own = snapshot.without([line.message_id for line in lines if line.message_id is not None])

    def of(later: bool) -> Snapshot:
        who, now, threads = (tuple(one for one in own.part(part) if (one.at > end) is later) for part in PARTS)
        return Snapshot(who, now, threads, own.by_rules)

    return of(False), of(True)


def _joined(snapshot: Snapshot, later: Snapshot) -> Snapshot:
    who, now, threads = (snapshot.part(part) + later.part(part) for part in PARTS)
    return bounded(Snapshot(who, now, threads, snapshot.by_rules))


def fingerprint(snapshot: Snapshot) -> str:
    """Equal for snapshots of equal content; tells nothing of it."""
    return hashlib.sha256(json.dumps(snapshot.content(), sort_keys=True).encode()).hexdigest()
