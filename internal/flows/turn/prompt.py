"""The inputs of a turn, frozen at C3, and the responder's request."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal, Protocol

from sqlalchemy import Connection

from internal import text_caches
from internal.access import repository as users
from internal.access.model import User
from internal.agents.known_task import KnownTask
from internal.agents.model import DialogueLine, OwnerProfile, ResponderRequest, StandingInstruction, TranscriptLine
from internal.agents.prompts import SETTLED, newest_lines, with_metadata
from internal.artifacts.model import ARTIFACT, READ
from internal.config.agents import ResponderConfig
from internal.config.settings import PersonaConfig
from internal.dialogue import repository as dialogue, turn_repository as turns
from internal.dialogue.message_rows import MOST_KEPT
from internal.dialogue.model import INNER_MARKS, Message, Quoted, Turn, visible
from internal.dialogue.snapshots.model import EMPTY, Snapshot
from internal.errors import ModelContextExceeded
from internal.flows.reflections.past_questions import LifeAnswers
from internal.flows.runs.slices import QUOTED, message_line
from internal.flows.turn import instructions
from internal.flows.turn.discretion import Discretion, OrderText
from internal.flows.views.people_map import PeopleMaps
from internal.flows.visibility.pending_forgettings import quotes_shown, to_forget
from internal.flows.visibility.prompt_filter import PromptFilter
from internal.flows.visibility.snapshot import shown_snapshot
from internal.language.text.spelling import unquoted
from internal.llm.tokens import count_tokens
from internal.recall.index.item_repository import TERMS_CHANGE
from internal.recall.prompt.context import RecallResult, TurnRecall
from internal.scheduling.clock import Clock
from internal.storage import vectors
from internal.tasks import repository as tasks
from internal.tasks.model import Task, TaskState

HISTORY = 200
"""The most earlier messages considered for the recent dialogue; the token budget cuts further."""

UNREAD = frozenset({"voice", "audio", "video", "video_note", "photo", "sticker", "animation", "document", "poll"})
"""Kinds of attachments whose content the model does not see, only that they exist."""

LONGEST = 4096
"""The most characters of a quoted message: "translate this" needs all of it."""

SOON = timedelta(days=7)
MOST_TASKS = 20
"""The most open tasks in every prompt: due within SOON or overdue."""

INDEXING = (TERMS_CHANGE, vectors.CHANGE_KIND)
"""Changes that follow every message: they make it easier to find, but add no knowledge."""

PICTURE_LOOKBACK = 4
"""The number of messages before the question whose pictures it may be about."""

SAID_BEFORE = 24
"""Earlier messages, with answers, in which an order may stand that still holds ("shorter, please")."""

RECENT = 8
"""The messages before the question that the enricher sees."""


@dataclass(frozen=True, slots=True)
class PromptInputs:
    """The frozen inputs of one attempt. `memory` identifies the state of the owner's memory, which any change moves."""

    turn: Turn
    user: User
    asked: tuple[Message, ...]
    earlier: tuple[Message, ...]
    rev: int
    snapshot: Snapshot = EMPTY
    memory: tuple[int, int] = (0, 0)
    tasks: tuple[Task, ...] = ()
    """The open and proposed tasks."""
    instructions: tuple[StandingInstruction, ...] = ()
    begun: str = ""
    """The event that the answer is being written."""
    apart: bool = False
    """Whether messages newer than the earliest of `earlier` may belong to other dialogues of the owner."""

    @property
    def text(self) -> str:
        return "\n".join(message.content for message in self.asked if message.content)

    @property
    def said(self) -> str:
        """The user's own words: without forwards, quotes, and words in pictures or files."""
        return "\n".join(filter(None, map(_said, self.asked)))

    @property
    def wanted(self) -> OrderText:
        """The question for the rules of discretion, with the owner's words before it."""
        earlier = (one for one in self.earlier[-SAID_BEFORE:] if one.role == "user")
        return OrderText(self.text, self.said, list(filter(None, map(_said, earlier))))

    def same_as(self, other: PromptInputs) -> bool:
        """Whether the other was read from the same messages, user and memory, in any attempt."""
        return (self.turn.id, self.user, self.memory) == (other.turn.id, other.user, other.memory)


def _said(message: Message) -> str:
    return "" if message.forward is not None else unquoted(message.content).strip()


def freeze(connection: Connection, turn: Turn, prepared: PromptInputs | None = None) -> PromptInputs | None:
    """C3: closes the window, counts an attempt and reads the inputs. Returns None if the turn is over.

    The `prepared` inputs are used if nothing that they were read from has changed since.
    """
    started = turns.start(connection, turn)
    return None if started is None else read_question(connection, started, prepared)


