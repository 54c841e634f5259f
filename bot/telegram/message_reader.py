"""Converts Telegram's types to the product's own: the text, author and attachments of a message."""

import json
from datetime import UTC, datetime
from typing import Any, Final, Literal

from aiogram.enums import ContentType
from aiogram.types import (
    ExternalReplyInfo,
    MaybeInaccessibleMessageUnion,
    Message,
    MessageOriginChannel,
    MessageOriginChat,
    MessageOriginHiddenUser,
    MessageOriginUnion,
    MessageOriginUser,
    MessageReactionUpdated,
    User,
)

from internal.access.model import Author
from internal.artifacts.model import FILE
from internal.dialogue.model import ForwardOrigin, Incoming, Quoted, Reaction, Speaker

MEDIA = (
    "voice", "audio", "video", "video_note", "photo", "sticker", "animation", "document", "location", "dice", "story",
    "paid_media", "game", "live_photo", "giveaway", "giveaway_winners", "invoice",
)  # fmt: skip

PICTURES: Final = frozenset({"image/jpeg", "image/png", "image/webp"})
"""Types of documents that are pictures, as Telegram compresses them."""

_SPELLED: Final = ("checklist", "poll", "venue")
"""Contents with words that are neither text nor a medium."""

NOBODY: Final = "?"
"""The name of an unknown author."""

_SESSION_COMMANDS: Final[tuple[Literal["/db", "/sa"], ...]] = ("/db", "/sa")


def author_of(user: User) -> Author:
    return Author(user.id, user.full_name, user.username, user.language_code)


def speaker_of(message: Message) -> Speaker | None:
    """The author in a group: a member, a channel, or an administrator for the group; None for other bots."""
    author, chat = message.from_user, message.sender_chat
    if chat is not None:
        return Speaker(chat.id, message.author_signature or chat.title or chat.full_name, chat.username)
    if author is None or author.is_bot:
        return None
    return Speaker(author.id, author.full_name, author.username)


def incoming_of(message: Message, bot_id: int) -> Incoming:
    """A private message as the dialogue stores it, without the commands /db, /sa and a /correct with news."""
    author = message.from_user
    command, text = session_command(message)
    return Incoming(
        user_id=author.id if author else message.chat.id,
        bot_id=bot_id,
        chat_id=message.chat.id,
        tg_id=message.message_id,
        text=text,
        timestamp=message.date.astimezone(UTC),
        thread_id=thread_of(message),
        reply_to=message.reply_to_message.message_id if message.reply_to_message else None,
        forward=forward_of(message),
        attachments=attachments_of(message),
        edited_at=datetime.fromtimestamp(message.edit_date, UTC) if message.edit_date else None,
        command=command,
        quoted=quoted_of(message, bot_id),
    )


def reaction_of(changed: MessageReactionUpdated, bot_id: int, owner_id: int | None = None) -> Reaction:
    """A reaction in the private chat of its owner or in the group of `owner_id`; an emoji without a character goes by
    its id."""
    shown = [
        str(getattr(one, "emoji", None) or getattr(one, "custom_emoji_id", one.type)) for one in changed.new_reaction
    ]
    at, chat_id = changed.date.astimezone(UTC), changed.chat.id
    address = (chat_id if owner_id is None else owner_id, bot_id, chat_id, changed.message_id)
    by = changed.actor_chat or changed.user
    return Reaction(*address, " ".join(shown), at, by=by.id if by is not None and owner_id is not None else None)


def chat_of(raw: str) -> int | None:
    """The chat of an update in JSON, which keeps its order; None if it has none or cannot be read."""
    match json.loads(raw):
        case {"callback_query": {"message": {"chat": {"id": int(chat_id)}}}} if chat_id < 0:
            return _stored(chat_id)
        case {"callback_query": {"from": {"id": int(user_id)}}} | {"inline_query": {"from": {"id": int(user_id)}}}:
            return _stored(user_id)  # the pressed message is in the private chat, whose id is the user's
        case (
            {"message": {"chat": {"id": int(chat_id)}}}
            | {"edited_message": {"chat": {"id": int(chat_id)}}}
            | {"my_chat_member": {"chat": {"id": int(chat_id)}}}
            | {"message_reaction": {"chat": {"id": int(chat_id)}}}
            | {"stopped_message_generation": {"chat": {"id": int(chat_id)}}}
        ):
            return _stored(chat_id)
        case _:
            return None


