"""The passages of a prompt: messages that were found, with the lines beside them, and lines of imports."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from sqlalchemy import Connection

from internal.agents.model import PassageLine, RecalledPassage
from internal.dialogue.model import Message
from internal.dialogue.search_item_repository import words_of
from internal.knowledge import episode_repository as episodes
from internal.knowledge.model import Episode, Segment
from internal.language.search.terms import Word
from internal.language.text.passages import passages as split
from internal.language.text.spelling import name_key
from internal.llm.tokens import count_tokens
from internal.recall.index import stored_items
from internal.recall.index.ranking import IndexCandidate
from internal.recall.messages.search import MessageHit, MessageSearch
from internal.recall.prompt.rank import PromptCandidate, Selection, says_more
from internal.recall.search import calibration, passage_repository
from internal.recall.search.knowledge import KnowledgeSearch
from internal.recall.search.outdated_messages import Outdated, outdated
from internal.recall.search.query import Query
from internal.storage.database import Work

MAX_PASSAGES: Final = 12
"""Most passages of one prompt, whatever the budget."""

MIN_CHANCE: Final = 0.02
"""The least chance that a message answers, from which it may stand in a prompt."""

_CANDIDATES: Final = 18
"""Messages that are read: more than passages, for neighbouring lines become one passage."""

_EPISODES: Final = 4
_MAX_SEGMENTS: Final = 400
"""Most lines of one import that are searched."""

GAP: Final = timedelta(hours=3)
"""A line sent longer before or after belongs to another conversation."""

FOUND_CHARACTERS: Final = 1_200
NEIGHBOUR_CHARACTERS: Final = 300
"""Characters of a line that was found, and of a line beside it."""

_LINE_TOKENS: Final = 14
"""Tokens of a line besides its text: number, date, time and speaker."""

_TOKEN: Final = re.compile(r"\w+")
_STEM: Final = (3, 5)
"""Least and most letters by which two words are compared, whatever their endings."""


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """A line of a passage with its place: the `seq` of a message, or the number of an episode's segment."""

    number: int
    shown: PassageLine


@dataclass(frozen=True, slots=True)
class PassageCandidate:
    """A line that was found, in its conversation (`session`), with the lines beside it.

    `chance` and `replaced_by` as in `rank.PromptCandidate`.
    """

    kind: Literal["message", "episode"]
    ref_id: str
    chance: float
    session: str
    matching_line: NumberedLine
    neighbours: tuple[NumberedLine, ...] = ()
    replaced_by: frozenset[str] = frozenset()
    number: int | None = None
    """Which passage of a file it is."""

    @property
    def candidate(self) -> PromptCandidate:
        tokens = _tokens(self.matching_line)
        return PromptCandidate(
            kind="passage",
            key=self.key,
            chance=self.chance,
            tokens=tokens,
            text=self.matching_line.shown.text,
            with_context=tokens + sum(map(_tokens, self.neighbours)),
            session=self.session,
            message_ids=frozenset({self.ref_id}) if self.kind == "message" else frozenset(),
            replaced_by=self.replaced_by,
        )

    @property
    def key(self) -> str:
        return f"{self.kind}:{self.ref_id}" + ("" if self.number is None else f"#{self.number}")


@dataclass(frozen=True, slots=True)
class ScoredMessage:
    """A message that may stand in a prompt, with the chance in [0, 1] that it is what was asked for."""

    message: Message
    chance: float


@dataclass(frozen=True, slots=True)
class SourceMessage:
    """A message from which things that were found were drawn: `texts` are theirs, `chance` is that of the message."""

    message_id: str
    chance: float
    texts: tuple[str, ...]


class PassageRecall:
    """Recalls passages for prompts. Never raises a model's error."""

    def __init__(self, messages: MessageSearch, knowledge: KnowledgeSearch) -> None:
        self._messages, self._knowledge = messages, knowledge

    @property
    def search(self) -> KnowledgeSearch:
        return self._knowledge

    async def likely(self, user_id: int, owner_name: str, query: Query, before_seq: int | None = None) -> PassageReader:
        """The candidates from memory only; none at or after `before_seq`, which the prompt shows itself."""
        messages, imports = await asyncio.gather(
            self._messages.likely(user_id, query, _CANDIDATES, before_seq=before_seq),
            self._knowledge.likely_imports(user_id, query, _EPISODES),
        )
        relevant = [candidate for candidate in imports if candidate.reasons.relevant(self._knowledge.threshold)]
        return PassageReader(user_id, owner_name, query, before_seq, self._knowledge.now, messages, relevant)


