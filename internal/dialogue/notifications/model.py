"""A notification: a message that the bot wants to write to an owner on its own initiative, and its outcome."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class NotificationKind(StrEnum):
    """The subject; `ref_id` identifies it."""

    REMINDER = "reminder"
    """A task, promise or reminder is due; `ref_id` is the task."""
    CONFIRM = "confirm"
    """A task was understood from the owner's words and waits to be confirmed; `ref_id` is the task."""
    TEAM = "team"
    """Something about a team: an invitation, or a task that a member took on for this owner."""
    QUESTION = "question"
    """Something that only the owner can decide; `ref_id` is the question."""
    OCCASION = "occasion"
    """A birthday or another occasion is near or here; `ref_id` is its fact."""
    NUDGE = "nudge"
    """It is time to be in touch with somebody; `ref_id` is the task that says how often."""
    DIGEST = "digest"
    """The owner's morning: tasks, occasions, promises and questions of the day."""
    REFLECTION = "reflection"
    """A reflection on the messages of the last weeks, once a week."""
    NOTICE = "notice"
    """The program has something to say about itself."""

    @property
    def fixed(self) -> bool:
        """Whether its text is sent unchanged: buttons answer it, or it is Markdown with receipts."""
        return self not in (NotificationKind.REMINDER, NotificationKind.NOTICE)


class NotificationState(StrEnum):
    WAITING = "waiting"
    DEFERRED = "deferred"
    """Examined and put off until `not_before`."""
    SENT = "sent"
    MERGED = "merged"
    """Sent in the same message as `merged_into`."""
    DROPPED = "dropped"


OPEN = (NotificationState.WAITING, NotificationState.DEFERRED)
"""States without a decision or with the decision to wait."""


@dataclass(frozen=True, slots=True)
class Notification:
    """`text` is the matter itself (1 character or more); the words that were sent are in message `message_id`.

    `payload` may hold `buttons` and `together` (rows of {"text", "callback_data"}, Bot API form), `due_at` (ISO 8601,
    UTC) and `whole_day`, and other keys of its kind. `not_before` is the earliest time to send it. `reason`
    says why it was sent, put off, merged or dropped: a key such as `quiet` where a rule decided, which the console
    translates, or a sentence of a model. `event_id` is its event `notification_generated`.
    """

    user_id: int
    id: str
    kind: NotificationKind
    ref_id: str | None
    text: str
    payload: dict[str, Any]
    state: NotificationState
    urgent: bool
    not_before: datetime
    created_at: datetime
    event_id: str
    dedupe: str
    decided_at: datetime | None = None
    reason: str | None = None
    merged_into: str | None = None
    message_id: str | None = None
    attempts: int = 0

    @property
    def due_at(self) -> datetime | None:
        """The time at which its subject is, or was, due."""
        due = self.payload.get("due_at")
        return datetime.fromisoformat(due) if due else None

    @property
    def said_in(self) -> set[str]:
        """The ids of the messages from which it comes."""
        return {one for one in (self.payload.get("message"), *self.payload.get("messages", ())) if one}

    @property
    def buttons(self) -> list[list[dict[str, str]]]:
        rows: list[list[dict[str, str]]] = self.payload.get("buttons") or []
        return rows

    @property
    def together(self) -> list[list[dict[str, str]]]:
        """Its rows of buttons below a message that combines several notifications."""
        rows: list[list[dict[str, str]]] = self.payload.get("together") or []
        return rows