def _stored(number: int) -> int | None:
    """The number if a database column can hold it, else None."""
    return number if abs(number) < 2**63 else None


def thread_of(message: MaybeInaccessibleMessageUnion | None) -> int | None:
    """The topic of a message; in a group, a mere chain of replies is not a topic."""
    return message.message_thread_id if isinstance(message, Message) and message.is_topic_message else None


def session_command(message: Message) -> tuple[Literal["/db", "/sa"] | None, str]:
    """The command at the beginning of a message that opens or continues a session, and the text after it."""
    text = _with_quotations(message)
    first = next(iter(message.entities or message.caption_entities or ()), None)
    if first is None or first.type != "bot_command" or first.offset != 0 or forward_of(message) is not None:
        return None, text
    name, words = text[: first.length].split("@")[0], text[first.length :].strip()
    for command in _SESSION_COMMANDS:
        if name == command and (words or attachments_of(message)):
            return command, words
    if name == "/correct" and words:
        return None, words
    return None, text


def _with_quotations(message: Message) -> str:
    """The text or caption, with lines in a quotation marked by ">"."""
    text = message.text or message.caption or spelled_out(message)
    quotations = [one for one in message.entities or message.caption_entities or () if "blockquote" in one.type]
    for one in sorted(quotations, key=lambda one: one.offset, reverse=True):
        before, quotation = cut_utf16(text, 0, one.offset), cut_utf16(text, one.offset, one.offset + one.length)
        text = f"{before}> {quotation.replace(chr(10), chr(10) + '> ')}{cut_utf16(text, one.offset + one.length)}"
    return text


def cut_utf16(text: str, start: int, end: int | None = None) -> str:
    """Part of a text in Telegram's UTF-16 units."""
    units = text.encode("utf-16-le", "surrogatepass")
    return units[2 * start : None if end is None else 2 * end].decode("utf-16-le", "surrogatepass")


def quoted_of(message: Message, bot_id: int) -> Quoted | None:
    """What a message replies to: a message of this chat or of another one, a story, or the selected part of it."""
    part, replied = message.quote.text if message.quote else "", message.reply_to_message
    if replied is None:
        return _quoted_from_elsewhere(message, part)
    text = replied.text or replied.caption or spelled_out(replied) or _kinds(replied) or part
    if not text:  # a service message, such as the one that begins a topic
        return None
    origin, author = forward_of(replied), replied.from_user
    if origin is None and author is not None:
        if author.id == bot_id:
            return Quoted("assistant", "", text, part)
        origin = ForwardOrigin("user", author.full_name, author.id)
    return _quoted(message, origin, text, part)


def _quoted_from_elsewhere(message: Message, part: str) -> Quoted | None:
    external, story = message.external_reply, message.reply_to_story
    if external is not None:
        return _quoted(message, _origin(external.origin), part or _kinds(external) or "…")
    if story is not None:
        return Quoted("other", story.chat.full_name, part or "[story]")
    return Quoted("other", NOBODY, part) if part else None


def _quoted(message: Message, author: ForwardOrigin | None, text: str, part: str = "") -> Quoted:
    if author is not None and message.from_user is not None and author.user_id == message.from_user.id:
        return Quoted("owner", "", text, part)
    return Quoted("other", author.name if author else NOBODY, text, part)


def _kinds(shown: Message | ExternalReplyInfo) -> str:
    return " ".join(f"[{kind}]" for kind in (*MEDIA, *_SPELLED) if getattr(shown, kind, None))


def spelled_out(message: Message) -> str:
    """The words of a checklist, a poll or a place."""
    if message.checklist is not None:
        tasks = (f"{'☑' if task.completion_date else '☐'} {task.text}" for task in message.checklist.tasks)
        return "\n".join((message.checklist.title, *tasks))
    if message.poll is not None:
        return "\n".join((message.poll.question, *(f"- {option.text}" for option in message.poll.options)))
    return f"📍 {message.venue.title}, {message.venue.address}" if message.venue is not None else ""


