"""The local Telegram itself: its users, chats and messages, and the bot's updates."""

import re
import secrets
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.simulator.feed import Feed
from bot.simulator.repository import Json, Repository
from bot.simulator.server.errors import bad_request, blocked, kicked, upgraded
from bot.simulator.server.faults import FaultBook
from bot.simulator.server.flood_limits import FloodGate, FloodLimits
from bot.simulator.updates import UpdateQueue
from internal.scheduling.clock import Clock, SystemClock

DATABASE = "local_telegram.db"
DRAFT_LIFETIME = 30.0
TYPING_LIFETIME = 5.0

_RIGHTS = (
    "can_manage_chat", "can_delete_messages", "can_manage_video_chats", "can_restrict_members", "can_promote_members",
    "can_change_info", "can_invite_users", "can_post_stories", "can_edit_stories", "can_delete_stories",
    "can_post_messages", "can_edit_messages", "can_pin_messages", "can_manage_topics",
    "can_manage_direct_messages", "can_manage_tags", "can_send_welcome_messages",
)  # fmt: skip
ADMIN_RIGHTS = {"can_be_edited": False, "is_anonymous": False} | dict.fromkeys(_RIGHTS, True)

# The emoji allowed as reactions, as the Bot API lists them under ReactionTypeEmoji.
REACTIONS = (
    "❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤\u200d🔥 🌚 "
    "🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨\u200d💻 👀 🎃 🙈 😇 😨 🤝 ✍ "
    "🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷\u200d♂ 🤷 🤷\u200d♀ 😡 "
)

# Shown on a fresh data folder, one person for each language of the product: (id, first name, username, language).
FIRST_PEOPLE = ((1001, "Олена", "olena", "uk"), (1002, "Иван", "ivan", "ru"), (1003, "Emma", "emma", "en"))


@dataclass
class Draft:
    """A reply that is being streamed: a preview that expires and is no message."""

    draft_id: int
    text: str
    entities: list[Json]
    can_stop: bool
    keep_on_stop: bool
    thread_id: int | None
    until: float
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class Installation:
    """What may be set up in the browser: the configuration file (empty: the default) of the bot in this process."""

    config: str
    bot: int


