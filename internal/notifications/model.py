"""A notification: something that the bot wants to tell an owner by itself, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class NotificationKind(StrEnum):
    """What it is about; `ref_id` names the thing."""

    REMINDER = "reminder"
    """A task, a promise or a reminder is due; `ref_id` is the task."""
    CONFIRM = "confirm"
    """A task was understood from what the owner said and waits for his yes; `ref_id` is the task."""
    TEAM = "team"
    """Something of a team: an invitation, or a task that somebody took on for this owner."""
    QUESTION = "question"
    """Something that only the owner can decide; `ref_id` is the question."""
    NOTICE = "notice"
    """The program has something to tell about itself."""

    @property
    def fixed(self) -> bool:
        """Whether its words stay as they are: buttons answer them."""
        return self in (NotificationKind.CONFIRM, NotificationKind.TEAM, NotificationKind.QUESTION)


class NotificationState(StrEnum):
    WAITING = "waiting"
    DEFERRED = "deferred"
    """Looked at and put off: it is looked at again at `not_before`."""
    SENT = "sent"
    MERGED = "merged"
    """Told together with `merged_into`."""
    DROPPED = "dropped"


OPEN = (NotificationState.WAITING, NotificationState.DEFERRED)
"""What nothing was decided about yet, or only that it has to wait."""


@dataclass(frozen=True, slots=True)
class Notification:
    """`text` is the matter itself (1 character or more): the words that are sent are in message `message_id`.

    `payload` may hold `buttons` and `together` (rows of {"text", "callback_data"}, Bot API form), `due_at` (ISO 8601,
    UTC) and `whole_day`, and whatever its kind needs besides. `not_before` is when it may be told at the earliest.
    `reason` says why it was told, put off, merged or dropped: a key such as `quiet` where a rule decided, which the
    console says in the reader's language, or the sentence of a model. `event_id` is its event `notification_generated`.
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
        """When what it is about is, or was, due."""
        told = self.payload.get("due_at")
        return datetime.fromisoformat(told) if told else None

    @property
    def buttons(self) -> list[list[dict[str, str]]]:
        rows: list[list[dict[str, str]]] = self.payload.get("buttons") or []
        return rows

    @property
    def together(self) -> list[list[dict[str, str]]]:
        """Its rows below a message that tells several at once."""
        rows: list[list[dict[str, str]]] = self.payload.get("together") or []
        return rows


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits of everybody: `late` of `count` could be told already, the first of them since `oldest`."""

    count: int
    late: int
    oldest: datetime | None = None
