"""Conversations in a store as messages are searched: written, analysed and embedded without other processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection
from support.flows.recall_stage import NOON, OWNER, DirectNames

from internal.dialogue import repository as dialogue
from internal.dialogue.model import ForwardOrigin, Incoming, Message
from internal.language.search import terms as language
from internal.language.search.terms import Word
from internal.llm.model import Embedder
from internal.recall.index.embed import VectorBackfill
from internal.recall.index.scoring import normalised
from internal.recall.index.terms import TermsBackfill
from internal.recall.messages.search import MessageHit, MessageSearch
from internal.recall.search.query import Query
from internal.storage.database import Database
from internal.testing import FrozenClock

BOT, CHAT = 7, 70


class DirectTerms:
    """The term tools called in this process, counting the texts of documents."""

    def __init__(self) -> None:
        self.analysed = 0

    async def document_terms(self, texts: Sequence[str], *, urgent: bool = False) -> list[str]:
        self.analysed += len(texts)
        return language.document_terms(texts)

    async def query_terms(self, text: str) -> list[Word]:
        return language.query_terms(text)

    async def in_cyrillic(self, text: str) -> str:
        return text


@dataclass(slots=True)
class Talk:
    """One owner's messages and a search over them."""

    database: Database
    embedder: Embedder | None
    search: MessageSearch
    terms: DirectTerms
    clock: FrozenClock
    count: int = 0

    @classmethod
    def of(cls, database: Database, embedder: Embedder | None = None) -> Talk:
        terms, clock = DirectTerms(), FrozenClock(NOON)
        search = MessageSearch(database, clock, embedder=embedder, terms=terms, names=DirectNames())
        return cls(database, embedder, search, terms, clock)

    async def say(
        self, text: str, *, name: str | None = None, after: timedelta = timedelta(minutes=1), user_id: int = OWNER
    ) -> Message:
        """Stores what somebody wrote, `after` what was written last; with a `name` it was forwarded from him."""
        self.clock.advance(after)
        return await self.database.write(lambda c: self._say(c, text, name, self.clock.now(), user_id))

    async def reply(self, text: str) -> None:
        """What the assistant says to the owner, right after."""
        self.clock.advance(timedelta(seconds=5))
        now = self.clock.now()
        await self.database.write(
            lambda c: dialogue.add(c, OWNER, "assistant", text, now=now, bot_id=BOT, chat_id=CHAT)
        )

    def _say(self, connection: Connection, text: str, name: str | None, at: datetime, user_id: int) -> Message:
        self.count += 1
        forward = ForwardOrigin("hidden_user", name) if name else None
        incoming = Incoming(user_id, BOT, CHAT, self.count, text, at, forward=forward)
        message = dialogue.add_incoming(connection, incoming, metadata={}, turn_id=None)
        assert message is not None
        return message

    async def follow(self) -> None:
        """Terms and vectors of all that is due."""
        await TermsBackfill(self.database, self.terms).analyse_due()
        if self.embedder is not None:
            waits = {"retry_base": timedelta(seconds=2), "retry_max": timedelta(minutes=15)}
            await VectorBackfill(self.database, self.embedder, self.clock, **waits).embed_due()

    async def ask(self, question: str, *, user_id: int = OWNER) -> Query:
        vector = None
        if self.embedder is not None:
            [vector] = await self.embedder.embed_queries([question], user_id=user_id)
            vector = normalised(vector, self.embedder.dimensions)
        return Query(question, vector, await self.terms.query_terms(question))

    async def hits(self, question: str, limit: int = 10, *, user_id: int = OWNER) -> list[MessageHit]:
        return await self.search.search(user_id, await self.ask(question, user_id=user_id), limit)

    async def found(self, question: str, limit: int = 10, *, user_id: int = OWNER) -> list[str]:
        """What is found, best first."""
        return [hit.message.content for hit in await self.hits(question, limit, user_id=user_id)]
