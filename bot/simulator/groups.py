"""The acts of people in groups of the local Telegram and in their topics, and their reactions."""

from collections.abc import Sequence

from bot.simulator.actions import ActRefused, People
from bot.simulator.repository import Json
from bot.simulator.telegram import REACTIONS


class GroupPeople(People):
    """The acts of people in private chats and in groups."""

    def create_group(
        self, title: str, members: Sequence[int], *, chat_type: str = "supergroup", chat_id: int | None = None,
        privacy: bool = True, with_bot: bool = True,
    ) -> Json:  # fmt: skip
        """Makes a group of people; with `with_bot` the first member adds the bot, which gets an update.

        A channel makes the bot its administrator.
        """
        number = chat_id if chat_id is not None else self._free_group_id(chat_type)
        chat = {"id": number, "type": chat_type, "title": title}
        creator = self._user(members[0])
        with self._repository.transaction():
            self._repository.save_chat(chat, "member" if with_bot else "unknown")
            self._repository.set_privacy(number, privacy)
            self._repository.set_setting(f"admins:{number}", [creator["id"]])
            for user_id in members:
                self._repository.add_member(number, self._user(user_id)["id"])
            if with_bot and chat_type == "channel":
                self._member_update(creator, chat, "left", "administrator")
            elif with_bot:
                self._member_update(creator, chat, "left", "member")
                self.send(creator["id"], {"new_chat_members": [self._telegram.bot]}, chat_id=number)
        self._telegram.feed.publish("chat", number, chat)
        return chat

    def _free_group_id(self, chat_type: str) -> int:
        number = self._repository.count_up("group_id", 1)
        return -(500_000 + number) if chat_type == "group" else -(1_002_000_000_000 + number)

    def promote(self, user_id: int, chat_id: int) -> None:
        """Makes a member an administrator of the group."""
        admins, key = self._repository.setting(f"admins:{chat_id}", []), f"admins:{chat_id}"
        known = user_id == self._telegram.bot["id"] or self._user(user_id)
        if known and user_id not in admins:
            self._repository.set_setting(key, [*admins, user_id])

    def remove_bot(self, user_id: int, chat_id: int) -> None:
        """Removes the bot from a group, for the person."""
        user, chat = self._user(user_id), self._chat(chat_id)
        with self._repository.transaction():
            self._member_update(user, chat, "member", "kicked")
            self._repository.set_standing(chat_id, "kicked")
        self._telegram.feed.publish("chat", chat_id, chat)

    def add_bot(self, user_id: int, chat_id: int) -> None:
        """Adds the bot to a group again, for the person."""
        user, chat = self._user(user_id), self._chat(chat_id)
        with self._repository.transaction():
            self._repository.set_standing(chat_id, "member")
            self._member_update(user, chat, "left", "member")
        self._telegram.feed.publish("chat", chat_id, chat)

    def upgrade_group(self, user_id: int, chat_id: int) -> Json:
        """Turns a basic group into a supergroup: a new chat id, and errors that name it on the old one."""
        old = self._chat(chat_id)
        if old["type"] != "group":
            raise ActRefused("only a basic group can be upgraded")
        members = self._repository.members(chat_id)
        with self._repository.transaction():
            new = {"id": self._free_group_id("supergroup"), "type": "supergroup", "title": old["title"]}
            self._repository.save_chat(new, "member")
            self._repository.set_privacy(new["id"], self._repository.privacy(chat_id))
            self._repository.set_setting(f"admins:{new['id']}", self._repository.setting(f"admins:{chat_id}", []))
            for member in members:
                self._repository.add_member(new["id"], member)
            self.send(user_id, {"migrate_to_chat_id": new["id"]}, chat_id=chat_id)
            self.send(user_id, {"migrate_from_chat_id": chat_id}, chat_id=new["id"])
            self._repository.set_migrated_to(chat_id, new["id"])
        return new

    # Topics and reactions

    def create_topic(self, user_id: int, chat_id: int, name: str) -> int:
        """Begins a topic, in a forum or in the person's private chat with the bot. Returns the id of its thread."""
        number = self.send(user_id, {"forum_topic_created": {"name": name, "icon_color": 7322096}}, chat_id=chat_id)
        thread, key = int(number["message_id"]), f"topics:{chat_id}"
        self._repository.set_setting(key, {**self._repository.setting(key, {}), str(thread): name})
        chat = self._chat(chat_id)
        if chat["type"] == "supergroup" and not chat.get("is_forum"):
            self._repository.save_chat({**chat, "is_forum": True}, "member")
        self._telegram.feed.publish("chat", chat_id, chat)
        return thread

    def react(self, user_id: int, message_id: int, emoji: str, *, chat_id: int | None = None) -> None:
        """Sets a reaction to a message; "" removes it. In a group the bot hears of it only as an administrator."""
        user, chat = self._user(user_id), self._chat(user_id if chat_id is None else chat_id)
        message = self._message(chat["id"], message_id)
        if emoji and emoji not in REACTIONS.split():
            raise ActRefused(f"nobody can react with {emoji!r}")
        admins = self._repository.setting(f"admins:{chat['id']}", [])
        given: list[Json] = [{"type": "emoji", "emoji": emoji}] if emoji else []
        with self._repository.transaction():
            before = self._repository.reactions(chat["id"], message_id).get(user_id, [])
            self._telegram.react(message, user_id, given)
            if before != given and (chat["type"] == "private" or self._telegram.bot["id"] in admins):
                reaction = {"chat": chat, "message_id": message_id, "user": user, "date": self._telegram.date()}
                changed = {**reaction, "old_reaction": before, "new_reaction": given}
                self._telegram.updates.put("message_reaction", changed)
