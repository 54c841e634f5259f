"""The inbox of accepted raw updates, and the outbox of messages to be sent."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal


class InboxState(StrEnum):
    RECEIVED = "received"
    INGESTED = "ingested"
    IGNORED = "ignored"
    QUARANTINED = "quarantined"


class OutboxState(StrEnum):
    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    UNKNOWN = "unknown"
    """The request went out and no answer came: it may have been delivered."""
    REFUSED = "refused"
    HELD = "held"
    """Waits until its user is reachable again, or until the token of the bot that owes it is set again."""


STUCK = "stuck: "
"""The prefix of the `error` of a waiting message at which Telegram's server failed again and again: other messages of
its chat pass it, except the later parts of the same answer.
"""

OTHER_BOT = "owed by another bot"
"""The `error` of a held message that the bot of another token owes: its chats and message ids are different ones."""


@dataclass(frozen=True, slots=True)
class InboxRow:
    n: int
    bot_id: int
    update_id: int
    raw: str
    state: InboxState
    attempts: int
    received_at: datetime
    chat_id: int | None = None
    """The chat with which it stays in order; None if that is not known."""

    @property
    def key(self) -> str:
        """The permanent key of the update, for everything that it caused."""
        return update_key(self.bot_id, self.n)


_UPDATE = "update:"


def update_key(bot_id: int, n: int) -> str:
    """The key of the update in inbox row `n`."""
    return f"{_UPDATE}{bot_id}:{n}"


def answered_update(dedupe: str) -> str | None:
    """The key of the update that an outgoing message answers directly; None for other messages."""
    return dedupe.rpartition(":")[0] if dedupe.startswith(_UPDATE) else None


@dataclass(frozen=True, slots=True)
class QuarantinedUpdate:
    """An update set aside for a human: `raw` is its JSON as Telegram sent it, `error` the reason."""

    n: int
    update_id: int
    error: str
    received_at: datetime
    raw: str


@dataclass(frozen=True, slots=True)
class Unsent:
    """Messages that wait to be sent. `oldest_due_at` is None when there are none.

    `held` wait for users who left, `foreign` for another bot, whose token was replaced.
    """

    waiting: int
    oldest_due_at: datetime | None
    held: int
    foreign: int = 0


@dataclass(frozen=True, slots=True)
class Rendered:
    """One message: `text` of 1..4096 UTF-16 units, `entities` in Bot API form.

    `rich` is its Markdown if a rich message shows more, such as a table with columns.
    """

    text: str
    entities: list[dict[str, Any]] = field(default_factory=list)
    rich: str | None = None


OutgoingKind = Literal["send", "react", "edit", "document", "photo", "voice"]


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One Telegram message to deliver, before it has a row.

    `text` is final text with `entities` in Bot API form (offsets in UTF-16 units), `rich` the Markdown that is tried
    first as a rich message; `keyboard` is Bot API
    `inline_keyboard` rows. `edit` needs `tg_id`, or `replaces`: the dedupe key of an earlier message of this chat.
    `react` needs `tg_id`, its text is the emoji.
    `voice` is `text` spoken when it is sent. `document` and `photo` need `filename` and `content`, in base64
    if `binary`. `dedupe` is unique for ever: a second row with it is not written, so a handler that runs again after a
    crash sends once. `links` name its causes besides turn and message.
    """

    user_id: int
    bot_id: int
    chat_id: int
    text: str
    dedupe: str
    kind: OutgoingKind = "send"
    entities: list[dict[str, Any]] = field(default_factory=list)
    rich: str | None = None
    keyboard: list[list[dict[str, Any]]] | None = None
    force_reply: bool = False
    reply_to: int | None = None
    thread_id: int | None = None
    tg_id: int | None = None
    replaces: str | None = None
    filename: str | None = None
    content: str | None = None
    binary: bool = False
    turn_id: str | None = None
    message_id: str | None = None
    part: int = 0
    links: dict[str, str] = field(default_factory=dict)

    @property
    def repeatable(self) -> bool:
        """Whether a second sending shows nothing twice: true for a reaction, and for an edit of an existing message."""
        return self.kind in ("edit", "react") and self.tg_id is not None


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """A row of the outbox. `uncertain` counts possible deliveries without our knowledge; for `stuck` see STUCK."""

    n: int
    id: str
    state: OutboxState
    attempts: int
    uncertain: int
    due_at: datetime
    created_at: datetime
    outgoing: Outgoing
    tg_id: int | None = None
    stuck: bool = False