def forward_of(message: Message) -> ForwardOrigin | None:
    """The author of a forward; None for the sender's own message."""
    if message.forward_origin is None and message.forward_date is not None:
        return _old_forward_of(message, message.forward_date)
    return _origin(message.forward_origin)


def _origin(origin: MessageOriginUnion | None) -> ForwardOrigin | None:
    match origin:
        case MessageOriginUser():
            sender = origin.sender_user
            if sender.is_bot:  # no author to store
                return ForwardOrigin("user", sender.full_name, date=origin.date)
            return ForwardOrigin("user", sender.full_name, sender.id, sender.username, origin.date)
        case MessageOriginHiddenUser():
            return ForwardOrigin("hidden_user", origin.sender_user_name, date=origin.date)
        case MessageOriginChat():
            return ForwardOrigin("chat", origin.sender_chat.full_name, date=origin.date)
        case MessageOriginChannel():
            return ForwardOrigin("channel", origin.chat.full_name, date=origin.date)
    return None


def _old_forward_of(message: Message, date: datetime) -> ForwardOrigin:
    """The origin in the form of Bot API servers from before 2024."""
    author = message.forward_from or message.forward_from_chat
    name = author.full_name if author else message.forward_sender_name or NOBODY
    if isinstance(author, User) and not author.is_bot:
        return ForwardOrigin("user", name, author.id, author.username, date)
    return ForwardOrigin("hidden_user", name, date=date)


def attachments_of(message: Message) -> list[dict[str, Any]]:
    """The attachments of a message: media by kind, contact cards, and text mentions with their ids."""
    found = [_medium(kind, getattr(message, kind)) for kind in MEDIA if getattr(message, kind, None)]
    if message.media_group_id is not None:
        found = [one | {"album": message.media_group_id} for one in found]
    if message.content_type == ContentType.UNKNOWN:
        found.append({"kind": "other"})  # newer than this program: reported as unreadable instead of being ignored
    if message.animation is not None:
        found = [item for item in found if item["kind"] != "document"]  # Telegram sends an animation as both
    if message.venue is not None:
        found = [item for item in found if item["kind"] != "location"]  # Telegram sends a venue as a place too
    if message.contact is not None:
        contact = message.contact
        name = " ".join(part for part in (contact.first_name, contact.last_name) if part)
        found.append({"kind": "contact", "name": name, "telegram_id": contact.user_id})
    for entity in (*(message.entities or ()), *(message.caption_entities or ())):
        if entity.type == "text_mention" and entity.user is not None:
            found.append({"kind": "mention", "name": entity.user.full_name, "telegram_id": entity.user.id})
    return found


def _medium(kind: str, medium: Any) -> dict[str, Any]:
    """A medium with the name of its file and, for readers, how to fetch it."""
    largest = medium[-1] if isinstance(medium, list) and medium else medium
    file_id, name = getattr(largest, "file_id", None), getattr(largest, "file_name", None)
    mime, size = getattr(largest, "mime_type", None), getattr(largest, "file_size", None)
    if kind == "document" and mime in PICTURES:  # a picture sent "as a file"
        kind = "photo"
    if kind == "document" and str(mime).startswith("audio/"):
        kind = "audio"
    described: dict[str, Any] = {"kind": kind} | ({"name": name} if name else {})
    if file_id is None:
        return described
    return described | {FILE: {"id": file_id, "name": name, "mime": mime, "size": size}}


def holds_contacts(message: Message) -> bool:
    """Whether a file is an address book: a vCard, or a CSV with Google's default name."""
    file = message.document
    name = (file.file_name or "").lower() if file is not None else ""
    card = file is not None and (name.endswith(".vcf") or file.mime_type in ("text/vcard", "text/x-vcard"))
    return card or (name.endswith(".csv") and "contact" in name)


def is_command(message: Message) -> bool:
    """Whether a message is a command of the owner; forwarded words are not."""
    begins = any(entity.type == "bot_command" and entity.offset == 0 for entity in message.entities or ())
    return begins and forward_of(message) is None


def is_order(message: Message) -> bool:
    """Whether a handler takes the message, not the companion: a command, a contact, or a file of contacts."""
    return is_command(message) or message.contact is not None or holds_contacts(message)
