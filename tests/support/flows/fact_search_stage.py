"""A store with facts of two owners, told in claims as an archivist tells them, and a search over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection
from support.flows.recall_stage import NOON, OWNER, DirectNames

from internal.graph import store
from internal.knowledge import episode_repository as episodes, service
from internal.knowledge.claims.changes import ClaimLine, NewClaim
from internal.knowledge.model import Episode
from internal.language.search import terms
from internal.language.search.terms import Word
from internal.llm.model import Embedder
from internal.recall.index.embed import VectorBackfill
from internal.recall.index.terms import TermsBackfill
from internal.recall.search.knowledge import KnowledgeSearch
from internal.storage import search_items
from internal.storage.database import Database
from internal.testing import FrozenClock


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


class DirectTerms:
    """The term tools called in this process."""

    async def document_terms(self, texts: Sequence[str], *, urgent: bool = False) -> list[str]:
        return terms.document_terms(texts)

    async def query_terms(self, text: str) -> list[Word]:
        return terms.query_terms(text)

    async def in_cyrillic(self, text: str) -> str:
        return text


@dataclass(slots=True)
class Known:
    """A database with its knowledge; `told` counts the claims."""

    database: Database
    embedder: Embedder
    clock: FrozenClock = field(default_factory=lambda: FrozenClock(NOON))
    told: int = 0

    async def node(self, name: str, user_id: int = OWNER, label: str = "Entity", **properties: object) -> str:
        """An entity, or a node of another label; its id."""
        given = {"preference": name} if label == "Preference" else {"name": name, **properties}
        if label == "Entity":
            given = {"type": "concept", **given}
        made = await self.database.write(lambda c: store.add_node(c, user_id, label, given, now=self.clock.now()))
        return made.id

    async def owner(self, user_id: int = OWNER) -> str:
        made = await self.database.write(lambda c: store.ensure_owner_node(c, user_id, "Оля", self.clock.now()))
        return made.id

    async def tell(
        self,
        source: str,
        relation: str,
        target: str,
        fact: str,
        *,
        user_id: int = OWNER,
        valid_at: datetime | None = None,
        invalid_at: datetime | None = None,
    ) -> str:
        """Records one claim of an episode of its own; the id of the fact that it supports."""
        self.told += 1
        claim = NewClaim(
            source=source,
            relation=relation,
            target=target,
            fact=fact,
            said_at=self.clock.now(),
            valid_at=valid_at,
            valid_stated=valid_at is not None,
            invalid_at=invalid_at,
            episode_id=f"episode-{self.told}",
            lines=[ClaimLine(1, fact)],
        )

        def record(connection: Connection) -> str:
            outcome = service.record_claims(connection, user_id, [claim], now=self.clock.now())
            [fact_id] = outcome.facts
            assert fact_id is not None, outcome.refused
            return fact_id

        return await self.database.write(record)

    async def correct(self, fact_id: str, text: str) -> str:
        """The owner says it in other words; the id of the new version."""

        def update(connection: Connection) -> str:
            _, new = service.update_fact(connection, OWNER, fact_id, text, reason="не так", now=self.clock.now())
            return new.id

        return await self.database.write(update)

    async def episode(self, episode: Episode) -> None:
        """Stores a text that can be searched."""

        def store(connection: Connection) -> None:
            episodes.add_episode(connection, episode, [])
            search_items.save_search_item(connection, episode.user_id, "episode", episode.id, episode.content, 1)

        await self.database.write(store)

    async def follow(self) -> None:
        """Lets terms and vectors follow."""
        await TermsBackfill(self.database, DirectTerms()).analyse_due()
        wait = timedelta(seconds=1)
        await VectorBackfill(self.database, self.embedder, self.clock, retry_base=wait, retry_max=wait).embed_due()

    def search(self, *, embedder: Embedder | None = None, names: bool = True, words: bool = True) -> KnowledgeSearch:
        return KnowledgeSearch(
            self.database,
            self.clock,
            embedder=embedder,
            terms=DirectTerms() if words else None,
            names=DirectNames() if names else None,
        )
