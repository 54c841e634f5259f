"""Requests to forget: hidden at once, and erased for good when the undo window has passed, or at once."""

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection

from internal import text_caches
from internal.errors import Conflict, NotFound
from internal.events import repository as events
from internal.events.trigger import caused_by
from internal.flows.forgetting import bio_sentences, erase as forgetting_erase, named_tasks
from internal.flows.forgetting.hide import add_messages, check, hide, related, show, update_hidings
from internal.flows.forgetting.messages_about import messages_about
from internal.flows.forgetting.report import ErasureReport
from internal.flows.forgetting.requested_messages import always_taken, document_of, with_quotations
from internal.flows.visibility.lines import own_messages
from internal.knowledge import fact_repository
from internal.scheduling.clock import Clock
from internal.storage.backup.backup import Backup
from internal.storage.database import Database
from internal.storage.engine.commit_order import ReadPosition
from internal.storage.engine.owner_scope import acting_apart_for, acting_for, acting_for_everyone
from internal.storage.forgetting import forgettings, hidings
from internal.storage.forgetting.forgettings import EVERYTHING, Forgetting, Kind
from internal.text_caches import TextHolder

log = logging.getLogger(__name__)

UNDO_WINDOW: Final = timedelta(minutes=10)

ASKED, UNDONE, ERASED = "forgetting_asked", "forgetting_undone", "forgotten"
"""The events of its steps."""

_BATCH: Final = 50
_CHECKPOINTS: Final = 20
_CHECKPOINT_PAUSE: Final = 0.1


@dataclass(frozen=True, slots=True)
class Erased:
    """The result of an erasure: the counts, and the names of backups made before, which still hold the data.

    `log_emptied` is False while the write-ahead log is still being read; that is tried again at every tick. `remaining`
    are sentences of profiles, each behind its person, for which it cannot be decided whether they state a forgotten
    fact."""

    erased: dict[str, int]
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
    messages: Collection[str] = (),
) -> Forgetting:
    """Hides a target, and these messages with it, at once; it is erased after UNDO_WINDOW.

    Asking twice makes one request. `ref_id` is the id of the target, None for everything. A message includes
    the answers that quote it. The caller asks for confirmation. Raises NotFound, and Refused("owner") for the
    owner's own entity.
    """
    if kind == "entity" and ref_id is not None:
        person_id = fact_repository.person_of(connection, user_id, ref_id)
        kind, ref_id = (kind, ref_id) if person_id is None else ("person", str(person_id))
    if kind == "message" and ref_id is not None and (document := document_of(connection, user_id, ref_id)):
        kind, ref_id = "episode", document
    asked = forgettings.pending_of(connection, user_id, kind, ref_id)
    if asked is not None:
        if messages:
            add_messages(connection, asked, messages)
        return asked
    ref_id = check(connection, user_id, kind, ref_id)
    if kind == "person" and ref_id is not None:
        named_tasks.assign(connection, user_id, int(ref_id), now)
    asked = forgettings.ask(connection, user_id, kind, ref_id, now=now, due_at=now + UNDO_WINDOW)
    hide(connection, asked, messages)
    append_event(connection, ASKED, asked, now, until=asked.due_at.isoformat(), messages=len(messages))
    return asked


def ask_messages(connection: Connection, user_id: int, fact_id: str, *, now: datetime) -> Forgetting:
    """Adds the owner's messages that state a pending fact to its forgetting, and the answers that quote these.

    Raises NotFound if the fact is not about to be forgotten (any more).
    """
    asked = forgettings.pending_of(connection, user_id, "fact", fact_id)
    if asked is None:
        raise NotFound(f"the fact {fact_id} is not about to be forgotten")
    messages = with_quotations(connection, user_id, own_messages(connection, user_id, fact_id))
    add_messages(connection, asked, messages)
    append_event(connection, ASKED, asked, now, until=asked.due_at.isoformat(), messages=len(messages))
    return asked


def ask_forget(
    connection: Connection, user_id: int, person_id: int | None, *, now: datetime, messages: Collection[str] = ()
) -> Forgetting:
    """Calls `ask` for a person (None = everything)."""
    if person_id is None:
        return ask(connection, user_id, "everything", None, now=now)
    return ask(connection, user_id, "person", str(person_id), now=now, messages=messages)


def undo(connection: Connection, user_id: int, forgetting_id: str) -> Forgetting:
    """Undoes a forgetting and shows its target again, with its messages.

    Raises NotFound if it is too late or there is no such request.
    """
    for asked in forgettings.pending(connection, user_id):
        if asked.id == forgetting_id:
            others = [one for one in related(connection, asked) if one.id != asked.id]
            forgettings.close(connection, asked, "undone")
            show(connection, asked)
            if others:
                update_hidings(connection, user_id, others, now=asked.created_at)
            return asked
    raise NotFound("there is nothing to undo any more")


def append_event(
    connection: Connection, step: str, asked: Forgetting, now: datetime, source: str | None = None, **details: Any
) -> None:
    """Appends an event ASKED, UNDONE or ERASED, by the owner if no `source` is given; it holds ids and no words."""
    events.append(
        connection,
        step,
        source=source or f"user:{asked.user_id}",
        now=now,
        user_id=asked.user_id,
        payload={"kind": asked.kind, **details},
        links={"forgetting": asked.id},
    )


