"""A scratch store with conversations in it: written, followed and searched by the product's own code.

Each conversation has an owner of its own, to whom its turns were forwarded by whoever said them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from sqlalchemy import Connection

from internal.access import repository as users
from internal.access.model import Role, User, UserState
from internal.dialogue import repository as dialogue
from internal.dialogue.model import ForwardOrigin, Incoming, clock_metadata
from internal.errors import ModelUnavailable
from internal.evaluation.locomo import Conversation, Turn
from internal.evaluation.scores import DEPTH, Ranked
from internal.evaluation.training import Sample
from internal.recall.index import item_repository
from internal.recall.index.embed import VectorBackfill
from internal.recall.index.terms import TermsBackfill
from internal.recall.messages.search import MessageSearch
from internal.recall.search.knowledge import KnowledgeSearch
from internal.storage.database import Database

ZONE: Final = "UTC"

_BOT: Final = 1
_WRITTEN_AT_ONCE: Final = 200
_LOOK_S: Final = 1.0
_PATIENCE: Final = 5
"""Times in a row that nothing follows before it is given up."""


class Tell(Protocol):
    def __call__(self, what: str, done: int, total: int) -> None:
        """Notes progress: so many of so many `what` are done."""
        ...


@dataclass(frozen=True, slots=True)
class Kept:
    """A conversation as it lies in the store: whose it is, and which turn each message is, by id."""

    user_id: int
    conversation: Conversation
    turns: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Stage:
    """The store and the parts of the product that work on it. Without `vectors` it is searched by words only."""

    database: Database
    terms: TermsBackfill
    vectors: VectorBackfill | None
    knowledge: KnowledgeSearch
    messages: MessageSearch

    async def take_in(self, conversations: Sequence[Conversation], tell: Tell) -> list[Kept]:
        """Writes the turns, and lets words and vectors follow until nothing is due.

        Raises ModelUnavailable when what is due cannot be followed.
        """
        kept: list[Kept] = []
        total = sum(len(one.turns) for one in conversations)
        for owner, one in enumerate(conversations, 1):
            kept.append(await self._written(owner, one))
            tell("turns written", sum(len(one.turns) for one in kept), total)
        await self.follow(tell)
        return kept

    async def follow(self, tell: Tell) -> None:
        """Lets words and vectors follow what was written, until nothing is due. Raises as `take_in`."""
        await self._follow_words()
        if self.vectors is not None:
            await _follow_vectors(self.vectors, tell)

    async def rank(self, kept: Sequence[Kept], tell: Tell) -> list[Ranked]:
        """Each question with what is found for it, file by file, in the order of the file."""
        ranked: list[Ranked] = []
        total = sum(len(one.conversation.questions) for one in kept)
        for one in kept:
            for question in one.conversation.questions:
                asked = await self.knowledge.prepare_query(one.user_id, question.text)
                hits = await self.messages.search(one.user_id, asked, DEPTH)
                found = dict.fromkeys(one.turns[hit.message.id] for hit in hits)
                ranked.append(Ranked(one.conversation, question, tuple(found)))
                tell("questions ranked", len(ranked), total)
        return ranked

    async def samples(self, kept: Sequence[Kept], tell: Tell) -> list[Sample]:
        """Each question with its candidates and their features, in the order of `rank`."""
        samples: list[Sample] = []
        total = sum(len(one.conversation.questions) for one in kept)
        for one in kept:
            for question in one.conversation.questions:
                asked = await self.knowledge.prepare_query(one.user_id, question.text)
                rows = await self.messages.training_rows(one.user_id, asked)
                turns = tuple(one.turns[message] for message in rows.message_ids)
                samples.append(Sample(one.user_id, one.conversation, question, turns, rows.matrix))
                tell("questions looked up", len(samples), total)
        return samples

    async def _written(self, user_id: int, conversation: Conversation) -> Kept:
        turns: dict[str, str] = {}
        await self.database.write(lambda c: users.add(c, _owner(user_id, conversation)))
        for start in range(0, len(conversation.turns), _WRITTEN_AT_ONCE):
            part = conversation.turns[start : start + _WRITTEN_AT_ONCE]

            def write(connection: Connection, part: Sequence[Turn] = part, start: int = start) -> dict[str, str]:
                return _write(connection, user_id, part, start)

            turns |= await self.database.write(write)
        return Kept(user_id, conversation, turns)

    async def _follow_words(self) -> None:
        for _ in range(_PATIENCE):
            await self.terms.analyse_due()
            if not await self.database.read(lambda c: item_repository.due_terms(c, limit=1)):
                return
            await asyncio.sleep(_LOOK_S)
        raise ModelUnavailable("the language process does not analyse the words of the conversations")


async def _follow_vectors(vectors: VectorBackfill, tell: Tell) -> None:
    best, stalled = -1, 0
    while stalled < _PATIENCE:
        following = asyncio.create_task(vectors.embed_due())
        try:
            while not following.done():
                await asyncio.wait([following], timeout=_LOOK_S)
                progress = await vectors.progress()
                tell("vectors made", progress.done, progress.total)
            following.result()
        finally:
            following.cancel()
        if progress.done >= progress.total:
            return
        stalled = 0 if progress.done > best else stalled + 1
        best = max(best, progress.done)
        await asyncio.sleep(_LOOK_S)
    raise ModelUnavailable(f"the embedder gives no vectors for {progress.total - progress.done} texts")


def _owner(user_id: int, conversation: Conversation) -> User:
    return User(
        user_id=user_id,
        role=Role.MEMBER,
        state=UserState.ACTIVE,
        name="",
        username=None,
        lang="en",
        tz=ZONE,
        tz_asked=True,
        created_at=conversation.turns[0].at,
    )


def _write(connection: Connection, user_id: int, turns: Sequence[Turn], before: int) -> dict[str, str]:
    """The ids of the messages, each with its turn. `before` = how many turns are written already."""
    ids: dict[str, str] = {}
    for number, turn in enumerate(turns, before + 1):
        incoming = Incoming(
            user_id=user_id,
            bot_id=_BOT,
            chat_id=user_id,
            tg_id=number,
            text=turn.text,
            timestamp=turn.at,
            forward=ForwardOrigin("hidden_user", turn.speaker) if turn.speaker else None,
            attachments=[{"kind": "photo", "description": turn.caption}] if turn.caption else [],
        )
        message = dialogue.add_incoming(connection, incoming, metadata=clock_metadata(turn.at, ZONE), turn_id=None)
        assert message is not None, "numbers count on, so no turn is there already"
        ids[message.id] = turn.dia_id
    return ids
