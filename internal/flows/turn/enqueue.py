"""Puts the parts of an answer into the outbox."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection

from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import Outgoing, Rendered
from internal.dialogue.model import Message, Turn
from internal.flows.turn.commands.model import ActionCard

MOST_SPOKEN: Final = 4_000
"""The most characters of a spoken answer: services accept 4,096."""

LATE: Final = timedelta(minutes=2)
"""Delay between a message and its turn after which the answer quotes it, as it comes among others."""


@dataclass(frozen=True, slots=True)
class OutgoingPart:
    """One message of an answer, with its buttons in Bot API form."""

    part: Rendered
    keyboard: list[list[dict[str, Any]]] | None = None


def answer_parts(parts: Sequence[Rendered], below: list[list[dict[str, Any]]] | None) -> list[OutgoingPart]:
    """The messages of an answer; the last one has the buttons `below` it."""
    last = len(parts) - 1
    return [OutgoingPart(part, below if n == last else None) for n, part in enumerate(parts)]


def card_parts(card: ActionCard) -> list[OutgoingPart]:
    """The messages of a card; the last one has its buttons."""
    return answer_parts(card.parts, card.keyboard)


def react(connection: Connection, turn: Turn, message: Message, emoji: str, now: datetime) -> None:
    """Lets the bot react to a message by an emoji, if that says enough."""
    if message.tg_id is not None:
        address = (turn.user_id, turn.bot_id, turn.chat_id)
        dedupe = f"turn:{turn.id}:react"
        links = {"turn": turn.id}
        out = Outgoing(*address, emoji, dedupe, kind="react", tg_id=message.tg_id, links=links)
        mailbox.enqueue(connection, out, now)


def enqueue(
    connection: Connection,
    turn: Turn,
    parts: Sequence[OutgoingPart],
    now: datetime,
    message_id: str | None,
    placeholder: str | None,
    to: Sequence[Message] = (),
    *,
    spoken: bool = False,
    for_owner: Sequence[OutgoingPart] = (),
    result: str | None = None,
) -> None:
    """Puts a turn's answer into the outbox; its first message replaces `placeholder`, an outbox key.

    Its sending follows from the event `result`. `spoken`: as a voice message too. In a group, or if it is
    late, it replies to the last of the messages that it answers. The parts `for_owner` follow and are never spoken.
    """
    late = bool(to) and turn.opened_at - to[-1].timestamp > LATE
    address = (turn.user_id, turn.bot_id, turn.chat_id)
    for number, one in enumerate([*parts, *for_owner]):
        replaces = placeholder if number == 0 else None
        outgoing = Outgoing(
            *address,
            one.part.text,
            f"turn:{turn.id}:{number}",
            "send" if replaces is None else "edit",
            one.part.entities,
            one.part.rich,
            one.keyboard,
            thread_id=turn.thread_id,
            reply_to=to[-1].tg_id if to and number == 0 and (turn.chat_id < 0 or late) else None,
            replaces=replaces,
            turn_id=turn.id,
            message_id=message_id,
            part=number,
            links={"caused_by": result} if result is not None else {},
        )
        mailbox.enqueue(connection, outgoing, now)
    if spoken and parts:
        words = "\n".join(one.part.text for one in parts)[:MOST_SPOKEN]
        voice = Outgoing(*address, words, f"turn:{turn.id}:voice", kind="voice", thread_id=turn.thread_id)
        mailbox.enqueue(connection, replace(voice, turn_id=turn.id), now)
