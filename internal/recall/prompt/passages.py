"""The pieces of earlier conversations of a prompt: messages that were found with the lines beside them, and imports."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal, Protocol

from sqlalchemy import Connection

from internal.agents.model import PassageLine, RecalledPassage
from internal.dialogue.model import Message
from internal.dialogue.search_item_repository import words_of
from internal.knowledge import episode_repository as episodes
from internal.knowledge.model import Episode, Segment
from internal.language.search.terms import Word
from internal.llm.tokens import count_tokens
from internal.recall.index import stored_items
from internal.recall.index.ranking import Candidate as ItemCandidate
from internal.recall.messages.search import MessageHit
from internal.recall.prompt.rank import Candidate, Chosen, says_more
from internal.recall.search import calibration, passage_repository
from internal.recall.search.knowledge import Asked, KnowledgeSearch
from internal.recall.search.outdated import Outdated, outdated
from internal.storage.database import Work

MAX_PASSAGES: Final = 12
"""Most passages of one prompt, whatever the budget."""

LEAST_CHANCE: Final = 0.02
"""A message that answers less likely than this stands in no prompt."""

_CANDIDATES: Final = 18
"""Messages that are looked at: more than passages, for lines that stand together become one."""

_EPISODES: Final = 4
_MOST_SEGMENTS: Final = 400
"""Lines of one import that are looked through."""

GAP: Final = timedelta(hours=3)
"""A line said longer before or after stands in another conversation."""

FOUND_CHARACTERS: Final = 1_200
BESIDE_CHARACTERS: Final = 300
"""Characters of a line that was found, and of one that only stands beside it."""

_LEAD: Final = 200
"""Characters of a long line before the first word of the question."""

_AROUND: Final = 14
"""Tokens of a line besides its words: number, date, time and speaker."""

_TOKEN: Final = re.compile(r"\w+")
_PREFIX: Final = 5
"""Letters by which two words count as one, whatever their endings."""


class MessageFinder(Protocol):
    """Search of messages. Raises no model's error."""

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
        """The messages that answer a question best, best first: of those before a `seq`, said in [since, until)."""
        ...

    async def likely(
        self, user_id: int, asked: Asked, limit: int = 10, *, before_seq: int | None = None
    ) -> Work[list[MessageHit]]:
        """As `search`, by what is in memory: what it gives back reads the messages."""
        ...


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a passage with its place: the `seq` of a message, the number of an episode's segment."""

    place: int
    told: PassageLine


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A line that was found, in its conversation (`session`), with those beside it.

    `chance` and `replaced_by` as in `choosing`.
    """

    kind: Literal["message", "episode"]
    ref_id: str
    chance: float
    session: str
    found: Line
    beside: tuple[Line, ...] = ()
    replaced_by: frozenset[str] = frozenset()

    @property
    def candidate(self) -> Candidate:
        tokens = _tokens(self.found)
        return Candidate(
            kind="passage",
            key=self.key,
            chance=self.chance,
            tokens=tokens,
            text=self.found.told.text,
            with_context=tokens + sum(map(_tokens, self.beside)),
            session=self.session,
            said=frozenset({self.ref_id}) if self.kind == "message" else frozenset(),
            replaced_by=self.replaced_by,
        )

    @property
    def key(self) -> str:
        return f"{self.kind}:{self.ref_id}"


@dataclass(frozen=True, slots=True)
class Said:
    """A message that may stand in a prompt, and how likely it is what was asked for, in [0, 1]."""

    message: Message
    chance: float


@dataclass(frozen=True, slots=True)
class Receipt:
    """A message from which something that was found was drawn: `told` are its words, `chance` that of the message."""

    message_id: str
    chance: float
    told: tuple[str, ...]


class PassageRecall:
    """Recalls passages for prompts. Never raises a model's error."""

    def __init__(self, messages: MessageFinder, knowledge: KnowledgeSearch) -> None:
        self._messages, self._knowledge = messages, knowledge

    @property
    def search(self) -> KnowledgeSearch:
        return self._knowledge

    async def likely(self, user_id: int, owner_name: str, asked: Asked, before_seq: int | None = None) -> PassageReader:
        """What may answer a question, by what is in memory; none at or behind `before_seq`, which the prompt shows."""
        messages, imports = await asyncio.gather(
            self._messages.likely(user_id, asked, _CANDIDATES, before_seq=before_seq),
            self._knowledge.likely_imports(user_id, asked, _EPISODES),
        )
        told = [one for one in imports if one.reasons.relevant(self._knowledge.threshold)]
        return PassageReader(user_id, owner_name, asked, before_seq, self._knowledge.now, messages, told)


