"""Telegram Desktop's `result.json`: one chat, or all of them. Read message by message, whatever its size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from internal.import_formats.json_stream import JsonStream
from internal.import_formats.model import Draft, Terms, Unreadable, clean, moment
from internal.import_formats.split import conversations
from internal.knowledge.model import Segment

TELEGRAM_ITSELF = "777000"
"""The chat in which Telegram sends login codes and announcements: nobody's words, and secrets."""

UNKNOWN_AUTHOR = "an unknown author"
"""Of a forward whose author hides or has deleted the account."""

ANSWERABLE = 10_000
"""Messages of a chat that are remembered for those that answer them, some 3 MB; few answer anything older."""

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
    """What the export tells about a chat before its messages, and who said what was read of it last, and when."""

    header: dict[str, Any] = field(default_factory=dict)
    said: dict[int, tuple[str, datetime]] = field(default_factory=dict)

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
        """Ids of users, groups and channels are counted separately."""
        if any(word in self.type for word in _LINKED):
            return "channel"
        return "group" if "group" in self.type else "user"

    def remember(self, number: int, speaker: str, at: datetime) -> None:
        self.said[number] = speaker, at
        if len(self.said) > ANSWERABLE:
            del self.said[next(iter(self.said))]

    def link(self, message_id: int) -> str | None:
        """Opens for whoever is in the chat; other chats have no links."""
        return f"https://t.me/c/{self.id}/{message_id}" if self.kind == "channel" else None


def read(stream: JsonStream, name: str, terms: Terms) -> Iterator[Draft]:
    """The episodes of an export, chat by chat. Raises Unreadable where it breaks off or is something else."""
    if stream.peek() != "{":
        raise Unreadable(f"{name} is no export of Telegram Desktop: it should be a JSON object")
    chat, found = _Chat(), False
    for key in stream.members():
        if key == "messages":
            found = True
            yield from _messages(stream, name, chat, terms)
        elif key in {"chats", "left_chats"} and stream.peek() == "{":
            found = True
            yield from _listed(stream, name, terms)
        elif key in _HEADER:
            chat.header[key] = stream.value()
    stream.end()
    if not found:
        raise Unreadable(f"{name} is no export of Telegram Desktop: it has neither messages nor chats")


def _listed(stream: JsonStream, name: str, terms: Terms) -> Iterator[Draft]:
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


def _messages(stream: JsonStream, name: str, chat: _Chat, terms: Terms) -> Iterator[Draft]:
    if stream.peek() != "[":
        raise Unreadable(f"{name} is no export of Telegram Desktop: messages should be an array")
    if not chat.id:
        raise Unreadable(f"{name} is no export of Telegram Desktop: a chat's id should stand before its messages")
    reason = _unwanted(chat, terms)
    if reason is not None:
        terms.skipped[reason] += sum(1 for _ in stream.elements())
        return
    for segments in conversations(_said(stream, chat, terms)):
        first = segments[0]
        yield Draft(
            name=f"{chat.name} {first.at.astimezone(terms.zone):%Y-%m-%d %H:%M}",
            source_description=f"Telegram chat {chat.name}",
            source_url=first.url,
            place=chat.name,
            segments=segments,
        )


def _unwanted(chat: _Chat, terms: Terms) -> str | None:
    """Why a chat is not read, if it is not."""
    if not terms.wanted(chat.name, chat.id):
        return "of other chats"
    if chat.id == TELEGRAM_ITSELF:
        return "of Telegram itself"
    if terms.own_bot is not None and chat.kind == "user" and chat.id == str(terms.own_bot):
        return "with this bot"
    return None


def _said(stream: JsonStream, chat: _Chat, terms: Terms) -> Iterator[Segment]:
    for _ in stream.elements():
        if stream.peek() != "{":
            terms.skipped["unreadable"] += 1
            continue
        said = _segment(stream.value(), chat, terms)
        if isinstance(said, Segment):
            yield said
        else:
            terms.skipped[said] += 1


def _segment(message: Mapping[str, Any], chat: _Chat, terms: Terms) -> Segment | str:
    """The message, or why there is none."""
    if message.get("type") != "message":
        return "service"
    number = message.get("id")
    at = moment(message.get("date_unixtime")) or moment(message.get("date"), terms.zone)
    if not isinstance(number, int) or at is None:
        return "unreadable"
    text = clean(" ".join(part for part in (_media(message), _text(message)) if part))
    if not text:
        return "empty"
    speaker, answered = _speaker(message, chat), _answered(message, chat, terms)
    chat.remember(number, speaker, at)
    author = str(message.get("from_id") or "").removeprefix("user")
    forwarded = "forwarded_from" in message
    return Segment(
        n=0,
        at=at,
        text=f"{answered} {text}" if answered else text,
        message_id=None,
        speaker=speaker,
        own=not forwarded and (author == str(terms.owner) or terms.is_me(author)),
        forwarded_from=clean(str(message["forwarded_from"] or "")) or UNKNOWN_AUTHOR if forwarded else None,
        url=chat.link(number),
        key=f"telegram:{chat.kind}{chat.id}:{number}",
    )


def _answered(message: Mapping[str, Any], chat: _Chat, terms: Terms) -> str:
    """Which message this one replies to, in brackets: whose and when, as transcripts show it, never its words.

    They are another's, and what stands in a message counts as said by its author.
    """
    number = message.get("reply_to_message_id")
    if number is None:
        return ""
    if "reply_to_peer_id" in message:
        return "[reply to a message of another chat]"
    if not isinstance(number, int) or number not in chat.said:
        return "[reply to an earlier message]"
    speaker, at = chat.said[number]
    return f"[reply to {speaker}, {at.astimezone(terms.zone):%Y-%m-%d %H:%M}]"


def _speaker(message: Mapping[str, Any], chat: _Chat) -> str:
    name = message.get("from") or message.get("author") or message.get("from_id") or chat.name
    return clean(str(name)) or chat.name


def _text(message: Mapping[str, Any]) -> str:
    """The words, whatever stands around them; of a link behind words, the address too."""
    text = message.get("text") or message.get("text_entities")
    parts = text if isinstance(text, list) else [text]
    return "".join(_part(part) for part in parts)


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    words, address = str(part.get("text") or ""), part.get("href")
    return f"{words} ({address})" if isinstance(address, str) and address not in words else words


def _media(message: Mapping[str, Any]) -> str:
    """What a message holds besides words, in brackets."""
    described = []
    kind = _MEDIA.get(str(message.get("media_type")), "file" if message.get("file") else "")
    if message.get("photo"):
        described.append("photo")
    elif kind:
        told = message.get("sticker_emoji") or message.get("title") or message.get("file_name")
        described.append(f"{kind} {told}" if told else kind)
    contact, place, poll = (message.get(key) for key in ("contact_information", "location_information", "poll"))
    if isinstance(contact, dict):
        known = (contact.get(key) for key in ("first_name", "last_name", "phone_number"))
        described.append("contact " + " ".join(str(part) for part in known if part))
    if isinstance(place, dict):
        named = [message.get("place_name"), message.get("address")]
        exact = f"{place.get('latitude')}, {place.get('longitude')}"
        described.append("location " + ", ".join(str(part) for part in (*named, exact) if part))
    if isinstance(poll, dict):
        answers = [_text(answer) for answer in poll.get("answers") or () if isinstance(answer, dict)]
        described.append(f"poll {_text({'text': poll.get('question')})}: {' | '.join(answers)}")
    return " ".join(f"[{one}]" for one in described)
