"""The numbered lines of one slice of an episode, and the source of each."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access.model import User
from internal.agents.model import TranscriptLine
from internal.dialogue import repository as dialogue
from internal.dialogue.model import Message, Quoted
from internal.flows.visibility.pending_forgettings import messages_to_forget, quotes_shown
from internal.knowledge import episode_repository as episodes
from internal.knowledge.claims.changes import ClaimLine
from internal.knowledge.model import Segment
from internal.language.text.spelling import without_attachments
from internal.people.operations import SourceLine
from internal.scheduling.run import Run

QUOTED: Final = 300
"""The most characters of a quoted message in a transcript."""


@dataclass(frozen=True, slots=True)
class SliceLine:
    """One line of a slice. `message_id` and `message_rev` are of its message; None and 0 for other texts."""

    shown: TranscriptLine
    segment: int
    said_at: datetime
    message_id: str | None = None
    message_rev: int = 0

    @property
    def source(self) -> SourceLine:
        """The line as evidence of people."""
        return SourceLine(self.said_at, self.segment, self.message_id, self.shown.telegram_ids, self.shown.text)

    @property
    def claimed(self) -> ClaimLine:
        """The line as evidence of a fact, word for word."""
        return ClaimLine(self.segment, self.shown.text, self.message_id)


def read_slice(connection: Connection, run: Run, user: User, persona: str) -> tuple[SliceLine, ...]:
    """The lines of a run's slice, numbered from 1; messages that were or are to be erased are left out."""
    parts = episodes.episode_segments(connection, run.user_id, run.episode_id, run.first_n, run.last_n)
    ids = [part.message_id for part in parts if part.message_id is not None]
    to_forget = messages_to_forget(connection, run.user_id)
    said = quotes_shown(connection, run.user_id, dialogue.by_ids(connection, run.user_id, ids))
    messages = {message.id: message for message in said if message.id not in to_forget}
    there = [part for part in parts if part.message_id is None or part.message_id in messages]
    return tuple(_line(number, part, messages, user, persona) for number, part in enumerate(there, start=1))


def revs(lines: Sequence[SliceLine]) -> dict[str, int]:
    """The revs of the messages of these lines, by id."""
    return {line.message_id: line.message_rev for line in lines if line.message_id is not None}


def owner_speaks(lines: Sequence[SliceLine]) -> bool:
    """Whether any of these lines is the owner's own."""
    return any(line.shown.owners_word for line in lines)


def evidence_texts(
    lines: Sequence[TranscriptLine], numbers: Collection[int], *, of_owner: bool = False
) -> tuple[str, ...]:
    """The texts that may support an item: lines that it cites (none = all), what they reply to, the line before each.

    `of_owner`: the owner must have said it, so that texts of attached pictures and files do not count.
    """
    cited = [line for line in lines if not numbers or line.number in numbers or line.number + 1 in numbers]
    texts = [without_attachments(line.text) if of_owner else line.text for line in cited]
    said = [part for line, text in zip(cited, texts, strict=True) for part in (text, line.quoted, line.forwarded_from)]
    return tuple(text for text in [*said, *(line.speaker for line in cited if not line.own)] if text)


def current_revs(connection: Connection, user_id: int, message_ids: Sequence[str]) -> dict[str, int]:
    """The current revs of these messages; deleted ones are left out."""
    return {message.id: message.rev for message in dialogue.by_ids(connection, user_id, message_ids)}


def _line(number: int, part: Segment, messages: Mapping[str, Message], user: User, persona: str) -> SliceLine:
    if part.message_id is None:
        return _text_line(number, part, user)
    message = messages[part.message_id]
    return SliceLine(message_line(number, message, user, persona), part.n, message.timestamp, message.id, message.rev)


def message_line(number: int, message: Message, user: User, persona: str) -> TranscriptLine:
    """A stored message as a line of a transcript."""
    assistant = message.role == "assistant"
    return TranscriptLine(
        number=number,
        role="assistant" if assistant else "user",
        speaker=persona if assistant else message.speaker or user.name,
        at=message.timestamp.astimezone(ZoneInfo(user.tz)),
        text=message.content or _described(message.attachments),
        forwarded_from=message.forward.name if message.forward else None,
        telegram_ids=_confirmed_ids(message),
        own=not message.speaker,
        quoted=_quoted(message.quoted, user, persona) if message.quoted else "",
    )


def _quoted(quoted: Quoted, user: User, persona: str) -> str:
    shown = quoted.within(QUOTED)
    return f"{quoted.speaker(f'{persona} (assistant)', user.name)}: {shown.part or shown.text}"


def _text_line(number: int, part: Segment, user: User) -> SliceLine:
    shown = TranscriptLine(
        number=number,
        role="user",
        speaker=part.speaker or "",
        at=part.at.astimezone(ZoneInfo(user.tz)),
        text=part.text or "",
        forwarded_from=part.forwarded_from,
        own=part.own,
    )
    return SliceLine(shown, part.n, part.at)


def _described(attachments: Sequence[Mapping[str, Any]]) -> str:
    return " ".join(f"[{attachment.get('kind', 'attachment')}]" for attachment in attachments)


def _confirmed_ids(message: Message) -> tuple[int, ...]:
    """The Telegram ids in the message's own metadata; ids are never taken from a model's words."""
    ids: list[int | None] = [message.sender_id] if message.speaker and (message.sender_id or 0) > 0 else []
    ids += [message.forward.user_id if message.forward else None]
    ids += [attachment.get("telegram_id") for attachment in message.attachments]
    return tuple(dict.fromkeys(found for found in ids if found is not None))