@dataclass(frozen=True, slots=True)
class PassageReader:
    """Reads the passages of one question: `messages` reads those that answer it, `imports` are episodes."""

    user_id: int
    owner_name: str
    query: Query
    before_seq: int | None
    now: datetime
    messages: Work[list[MessageHit]]
    imports: Sequence[IndexCandidate]

    def found(self, connection: Connection) -> list[ScoredMessage]:
        """The messages that may answer, best first."""
        return [ScoredMessage(hit.message, hit.chance) for hit in self.messages(connection) if hit.chance >= MIN_CHANCE]

    def source_messages(self, connection: Connection, sources: Sequence[SourceMessage]) -> list[ScoredMessage]:
        """The messages that say more than the facts and memories derived from them."""
        by_id = {source.message_id: source for source in sources}
        return [
            ScoredMessage(message, by_id[message.id].chance)
            for message in passage_repository.visible_messages(connection, self.user_id, by_id)
            if self.before_seq is None or message.seq < self.before_seq
            if says_more(words_of(message), by_id[message.id].texts)
        ]

    def passages(
        self, connection: Connection, found: Sequence[ScoredMessage], receipts: Sequence[ScoredMessage]
    ) -> list[PassageCandidate]:
        """Messages and imports as passages: those found, best first, then the source messages."""
        passages = self._of_messages(connection, [*found, *receipts])
        imports = self._of_imports(connection)
        return [
            *sorted([*passages[: len(found)], *imports], key=lambda passage: -passage.chance),
            *passages[len(found) :],
        ]

    def _of_messages(self, connection: Connection, scored: Sequence[ScoredMessage]) -> list[PassageCandidate]:
        if not scored:
            return []
        messages = [item.message for item in scored]
        neighbours = passage_repository.neighbours_of(
            connection, self.user_id, messages, gap=GAP, before_seq=self.before_seq
        )
        ids = {message.id for message in itertools.chain(messages, *neighbours.values())}
        late = outdated(connection, self.user_id, ids, self.now)
        return [
            PassageCandidate(
                kind="message",
                ref_id=item.message.id,
                chance=item.chance,
                session=session_of(item.message),
                matching_line=_line(item.message, self.owner_name, self.query.words, late),
                neighbours=tuple(_line(line, self.owner_name, None, late) for line in neighbours[item.message.id]),
                replaced_by=late[item.message.id].replaced_by if item.message.id in late else frozenset(),
            )
            for item in scored
        ]

    def _of_imports(self, connection: Connection) -> list[PassageCandidate]:
        """The line of each import that holds most of the question's words, with the lines beside it.

        Of a file the passages that were found.
        """
        words, passages = self.query.words, []
        for hit in stored_items.read_episodes(connection, self.user_id, self.imports):
            first, last = (1, _MAX_SEGMENTS) if hit.passage is None else (hit.passage - 1, hit.passage + 1)
            parts = episodes.episode_segments(connection, self.user_id, hit.episode.id, first, last)
            with_text = [part for part in parts if part.text]
            if not with_text:
                continue
            numbers = [part.n for part in with_text]
            if hit.passage in numbers:
                best_index = numbers.index(hit.passage)
            else:
                best_index = best_match([part.text or "" for part in with_text], words)
            lines = [
                _segment_line(with_text[number], hit.episode, self.owner_name, words)
                for number in _with_neighbours(best_index, with_text)
            ]
            matching_line = lines.pop(_with_neighbours(best_index, with_text).index(best_index))
            neighbours = tuple(_as_neighbour(line) for line in lines)
            chance, ref_id = calibration.episode_chance(hit.score), hit.episode.id
            passage = PassageCandidate("episode", ref_id, chance, ref_id, matching_line, neighbours)
            passages.append(passage if hit.passage is None else replace(passage, number=hit.passage))
        return passages


def best_lines(
    connection: Connection, user_id: int, found: Iterable[Episode], words: Sequence[Word]
) -> dict[str, PassageLine]:
    """The visible line of each of these episodes that holds most of these words, by id, if it has any line.

    The owner is `user` there and the bot `assistant`.
    """
    lines = {}
    for episode in found:
        parts = episodes.episode_segments(connection, user_id, episode.id, 1, _MAX_SEGMENTS)
        ids = [part.message_id for part in parts if part.message_id is not None]
        placed = [
            _line(one, "user", words, {}) for one in passage_repository.visible_messages(connection, user_id, ids)
        ]
        placed += [_segment_line(part, episode, "user", words) for part in parts if part.text]
        if placed:
            shown = placed[_answer_among([one.shown.text for one in placed], words)].shown
            lines[episode.id] = replace(shown, speaker="assistant") if shown.kind == "assistant" else shown
    return lines


