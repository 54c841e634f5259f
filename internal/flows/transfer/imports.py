"""Stores what is new in imported conversations, each episode as a whole or not at all, nothing twice."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Protocol

from sqlalchemy import Connection

from internal.access import repository as users
from internal.errors import Refused
from internal.flows.archival.ingestion import add_episode
from internal.flows.visibility.pending_forgettings import everything_asked
from internal.import_formats.model import EpisodeDraft, numbered, split_reply
from internal.knowledge import episode_repository as episodes
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for

ARCHIVIST = "archivist"


@dataclass(frozen=True, slots=True)
class OwnerTerms:
    """What an importer must know about an owner, and the archivist's cost for all owners so far.

    `tz` is an IANA name; `own_bot` the bot's own Telegram id, None before its first start.
    """

    name: str
    tz: str
    own_bot: int | None
    calls: int
    tokens: int
    cost_usd: float


@dataclass(frozen=True, slots=True)
class ImportedDrafts:
    """The result for some drafts: `new` has for each the numbers of its segments that were not stored before.

    `known` ones were stored, `changed` of them with other words. The words imported first stay.
    """

    new: list[list[int]]
    known: int = 0
    changed: int = 0

    @property
    def episodes(self) -> int:
        return sum(1 for numbers in self.new if numbers)

    @property
    def messages(self) -> int:
        return sum(map(len, self.new))


class ImportAdmission(Protocol):
    """Checks whether an owner may have a memory without having written."""

    async def stored(self, user_id: int) -> bool:
        """Whether a known or allowed user may have anything stored. Raises NotFound for any other."""

    def expect(self, connection: Connection, user_id: int, now: datetime) -> None:
        """Creates the rows of a user who passed `stored`."""


class Importer:
    """Stores drafts. `agents` get runs; `woken` is called when there are some."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        agents: Sequence[str],
        admission: ImportAdmission,
        *,
        woken: Callable[[], None] = lambda: None,
    ) -> None:
        self._database, self._clock, self._agents, self._woken = database, clock, agents, woken
        self._admission = admission

    async def terms(self, user_id: int) -> OwnerTerms:
        """The owner's terms. Raises NotFound if he is not admitted, Refused while all his data is being forgotten."""
        await self._admission.stored(user_id)
        with acting_for(user_id):
            return await self._database.read(lambda c: _terms(c, user_id))

    async def take(self, user_id: int, drafts: Sequence[EpisodeDraft], *, dry_run: bool) -> ImportedDrafts:
        """Stores what is new, each episode in its own transaction, with shared commits; `dry_run` only counts.

        Raises what `add_episode` raises; the episodes before that stay.
        """
        with acting_for(user_id):
            return await self._take(user_id, drafts, dry_run=dry_run)

    async def _take(self, user_id: int, drafts: Sequence[EpisodeDraft], *, dry_run: bool) -> ImportedDrafts:
        if dry_run:
            return sum_of_imports(await self._database.read(lambda c: [_look(c, user_id, draft) for draft in drafts]))
        now = self._clock.now()
        if drafts and not await self._admission.stored(user_id):
            await self._database.write(lambda c: self._admission.expect(c, user_id, now))
        works = [partial(self._store, user_id=user_id, draft=draft, now=now) for draft in drafts]
        taken = sum_of_imports(await asyncio.gather(*(self._database.write(work, point="C7") for work in works)))
        if taken.messages:
            self._woken()
        return taken

    def _store(self, connection: Connection, user_id: int, draft: EpisodeDraft, now: datetime) -> ImportedDrafts:
        found = _look(connection, user_id, draft)
        wanted = set(found.new[0])
        segments = numbered([segment for segment in draft.segments if segment.n in wanted])
        if segments:
            add_episode(
                connection,
                user_id,
                source="text",
                name=draft.name,
                segments=segments,
                source_description=draft.source_description,
                source_url=draft.source_url,
                reference_time=segments[0].at,
                dedupe=f"import:{segments[0].key}",
                agents=self._agents,
                now=now,
                behind=True,
            )
        return found


def _terms(connection: Connection, user_id: int) -> OwnerTerms:
    owner = users.find(connection, user_id)
    if everything_asked(connection, user_id) is not None:
        raise Refused("forgetting", "everything of this user is about to be forgotten")
    calls, tokens, cost = users.spent_by(connection, ARCHIVIST)
    name, tz = (str(user_id), "UTC") if owner is None else (owner.name, owner.tz)
    return OwnerTerms(name, tz, users.read_setting(connection, "bot_id"), calls, tokens, cost)


def _look(connection: Connection, user_id: int, draft: EpisodeDraft) -> ImportedDrafts:
    keys = [segment.key for segment in draft.segments if segment.key is not None]
    stored = episodes.texts_by_key(connection, user_id, keys)
    seen: set[str | None] = set()
    new: list[int] = []
    changed = 0
    for segment in draft.segments:
        if segment.key in stored:
            # Earlier versions stored no replies, and exports name people by their current names: neither is a change.
            changed += split_reply(stored[segment.key])[1] != split_reply(segment.text or "")[1]
        elif segment.key not in seen:
            new.append(segment.n)
        seen.add(segment.key)
    return ImportedDrafts([new], known=len(draft.segments) - len(new), changed=changed)


def sum_of_imports(several: Sequence[ImportedDrafts]) -> ImportedDrafts:
    """The sum of several imports."""
    return ImportedDrafts(
        [numbers for taken in several for numbers in taken.new],
        known=sum(taken.known for taken in several),
        changed=sum(taken.changed for taken in several),
    )
