"""Reads a message of a group: whether it is for the bot, and the form in which the dialogue stores it."""

import re
from dataclasses import replace
from enum import Enum, auto
from typing import Final

from aiogram.types import Message, MessageEntity, User

from bot.telegram.menu import OWNER_COMMANDS
from bot.telegram.message_reader import cut_utf16, forward_of, incoming_of
from internal.access.groups import STOP_WORDS
from internal.dialogue.model import Incoming, Speaker

_SHORT: Final = 6
"""The most words of a message that may be nothing but the stop word."""
_WORDS: Final = re.compile(r"\w+")


class Addressed(Enum):
    NOT = auto()
    """People talk with each other."""
    OTHERS = auto()
    """A command for another bot."""
    COMMAND = auto()
    WORDS = auto()
    """The bot is mentioned, or the message replies to it."""


def addressed(message: Message, me: User) -> Addressed:
    """Whom a message addresses. A bare command is for the bot if it has one of that name."""
    entities, text = _entities(message), message.text or message.caption or ""
    first = next(iter(entities), None)
    if first is not None and first.type == "bot_command" and first.offset == 0 and forward_of(message) is None:
        name, _, bot = text[1 : first.length].partition("@")
        known = name.lower() in OWNER_COMMANDS
        ours = bot.casefold() == (me.username or "").casefold() if bot else known
        return Addressed.COMMAND if ours else Addressed.OTHERS
    replied = message.reply_to_message
    answers = replied is not None and replied.from_user is not None and replied.from_user.id == me.id
    # Every message of a topic counts as a reply to the message that began it.
    topic = answers and replied is not None and replied.forum_topic_created is not None
    if (answers and not topic) or any(_mentions_bot(one, text, me) for one in entities):
        return Addressed.WORDS
    return Addressed.NOT


def in_group(message: Message, me: User, owner_id: int, speaker: Speaker) -> Incoming:
    """A message as the dialogue of a group stores it: by its speaker, without the mention of the bot."""
    incoming = incoming_of(message, me.id)
    quoted = incoming.quoted
    if quoted is not None and quoted.by == "owner":
        quoted = replace(quoted, by="other", author=speaker.name)
    return replace(
        incoming, user_id=owner_id, speaker=speaker, text=_without_name(incoming.text, me), command=None, quoted=quoted
    )


def stops_listening(message: Message, me: User, chosen: str) -> bool:
    """Whether a message is the stop word: the group's own, or that of one of our languages."""
    said = " ".join(_WORDS.findall(_without_name(message.text or "", me).casefold()))
    words = [" ".join(_WORDS.findall(one.casefold())) for one in (chosen, *STOP_WORDS.values()) if one]
    return len(said.split()) <= _SHORT and any(f" {word} " in f" {said} " for word in words)


def _entities(message: Message) -> list[MessageEntity]:
    return message.entities or message.caption_entities or []


def _mentions_bot(entity: MessageEntity, text: str, me: User) -> bool:
    if entity.type == "text_mention":
        return entity.user is not None and entity.user.id == me.id
    name = cut_utf16(text, entity.offset, entity.offset + entity.length)
    return entity.type == "mention" and name.casefold() == f"@{me.username}".casefold()


def _without_name(text: str, me: User) -> str:
    """The text without "@bot" at its beginning or end."""
    name = rf"@{re.escape(me.username or '')}\b"
    return re.sub(rf"^\s*{name}[\s,:;!.…—-]*|[\s,]*{name}(?=\W*$)", "", text, flags=re.IGNORECASE)