class ForgettingService:
    """Erases what is due. `caches` are emptied after each erasure; `backups` are those that still hold erased data."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        tombstone_key: bytes,
        caches: Sequence[TextHolder] = (),
        backups: Callable[[], Sequence[Backup]] = tuple,
    ) -> None:
        self._database, self._clock, self._key, self._caches = database, clock, tombstone_key, caches
        self._backups = backups
        # A process may have been killed after it erased something and before it emptied the log.
        self._log_to_empty = True
        self._looked_at: ReadPosition | None = None

    async def erase_due(self) -> int:
        """Erases everything whose undo window has passed. Returns the number of requests that were erased.

        A request is erased in one transaction; then the write-ahead log, which holds what was erased, is emptied.
        """
        now = self._clock.now()
        due = await self._database.read(lambda connection: forgettings.due(connection, now, limit=_BATCH))
        erased = 0
        for forgetting in due:
            with acting_apart_for(forgetting.user_id, log, "forgetting_failed"):
                erased += await self._erase_one(forgetting)
        await self.follow()
        return erased

    async def messages_with(self, user_id: int, kind: Kind, ref_id: str | None) -> set[str]:
        """The ids of the messages that may be erased too: they state a fact, or are about a person. Raises NotFound."""
        with acting_for(user_id):
            checked = await self._database.read(lambda c: check(c, user_id, kind, ref_id)) or ""
            if kind == "person":
                return await messages_about(self._database, user_id, int(checked), now=self._clock.now())
            if kind != "fact":
                return set()
            return await self._database.read(lambda c: with_quotations(c, user_id, own_messages(c, user_id, checked)))

    async def erase_now(self, user_id: int, kind: Kind, ref_id: str | None, *, messages: bool = False) -> Erased:
        """Erases something without an undo window and empties the log; `messages` adds those of `messages_with`.

        A message includes the answers that quote it. Raises NotFound, Conflict while it is in use, and
        Refused("owner") for the owner's own entity.
        """
        now = self._clock.now()
        chosen = await self.messages_with(user_id, kind, ref_id) if messages else set[str]()

        def work(connection: Connection) -> tuple[ErasureReport, list[str]]:
            checked = check(connection, user_id, kind, ref_id)
            if kind == "person" and checked is not None:
                named_tasks.assign(connection, user_id, int(checked), now)
            document = document_of(connection, user_id, checked) if kind == "message" and checked else None
            meant: tuple[Kind, str | None] = ("episode", document) if document else (kind, checked)
            left = bio_sentences.remaining(connection, user_id, checked) if kind == "fact" and checked else []
            asked = forgettings.ask(connection, user_id, *meant, now=now, due_at=now)
            if kind == EVERYTHING and forgettings.is_busy(connection, user_id):
                raise Conflict("a message is being answered; try again in a moment")
            append_event(connection, ASKED, asked, now)
            taken = chosen | always_taken(connection, asked)
            if forgettings.pending(connection, user_id)[1:]:
                hide(connection, asked, taken)
            report = self._erase(connection, asked, taken, source=f"user:{user_id}")
            return report, [] if messages else [f"{one.name}: {one.sentence}" for one in left]

        with acting_for(user_id):
            report, left = await self._database.write(work)
        self._forget(user_id)
        self._log_to_empty = True
        await self.follow()
        holding = [backup.path.name for backup in self._backups()]
        return Erased(report.counts(), holding, not self._log_to_empty, left)

    async def undo(self, user_id: int, forgetting_id: str) -> None:
        """Runs `undo` and appends its event; an id without a request only shows again what is hidden for it."""
        now = self._clock.now()

        def work(connection: Connection) -> None:
            if (user_id, forgetting_id) in hidings.orphaned_hidings(connection):
                show(connection, Forgetting(user_id, forgetting_id, "memory", None, now, now))
            else:
                append_event(connection, UNDONE, undo(connection, user_id, forgetting_id), now)

        with acting_for(user_id):
            await self._database.write(work)

    async def _erase_one(self, forgetting: Forgetting) -> bool:
        def work(connection: Connection) -> ErasureReport | None:
            if forgettings.forgetting_state(connection, forgetting.user_id, forgetting.id) != "pending":
                return None
            taken = hidings.of_requests(connection, forgetting.user_id, [forgetting.id], "message")
            return self._erase(connection, forgetting, taken | always_taken(connection, forgetting))

        try:
            report = await self._database.write(work)
        except Conflict:  # in use now: it stays pending, and is due at the next tick
            return False
        self._forget(forgetting.user_id)
        self._log_to_empty = True
        holding = [backup.path.name for backup in self._backups()]
        about = {"user_id": forgetting.user_id, "forgetting": forgetting.id, "kind": forgetting.kind}
        log.info("forgotten", extra=about | {"backups_still_holding": holding, "erased": report and report.counts()})
        return True

    def _erase(
        self, connection: Connection, asked: Forgetting, messages: Collection[str], source: str = "system:forgetting"
    ) -> ErasureReport:
        """Erases for a pending request, with these messages.

        What later requests hide depends on earlier ones: theirs is computed again if this was not the first.
        """
        now, user_id = self._clock.now(), asked.user_id
        others: list[Forgetting] = []
        if asked.kind != EVERYTHING and forgettings.pending(connection, user_id)[0].id != asked.id:
            others = [one for one in related(connection, asked) if one.id != asked.id]
        forgettings.close(connection, asked, "done", at=now)
        with caused_by(forgetting=asked.id):
            report = forgetting_erase.erase(connection, asked, messages, key=self._key, now=now)
        if asked.kind == EVERYTHING:  # nothing is kept, so nothing is reported
            return report
        show(connection, asked)
        if others:
            update_hidings(connection, user_id, others, now=now)
        append_event(connection, ERASED, asked, now, source, erased=report.counts())
        return report

    def _forget(self, user_id: int) -> None:
        for cache in self._caches:
            cache.forget(user_id)
        text_caches.forget(user_id)

    async def follow(self) -> None:
        """Finds what other processes have erased, for instance over REST, and empties the log if necessary.

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
