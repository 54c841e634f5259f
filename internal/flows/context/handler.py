"""The context manager's part of a run: updates the owner's snapshot by the new messages of a fragment (C8-C10)."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from internal.access import repository as users
from internal.agents.context_manager.output import UNCHANGED, SnapshotReply, parse_snapshot
from internal.agents.model import AgentReply, ContextManager, ContextRequest, OwnerProfile
from internal.dialogue.snapshots import repository as snapshots
from internal.dialogue.snapshots.model import EMPTY, PARTS, Snapshot, SnapshotItem, bounded
from internal.errors import Refusal
from internal.flows.runs.handler import Applied, Prepared, RefusalObserver, RunHandler, StaleInput
from internal.flows.runs.slices import SliceLine, evidence_texts, owner_speaks, read_slice, revs
from internal.flows.visibility.snapshot import shown_snapshot
from internal.language.search.grounding import Proposed, ungrounded
from internal.language.worker.process_pool import LanguageWorker
from internal.scheduling.run import Run
from internal.storage.database import Database

AGENT: Final = snapshots.AGENT


@dataclass(frozen=True, slots=True)
class ContextInput:
    """A request, its lines, and the items of the snapshot that are later than these and stay unchanged.

    Items are later if an older slice is read again, because a message was edited or its owner asked for it.
    """

    request: ContextRequest
    lines: tuple[SliceLine, ...]
    later: Snapshot


class ContextHandler(RunHandler[ContextInput, SnapshotReply]):
    """The context manager's part of a run over a slice of a fragment."""

    agent = AGENT
    source = "agent:ContextManager"

    def __init__(
        self,
        database: Database,
        manager: ContextManager,
        observer: RefusalObserver,
        *,
        persona_name: str,
        wake: Callable[[], None],
        guard: LanguageWorker | None = None,
    ) -> None:
        """`guard` checks a model's reply; rules make nothing up."""
        super().__init__(database, observer, persona_name=persona_name, wake=wake)
        self._manager, self._guard = manager, guard

    async def prepare(self, run: Run) -> Prepared[ContextInput]:
        return await self._database.read(lambda c: self._prepare(c, run))

    def _prepare(self, connection: Connection, run: Run) -> Prepared[ContextInput]:
        user = users.get(connection, run.user_id)
        # Imports are years old, and there is no message with which they could be forgotten.
        lines = tuple(one for one in read_slice(connection, run, user, self._persona) if one.message_id is not None)
        snapshot = shown_snapshot(connection, run.user_id)
        before, later = _split(snapshot, lines)
        request = ContextRequest(OwnerProfile.of(user), before, [line.shown for line in lines])
        shown = {"messages": revs(lines), "snapshot": fingerprint(snapshot)}
        return Prepared(ContextInput(request, lines, later), shown, None if owner_speaks(lines) else UNCHANGED)

    async def _ask(self, asked: ContextInput) -> AgentReply:
        return await self._manager.update(asked.request)

    async def resolve(self, run: Run, prepared: Prepared[ContextInput], reply: str) -> SnapshotReply:
        asked = prepared.input
        if prepared.reply is not None or reply == UNCHANGED:
            return SnapshotReply(_joined(asked.request.snapshot, asked.later))
        ids = {line.shown.number: line.message_id for line in asked.lines if line.message_id is not None}
        parsed = parse_snapshot(reply, asked.request, ids)
        if self._guard is not None:
            parsed = await self._guard.run_bulk(grounded, parsed, asked.request, ids)
        return SnapshotReply(_joined(parsed.snapshot, asked.later), parsed.refused)

    def refuse_if_changed(self, connection: Connection, run: Run, snapshot: Mapping[str, Any]) -> None:
        super().refuse_if_changed(connection, run, snapshot)
        if fingerprint(shown_snapshot(connection, run.user_id)) != snapshot["snapshot"]:
            raise StaleInput("the snapshot changed while the context manager read it")

    def _write(
        self, connection: Connection, run: Run, prepared: Prepared[ContextInput], resolved: SnapshotReply, now: datetime
    ) -> Applied:
        version, snapshot = None, resolved.snapshot
        if snapshot != shown_snapshot(connection, run.user_id):
            version = snapshots.add(connection, run.user_id, snapshot, now=now, run_id=run.id).version
        counts: dict[str, Any] = {part: len(snapshot.part(part)) for part in PARTS}
        by = "rules" if snapshot.by_rules else "model"
        return Applied(counts | {"version": version, "by": by, "refused": len(resolved.refused)}, resolved.refused)


def grounded(reply: SnapshotReply, request: ContextRequest, ids: Mapping[int, str]) -> SnapshotReply:
    """The reply without items that neither their lines nor the old snapshot support. For the language process."""
    before = tuple(item.text for item in request.snapshot.items)

    def proposed(item: SnapshotItem) -> Proposed:
        cited = [number for number, message_id in ids.items() if message_id in item.sources]
        return Proposed((), item.text, (*before, *(evidence_texts(request.transcript, cited) if cited else ())))

    items = reply.snapshot.items
    gone = [items[index] for index in ungrounded(list(map(proposed, items)), request.owner.language)]
    who, now, threads = (tuple(item for item in reply.snapshot.part(part) if item not in gone) for part in PARTS)
    refused = [Refusal("not_in_evidence", "nothing of it stands in the lines it rests on")] * len(gone)
    return SnapshotReply(Snapshot(who, now, threads, reply.snapshot.by_rules), (*reply.refused, *refused))


def _split(snapshot: Snapshot, lines: Sequence[SliceLine]) -> tuple[Snapshot, Snapshot]:
    """The snapshot before a slice and the items added after it, without items that rest on the slice itself."""
    if not lines:
        return snapshot, EMPTY
    end = max(line.said_at for line in lines)
    own = snapshot.without([line.message_id for line in lines if line.message_id is not None])

    def of(later: bool) -> Snapshot:
        who, now, threads = (tuple(item for item in own.part(part) if (item.at > end) is later) for part in PARTS)
        return Snapshot(who, now, threads, own.by_rules)

    return of(False), of(True)


def _joined(snapshot: Snapshot, later: Snapshot) -> Snapshot:
    who, now, threads = (snapshot.part(part) + later.part(part) for part in PARTS)
    return bounded(Snapshot(who, now, threads, snapshot.by_rules))


def fingerprint(snapshot: Snapshot) -> str:
    """A hash that is equal for snapshots of equal content and does not reveal it."""
    return hashlib.sha256(json.dumps(snapshot.content(), sort_keys=True).encode()).hexdigest()
