"""A store with people of two owners whose vectors follow, and names without the language process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, insert

from internal.language.names import person_names as language
from internal.llm.model import Embedder
from internal.people import apply_operations, repository
from internal.people.model import Person
from internal.people.operations import ApplyContext, Operation, SourceLine
from internal.recall.index.embed import VectorBackfill
from internal.recall.search.names import Names
from internal.storage.database import Database
from internal.storage.tables import users
from internal.testing import FrozenClock

OWNER, STRANGER = 1, 2
NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
KEY = b"k" * 32
DIMENSIONS = 512
"""Few enough trigrams fall together for similar to mean similar."""


class DirectNames:
    """The name tools called in this process."""

    weight = 0.3

    async def boosts(self, query: str, names: Names) -> Mapping[int, float]:
        return language.name_boosts(query, names)

    async def mentions(self, text: str, names: Names) -> Mapping[int, str]:
        return language.mentions(text, names)


@dataclass(slots=True)
class Watched:
    """A RecallObserver that remembers what it was told."""

    searches: list[tuple[int, int]] = field(default_factory=list)
    selected: list[int] = field(default_factory=list)
    fallbacks: list[str] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
    recalls: list[dict[str, int]] = field(default_factory=list)

    def people_searched(self, user_id: int, seconds: float, results: int) -> None:
        assert seconds >= 0
        self.searches.append((user_id, results))

    def people_selected(self, user_id: int, count: int) -> None:
        self.selected.append(count)

    def reranker_fallback(self, reason: str) -> None:
        self.fallbacks.append(reason)

    def recall_degraded(self, reason: str) -> None:
        self.degraded.append(reason)

    def recalled(self, seconds: float, hits: Mapping[str, int]) -> None:
        assert seconds >= 0
        self.recalls.append(dict(hits))


@dataclass(slots=True)
class Memory:
    """A database with its background embedding."""

    database: Database
    embedder: Embedder
    clock: FrozenClock = field(default_factory=lambda: FrozenClock(NOON))
    fragments: int = 0

    async def learn(self, *operations: Operation, user_id: int = OWNER, embed: bool = True) -> None:
        """Applies operations as one fragment and lets the vectors follow."""
        self.fragments += 1
        await self.database.write(lambda connection: self._apply(connection, operations, user_id))
        if embed:
            await self.follow()

    async def follow(self) -> int:
        return await self.following().embed_due()

    def following(self) -> VectorBackfill:
        retry = {"retry_base": timedelta(seconds=2), "retry_max": timedelta(minutes=15)}
        return VectorBackfill(self.database, self.embedder, self.clock, **retry)

    async def people(self, user_id: int = OWNER) -> Mapping[str, Person]:
        listed = await self.database.read(lambda connection: repository.listing(connection, user_id))
        return {person.display_name: person for person in listed}

    def _apply(self, connection: Connection, operations: Sequence[Operation], user_id: int) -> None:
        context = ApplyContext(
            episode_id=f"episode-{self.fragments}",
            run_id=f"run-{self.fragments}",
            lines={1: SourceLine(NOON, 1, "message-1")},
            snapshot_rev=repository.current_rev(connection, user_id),
            tombstone_key=KEY,
            now=NOON,
        )
        outcome = apply_operations.apply(connection, user_id, operations, context)
        assert outcome.refused == []


def add_users(connection: Connection) -> None:
    for user_id in (OWNER, STRANGER):
        row = {"user_id": user_id, "role": "member", "state": "active", "name": "", "lang": "ru", "tz": "UTC"}
        connection.execute(insert(users).values(**row, settings={}, created_at=NOON))
