"""Requests to forget: hidden at once, and erased for good when the undo window has passed, or at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from sqlalchemy import Connection

from internal.chronicle import repository as line
from internal.dialogue.reply_source_repository import echoes
from internal.errors import Conflict, NotFound, Refused
from internal.events import repository as events
from internal.flows.forgetting import bio_sentences
from internal.flows.forgetting import erase as forgetting_erase
from internal.flows.forgetting.hide import check, hide, show
from internal.flows.forgetting.report import ErasureReport
from internal.flows.visibility.fact_messages import own_messages
from internal.flows.visibility.pending_forgettings import _messages_of, messages_to_forget
from internal.knowledge import fact_repository
from internal.scheduling.clock import Clock
from internal.storage.backup.backup import Backup
from internal.storage.database import Database
from internal.storage.engine.commit_order import ReadPosition
from internal.storage.engine.owner_scope import acting_for, acting_for_everyone
from internal.storage.erasure import forgettings
from internal.storage.erasure.forgettings import EVERYTHING, Forgetting, Kind

log = logging.getLogger(__name__)

UNDO_WINDOW: Final = timedelta(minutes=10)

ASKED, UNDONE, ERASED = "forgetting_asked", "forgetting_undone", "forgotten"
"""The events of its steps."""

_BATCH: Final = 50
_CHECKPOINTS: Final = 20
_CHECKPOINT_PAUSE: Final = 0.1


class Remembers(Protocol):
    """Something that keeps parts of an owner's data in memory."""

    def forget(self, user_id: int) -> None:
        """Drops everything it holds of this owner; it reads again what it needs."""
        ...


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasure did: the counts, and the names of backups made before, which still hold the data.

    `log_emptied` is False while the write-ahead log is still being read; that is tried again at every tick. `remaining`
    are sentences of profiles, each behind its person, for which it cannot be decided whether they state a forgotten
    fact."""

    fallen: dict[str, int]
    backups: Sequence[str]
    log_emptied: bool
    remaining: Sequence[str] = ()


def ask(
    connection: Connection,
    user_id: int,
    kind: Kind,
    ref_id: str | None,
    *,
    now: datetime,
    due_at: datetime | None = None,
) -> Forgetting:
    """Hides something at once and has it erased at `due_at`, else after UNDO_WINDOW. Once for each target.

    `ref_id` is the id of the target, None for everything. With a message go the answers that quote it. Asking for
    confirmation is the caller's. Raises NotFound, and Refused("owner") for the owner's own entity.
    """
    if kind == "entity" and ref_id is not None:
        person_id = fact_repository.person_of(connection, user_id, ref_id)
        kind, ref_id = (kind, ref_id) if person_id is None else ("person", str(person_id))
    for asked in forgettings.pending(connection, user_id):
        if (asked.kind, asked.ref_id) == (kind, ref_id):
            return asked
    ref_id = check(connection, user_id, kind, ref_id)
    asked = forgettings.ask(connection, user_id, kind, ref_id, now=now, due_at=due_at or now + UNDO_WINDOW)
    hide(connection, asked)
    _touch_events(connection, asked)
    tell(connection, ASKED, asked, now, until=asked.due_at.isoformat())
    for echo in echoes(connection, user_id, asked.ref_id or "") if kind == "message" else ():
        ask(connection, user_id, "message", echo, now=now, due_at=asked.due_at)
    return asked


def ask_messages(connection: Connection, user_id: int, fact_id: str, *, now: datetime) -> list[Forgetting]:
    """Has the owner's own messages that state a pending fact forgotten, and restored, together with it.

    Raises NotFound when the fact is not about to be forgotten (any more).
    """
    for asked in forgettings.pending(connection, user_id):
        if (asked.kind, asked.ref_id) == ("fact", fact_id):
            told = own_messages(connection, user_id, fact_id)
            return [ask(connection, user_id, "message", one, now=now, due_at=asked.due_at) for one in told]
    raise NotFound(f"the fact {fact_id} is not about to be forgotten")


def ask_forget(connection: Connection, user_id: int, person_id: int | None, *, now: datetime) -> Forgetting:
    """`ask` for a person (None = everything)."""
    if person_id is None:
        return ask(connection, user_id, "everything", None, now=now)
    return ask(connection, user_id, "person", str(person_id), now=now)


def undo(connection: Connection, user_id: int, forgetting_id: str) -> Forgetting:
    """Brings back what was to be forgotten, a fact with its messages, a message with the answers that quote it.

    Raises NotFound when it is too late, or nothing of that id was asked.
    """
    for asked in forgettings.pending(connection, user_id):
        if asked.id == forgetting_id:
            for one in [asked, *_with(connection, asked)]:
                forgettings.close(connection, one, "undone")
                show(connection, one)
                _touch_events(connection, one)
            return asked
    raise NotFound("there is nothing to undo any more")


def _with(connection: Connection, asked: Forgetting) -> list[Forgetting]:
    """The messages that go with a fact, and the answers that go with a message."""
    ref_id = asked.ref_id or ""
    told = own_messages(connection, asked.user_id, ref_id) if asked.kind == "fact" else []
    told = [*told, *_quoting(connection, asked.user_id, [ref_id] if asked.kind == "message" else told)]
    waiting = forgettings.pending(connection, asked.user_id)
    return [one for one in waiting if one.kind == "message" and one.ref_id in told and one.due_at == asked.due_at]


def _quoting(connection: Connection, user_id: int, message_ids: Sequence[str]) -> list[str]:
    """The answers that quote one of these messages, or such an answer, each once."""
    found, look = dict.fromkeys(message_ids), list(message_ids)
    while look:
        new = [one for one in echoes(connection, user_id, look.pop()) if one not in found]
        found |= dict.fromkeys(new)
        look += new
    return [one for one in found if one not in message_ids]


def _touch_events(connection: Connection, asked: Forgetting) -> None:
    """Notes that events are out of sight, or seen again: whoever follows the chronicle looks at them anew.

    Their neighbours too, up to the next that is to be seen: NEXT leads past what is hidden.
    """
    user_id = asked.user_id
    ours = _messages_of(connection, asked)
    hidden = messages_to_forget(connection, user_id) | ours
    touched: set[str] = set()
    for event in line.events_of_messages(connection, user_id, ours):
        touched.add(event.id)
        for step in (line.before, line.after):
            beside = step(connection, user_id, event.n)
            while beside is not None:
                touched.add(beside.id)
                beside = step(connection, user_id, beside.n) if beside.message_id in hidden else None
    line.touch(connection, user_id, sorted(touched))


def tell(
    connection: Connection, step: str, asked: Forgetting, now: datetime, source: str | None = None, **told: Any
) -> None:
    """The event of ASKED, UNDONE or ERASED, by the owner if no `source` is named; it holds ids and no words."""
    events.append(
        connection,
        step,
        source=source or f"user:{asked.user_id}",
        now=now,
        user_id=asked.user_id,
        payload={"kind": asked.kind, **told},
        links={"forgetting": asked.id},
    )


class ForgettingService:
    """Erases what is due. `caches` are asked to forget after each erasure; `backups` are those that still hold it."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        tombstone_key: bytes,
        caches: Sequence[Remembers] = (),
        backups: Callable[[], Sequence[Backup]] = tuple,
    ) -> None:
        self._database, self._clock, self._key, self._caches = database, clock, tombstone_key, caches
        self._backups = backups
        # What a process erased that was killed before it emptied the log is still there.
        self._log_to_empty = True
        self._looked_at: ReadPosition | None = None

    async def erase_due(self) -> int:
        """Erases everything whose undo window has passed. Returns the number of requests.

        A request is erased in one transaction; then the write-ahead log, which holds what was erased, is emptied.
        """
        now = self._clock.now()
        due = await self._database.read(lambda connection: forgettings.due(connection, now, limit=_BATCH))
        for forgetting in due:
            await self._erase_one(forgetting)
        await self.follow()
        return len(due)

    async def erase_now(self, user_id: int, kind: Kind, ref_id: str | None, *, messages: bool = False) -> Erased:
        """Erases something without an undo window and empties the log; with `messages` also those that state a fact.

        With a message go the answers that quote it. Raises NotFound, Conflict while it is in use, and
        Refused("owner") for the owner's own entity.
        """
        now = self._clock.now()

        def work(connection: Connection) -> tuple[ErasureReport, list[str]]:
            checked = check(connection, user_id, kind, ref_id)
            left = bio_sentences.remaining(connection, user_id, checked) if kind == "fact" and checked else []
            told = own_messages(connection, user_id, checked) if messages and kind == "fact" and checked else []
            told += _quoting(connection, user_id, [checked] if kind == "message" and checked else told)
            asked = forgettings.ask(connection, user_id, kind, checked, now=now, due_at=now)
            if kind == EVERYTHING and asked.id not in {
                one.id for one in forgettings.due(connection, now, limit=_BATCH)
            }:
                raise Conflict("a message is being answered; try again in a moment")
            forgettings.close(connection, asked, "done")
            fallen = self._erase(connection, asked, source=f"user:{user_id}")
            for message_id in told:
                with suppress(NotFound):  # gone with the fragment that had no other line
                    fallen.join(forgetting_erase.erase_message(connection, user_id, message_id, now=now))
            return fallen, [] if told else [f"{one.name}: {one.sentence}" for one in left]

        with acting_for(user_id):
            fallen, left = await self._database.write(work)
        self._forget(user_id)
        self._log_to_empty = True
        await self.follow()
        holding = [backup.path.name for backup in self._backups()]
        return Erased(fallen.counts(), holding, not self._log_to_empty, left)

    async def _erase_one(self, forgetting: Forgetting) -> None:
        def work(connection: Connection) -> ErasureReport | None:
            return self._erase(connection, forgetting) if forgettings.close(connection, forgetting, "done") else None

        try:
            with acting_for(forgetting.user_id):
                fallen = await self._database.write(work)
        except Conflict:  # in use just now: it stays pending, and is due at the next tick
            return
        self._forget(forgetting.user_id)
        self._log_to_empty = True
        holding = [backup.path.name for backup in self._backups()]
        told = {"user_id": forgetting.user_id, "forgetting": forgetting.id, "kind": forgetting.kind}
        log.info("forgotten", extra=told | {"backups_still_holding": holding, "fallen": fallen and fallen.counts()})

    def _erase(
        self, connection: Connection, forgetting: Forgetting, source: str = "system:forgetting"
    ) -> ErasureReport:
        """Erases for a request. A target that is gone already, for example with its episode, counts as erased."""
        now = self._clock.now()
        try:
            fallen = forgetting_erase.erase(connection, forgetting, key=self._key, now=now)
        except (NotFound, Refused):
            if forgetting.kind == "fact" and forgetting.ref_id is not None:
                forgetting_erase.erase_hidden_sentences(connection, forgetting.user_id, forgetting.ref_id, now=now)
            fallen = ErasureReport()
        if forgetting.kind != EVERYTHING:
            show(connection, forgetting)
        if forgetting.kind != EVERYTHING:  # of whom nothing is kept, nothing is told
            tell(connection, ERASED, forgetting, now, source, fallen=fallen.counts())
        return fallen

    def _forget(self, user_id: int) -> None:
        for cache in self._caches:
            cache.forget(user_id)

    async def follow(self) -> None:
        """Finds what other processes erased since, for instance over REST, and empties the log if there is a reason.

        Also drops what this process holds in memory of those owners.
        """
        since = self._looked_at
        with acting_for_everyone():
            owners, self._looked_at = await self._database.read(lambda c: forgettings.erased_since(c, since))
        for user_id in owners:
            self._forget(user_id)
        self._log_to_empty = self._log_to_empty or bool(owners)
        if self._log_to_empty:
            self._log_to_empty = not await self._empty_log()

    async def _empty_log(self) -> bool:
        for _ in range(_CHECKPOINTS):
            if await self._database.exclusive(forgettings.checkpoint):
                return True
            await asyncio.sleep(_CHECKPOINT_PAUSE)
        log.warning("forgotten_text_still_in_log")
        return False
