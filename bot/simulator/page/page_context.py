"""The person, chat and language of one open page."""

from datetime import datetime
from typing import Any

from bot.shared.rich_text import rich_text
from bot.simulator.groups import GroupPeople
from bot.simulator.methods.commands import own_text
from bot.simulator.page.phrases import Phrases
from bot.simulator.repository import Json
from bot.simulator.telegram import Telegram

_COLOURS = 7
ONLINE_FOR = 75.0
_PINNED = 60


class PageContext:
    """The shared state of an open page. The page uses the browser's language, the bot the person's."""

    def __init__(self, telegram: Telegram, user: Json, chat: Json, language: str) -> None:
        self.telegram = telegram
        self.people = GroupPeople(telegram)
        self.user = user
        self.chat = chat
        self.say = Phrases(language)
        self.topic: int | None = None
        """The thread that is shown; None for all."""

    @property
    def user_id(self) -> int:
        return int(self.user["id"])

    @property
    def chat_id(self) -> int:
        return int(self.chat["id"])

    @property
    def private(self) -> bool:
        return str(self.chat["type"]) == "private"

    @property
    def title(self) -> str:
        return self.bot_name() if self.private else str(self.chat["title"])

    def bot_name(self) -> str:
        given = own_text(self.telegram.repository.setting, "name", self._language())
        return given or str(self.telegram.bot["first_name"])

    def bot_description(self) -> str:
        return own_text(self.telegram.repository.setting, "description", self._language())

    def _language(self) -> str:
        return str(self.user.get("language_code", "en"))

    def topics(self) -> dict[int, str]:
        """The topics of the chat, by thread."""
        known = self.telegram.repository.setting(f"topics:{self.chat_id}", {})
        return {int(thread): str(name) for thread, name in known.items()}

    def shows(self, message: Json) -> bool:
        return self.topic in (None, message.get("message_thread_id"), message["message_id"])

    def place(self) -> Json:
        """The Message fields of the topic in which the person writes."""
        return {} if self.topic is None else {"message_thread_id": self.topic}

    def mine(self, message: Json) -> bool:
        return int(message["from"]["id"]) == self.user_id

    def blocked(self) -> bool:
        return self.private and self.telegram.repository.standing(self.chat_id) == "blocked"

    def author(self, message: Json) -> str:
        """The name of the author above a quote or a bubble."""
        if self.mine(message):
            return self.say("you")
        return self.bot_name() if message["from"]["is_bot"] else full_name(message["from"])

    def preview(self, message: Json | None) -> str:
        """A message in one line."""
        if message is None:
            return self.say("no-messages")
        text = message.get("text") or message.get("caption") or rich_text(message.get("rich_message"))
        return " ".join(str(text).split()) if text else self.media_name(message)

    def media_name(self, message: Json) -> str:
        for field, phrase in _MEDIA_PHRASES.items():
            if field in message:
                return self.say(phrase)
        if "pinned_message" in message:
            return self.say("pinned", text=self.preview(message["pinned_message"])[:_PINNED])
        if "new_chat_members" in message:
            return self.say("joined", name=self.bot_name())
        if "forum_topic_created" in message:
            return self.say("topic-created", name=str(message["forum_topic_created"]["name"]))
        upgraded = "migrate_to_chat_id" in message or "migrate_from_chat_id" in message
        return self.say("upgraded" if upgraded else "unsupported")


_MEDIA_PHRASES = {
    "photo": "photo", "voice": "voice", "sticker": "sticker", "video_note": "video-note", "video": "video",
    "audio": "audio", "animation": "animation", "document": "file", "contact": "contact", "venue": "place",
    "location": "location", "dice": "dice", "poll": "poll",
}  # fmt: skip


def full_name(person: dict[str, Any]) -> str:
    return " ".join(part for part in (person.get("first_name"), person.get("last_name")) if part)


def colour(number: int) -> str:
    """The class of an avatar's colour, one of seven."""
    return f"tone-{abs(number) % _COLOURS}"


def clock(timestamp: float) -> str:
    """The time of day on this machine, which server and browser share."""
    return datetime.fromtimestamp(timestamp).strftime("%H:%M")