def read_question(connection: Connection, turn: Turn, known: PromptInputs | None = None) -> PromptInputs:
    """Reads the current inputs of a turn, reusing parts of an earlier state `known`."""
    user, memory = users.get_with_version(connection, turn.user_id, besides=INDEXING)
    if known is not None and (known.turn.id, known.user, known.memory) == (turn.id, user, memory):
        return replace(known, turn=turn)
    asked = quotes_shown(connection, turn.user_id, dialogue.of_turn(connection, turn))
    before, apart = _remembered(connection, turn)
    earlier = quotes_shown(connection, turn.user_id, visible(before))
    snapshot = shown_snapshot(connection, turn.user_id)
    rev = max((message.rev for message in asked), default=0)
    standing = instructions.active(connection, turn.user_id)
    settled = (rev, snapshot, memory, tuple(tasks.pending(connection, turn.user_id)), tuple(standing))
    return PromptInputs(turn, user, tuple(asked), tuple(earlier), *settled, apart=apart)


def _remembered(connection: Connection, turn: Turn) -> tuple[list[Message], bool]:
    """The messages of the dialogue before a turn, without those about to be forgotten.

    Also whether there were others elsewhere meanwhile: each topic is a separate dialogue, and so is each chat.
    """
    recent = dialogue.recent(connection, turn.user_id, before_seq=turn.first_seq, limit=HISTORY)
    earlier = [message for message in recent if _of_dialogue(message, turn)]
    apart = len(earlier) < len(recent)
    if apart and turn.thread_id is not None:
        before = {"before_seq": turn.first_seq, "topic": turn.thread_id}
        earlier = dialogue.recent(connection, turn.user_id, limit=HISTORY, **before)
    asked, going = to_forget(connection, turn.user_id)
    kept = [message for message in earlier if message.id not in going]
    return [message for message in kept if asked is None or message.timestamp > asked.created_at], apart


def _of_dialogue(message: Message, turn: Turn) -> bool:
    """Whether a message is part of the dialogue of a turn. A group has one chat, whose id may have changed."""
    here = turn.chat_id < 0 or message.chat_id in (None, turn.chat_id)
    return message.role == "system" or (here and message.thread_id == turn.thread_id)


class Pictures(Protocol):
    """The pictures of messages."""

    async def of(self, user_id: int, messages: Sequence[Message]) -> Mapping[str, Sequence[str]]:
        """The data URLs of each message that came with pictures, by its id."""


