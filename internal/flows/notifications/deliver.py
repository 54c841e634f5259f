"""Makes a notification part of the dialogue: the hidden instruction, the assistant's message, the outgoing message.

All of it belongs to one transaction, so that it is sent once or not at all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access.model import User
from internal.dialogue import reply_source_repository as sources, repository as dialogue
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import Outgoing, Rendered
from internal.dialogue.model import (
    HIDDEN_MARK,
    HIDDEN_PREFIX,
    INSTRUCTION_MARK,
    NOTIFICATION_MARK,
    ReplySource,
    clock_metadata,
)
from internal.dialogue.notifications import repository as notifications
from internal.dialogue.notifications.model import Notification
from internal.events import repository as events

SOURCE: Final = "agent:ContextManager"

Render = Callable[[str], Sequence[Rendered]]


@dataclass(frozen=True, slots=True)
class Rendering:
    """Renders Markdown, and plain text, as Telegram messages."""

    markdown: Render
    plain: Render


@dataclass(frozen=True, slots=True)
class NotificationMessage:
    """One message for one notification or several. `markdown`: the text is Markdown, as a model writes it."""

    about: Sequence[Notification]
    text: str
    reason: str
    markdown: bool
    by_rules: bool

    @property
    def first(self) -> Notification:
        return self.about[0]


def deliver(
    connection: Connection, user: User, bot_id: int, delivery: NotificationMessage, rendering: Rendering, now: datetime
) -> str | None:
    """Writes the message with all that belongs to it and returns its id, or None if it has no visible text."""
    parts = list((rendering.markdown if delivery.markdown else rendering.plain)(delivery.text))
    if not parts:
        return None
    mark = {NOTIFICATION_MARK: delivery.first.id}
    instruction = dialogue.add(
        connection,
        user.user_id,
        "user",
        HIDDEN_PREFIX + _instruction(delivery, user),
        now=now,
        user_metadata={**clock_metadata(now, user.tz), HIDDEN_MARK: True, **mark},
        bot_id=bot_id,
        chat_id=user.user_id,
    )
    message = dialogue.add(
        connection,
        user.user_id,
        "assistant",
        delivery.text,
        now=now,
        user_metadata={**mark, INSTRUCTION_MARK: instruction.id},
        delivery="pending",
        bot_id=bot_id,
        chat_id=user.user_id,
    )
    sources.add(connection, user.user_id, message.id, _sources(delivery))
    _enqueue(connection, user, bot_id, delivery, parts, message.id, now)
    together = [one.id for one in delivery.about[1:]]
    notifications.mark_sent(
        connection,
        user.user_id,
        delivery.first.id,
        merged=together,
        message_id=message.id,
        reason=delivery.reason,
        now=now,
    )
    _append_event(connection, user, delivery, message.id, instruction.id, now)
    return message.id


def record_decision(
    connection: Connection, one: Notification, decision: str, reason: str, now: datetime, **payload: Any
) -> None:
    """Records that a notification was postponed or dropped, and why."""
    events.append(
        connection,
        notifications.WEIGHED,
        source=SOURCE,
        now=now,
        user_id=one.user_id,
        payload={"decision": decision, "reason": reason, **payload},
        links={"caused_by": one.event_id, "notification": one.id},
    )


def _instruction(delivery: NotificationMessage, user: User) -> str:
    lines = [_question_text(one, user) for one in delivery.about]
    return "Tell the owner now:\n" + "\n".join(f"- {line}" for line in lines)


def _question_text(one: Notification, user: User) -> str:
    due = one.due_at
    when = f" (due {due.astimezone(ZoneInfo(user.tz)):%Y-%m-%d %H:%M})" if due is not None else ""
    return f"{one.kind.value}: {one.text}{when}"


def _sources(delivery: NotificationMessage) -> list[ReplySource]:
    """The messages in which the owner stated it: if they are forgotten, this message is too."""
    said = dict.fromkeys(message_id for one in delivery.about for message_id in sorted(one.said_in))
    return [ReplySource(n, "message", message_id, cited=True) for n, message_id in enumerate(said, start=1)]


def _enqueue(
    connection: Connection,
    user: User,
    bot_id: int,
    delivery: NotificationMessage,
    parts: Sequence[Rendered],
    message_id: str,
    now: datetime,
) -> None:
    last = len(parts) - 1
    for number, part in enumerate(parts):
        outgoing = Outgoing(
            user_id=user.user_id,
            bot_id=bot_id,
            chat_id=user.user_id,
            text=part.text,
            entities=part.entities,
            keyboard=_keyboard(delivery.about) if number == last else None,
            dedupe=f"notification:{delivery.first.id}:{number}",
            message_id=message_id,
            part=number,
        )
        mailbox.enqueue(connection, outgoing, now)


def _keyboard(about: Sequence[Notification]) -> list[list[dict[str, Any]]] | None:
    """The buttons below. Those of one notification change the message itself; each of several has its own rows."""
    if len(about) == 1:
        return about[0].buttons or None
    return [row for one in about for row in one.together] or None


def _append_event(
    connection: Connection, user: User, delivery: NotificationMessage, message_id: str, instruction: str, now: datetime
) -> None:
    causes = [one.event_id for one in delivery.about]
    payload = {
        "decision": "now" if len(delivery.about) == 1 else "merge",
        "reason": delivery.reason,
        "by": "rules" if delivery.by_rules else "model",
        **({"count": len(delivery.about)} if len(delivery.about) > 1 else {}),
    }
    links = {
        "caused_by": causes[0] if len(causes) == 1 else causes,
        "notification": [one.id for one in delivery.about],
        "message": message_id,
        "instruction": instruction,
    }
    events.append(
        connection, notifications.SENT, source=SOURCE, now=now, user_id=user.user_id, payload=payload, links=links
    )