@dataclass(frozen=True, slots=True)
class PassageReader:
    """The passages of one question, still to be read: `messages` are those that answer it, `imports` episodes."""

    user_id: int
    owner_name: str
    asked: Asked
    before_seq: int | None
    now: datetime
    messages: Work[list[MessageHit]]
    imports: Sequence[ItemCandidate]

    def found(self, connection: Connection) -> list[Said]:
        """The messages that may answer, best first."""
        return [Said(hit.message, hit.chance) for hit in self.messages(connection) if hit.chance >= LEAST_CHANCE]

    def receipts(self, connection: Connection, wanted: Sequence[Receipt]) -> list[Said]:
        """Those of these messages that say more than what was drawn from them."""
        by_id = {one.message_id: one for one in wanted}
        return [
            Said(message, by_id[message.id].chance)
            for message in passage_repository.shown(connection, self.user_id, by_id)
            if self.before_seq is None or message.seq < self.before_seq
            if says_more(words_of(message), by_id[message.id].told)
        ]

    def passages(self, connection: Connection, found: Sequence[Said], receipts: Sequence[Said]) -> list[FoundPassage]:
        """Messages and imports as passages: what was found, best first, then the receipts."""
        passages = self._of_messages(connection, [*found, *receipts])
        imports = self._of_imports(connection)
        return [
            *sorted([*passages[: len(found)], *imports], key=lambda one: -one.chance),
            *passages[len(found) :],
        ]

    def _of_messages(self, connection: Connection, said: Sequence[Said]) -> list[FoundPassage]:
        if not said:
            return []
        messages = [one.message for one in said]
        beside = passage_repository.beside(connection, self.user_id, messages, gap=GAP, before_seq=self.before_seq)
        ids = {message.id for message in (*messages, *(one for near in beside.values() for one in near))}
        late = outdated(connection, self.user_id, ids, self.now)
        return [
            FoundPassage(
                kind="message",
                ref_id=one.message.id,
                chance=one.chance,
                session=session_of(one.message),
                found=_line(one.message, self.owner_name, self.asked.words, late),
                beside=tuple(_line(near, self.owner_name, None, late) for near in beside[one.message.id]),
                replaced_by=late[one.message.id].replaced_by if one.message.id in late else frozenset(),
            )
            for one in said
        ]

    def _of_imports(self, connection: Connection) -> list[FoundPassage]:
        """Of each import the line that holds most of the question's words, with those beside it."""
        words, found = self.asked.words, []
        for hit in stored_items.read_episodes(connection, self.user_id, self.imports):
            parts = episodes.episode_segments(connection, self.user_id, hit.episode.id, 1, _MOST_SEGMENTS)
            said = [part for part in parts if part.text]
            if not said:
                continue
            best = fullest([part.text or "" for part in said], words)
            lines = [_segment_line(said[place], hit.episode, self.owner_name, words) for place in _near(best, said)]
            middle = lines.pop(_near(best, said).index(best))
            beside = tuple(_beside(line) for line in lines)
            chance, ref_id = calibration.of_episode(hit.score), hit.episode.id
            found.append(FoundPassage("episode", ref_id, chance, ref_id, middle, beside))
        return found


