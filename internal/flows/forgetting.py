"""Forgetting a person, or everything: hidden at once, erased for good when the time to undo has passed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final, Protocol

from sqlalchemy import Connection

from internal.errors import NotFound
from internal.people import forget_repository, repository, service, suggestion_repository, tombstones
from internal.people.bio import sentences
from internal.scheduling.clock import Clock
from internal.storage import erasure
from internal.storage.backup import Backup
from internal.storage.engine import Database
from internal.storage.erasure import Forgetting

log = logging.getLogger(__name__)

UNDO_WINDOW: Final = timedelta(minutes=10)
_BATCH: Final = 50
_CHECKPOINTS: Final = 20
_CHECKPOINT_PAUSE: Final = 0.1
_LONG_SENTENCE: Final = 12
"""Characters from which a sentence of a bio is looked for in stored texts; shorter ones may be anybody's."""


class Remembers(Protocol):
    """Something that keeps parts of an owner's data in memory."""

    def forget(self, user_id: int) -> None:
        """Drops all it has of this owner; it reads anew what it needs."""
        ...


def ask_forget(connection: Connection, user_id: int, person_id: int | None, *, now: datetime) -> Forgetting:
    """Hides a person (None = everybody) at once and has him erased after UNDO_WINDOW. Raises NotFound.

    The confirmation is the caller's. Asking for everything twice answers with the first.
    """
    due_at = now + UNDO_WINDOW
    if person_id is None:
        asked = everything_asked(connection, user_id)
        if asked is not None:
            return asked
        forget_repository.hide(connection, user_id, None, due_at)
        return erasure.ask(connection, user_id, None, now=now, due_at=due_at)
    known = service.person(connection, user_id, person_id)
    forget_repository.hide(connection, user_id, [known.id], due_at)
    return erasure.ask(connection, user_id, known.id, now=now, due_at=due_at)


def undo(connection: Connection, user_id: int, forgetting_id: str) -> Forgetting:
    """Brings back what was to be forgotten. Raises NotFound when it is too late, or nothing of that id was asked."""
    for asked in erasure.pending(connection, user_id):
        if asked.id == forgetting_id:
            erasure.close(connection, asked, "undone")
            ids = None if asked.person_id is None else [asked.person_id]
            forget_repository.show(connection, user_id, ids, asked.due_at)
            return asked
    raise NotFound("there is nothing to undo any more")


def everything_asked(connection: Connection, user_id: int) -> Forgetting | None:
    """The pending request to forget everything: messages up to its `created_at` belong into no prompt."""
    asked = (one for one in erasure.pending(connection, user_id) if one.person_id is None)
    return next(asked, None)


class Eraser:
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
        self._log_to_empty = False

    async def erase_due(self) -> int:
        """Erases everything whose time to undo has passed; how many requests that were.

        A request is erased in one transaction; then the write-ahead log is emptied, for it holds what was erased.
        """
        now = self._clock.now()
        due = await self._database.read(lambda connection: erasure.due(connection, now, limit=_BATCH))
        for forgetting in due:
            await self._database.write(partial(self._erase, forgetting))
            for cache in self._caches:
                cache.forget(forgetting.user_id)
            holding = [backup.path.name for backup in self._backups()]
            told = {"user_id": forgetting.user_id, "forgetting": forgetting.id, "backups_still_holding": holding}
            log.info("forgotten", extra=told)
        self._log_to_empty = self._log_to_empty or bool(due)
        if self._log_to_empty:
            self._log_to_empty = not await self._empty_log()
        return len(due)

    def _erase(self, forgetting: Forgetting, connection: Connection) -> None:
        if not erasure.close(connection, forgetting, "done"):
            return
        if forgetting.person_id is None:
            # A day back: the limit's day is that of the owner's own zone.
            yesterday = (self._clock.now() - timedelta(days=1)).date()
            erasure.erase_everything(connection, forgetting.user_id, yesterday.isoformat())
        else:
            self._erase_person(connection, forgetting.user_id, forgetting.person_id, forgetting)

    def _erase_person(self, connection: Connection, user_id: int, person_id: int, forgetting: Forgetting) -> None:
        """The person with everybody merged into him; what stays are keyed hashes of the names and ids."""
        ids = {person_id} | repository.sources_of(connection, user_id, person_id)
        profiles = forget_repository.profiles(connection, user_id, ids)
        words: set[str] = set()
        phrases: set[str] = set()
        for person in profiles:
            marks = tombstones.marks(self._key, user_id, person.names, person.username, person.telegram_id)
            suggestion_repository.bury(connection, user_id, marks, forgetting.created_at)
            words |= {*person.names, person.username or "", str(person.telegram_id or "")}
            phrases |= {sentence for sentence in sentences(person.bio) if len(sentence) >= _LONG_SENTENCE}
        forget_repository.erase(connection, user_id, ids)
        erasure.blank_mentions(connection, user_id, erasure.mention_pattern(words, ids, phrases))

    async def _empty_log(self) -> bool:
        for _ in range(_CHECKPOINTS):
            if await self._database.exclusive(erasure.checkpoint):
                return True
            await asyncio.sleep(_CHECKPOINT_PAUSE)
        log.warning("forgotten_text_still_in_log")
        return False
