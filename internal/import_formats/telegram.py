"""Reads Telegram Desktop's `result.json` (one chat, or all of them) of any size, message by message."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from internal.import_formats.json_stream import JsonStream
from internal.import_formats.model import EpisodeDraft, ReadOptions, Unreadable, clean, conversations, parse_time
from internal.knowledge.model import Segment

TELEGRAM_ITSELF = "777000"
"""The chat in which Telegram sends login codes and announcements: secrets, and not a person's words."""

UNKNOWN_AUTHOR = "an unknown author"
"""The author of a forward whose account is hidden or deleted."""

MAX_RECENT = 10_000
"""Most latest messages of a chat kept for replies, some 3 MB; few replies are to older ones."""

_HEADER = ("id", "name", "type")
_LINKED = ("supergroup", "channel")
_MEDIA = {
    "sticker": "sticker",
    "voice_message": "voice message",
    "video_message": "video message",
    "video_file": "video",
    "animation": "animation",
    "audio_file": "audio",
}


@dataclass(slots=True)
class _Chat:
    """The header of a chat, and the speaker and time of its latest messages by id."""

    header: dict[str, Any] = field(default_factory=dict)
    recent: dict[int, tuple[str, datetime]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return str(self.header.get("id", ""))

    @property
    def type(self) -> str:
        return str(self.header.get("type") or "")

    @property
    def name(self) -> str:
        if self.type == "saved_messages":
            return "Saved Messages"
        return clean(str(self.header.get("name") or "")) or f"chat {self.id}"

    @property
    def kind(self) -> str:
        """The kind of chat: users, groups and channels have separate id spaces."""
        if any(word in self.type for word in _LINKED):
            return "channel"
        return "group" if "group" in self.type else "user"

    def remember(self, number: int, speaker: str, at: datetime) -> None:
        self.recent[number] = speaker, at
        if len(self.recent) > MAX_RECENT:
            del self.recent[next(iter(self.recent))]

    def link(self, message_id: int) -> str | None:
        """A link that opens for members of a channel or supergroup; other chats have no links."""
        return f"https://t.me/c/{self.id}/{message_id}" if self.kind == "channel" else None


def read(stream: JsonStream, name: str, terms: ReadOptions) -> Iterator[EpisodeDraft]:
    """Yields the episodes of an export, chat by chat. Raises Unreadable if it is truncated or another file."""
    if stream.peek() != "{":
        raise Unreadable(f"{name} is no export of Telegram Desktop: it should be a JSON object")
    chat, has_chats = _Chat(), False
    for key in stream.members():
        if key == "messages":
            has_chats = True
            yield from _messages(stream, name, chat, terms)
        elif key in {"chats", "left_chats"} and stream.peek() == "{":
            has_chats = True
            yield from _chats_of_list(stream, name, terms)
        elif key in _HEADER:
            chat.header[key] = stream.value()
    stream.end()
    if not has_chats:
        raise Unreadable(f"{name} is no export of Telegram Desktop: it has neither messages nor chats")


def _chats_of_list(stream: JsonStream, name: str, terms: ReadOptions) -> Iterator[EpisodeDraft]:
    for key in stream.members():
        if key != "list" or stream.peek() != "[":
            continue
        for _ in stream.elements():
            if stream.peek() != "{":
                continue
            chat = _Chat()
            for inner in stream.members():
                if inner == "messages":
                    yield from _messages(stream, name, chat, terms)
                elif inner in _HEADER:
                    chat.header[inner] = stream.value()


def _messages(stream: JsonStream, name: str, chat: _Chat, terms: ReadOptions) -> Iterator[EpisodeDraft]:
    if stream.peek() != "[":
        raise Unreadable(f"{name} is no export of Telegram Desktop: messages should be an array")
    if not chat.id:
        raise Unreadable(f"{name} is no export of Telegram Desktop: a chat's id should stand before its messages")
    reason = _skip_reason(chat, terms)
    if reason is not None:
        terms.skipped[reason] += sum(1 for _ in stream.elements())
        return
    for segments in conversations(_segments(stream, chat, terms)):
        first = segments[0]
        yield EpisodeDraft(
            name=f"{chat.name} {first.at.astimezone(terms.zone):%Y-%m-%d %H:%M}",
            source_description=f"Telegram chat {chat.name}",
            source_url=first.url,
            place=chat.name,
            segments=segments,
        )


def _skip_reason(chat: _Chat, terms: ReadOptions) -> str | None:
    """The reason why a chat is not read, or None."""
    if not terms.is_selected(chat.name, chat.id):
        return "of other chats"
    if chat.id == TELEGRAM_ITSELF:
        return "of Telegram itself"
    if terms.own_bot is not None and chat.kind == "user" and chat.id == str(terms.own_bot):
        return "with this bot"
    return None


def _segments(stream: JsonStream, chat: _Chat, terms: ReadOptions) -> Iterator[Segment]:
    for _ in stream.elements():
        if stream.peek() != "{":
            terms.skipped["unreadable"] += 1
            continue
        segment = _segment(stream.value(), chat, terms)
        if isinstance(segment, Segment):
            yield segment
        else:
            terms.skipped[segment] += 1


def _segment(message: Mapping[str, Any], chat: _Chat, terms: ReadOptions) -> Segment | str:
    """The message as a segment, or the reason why it is skipped."""
    if message.get("type") != "message":
        return "service"
    number = message.get("id")
    at = parse_time(message.get("date_unixtime")) or parse_time(message.get("date"), terms.zone)
    if not isinstance(number, int) or at is None:
        return "unreadable"
    text = clean("\n".join(part for part in (_text(message), _media(message)) if part))
    if not text:
        return "empty"
    speaker, reply_note = _speaker(message, chat), _reply_note(message, chat, terms)
    chat.remember(number, speaker, at)
    author = str(message.get("from_id") or "").removeprefix("user")
    forwarded = "forwarded_from" in message
    return Segment(
        n=0,
        at=at,
        text=f"{reply_note} {text}" if reply_note else text,
        message_id=None,
        speaker=speaker,
        own=not forwarded and (author == str(terms.owner) or terms.is_me(author)),
        forwarded_from=clean(str(message["forwarded_from"] or "")) or UNKNOWN_AUTHOR if forwarded else None,
        url=chat.link(number),
        key=f"telegram:{chat.kind}{chat.id}:{number}",
    )


def _reply_note(message: Mapping[str, Any], chat: _Chat, terms: ReadOptions) -> str:
    """A note on the message to which this one replies: its speaker and time as in transcripts, never its words.

    All words in a message count as said by its author, and these are somebody else's.
    """
    number = message.get("reply_to_message_id")
    if number is None:
        return ""
    if "reply_to_peer_id" in message:
        return "[reply to a message of another chat]"
    if not isinstance(number, int) or number not in chat.recent:
        return "[reply to an earlier message]"
    speaker, at = chat.recent[number]
    return f"[reply to {speaker}, {at.astimezone(terms.zone):%Y-%m-%d %H:%M}]"


def _speaker(message: Mapping[str, Any], chat: _Chat) -> str:
    name = message.get("from") or message.get("author") or message.get("from_id") or chat.name
    return clean(str(name)) or chat.name


def _text(message: Mapping[str, Any]) -> str:
    """The words without formatting; a linked word is followed by its address."""
    text = message.get("text") or message.get("text_entities")
    parts = text if isinstance(text, list) else [text]
    return "".join(_part(part) for part in parts)


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    text, address = str(part.get("text") or ""), part.get("href")
    return f"{text} ({address})" if isinstance(address, str) and address not in text else text


def _media(message: Mapping[str, Any]) -> str:
    """A note in brackets on the media of a message."""
    described = []
    kind = _MEDIA.get(str(message.get("media_type")), "file" if message.get("file") else "")
    if message.get("photo"):
        described.append("photo")
    elif kind:
        label = message.get("sticker_emoji") or message.get("title") or message.get("file_name")
        described.append(f"{kind} {label}" if label else kind)
    contact, place, poll = (message.get(key) for key in ("contact_information", "location_information", "poll"))
    if isinstance(contact, dict):
        contact_fields = (contact.get(key) for key in ("first_name", "last_name", "phone_number"))
        described.append("contact " + " ".join(str(part) for part in contact_fields if part))
    if isinstance(place, dict):
        place_names = [message.get("place_name"), message.get("address")]
        exact = f"{place.get('latitude')}, {place.get('longitude')}"
        described.append("location " + ", ".join(str(part) for part in (*place_names, exact) if part))
    if isinstance(poll, dict):
        answers = [_text(answer) for answer in poll.get("answers") or () if isinstance(answer, dict)]
        described.append(f"poll {_text({'text': poll.get('question')})}: {' | '.join(answers)}")
    return " ".join(f"[{part}]" for part in described)