def passages_of(chosen: Iterable[Chosen], found: Collection[FoundPassage]) -> list[RecalledPassage]:
    """The passages as a prompt shows them, numbered from 1; lines that stand together become one passage."""
    by_key = {one.key: one for one in found}
    kept: list[tuple[FoundPassage, dict[int, PassageLine]]] = []
    for one in chosen:
        passage = by_key[one.candidate.key]
        lines = {line.place: line.told for line in (passage.beside if one.with_context else ())}
        lines[passage.found.place] = passage.found.told
        for other, there in kept:
            if other.session == passage.session and there.keys() & lines.keys():
                there.update((place, line) for place, line in lines.items() if line.found or place not in there)
                break
        else:
            kept.append((passage, lines))
    return [
        RecalledPassage(n, passage.kind, passage.ref_id, [lines[place] for place in sorted(lines)])
        for n, (passage, lines) in enumerate(kept, start=1)
    ]


def session_of(message: Message) -> str:
    """The conversation of a message: its fragment; until that is published its chat on that day."""
    if message.episode_id is not None:
        return message.episode_id
    return f"{message.chat_id}:{message.thread_id or 0}:{message.timestamp.date()}"


def _line(message: Message, owner_name: str, words: Sequence[Word] | None, late: Mapping[str, Outdated]) -> Line:
    """A message as a line; `words` None: it only stands beside what was found."""
    text, found = words_of(message), words is not None
    shown = _window(text, words or (), FOUND_CHARACTERS) if found else _cut(text, BESIDE_CHARACTERS)
    speaker, kind = _speaker(message, owner_name)
    since = late[message.id].since if message.id in late else None
    return Line(message.seq, PassageLine(message.timestamp, speaker, shown, kind, found, since))


def _speaker(message: Message, owner_name: str) -> tuple[str, Literal["own", "other", "assistant"]]:
    if message.role == "assistant":
        return "", "assistant"
    return (message.forward.name, "other") if message.forward is not None else (owner_name, "own")


def fullest(texts: Sequence[str], words: Sequence[Word]) -> int:
    """The place of the text that holds most of these words, the first of several."""
    return max(range(len(texts)), key=lambda place: (_shared(texts[place], words), -place))


def _near(place: int, among: Sequence[Segment]) -> list[int]:
    return [one for one in (place - 1, place, place + 1) if 0 <= one < len(among)]


def _segment_line(segment: Segment, episode: Episode, owner_name: str, words: Sequence[Word]) -> Line:
    at: datetime = segment.at or episode.reference_time
    speaker = segment.forwarded_from or segment.speaker or ""
    own = segment.own and segment.forwarded_from is None
    text = _window(segment.text or "", words, FOUND_CHARACTERS)
    return Line(segment.n, PassageLine(at, speaker or (owner_name if own else ""), text, "own" if own else "other"))


def _beside(line: Line) -> Line:
    told = replace(line.told, text=_cut(line.told.text, BESIDE_CHARACTERS), found=False)
    return replace(line, told=told)


def _tokens(line: Line) -> int:
    return count_tokens(line.told.text) + _AROUND


def _shared(text: str, words: Sequence[Word]) -> int:
    """How many of these words a text holds, by the beginnings of their forms."""
    there = {token.casefold()[:_PREFIX] for token in _TOKEN.findall(text)}
    return sum(any(term[:_PREFIX] in there for term, _ in word) for word in words)


def _window(text: str, words: Sequence[Word], length: int) -> str:
    """Of a long text the part that begins shortly before the first of these words."""
    if len(text) <= length:
        return text
    sought = {term[:_PREFIX] for word in words for term, _ in word}
    places = (match.start() for match in _TOKEN.finditer(text) if match[0].casefold()[:_PREFIX] in sought)
    start = max(0, min(next(places, 0) - _LEAD, len(text) - length))
    return ("…" if start else "") + _cut(text[start:], length)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