class Telegram:
    """State and rules of the local Telegram, on one event loop. `installation` is None if nothing may be set up."""

    def __init__(self, data_dir: Path, token: str, bot_name: str, installation: Installation | None = None) -> None:
        self.installation = installation
        self.repository = Repository(data_dir / DATABASE)
        self.token = token
        self.feed = Feed()
        self.updates = UpdateQueue(self.repository, self.feed)
        self.faults = FaultBook()
        self.flood = FloodGate(FloodLimits())
        self.drafts: dict[int, Draft] = {}
        self.typing: dict[int, float] = {}
        self.bot = _bot_user(token, bot_name)
        self.clock: Clock = SystemClock()
        self._settle_first_people()

    def close(self) -> None:
        self.updates.close()
        self.repository.close()

    def _settle_first_people(self) -> None:
        if self.repository.setting("settled"):
            return
        with self.repository.transaction():
            for user_id, first_name, username, language in FIRST_PEOPLE:
                self.add_user(user_id, first_name, username=username, language_code=language)
            self.repository.set_setting("settled", True)

    # People and chats

    def add_user(
        self, user_id: int | None, first_name: str, *, last_name: str = "", username: str = "",
        language_code: str = "en", phone: str = "", started: bool = False,
    ) -> Json:  # fmt: skip
        """Adds or renames a person and the private chat with the bot. Returns the User object.

        `started`: the person has already pressed Start, so that the bot may write first.
        """
        number = user_id if user_id is not None else self._free_user_id()
        names = {"first_name": first_name, "last_name": last_name, "username": username}
        profile = {"id": number, "is_bot": False, **_present(names), "language_code": language_code}
        chat = {"id": number, "type": "private", **_present(names)}
        with self.repository.transaction():
            self.repository.save_user(profile, phone or f"+380{number % 10**9:09d}")
            self.repository.save_chat(chat, "member" if started else "unknown")
        self.feed.publish("user", number, profile)
        return profile

    def _free_user_id(self) -> int:
        while True:
            number = self.repository.count_up("user_id", FIRST_PEOPLE[-1][0] + 1)
            if self.repository.user(number) is None:
                return number

    def outsider(self, name: str) -> Json:
        """A Telegram user who does not use this local Telegram; the same name always gives the same user."""
        first, _, last = name.partition(" ")
        number = 5_000_000_000 + zlib.crc32(name.casefold().encode())
        return {"id": number, "is_bot": False, "first_name": first, **_present({"last_name": last})}

    def reachable_chat(self, chat: int | str | None) -> Json:
        """The chat that the bot names by id or @username. Raises Telegram's refusal if the bot may not write there."""
        chat_id = self._chat_id(chat)
        body = self.repository.chat(chat_id)
        successor = self.repository.migrated_to(chat_id)
        if successor is not None:
            raise upgraded(successor)
        standing = self.repository.standing(chat_id)
        if body is None or standing == "unknown":
            raise bad_request("chat not found")
        if standing == "blocked":
            raise blocked()
        if standing == "kicked":
            raise kicked(body["type"])
        return body

    def _chat_id(self, chat: int | str | None) -> int:
        if chat is None or chat == "":
            raise bad_request("chat_id is empty")
        if isinstance(chat, int) or re.fullmatch(r"-?\d+", chat):
            return int(chat)
        chat_id = self.repository.chat_id_of(chat.removeprefix("@"))
        if chat_id is None or chat_id > 0:
            raise bad_request("chat not found")
        return chat_id

    # Messages

    def next_message_id(self, chat: Json) -> int:
        """The next message id: private chats and basic groups share a sequence, each supergroup has its own."""
        own_line = chat["type"] in {"supergroup", "channel"}
        return self.repository.count_up(f"message_id:{chat['id']}" if own_line else "message_id", 1)

    def bot_message(self, chat: Json, content: Json, *, thread_id: int | None = None) -> Json:
        """Stores a message of the bot and shows it; `content`: the Message fields beside id, date, chat and author."""
        if thread_id is not None and not self.has_thread(chat["id"], thread_id):
            raise bad_request("message thread not found")
        message = {
            "message_id": self.next_message_id(chat),
            "from": self.bot,
            "chat": chat,
            "date": self.date(),
            **content,
        }
        if thread_id is not None:
            message["message_thread_id"] = thread_id
            if str(thread_id) in self.repository.setting(f"topics:{chat['id']}", {}):
                message["is_topic_message"] = True
        self.repository.save_message(message, by_bot=True)
        self._end_preview(chat["id"])
        self.feed.publish("message", chat["id"], message)
        return message

    def has_thread(self, chat_id: int, thread_id: int) -> bool:
        deleted = self.repository.setting(_deleted(chat_id, thread_id))
        return not deleted and self.repository.thread_exists(chat_id, thread_id)

    def is_admin(self, chat: Json) -> bool:
        """Whether the bot administers a chat; in a private chat it may do everything."""
        admins: list[int] = self.repository.setting(f"admins:{chat['id']}", [])
        return chat["type"] == "private" or self.bot["id"] in admins

    def delete_thread(self, chat_id: int, thread_id: int) -> None:
        self.repository.set_setting(_deleted(chat_id, thread_id), True)

    def replace_message(self, message: Json, *, by_bot: bool, update_id: int | None = None) -> None:
        """Stores a new version of a message and shows it."""
        self.repository.save_message(message, by_bot=by_bot, update_id=update_id)
        self.feed.publish("edited", message["chat"]["id"], message)

    def remove_message(self, chat_id: int, message_id: int) -> bool:
        removed = self.repository.delete_message(chat_id, message_id)
        if removed:
            self.feed.publish("deleted", chat_id, message_id)
        return removed

    def pinned(self, chat_id: int) -> list[int]:
        """The ids of the chat's pinned messages, the last one first."""
        numbers: list[int] = self.repository.setting(f"pinned:{chat_id}", [])
        return [number for number in numbers if self.repository.message(chat_id, number) is not None]

    def react(self, message: Json, user_id: int, reaction: list[Json]) -> None:
        """Replaces somebody's reaction to a message; an empty one removes it."""
        chat_id, number = message["chat"]["id"], message["message_id"]
        self.repository.save_reaction(chat_id, number, user_id, reaction)
        self.feed.publish("edited", chat_id, message)

    def date(self) -> int:
        """The date of new messages in Unix seconds, real or simulated."""
        return int(self.clock.now().timestamp())

    # Previews

    def show_draft(self, chat_id: int, draft: Draft) -> None:
        self.drafts[chat_id] = draft
        self.feed.publish("draft", chat_id, draft)

    def draft(self, chat_id: int) -> Draft | None:
        """The draft that is on the screen now."""
        draft = self.drafts.get(chat_id)
        return draft if draft is not None and draft.until > time.monotonic() else None

    def show_typing(self, chat_id: int, action: str) -> None:
        self.typing[chat_id] = time.monotonic() + TYPING_LIFETIME
        self.feed.publish("typing", chat_id, action)

    def is_typing(self, chat_id: int) -> bool:
        return self.typing.get(chat_id, 0.0) > time.monotonic()

    def _end_preview(self, chat_id: int) -> None:
        self.typing.pop(chat_id, None)
        if self.drafts.pop(chat_id, None) is not None:
            self.feed.publish("draft", chat_id, None)

    # Commands

    def commands_for(self, user_id: int, chat_id: int | None = None) -> list[Json]:
        """The command menu of this person: the nearest scope in the person's language, else in any."""
        language = (self.repository.user(user_id) or {}).get("language_code", "")
        scopes = [f"chat:{user_id}", "all_private_chats", "default"]
        if chat_id is not None and chat_id < 0:
            admin = user_id in self.repository.setting(f"admins:{chat_id}", [])
            of_admins = [f"chat_administrators:{chat_id}", "all_chat_administrators"] if admin else ["", ""]
            scopes = [f"chat_member:{chat_id}:{user_id}", of_admins[0], f"chat:{chat_id}", of_admins[1]]
            scopes += ["all_group_chats", "default"]
        for scope in scopes:
            for spoken in (language, ""):
                commands = self.repository.commands(scope, spoken)
                if commands:
                    return commands
        return []


def as_bot_sees(message: Json) -> Json:
    """A stored message as updates and answers show it: of keyboards, only inline ones belong to a Message."""
    if "inline_keyboard" in message.get("reply_markup", {}):
        return message
    return {key: value for key, value in message.items() if key != "reply_markup"}


def as_quoted(message: Json) -> Json:
    """A message inside `reply_to_message`, where Telegram shows one level only."""
    return {key: value for key, value in as_bot_sees(message).items() if key != "reply_to_message"}


def new_file_id(prefix: str = "AgAC") -> tuple[str, str]:
    """A file id in Telegram's format, with the `prefix` of its kind, and the unique id that belongs to it."""
    unique = secrets.token_urlsafe(12)
    return f"{prefix}{secrets.token_urlsafe(40)}", f"AQAD{unique}"


def _deleted(chat_id: int, thread_id: int) -> str:
    return f"deleted_thread:{chat_id}:{thread_id}"


def _present(values: Json) -> Json:
    return {key: value for key, value in values.items() if value}


def _bot_user(token: str, name: str) -> dict[str, Any]:
    handle = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "laplaced"
    return {"id": int(token.partition(":")[0]), "is_bot": True, "first_name": name, "username": f"{handle}_bot"}
