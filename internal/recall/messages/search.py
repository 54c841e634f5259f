"""Search of messages by words, meaning, neighbours, session, sender and date, in a learned order."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from internal.dialogue.model import Message
from internal.language.facts.echoes import echoes
from internal.language.search.question_kinds import named_dates, question_kind
from internal.language.search.smalltalk import asks_about_talk, asks_again, asks_of_bot, knows_nothing
from internal.language.search.terms import names_oneself
from internal.llm.model import Embedder
from internal.recall.index.item_repository import VectorKind
from internal.recall.index.terms import TermTools
from internal.recall.index.vector_rows import on_thread
from internal.recall.messages import features, repository
from internal.recall.messages.features import NAMES, Candidates
from internal.recall.messages.index import MessageIndex
from internal.recall.messages.index_cache import CACHE_BYTES, MessageIndexes
from internal.recall.messages.message_rows import BOT, OWNER, Floats, Mask, MessageRows, Numbers
from internal.recall.messages.question import Question, without_names
from internal.recall.messages.ranking import Rankings, shipped_rankings
from internal.recall.messages.sender_names import SenderNames
from internal.recall.search.names import NameTools
from internal.recall.search.observer import NoObserver, RecallObserver
from internal.recall.search.query import Query
from internal.scheduling.clock import Clock
from internal.storage.database import Database, Work
from internal.storage.types import to_micros

log = logging.getLogger(__name__)

_EXTRA: Final = 5
"""Candidates beyond the limit, to make up for messages about to be forgotten."""

_EMPTY_PENALTY: Final = 12.0
"""Subtracted from the score of a message that says nothing itself: more than the scores of one question differ."""

_ROUNDS: Final = 3
"""Most rounds of replacing best messages that say nothing."""

_SPREAD: Final = 0.05
_MOST_SPREAD: Final = 10
"""Subtracted from a score for each better message of the same session, up to ten: the answer to a question is spread
over several talks. Evidence in several turns gains up to a point of recall@10, the rest neither gains nor loses.
"""

_COLUMN: Final = {name: position for position, name in enumerate(NAMES)}


@dataclass(frozen=True, slots=True)
class MessageReasons:
    """Why a message was found: its cosine, its share of the question's words, that share with the line before it,
    whether the question names its sender (0.5: nobody or several), and whether it names its month or year.
    """

    meaning: float | None
    words: float
    context: float
    sender: float
    dated: bool


@dataclass(frozen=True, slots=True)
class MessageHit:
    """A message that was found. `score` compares within one search, `chance` in [0, 1] that it answers everywhere."""

    message: Message
    score: float
    chance: float
    reasons: MessageReasons


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """A question's candidates with their features: matrix of shape (candidates, features)."""

    names: Sequence[str]
    message_ids: Sequence[str]
    matrix: Floats


@dataclass(frozen=True, slots=True)
class _Range:
    """Which messages may be found; None: no limit."""

    before_seq: int | None
    since: datetime | None
    until: datetime | None

    def mask(self, rows: MessageRows) -> Mask | None:
        if self.before_seq is None and self.since is None and self.until is None:
            return None
        allowed = np.ones(len(rows.seq), dtype=np.bool_)
        if self.before_seq is not None:
            allowed &= rows.seq < self.before_seq
        if self.since is not None:
            allowed &= rows.moment >= to_micros(self.since)
        if self.until is not None:
            allowed &= rows.moment < to_micros(self.until)
        return allowed


@dataclass(frozen=True, slots=True)
class _RankedCandidates:
    """Candidates with their `seq` and session."""

    candidates: Candidates
    seq: NDArray[np.int64]
    session: Numbers


