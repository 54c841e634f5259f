"""A temporary store with conversations in it, written, indexed and searched by the product's own code.

Each conversation has an owner of its own, to whom its speakers' turns were forwarded; turns with a role are the owner's
own messages and the bot's.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from sqlalchemy import Connection

from bot.evaluation.locomo import Conversation, Turn
from bot.evaluation.scores import DEPTH, RankedQuestion
from bot.evaluation.training import Sample
from internal.access import repository as users
from internal.access.model import Role, User, UserState
from internal.dialogue import repository as dialogue
from internal.dialogue.model import ForwardOrigin, Incoming, Message, clock_metadata
from internal.errors import ModelUnavailable
from internal.recall.index import item_repository
from internal.recall.index.embed import VectorBackfill
from internal.recall.index.terms import TermsBackfill
from internal.recall.messages.search import MessageSearch
from internal.recall.search.knowledge import KnowledgeSearch
from internal.storage.database import Database

ZONE: Final = "UTC"

_BOT: Final = 1
_WRITE_BATCH: Final = 200
_POLL_S: Final = 1.0
_MAX_STALLS: Final = 5
"""Attempts in a row without progress after which waiting ends."""


class ReportProgress(Protocol):
    """Reports progress: `done` of `total` of the work named `what` are done."""

    def __call__(self, what: str, done: int, total: int) -> None: ...


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """A conversation in the store: its owner, and the turn of each message by message id."""

    user_id: int
    conversation: Conversation
    turns: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ScratchStore:
    """The store and the parts of the product that work on it. Without `vectors` it is searched by words only."""

    database: Database
    terms: TermsBackfill
    vectors: VectorBackfill | None
    knowledge: KnowledgeSearch
    messages: MessageSearch

    async def write(
        self, conversations: Sequence[Conversation], report_progress: ReportProgress
    ) -> list[StoredConversation]:
        """Writes the turns, and computes terms and vectors until nothing is due.

        Raises ModelUnavailable if they cannot be computed.
        """
        stored: list[StoredConversation] = []
        total = sum(len(conversation.turns) for conversation in conversations)
        for user_id, conversation in enumerate(conversations, 1):
            stored.append(await self._write_conversation(user_id, conversation))
            report_progress("turns written", sum(len(conversation.turns) for conversation in stored), total)
        await self.index(report_progress)
        return stored

    async def index(self, report_progress: ReportProgress) -> None:
        """Computes the terms and vectors of what was written. Raises what `write` raises."""
        await self._index_terms()
        if self.vectors is not None:
            await _index_vectors(self.vectors, report_progress)

    async def rank(self, stored: Sequence[StoredConversation], report_progress: ReportProgress) -> list[RankedQuestion]:
        """Each question with the turns found for it, file by file, in the order of the file."""
        ranked: list[RankedQuestion] = []
        questions = [(owned, question) for owned in stored for question in owned.conversation.questions]
        for owned, question in questions:
            query = await self.knowledge.prepare_query(owned.user_id, question.text)
            hits = await self.messages.search(owned.user_id, query, DEPTH)
            turns = {owned.turns[hit.message.id]: hit.chance for hit in hits}
            ranked.append(RankedQuestion(owned.conversation, question, tuple(turns), tuple(turns.values())))
            report_progress("questions ranked", len(ranked), len(questions))
        return ranked

    async def samples(self, stored: Sequence[StoredConversation], report_progress: ReportProgress) -> list[Sample]:
        """Each question with its candidates and their features, in the order of `rank`."""
        samples: list[Sample] = []
        questions = [(owned, question) for owned in stored for question in owned.conversation.questions]
        for owned, question in questions:
            query = await self.knowledge.prepare_query(owned.user_id, question.text)
            rows = await self.messages.training_rows(owned.user_id, query)
            turns = tuple(owned.turns[message] for message in rows.message_ids)
            samples.append(Sample(owned.user_id, owned.conversation, question, turns, rows.matrix))
            report_progress("questions looked up", len(samples), len(questions))
        return samples

    async def _write_conversation(self, user_id: int, conversation: Conversation) -> StoredConversation:
        turns: dict[str, str] = {}
        await self.database.write(lambda c: users.add(c, _owner(user_id, conversation)))
        for start in range(0, len(conversation.turns), _WRITE_BATCH):
            part = conversation.turns[start : start + _WRITE_BATCH]

            def write(connection: Connection, part: Sequence[Turn] = part, start: int = start) -> dict[str, str]:
                return _write_turns(connection, user_id, part, start)

            turns |= await self.database.write(write)
        return StoredConversation(user_id, conversation, turns)

    async def _index_terms(self) -> None:
        for _ in range(_MAX_STALLS):
            await self.terms.analyse_due()
            if not await self.database.read(lambda c: item_repository.due_terms(c, limit=1)):
                return
            await asyncio.sleep(_POLL_S)
        raise ModelUnavailable("the language process does not analyse the words of the conversations")


async def _index_vectors(vectors: VectorBackfill, report_progress: ReportProgress) -> None:
    best, stalled = -1, 0
    while stalled < _MAX_STALLS:
        task = asyncio.create_task(vectors.embed_due())
        try:
            while not task.done():
                await asyncio.wait([task], timeout=_POLL_S)
                progress = await vectors.progress()
                report_progress("vectors made", progress.done, progress.total)
            task.result()
        finally:
            task.cancel()
        if progress.done >= progress.total:
            return
        stalled = 0 if progress.done > best else stalled + 1
        best = max(best, progress.done)
        await asyncio.sleep(_POLL_S)
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


def _write_turns(connection: Connection, user_id: int, turns: Sequence[Turn], before: int) -> dict[str, str]:
    """Writes messages and returns their turns by message id. `before` = number of turns written already."""
    ids: dict[str, str] = {}
    for number, turn in enumerate(turns, before + 1):
        if turn.role == "assistant":
            message: Message | None = dialogue.add(
                connection, user_id, "assistant", turn.text, now=turn.at, bot_id=_BOT, chat_id=user_id
            )
        else:
            incoming = Incoming(
                user_id=user_id,
                bot_id=_BOT,
                chat_id=user_id,
                tg_id=number,
                text=turn.text,
                timestamp=turn.at,
                forward=ForwardOrigin("hidden_user", turn.speaker) if turn.speaker and turn.role is None else None,
                attachments=[{"kind": "photo", "description": turn.caption}] if turn.caption else [],
            )
            message = dialogue.add_incoming(connection, incoming, metadata=clock_metadata(turn.at, ZONE), turn_id=None)
        assert message is not None, "numbers count on, so no turn is there already"
        ids[message.id] = turn.dia_id
    return ids
