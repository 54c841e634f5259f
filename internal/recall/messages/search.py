"""Search of what was said: messages by words, meaning, neighbours, session, sender and date, in a learned order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from internal.dialogue.model import Message
from internal.errors import ModelUnavailable
from internal.language.facts.echoes import echoes
from internal.language.names.person_names import NAMED
from internal.language.search.question_kinds import named_dates, question_kind
from internal.language.search.smalltalk import asks_about_talk, asks_again, knows_nothing
from internal.language.search.terms import OR, Word, names_oneself
from internal.language.text.spelling import name_key
from internal.language.worker.process_pool import LanguageCallFailed
from internal.llm.model import Embedder
from internal.recall.index.item_repository import VectorKind
from internal.recall.index.terms import TermTools
from internal.recall.messages import features, repository
from internal.recall.messages.features import NAMES, Candidates
from internal.recall.messages.index import OWNER, MessageIndex
from internal.recall.messages.indexes import CACHE_BYTES, MessageIndexes
from internal.recall.messages.question import Question, without_names
from internal.recall.messages.ranking import Rankings, shipped_rankings
from internal.recall.messages.rows import Floats, Mask, MessageRows
from internal.recall.search.knowledge import Asked
from internal.recall.search.metrics import NoObserver, RecallObserver
from internal.recall.search.names import NameTools
from internal.scheduling.clock import Clock
from internal.storage.database import Database, Work
from internal.storage.types import to_micros

log = logging.getLogger(__name__)

_LANGUAGE_TIMEOUT: Final = 3.0
_NAMED_CANDIDATES: Final = 64
"""Senders that share a word with the question and are looked at by name."""

_SPARE: Final = 5
"""Found beyond the limit, for those that are about to be forgotten."""

_TELLS_NOTHING: Final = 12.0
"""What a message loses that tells nothing of its own: more than the messages of one question lie apart."""

_ROUNDS: Final = 3
"""How often others are looked at where the best told nothing."""

_COLUMN: Final = {name: place for place, name in enumerate(NAMES)}


@dataclass(frozen=True, slots=True)
class MessageReasons:
    """Why a message was found: its cosine, its share of the question's words, that with the line before it, whether
    the question names who said it (a half: nobody or several), and whether it names its month or year."""

    meaning: float | None
    words: float
    context: float
    sender: float
    dated: bool


@dataclass(frozen=True, slots=True)
class MessageHit:
    """A message that was found. `score` compares within one search; `chance` that it answers, in [0, 1], everywhere."""

    message: Message
    score: float
    chance: float
    reasons: MessageReasons


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """A question's candidates with their features: matrix of the shape (candidates, features)."""

    names: Sequence[str]
    message_ids: Sequence[str]
    matrix: Floats


@dataclass(frozen=True, slots=True)
class _Range:
    """Which messages count; None: no limit."""

    before_seq: int | None
    since: datetime | None
    until: datetime | None

    def of(self, rows: MessageRows) -> Mask | None:
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
class _Found:
    """Candidates, with their `seq`."""

    candidates: Candidates
    seq: NDArray[np.int64]