class MessageSearch:
    """Searches messages. Never raises a model's error: a channel that fails is left out."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        embedder: Embedder | None,
        terms: TermTools | None,
        names: NameTools | None,
        rankings: Rankings | None = None,
        observer: RecallObserver | None = None,
        cache_bytes: int = CACHE_BYTES,
        data_dir: Path | None = None,
    ) -> None:
        """`rankings` None: those that come with the product. `data_dir` is where large indexes are saved."""
        self._database, self._clock = database, clock
        self._rankings = rankings or shipped_rankings()
        self._senders = SenderNames(embedder, terms, names, observer or NoObserver())
        vectors_of = VectorKind(embedder.name, embedder.dimensions) if embedder is not None else None
        self._indexes = MessageIndexes(database, vectors_of, terms, cache_bytes=cache_bytes, data_dir=data_dir)

    @property
    def cached_bytes(self) -> int:
        return self._indexes.nbytes

    async def prepare(self, user_id: int) -> None:
        """Loads this owner's messages into memory."""
        async with self._indexes.lock(user_id):
            index = await self._indexes.current(user_id)
            await asyncio.to_thread(index.rows)

    def forget(self, user_id: int) -> None:
        """Drops this owner's data from memory; the next search reads it again."""
        self._indexes.forget(user_id)

    async def save(self) -> None:
        """Saves indexes that take long to build. A disk that is full costs the next start some seconds, no more."""
        try:
            await self._indexes.save()
        except OSError as error:
            log.warning("index_not_saved", extra={"reason": str(error)})

    async def search(
        self,
        user_id: int,
        query: Query,
        limit: int = 10,
        *,
        before_seq: int | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[MessageHit]:
        """The messages that best answer a question, best first: those before a `seq`, sent in [since, until).

        Empty if the question has no words, no vector and names no sender.
        """
        read = await self.likely(user_id, query, limit, before_seq=before_seq, since=since, until=until)
        return await self._database.read(read)

    async def likely(
        self,
        user_id: int,
        query: Query,
        limit: int = 10,
        *,
        before_seq: int | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Work[list[MessageHit]]:
        """As `search`, from memory only: returns a function that reads the messages."""
        ranked_candidates = await self._candidates(user_id, query, _Range(before_seq, since, until))
        if ranked_candidates is None or not len(ranked_candidates.seq):
            return lambda connection: []
        has_vectors = not np.isnan(ranked_candidates.candidates.cosine).all()
        ranking = self._rankings.dense if has_vectors else self._rankings.lexical

        def read(connection: Connection) -> list[MessageHit]:
            scores_before = _penalise_same_session(
                ranking.scores(ranked_candidates.candidates.matrix), ranked_candidates.session
            )
            messages, scores = _visible_messages(
                connection, user_id, query, ranked_candidates.seq, scores_before, limit + _EXTRA
            )
            chances = ranking.chances(scores)
            return [
                MessageHit(
                    messages[position],
                    float(scores[position]),
                    float(chances[position]),
                    _reasons(ranked_candidates.candidates, position),
                )
                for position in _best_first(ranked_candidates.seq, scores, limit + _EXTRA)
                if position in messages
            ][:limit]

        return read

    async def training_rows(self, user_id: int, query: Query) -> TrainingRows:
        """A question's candidates as input for fitting weights."""
        candidates = await self._candidates(user_id, query, _Range(None, None, None))
        if candidates is None:
            return TrainingRows(NAMES, (), np.empty((0, len(NAMES)), dtype=np.float32))
        seqs = candidates.seq.tolist()
        messages = await self._database.read(lambda connection: repository.messages_by_seq(connection, user_id, seqs))
        positions = [position for position, seq in enumerate(seqs) if seq in messages]
        return TrainingRows(
            NAMES, [messages[seqs[position]].id for position in positions], candidates.candidates.matrix[positions]
        )

    async def _candidates(self, user_id: int, query: Query, allowed_range: _Range) -> _RankedCandidates | None:
        async with self._indexes.lock(user_id):
            index = await self._indexes.current(user_id)
            if not len(index):
                return None
            question = await self._question(user_id, index, query)
            if question.vector is None and not question.words and not question.senders:
                return None
            return await on_thread(len(index), lambda: _compute(index, question, allowed_range))

    async def _question(self, user_id: int, index: MessageIndex, query: Query) -> Question:
        named = await self._senders.named(index, query)
        terms = frozenset[str]().union(*(index.sender_terms.get(sender, frozenset()) for sender in named))
        senders = named or (frozenset({OWNER}) if names_oneself(query.text) else frozenset())
        kind = question_kind(query.text)
        if kind.summary or asks_of_bot(query.text):
            senders |= {OWNER, BOT} if kind.summary else {BOT}
        return Question(
            words=without_names(query.words, terms),
            vector=query.vector,
            names=await self._senders.vectors(user_id, index, named) if query.vector is not None else (),
            senders=senders,
            kind=kind,
            dates=named_dates(query.text, self._clock.now()),
        )


def _best_first(seq: NDArray[np.int64], scores: Floats, count: int) -> list[int]:
    """The row numbers of the best scores, best first; of equal ones the newest."""
    best: list[int] = np.lexsort((-seq, -scores))[:count].tolist()
    return best


def _penalise_same_session(scores: Floats, session: Numbers) -> Floats:
    """The scores, less for each better candidate of the same session, so that sessions take turns."""
    order = np.lexsort((-scores, session))
    begins = np.flatnonzero(np.diff(session[order], prepend=-1))
    better = np.arange(len(order)) - np.repeat(begins, np.diff(begins, append=len(order)))
    spread = scores.copy()
    spread[order] -= np.float32(_SPREAD) * np.minimum(better, _MOST_SPREAD)
    return spread


def _visible_messages(
    connection: Connection, user_id: int, query: Query, seq: NDArray[np.int64], scores: Floats, count: int
) -> tuple[dict[int, Message], Floats]:
    """Reads the best messages that may be shown, and lowers the scores of those that say nothing themselves.

    An answer of the assistant that repeats a message of the owner gives its score to that message.
    """
    scores, shown = scores.copy(), dict[int, Message]()
    read, lowered = set[int](), set[int]()
    about_talk = asks_about_talk(query.text_with_preceding)
    for _ in range(_ROUNDS):
        new = {int(seq[position]): position for position in _best_first(seq, scores, count) if position not in read}
        read |= set(new.values())
        messages = repository.messages_by_seq(connection, user_id, list(new))
        shown |= {new[number]: message for number, message in messages.items()}
        if about_talk:
            break
        without_content = {
            new[number] for number, message in messages.items() if _has_no_content(message, query.text_with_preceding)
        }
        for answer, source in _repetitions(
            {position: shown[position] for position in shown.keys() - lowered - without_content}
        ):
            scores[source] = max(scores[source], scores[answer])
            without_content.add(answer)
        if not without_content:
            break
        scores[list(without_content)] -= _EMPTY_PENALTY
        lowered |= without_content
    return shown, scores


def _repetitions(shown: Mapping[int, Message]) -> list[tuple[int, int]]:
    """The positions of assistant messages that repeat an earlier one of the owner, each with the position of that."""
    of_owner = [(position, message) for position, message in shown.items() if message.role == "user"]
    return [
        (position, source)
        for position, answer in shown.items()
        if answer.role == "assistant"
        for source, message in of_owner
        if message.seq < answer.seq and echoes(answer.content, message.content)
    ]


def _has_no_content(message: Message, question: str) -> bool:
    """Whether the owner only asked the same before, or the assistant only said that it knows nothing."""
    if message.role == "assistant":
        return knows_nothing(message.content)
    return message.forward is None and asks_again(message.content, question)


def _compute(index: MessageIndex, question: Question, allowed_range: _Range) -> _RankedCandidates:
    rows = index.rows()
    best = features.candidates(rows, question, allowed_range.mask(rows))
    return _RankedCandidates(best, rows.seq[best.rows], rows.session[best.rows])


def _reasons(candidates: Candidates, position: int) -> MessageReasons:
    def value(name: str) -> float:
        return float(candidates.matrix[position, _COLUMN[name]])

    cosine = float(candidates.cosine[position])
    return MessageReasons(
        meaning=None if np.isnan(cosine) else cosine,
        words=value("p"),
        context=value("ctx"),
        sender=value("sender"),
        dated=value("month") == 1 or value("year") == 1,
    )
