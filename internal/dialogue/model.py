"""Messages, dialogue state and turns: the log from which everything else is derived."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from zoneinfo import ZoneInfo

Role = Literal["user", "assistant", "system"]

HIDDEN_PREFIX = "[hidden instruction] "
HIDDEN_MARK = "hidden_instruction"
"""Key in `user_metadata` that marks a hidden instruction. The mark decides, because users can type the prefix."""

NOTIFICATION_MARK = "notification"
"""Key in `user_metadata` of a notification's message: the notification's id. Such a message answers nothing."""

INSTRUCTION_MARK = "instruction"
"""Key in the same message: the id of the hidden instruction that caused it."""

QUOTED_MARK = "quoted"
"""Key in a user's message: the words that it answers or quotes, as a `Quoted`."""

SPEAKER_MARK = "speaker"
"""Key in a message of somebody else than the owner: the author's name. `sender_id` is the author's id."""

CARDS_MARK = "cards"
"""Key in an answer: the position in its text at which the program's own cards about its actions begin."""

INNER_MARKS = frozenset({HIDDEN_MARK, NOTIFICATION_MARK, INSTRUCTION_MARK, QUOTED_MARK, CARDS_MARK})
"""Keys for the program's own use, which are left out of prompts."""


@dataclass(frozen=True, slots=True)
class ForwardOrigin:
    """The original author of a forwarded message."""

    kind: Literal["user", "hidden_user", "chat", "channel"]
    name: str
    user_id: int | None = None
    username: str | None = None
    date: datetime | None = None


@dataclass(frozen=True, slots=True)
class Speaker:
    """The author of a message in a group. A chat that speaks for itself has a negative id."""

    id: int
    name: str
    username: str | None = None


@dataclass(frozen=True, slots=True)
class Quoted:
    """The words that a message answers: the whole `text`, and the `part` of it that the owner picked, if any.

    `author` is the name of a third person. The words do not count as the owner's present ones, even if he wrote them.
    """

    by: Literal["assistant", "owner", "other"]
    author: str
    text: str
    part: str = ""

    def speaker(self, assistant: str, owner: str) -> str:
        """The author of the words, with these names for the assistant and the owner."""
        return {"assistant": assistant, "owner": owner}.get(self.by) or f"{self.author} (not the owner)"

    def within(self, longest: int) -> Quoted:
        """A copy with texts of at most `longest` characters."""
        return replace(self, text=_cut(self.text, longest), part=_cut(self.part, longest))


@dataclass(frozen=True, slots=True)
class Message:
    """One row of the log. `seq` orders messages of one owner; `id` is a UUIDv7 string."""

    user_id: int
    seq: int
    id: str
    role: Role
    content: str
    timestamp: datetime
    user_metadata: dict[str, Any] | None = None
    sender_id: int | None = None
    bot_id: int | None = None
    chat_id: int | None = None
    thread_id: int | None = None
    tg_id: int | None = None
    reply_to: int | None = None
    forward: ForwardOrigin | None = None
    attachments: list[dict[str, Any]] = field(default_factory=list)
    edited_at: datetime | None = None
    turn_id: str | None = None
    episode_id: str | None = None
    delivery: str | None = None
    rev: int = 0

    @property
    def hidden(self) -> bool:
        return bool(self.user_metadata and self.user_metadata.get(HIDDEN_MARK))

    @property
    def quoted(self) -> Quoted | None:
        """The words that the message answers or quotes; None if there are none."""
        stored = (self.user_metadata or {}).get(QUOTED_MARK)
        return Quoted(**stored) if stored else None

    @property
    def speaker(self) -> str:
        """The name of the author if that is not the owner but a member of a group; else empty."""
        return str((self.user_metadata or {}).get(SPEAKER_MARK, ""))

    @property
    def spoken(self) -> str:
        """The text without the program's own cards, which models would imitate."""
        mark = (self.user_metadata or {}).get(CARDS_MARK)
        return self.content if mark is None else self.content[:mark].rstrip()

    def without_quote(self) -> Message:
        """A copy of the message without its quote."""
        kept = {key: value for key, value in (self.user_metadata or {}).items() if key != QUOTED_MARK}
        return replace(self, user_metadata=kept)

    @property
    def notification_id(self) -> str | None:
        """The notification that this message delivers; None for any other message."""
        marked = (self.user_metadata or {}).get(NOTIFICATION_MARK)
        return str(marked) if marked is not None else None


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