class MessageSearch:
    """Searches what was said. Never raises a model's error: a channel that fails is left out."""

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
    ) -> None:
        """`rankings` None: those that come with the product."""
        self._database, self._clock = database, clock
        self._terms, self._names = terms, names
        self._rankings = rankings or shipped_rankings()
        self._observer = observer or NoObserver()
        of = VectorKind(embedder.name, embedder.dimensions) if embedder is not None else None
        self._indexes = MessageIndexes(database, of, terms, cache_bytes=cache_bytes)

    @property
    def cached_bytes(self) -> int:
        return self._indexes.nbytes

    async def prepare(self, user_id: int) -> None:
        """Has this owner's messages in memory, ready to be searched."""
        async with self._indexes.lock(user_id):
            index = await self._indexes.current(user_id)
            await asyncio.to_thread(index.rows)

    def forget(self, user_id: int) -> None:
        """Drops what is in memory of this owner; the next search reads it anew."""
        self._indexes.forget(user_id)

    async def search(
        self,
        user_id: int,
        asked: Asked,
        limit: int = 10,
        *,
        before_seq: int | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[MessageHit]:
        """The messages that answer a question best, best first: of those before a `seq`, said in [since, until).

        None where nothing speaks for any of them: no word, no vector and no sender.
        """
        read = await self.likely(user_id, asked, limit, before_seq=before_seq, since=since, until=until)
        return await self._database.read(read)

    async def likely(
        self,
        user_id: int,
        asked: Asked,
        limit: int = 10,
        *,
        before_seq: int | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Work[list[MessageHit]]:
        """As `search`, by what is in memory: what it gives back reads the messages."""
        found = await self._candidates(user_id, asked, _Range(before_seq, since, until))
        if found is None or not len(found.seq):
            return _nothing
        dense = not np.isnan(found.candidates.cosine).all()
        ranking = self._rankings.dense if dense else self._rankings.lexical

        def read(connection: Connection) -> list[MessageHit]:
            ranked = ranking.scores(found.candidates.matrix)
            shown, scores = _shown(connection, user_id, asked, found.seq, ranked, limit + _SPARE)
            chances = ranking.chances(scores)
            hits = (
                MessageHit(shown[place], float(scores[place]), float(chances[place]), _reasons(found.candidates, place))
                for place in _best_first(found.seq, scores, limit + _SPARE)
                if place in shown
            )
            return list(hits)[:limit]

        return read

    async def training_rows(self, user_id: int, asked: Asked) -> TrainingRows:
        """A question's candidates as weights are learned from them."""
        found = await self._candidates(user_id, asked, _Range(None, None, None))
        if found is None:
            return TrainingRows(NAMES, (), np.empty((0, len(NAMES)), dtype=np.float32))
        seqs = found.seq.tolist()
        shown = await self._database.read(lambda connection: repository.found(connection, user_id, seqs))
        kept = [place for place, seq in enumerate(seqs) if seq in shown]
        return TrainingRows(NAMES, [shown[seqs[place]].id for place in kept], found.candidates.matrix[kept])

    async def _candidates(self, user_id: int, asked: Asked, within: _Range) -> _Found | None:
        async with self._indexes.lock(user_id):
            index = await self._indexes.current(user_id)
            if not len(index):
                return None
            question = await self._question(index, asked)
            if question.vector is None and not question.words and not question.senders:
                return None
            return await asyncio.to_thread(_computed, index, question, within)

    async def _question(self, index: MessageIndex, asked: Asked) -> Question:
        named = await self._named(index, asked)
        terms = frozenset[str]().union(*(index.sender_terms.get(sender, frozenset()) for sender in named))
        senders = named or (frozenset({OWNER}) if names_oneself(asked.text) else frozenset())
        return Question(
            words=without_names(asked.words, terms),
            vector=asked.vector,
            senders=senders,
            kind=question_kind(asked.text),
            dates=named_dates(asked.text, self._clock.now()),
        )

    async def _named(self, index: MessageIndex, asked: Asked) -> frozenset[int]:
        """The senders whom a question names."""
        await self._know_senders(index)
        sought = {term for word in asked.words for term, _ in word}
        likely = {number for number, terms in index.sender_terms.items() if not terms.isdisjoint(sought)}
        if not likely:
            return frozenset()
        names = {number: [index.senders[number]] for number in sorted(likely)[:_NAMED_CANDIDATES]}
        return frozenset(
            number for number, boost in (await self._boosts(asked, index, names)).items() if boost >= NAMED
        )

    async def _boosts(self, asked: Asked, index: MessageIndex, names: Mapping[int, list[str]]) -> Mapping[int, float]:
        if self._names is not None:
            try:
                async with asyncio.timeout(_LANGUAGE_TIMEOUT):
                    return await self._names.boosts(asked.whole, names)
            except (ModelUnavailable, LanguageCallFailed, TimeoutError) as error:
                self._degraded("names", error)
        return {number: _plain_boost(asked.words, index.sender_terms[number]) for number in names}

    async def _know_senders(self, index: MessageIndex) -> None:
        """Has the names of senders analysed that are new."""
        new = [number for number, name in enumerate(index.senders) if name and number not in index.sender_terms]
        if not new:
            return
        found = await self._terms_of([index.senders[number] for number in new])
        for number, stored in zip(new, found, strict=True):
            index.sender_terms[number] = frozenset(stored.replace(OR, " ").split())

    async def _terms_of(self, names: Sequence[str]) -> list[str]:
        if self._terms is not None:
            try:
                async with asyncio.timeout(_LANGUAGE_TIMEOUT):
                    return await self._terms.document_terms(names, urgent=True)
            except (ModelUnavailable, LanguageCallFailed, TimeoutError) as error:
                self._degraded("terms", error)
        return [name_key(name) for name in names]

    def _degraded(self, part: str, error: Exception) -> None:
        self._observer.recall_degraded(part)
        log.warning("recall_degraded", extra={"part": part, "reason": type(error).__name__})


def _nothing(connection: Connection) -> list[MessageHit]:
    return []


def _best_first(seq: NDArray[np.int64], scores: Floats, count: int) -> list[int]:
    """The places of the best scores, best first; of equal ones the newest."""
    best: list[int] = np.lexsort((-seq, -scores))[:count].tolist()
    return best


def _shown(
    connection: Connection, user_id: int, asked: Asked, seq: NDArray[np.int64], scores: Floats, count: int
) -> tuple[dict[int, Message], Floats]:
    """The messages of the best places that may be shown, and the scores with those lowered that tell nothing.

    An answer that says again what was told leaves its place to whoever told it.
    """
    scores, shown = scores.copy(), dict[int, Message]()
    read, lowered = set[int](), set[int]()
    about_talk = asks_about_talk(asked.whole)
    for _ in range(_ROUNDS):
        new = {int(seq[place]): place for place in _best_first(seq, scores, count) if place not in read}
        read |= set(new.values())
        found = repository.found(connection, user_id, list(new))
        shown |= {new[number]: message for number, message in found.items()}
        if about_talk:
            break
        empty = {new[number] for number, one in found.items() if _tells_nothing(one, asked.whole)}
        for answer, told in _told_again({place: shown[place] for place in shown.keys() - lowered - empty}):
            scores[told] = max(scores[told], scores[answer])
            empty.add(answer)
        if not empty:
            break
        scores[list(empty)] -= _TELLS_NOTHING
        lowered |= empty
    return shown, scores


def _told_again(shown: Mapping[int, Message]) -> list[tuple[int, int]]:
    """The places of answers that say again what the owner had told, each with the place of what he told."""
    told = [(place, one) for place, one in shown.items() if one.role == "user"]
    return [
        (place, source)
        for place, answer in shown.items()
        if answer.role == "assistant"
        for source, one in told
        if one.seq < answer.seq and echoes(answer.content, one.content)
    ]


def _tells_nothing(message: Message, question: str) -> bool:
    """Whether the owner only asked the same before, or the assistant only said that it knew nothing."""
    if message.role == "assistant":
        return knows_nothing(message.content)
    return message.forward is None and asks_again(message.content, question)


def _computed(index: MessageIndex, question: Question, within: _Range) -> _Found:
    rows = index.rows()
    found = features.candidates(rows, question, within.of(rows))
    return _Found(found, rows.seq[found.rows])


def _plain_boost(words: Sequence[Word], terms: frozenset[str]) -> float:
    """How plainly a question names a sender where only its words can tell: its best alternative that fits."""
    return max((weight for word in words for term, weight in word if term in terms), default=0.0)


def _reasons(candidates: Candidates, place: int) -> MessageReasons:
    def value(name: str) -> float:
        return float(candidates.matrix[place, _COLUMN[name]])

    cosine = float(candidates.cosine[place])
    return MessageReasons(
        meaning=None if np.isnan(cosine) else cosine,
        words=value("p"),
        context=value("ctx"),
        sender=value("sender"),
        dated=value("month") == 1 or value("year") == 1,
    )