def merge_passages(selected: Iterable[Selection], candidates: Collection[PassageCandidate]) -> list[RecalledPassage]:
    """The passages as a prompt shows them, numbered from 1; overlapping ones of one conversation become one passage."""
    by_key = {candidate.key: candidate for candidate in candidates}
    passages: list[tuple[PassageCandidate, dict[int, PassageLine]]] = []
    for selection in selected:
        passage = by_key[selection.candidate.key]
        lines = {line.number: line.shown for line in (passage.neighbours if selection.with_context else ())}
        lines[passage.matching_line.number] = passage.matching_line.shown
        for other, shown in passages:
            if other.session == passage.session and shown.keys() & lines.keys():
                shown.update((number, line) for number, line in lines.items() if line.found or number not in shown)
                break
        else:
            passages.append((passage, lines))
    return [
        RecalledPassage(n, passage.kind, passage.ref_id, [lines[number] for number in sorted(lines)])
        for n, (passage, lines) in enumerate(passages, start=1)
    ]


def session_of(message: Message) -> str:
    """The conversation of a message: its fragment, or before that is published its chat on that day."""
    if message.episode_id is not None:
        return message.episode_id
    return f"{message.chat_id}:{message.thread_id or 0}:{message.timestamp.date()}"


def _line(
    message: Message, owner_name: str, words: Sequence[Word] | None, late: Mapping[str, Outdated]
) -> NumberedLine:
    """A message as a line; `words` None: it only stands beside a line that was found."""
    text, was_found = words_of(message), words is not None
    shown_text = _window(text, words or (), FOUND_CHARACTERS) if was_found else _shortened(text, NEIGHBOUR_CHARACTERS)
    speaker, kind = _speaker(message, owner_name)
    since = late[message.id].since if message.id in late else None
    return NumberedLine(message.seq, PassageLine(message.timestamp, speaker, shown_text, kind, was_found, since))


def _speaker(message: Message, owner_name: str) -> tuple[str, Literal["own", "other", "assistant"]]:
    if message.role == "assistant":
        return "", "assistant"
    other = message.forward.name if message.forward is not None else message.speaker
    return (other, "other") if other else (owner_name, "own")


def best_match(texts: Sequence[str], words: Sequence[Word]) -> int:
    """The place of the text that holds most of these words, the first of several."""
    shared = shared_words(texts, words)
    return max(range(len(texts)), key=lambda number: (shared[number], -number))


def _answer_among(texts: Sequence[str], words: Sequence[Word]) -> int:
    """As `best_match`, of the statements that hold one of the words: a question is no answer to itself."""
    shared = shared_words(texts, words)
    stating = [not text.rstrip().endswith("?") and count > 0 for text, count in zip(texts, shared, strict=True)]
    return max(range(len(texts)), key=lambda number: (stating[number], shared[number], -number))


def shared_words(texts: Sequence[str], words: Sequence[Word]) -> list[int]:
    """How many of the words each text holds."""
    stems = [_stems([word]) for word in words]
    lengths = {len(stem) for word in stems for stem in word}
    beginnings = [{token[:length] for token in _TOKEN.findall(name_key(text)) for length in lengths} for text in texts]
    return [sum(not word.isdisjoint(starts) for word in stems) for starts in beginnings]


def _with_neighbours(number: int, segments: Sequence[Segment]) -> list[int]:
    return [neighbour for neighbour in (number - 1, number, number + 1) if 0 <= neighbour < len(segments)]


def _segment_line(segment: Segment, episode: Episode, owner_name: str, words: Sequence[Word]) -> NumberedLine:
    at: datetime = segment.at or episode.reference_time
    speaker = segment.forwarded_from or segment.speaker or ""
    own = segment.own and segment.forwarded_from is None
    text = _window(segment.text or "", words, FOUND_CHARACTERS)
    return NumberedLine(
        segment.n, PassageLine(at, speaker or (owner_name if own else ""), text, "own" if own else "other")
    )


def _as_neighbour(line: NumberedLine) -> NumberedLine:
    shortened = replace(line.shown, text=_shortened(line.shown.text, NEIGHBOUR_CHARACTERS), found=False)
    return replace(line, shown=shortened)


def _tokens(line: NumberedLine) -> int:
    return count_tokens(line.shown.text) + _LINE_TOKENS


def _stems(words: Iterable[Word]) -> set[str]:
    """How these words begin: Slavic ones change their last letter, English ones get others behind it."""
    least, most = _STEM
    return {term[: max(least, min(most, len(term) - (not term.isascii())))] for word in words for term, _ in word}


def _window(text: str, words: Sequence[Word], length: int) -> str:
    """The part of a long text that begins with the passage that holds most of these words."""
    if len(text) <= length:
        return text
    parts = split(text, length // 2)
    start = max(0, min(text.find(parts[best_match(parts, words)]), len(text) - length))
    return ("…" if start else "") + _shortened(text[start:], length)


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