class TurnState(StrEnum):
    COLLECTING = "collecting"
    RUNNING = "running"
    ANSWERED = "answered"
    CLOSED = "closed"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Turn:
    """The messages of one lane that get one answer."""

    user_id: int
    id: str
    bot_id: int
    lane: str
    chat_id: int
    thread_id: int | None
    state: TurnState
    opened_at: datetime
    close_at: datetime
    attempts: int
    first_seq: int
    last_seq: int


@dataclass(slots=True)
class DialogueState:
    """The in-memory buffer of one user: the `seq` of each message that is in no fragment yet, oldest first.

    The words stay in the log: for 10,000 users with 50 messages each, numbers take a hundredth of the memory and of the
    time for restoring.
    """

    user_id: int
    buffer: array[int]
    last_activity: datetime
    is_active: bool


@dataclass(frozen=True, slots=True)
class DialogueStateRow:
    user_id: int
    last_published_message_id: str | None
    last_activity: datetime
    is_active: bool


SourceKind = Literal["fact", "memory", "message", "episode", "page", "person"]


@dataclass(frozen=True, slots=True)
class ReplySource:
    """A source in the prompt of a reply. `n` counts from 1: cited ones first, as numbered in the reply.

    `ref_id` is the id of a fact, a memory's node, a message, an episode or a person.
    """

    n: int
    kind: SourceKind
    ref_id: str
    cited: bool = False


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message of a user, parsed from one update and not stored yet.

    `text` is the text or caption as sent, without the `command` before it: `/db` and `/sa` open or continue a session,
    and the words after them are to be answered. `attachments` describe its attachments ({"kind": "voice"}, ...).
    `speaker` is the author if that is not the owner. `aside`: not to the bot, but in a chat of the owner's with
    somebody else.
    """

    user_id: int
    bot_id: int
    chat_id: int
    tg_id: int
    text: str
    timestamp: datetime
    thread_id: int | None = None
    reply_to: int | None = None
    forward: ForwardOrigin | None = None
    attachments: list[dict[str, Any]] = field(default_factory=list)
    edited_at: datetime | None = None
    command: Literal["/db", "/sa"] | None = None
    quoted: Quoted | None = None
    speaker: Speaker | None = None
    aside: bool = False

    @property
    def lane(self) -> str:
        return f"{self.chat_id}:{self.thread_id or 0}"

    @property
    def readable(self) -> bool:
        return bool(self.text.strip())

    @property
    def album(self) -> str | None:
        """The album to which it belongs."""
        return next((one["album"] for one in self.attachments if one.get("album")), None)


@dataclass(frozen=True, slots=True)
class Reaction:
    """A user's reaction to the Telegram message `tg_id`: its emoji, "" if it was taken back.

    `by` is the reacting member of a group.
    """

    user_id: int
    bot_id: int
    chat_id: int
    tg_id: int
    text: str
    at: datetime
    by: int | None = None


def clock_metadata(moment: datetime, zone: str) -> dict[str, str]:
    """The contextual `user_metadata` of a message: date, time and zone on its user's clock."""
    local = moment.astimezone(ZoneInfo(zone))
    return {"current_date": local.strftime("%Y-%m-%d"), "current_time": local.strftime("%H:%M"), "user_timezone": zone}


UNDELIVERED = frozenset({"refused", "cancelled"})


def own_words(listing: Sequence[Message]) -> list[Message]:
    """The owner's own messages, without answers and instructions."""
    return [m for m in listing if m.role == "user" and not m.hidden]


def visible(listing: Sequence[Message]) -> list[Message]:
    """The messages without hidden instructions and without answers that were never delivered."""
    return [m for m in listing if not m.hidden and not (m.role == "assistant" and m.delivery in UNDELIVERED)]