class Prompts:
    """Builds the responder's request: people recalled for the question, recent dialogue within the token budget."""

    def __init__(
        self,
        recall: TurnRecall,
        clock: Clock,
        config: ResponderConfig,
        persona: PersonaConfig,
        prompt_filter: PromptFilter,
        maps: PeopleMaps | LifeAnswers | None = None,
        pictures: Pictures | None = None,
        discretion: Discretion | None = None,
    ) -> None:
        self._maps, self._discretion = maps, discretion
        self._recall, self._clock, self._config, self._persona = recall, clock, config, persona
        self._prompt_filter, self._pictures = prompt_filter, pictures

    async def request(self, question: PromptInputs) -> ResponderRequest:
        earlier = await self._prompt_filter.messages(question.user.user_id, question.earlier)
        user, remembered = question.user, self._within_budget(earlier)
        owner = OwnerProfile.of(user)
        recent = [message_line(number, m, user, self._persona.name) for number, m in enumerate(earlier[-RECENT:], 1)]
        asked = await self._prompt_filter.quotes(user.user_id, question.asked)
        quoted = [(m.quoted, m.timestamp) for m in asked if m.quoted]
        recent += [
            _quoted_line(len(recent) + n, one, at, self._persona.name, user) for n, (one, at) in enumerate(quoted, 1)
        ]
        earliest = () if question.apart else remembered
        recalled = await self._recall.recall(
            owner, question.text, recent, before_seq=(earliest or question.asked)[0].seq
        )
        passages = recalled.passages
        if files := [one[ARTIFACT] for m in asked for one in m.attachments if one.get(READ)]:
            passages = await self._recall.with_files(user.user_id, files, question.text, passages)
        pictures: Mapping[str, Sequence[str]] = {}
        if self._pictures is not None:
            pictures = await self._pictures.of(user.user_id, [*earlier[-PICTURE_LOOKBACK:], *asked])
        standing, now = {one.node_id for one in question.instructions}, self._clock.now()
        soon = [one for one in question.tasks if one.state is TaskState.OPEN and one.when and one.when <= now + SOON]
        request = ResponderRequest(
            owner=owner,
            persona_name=self._persona.name,
            persona_tone=self._persona.tone,
            inner_circle=recalled.inner_circle,
            relevant_people=recalled.relevant_people,
            dialogue=[*_dialogue(remembered, pictures), *_dialogue(asked, pictures, {m.tg_id for m in remembered})],
            now=now,
            query=recalled.query,
            system_lines=[message.content for message in remembered if message.role == "system"],
            facts=recalled.facts,
            memories=[one for one in recalled.memories if one.node_id not in standing],
            passages=await self._prompt_filter.passages(user.user_id, passages),
            lessons=recalled.lessons,
            snapshot=question.snapshot,
            tasks=[KnownTask.of(number, task, user.tz) for number, task in enumerate(soon[:MOST_TASKS], 1)],
            instructions=question.instructions,
            relations=await self._maps.answer(user, question.said) if self._maps is not None else (),
        )
        if self._discretion is None:
            return request
        return await self._discretion.kept(request, question.wanted, len(_dialogue(asked, pictures)))

    async def search(self, question: PromptInputs, query: str, *, people: bool) -> RecallResult:
        """Recalls with other words in the same turn. With `people` it selects relevant people too."""
        user = question.user
        first = min((message.seq for message in question.asked), default=None)
        found = await self._recall.recall(OwnerProfile.of(user), query, before_seq=first, with_people=people)
        if self._discretion is not None:
            found = await self._discretion.found(user.user_id, question.wanted, found)
        return replace(found, passages=await self._prompt_filter.passages(user.user_id, found.passages))

    async def may_see(self, question: PromptInputs, titles: Sequence[str]) -> list[bool]:
        """For each title of something found in the same turn, whether it may be in the prompt."""
        if self._discretion is None:
            return [True] * len(titles)
        return await self._discretion.titles(question.user.user_id, question.wanted, titles)

    def _within_budget(self, earlier: Sequence[Message]) -> list[Message]:
        """The latest messages that fit into the token budget, each counted as it is sent.

        The cut moves in steps of up to half of the budget, so that successive prompts begin alike and a provider
        can cache them.
        """
        left, first = self._config.history_tokens, len(earlier)
        while first:
            left -= _kept_line(earlier[first - 1])[1]
            if left < 0:
                break
            first -= 1
        if not first and len(earlier) < HISTORY:
            return list(earlier)
        fitting = earlier[first:]
        step = 1 << max(0, (len(fitting) // 2).bit_length() - 1)
        first = next((n for n, message in enumerate(fitting) if message.seq % step == 0), 0)
        return list(fitting[first:])


def shortened(request: ResponderRequest) -> ResponderRequest:
    """The request with half of the earlier dialogue and of the recalled items; the rest keeps its numbers.

    Raises ModelContextExceeded if it consists of a question only.
    """
    asked = len(newest_lines(request.dialogue))
    earlier = len(request.dialogue) - asked
    kinds = ("facts", "memories", "passages", "lessons", "relevant_people")
    recalled = {kind: getattr(request, kind) for kind in kinds}
    if not earlier and not any(map(len, recalled.values())):
        raise ModelContextExceeded
    halves: dict[str, Any] = {name: found[: len(found) // 2] for name, found in recalled.items()}
    return replace(request, dialogue=request.dialogue[(earlier + 1) // 2 :], **halves)


def _quoted_line(number: int, quoted: Quoted, at: datetime, persona: str, user: User) -> TranscriptLine:
    """The message that the question quotes, as a line before it: "who is that?" refers to it."""
    role: Literal["assistant", "user"] = "assistant" if quoted.by == "assistant" else "user"
    own = quoted.by == "owner"
    speaker = persona if role == "assistant" else user.name if own else quoted.author
    return TranscriptLine(number, role, speaker, at, quoted.part or quoted.text, own=own)


def _dialogue(
    messages: Sequence[Message], pictures: Mapping[str, Sequence[str]], there: Collection[int | None] | None = None
) -> list[DialogueLine]:
    """The lines of a dialogue; messages that reply to one not in `there` have its whole text as their quote."""
    lines: list[DialogueLine] = []
    for one in messages:
        if one.role != "system" and one.spoken:
            line = _kept_line(one)[0] if there is None else _dialogue_line(one, whole=one.reply_to not in there)
            lines.append(replace(line, pictures=pictures[one.id]) if one.id in pictures else line)
        elif one.role == "assistant" and lines and lines[-1].role == "user":
            metadata = {**(lines[-1].metadata or {}), SETTLED: "the program answered with a card and buttons"}
            lines[-1] = replace(lines[-1], metadata=metadata)
    return lines


def _dialogue_line(message: Message, *, whole: bool = False) -> DialogueLine:
    role: Literal["assistant", "user"] = "assistant" if message.role == "assistant" else "user"
    metadata = {k: str(v) for k, v in (message.user_metadata or {}).items() if k not in INNER_MARKS}
    if message.forward is not None:
        metadata["forwarded_from"] = message.forward.name
    if message.quoted is not None:
        quoted = message.quoted.within(LONGEST if whole else QUOTED)
        metadata["in_reply_to"] = f"{quoted.speaker('you', 'the owner')}: {quoted.text}"
        metadata |= {"quoted_part": quoted.part} if quoted.part else {}
    if unread := [str(one["kind"]) for one in message.attachments if one.get("kind") in UNREAD and not one.get(READ)]:
        metadata["came_with_unread"] = " ".join(unread)
    return DialogueLine(role, message.spoken, metadata or None, message.timestamp)


def _kept_line(message: Message) -> tuple[DialogueLine, int]:
    """A message of the dialogue as its line, with its number of tokens; cached for up to HISTORY questions."""
    known = _LINES.get(id(message))
    if known is None or known[0] is not message:
        line = _dialogue_line(message)
        known = (message, line, count_tokens(with_metadata(line.text, line.metadata or {})))
        if len(_LINES) >= MOST_KEPT:
            _LINES.clear()
        _LINES[id(message)] = known
    return known[1], known[2]


_LINES: Final[dict[int, tuple[Message, DialogueLine, int]]] = {}
text_caches.register_cache(_LINES.clear)
