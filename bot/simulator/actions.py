"""The acts of people in the local Telegram: write, edit, press buttons, block. Each reaches the bot as an update."""

import secrets
from collections.abc import Sequence
from typing import Any

from bot.simulator.entities import Entity, check_entities, split_text, trimmed, utf16_slice, with_found
from bot.simulator.methods.edits import inline_id
from bot.simulator.methods.inline import content_of
from bot.simulator.methods.sending import quoted
from bot.simulator.repository import Json
from bot.simulator.telegram import ADMIN_RIGHTS, Telegram, as_bot_sees

_SERVICE = ("new_chat_members", "left_chat_member", "migrate_to_chat_id", "migrate_from_chat_id")


class ActRefused(Exception):
    """A person cannot do this: no such user, chat, message or button."""


class People:
    """The acts of people, stored before they return."""

    def __init__(self, telegram: Telegram) -> None:
        self._telegram = telegram
        self._repository = telegram.repository

    # Writing

    def say(
        self, user_id: int, text: str, *, entities: Sequence[Entity] = (), chat_id: int | None = None,
        reply_to: int | None = None, quote: str = "", extra: Json | None = None,
    ) -> list[Json]:  # fmt: skip
        """Sends a text, cut into several messages like Telegram's apps do when it is longer than 4096 UTF-16 units.

        `extra` are further Message fields (`forward_origin`, `message_thread_id`, ...) of every piece.
        """
        pieces = [text] if entities else split_text(text)
        messages = []
        for piece in pieces:
            body, kept = trimmed(piece, check_entities(list(entities), piece))
            if body:
                content = {"text": body, **_entities(with_found(body, kept)), **(extra or {})}
                messages.append(self.send(user_id, content, chat_id=chat_id, reply_to=reply_to, quote=quote))
        if not messages:
            raise ActRefused("a message needs a text")
        return messages

    def send(
        self, user_id: int, content: Json, *, chat_id: int | None = None, reply_to: int | None = None, quote: str = ""
    ) -> Json:
        """Sends a message with the given fields beside id, date, chat and author; returns it as the bot gets it.

        `quote` is the part of the message `reply_to` that the person selected.
        """
        user = self._user(user_id)
        chat = self._chat(user_id if chat_id is None else chat_id)
        with self._repository.transaction():
            self._open(user, chat)
            message = {
                "message_id": self._telegram.next_message_id(chat),
                "from": user,
                "chat": chat,
                "date": self._telegram.date(),
                **content,
            }
            topics = self._repository.setting(f"topics:{chat['id']}", {})
            if str(content.get("message_thread_id")) in topics:
                message["is_topic_message"] = True
            if reply_to is not None:
                parameters = {"message_id": reply_to, "quote": quote}
                self._message(chat["id"], reply_to)
                message |= quoted(self._telegram, chat, parameters, None)
            seen = self._bot_sees(chat, message)
            update_id = self._telegram.updates.put("message", message) if seen else None
            self._repository.save_message(message, by_bot=False, update_id=update_id)
        self._telegram.feed.publish("message", chat["id"], message)
        return message

    def _open(self, user: Json, chat: Json) -> None:
        """Opens the conversation with the bot, or ends a block, when a person writes to it, as in Telegram."""
        if chat["type"] != "private":
            if user["id"] not in self._repository.members(chat["id"]):
                self._repository.add_member(chat["id"], user["id"])
            standing = self._repository.setting(f"member:{chat['id']}:{user['id']}", {})
            if standing.get("status") == "kicked" or standing.get("can_send_messages") is False:
                raise ActRefused(f"{user['id']} may not write in chat {chat['id']}")
            return
        standing = self._repository.standing(chat["id"])
        if standing == "blocked":
            self.unblock(user["id"])
        elif standing == "unknown":
            self._repository.set_standing(chat["id"], "member")

    def _bot_sees(self, chat: Json, message: Json) -> bool:
        """Whether the bot gets it: in groups with privacy mode only commands, mentions, replies and service lines."""
        if chat["type"] == "private":
            return True
        if self._repository.standing(chat["id"]) != "member":
            return False
        if not self._repository.privacy(chat["id"]) or any(key in message for key in _SERVICE):
            return True
        replied = message.get("reply_to_message", {}).get("from", {}).get("id")
        return replied == self._telegram.bot["id"] or self._addresses_bot(message)

    def _addresses_bot(self, message: Json) -> bool:
        text, handle = message.get("text", ""), f"@{self._telegram.bot['username']}"
        for entity in message.get("entities", []):
            part = utf16_slice(text, entity["offset"], entity["offset"] + entity["length"])
            if entity["type"] == "bot_command" and ("@" not in part or part.endswith(handle)):
                return True
            if entity["type"] == "mention" and part.lower() == handle:
                return True
        return False

    def edit(self, user_id: int, message_id: int, text: str, *, chat_id: int | None = None) -> Json:
        """Changes the text (or the caption) of an own message."""
        chat = self._chat(user_id if chat_id is None else chat_id)
        message = self._message(chat["id"], message_id)
        if message["from"]["id"] != user_id:
            raise ActRefused("only one's own messages can be edited")
        body, _ = trimmed(text, [])
        if not body:
            raise ActRefused("a message needs a text")
        field, entities = ("text", "entities") if "text" in message else ("caption", "caption_entities")
        message.pop(entities, None)
        message.update({field: body, "edit_date": self._telegram.date(), **_entities(with_found(body, []), entities)})
        with self._repository.transaction():
            update_id = None
            if self._bot_sees(chat, message):
                update_id = self._telegram.updates.put("edited_message", message)
            self._telegram.replace_message(message, by_bot=False, update_id=update_id)
        return message

    # Buttons

    def press(self, user_id: int, message_id: int, data: str, *, chat_id: int | None = None) -> str:
        """Presses the inline button with the callback data `data`. Returns the id of the callback query."""
        user = self._user(user_id)
        chat = self._chat(user_id if chat_id is None else chat_id)
        message = self._message(chat["id"], message_id)
        if data not in _callback_data(message):
            raise ActRefused(f"message {message_id} has no button with the data {data!r}")
        callback_id = str(secrets.randbits(62))
        query = {
            "id": callback_id,
            "from": user,
            "message": as_bot_sees(message),
            "chat_instance": str(3_000_000_000_000_000_000 + chat["id"]),
            "data": data,
        }
        with self._repository.transaction():
            self._repository.add_callback(callback_id, message, user_id, data)
            self._telegram.updates.put("callback_query", query)
        return callback_id

    def stop_generation(self, user_id: int) -> bool:
        """Presses Stop on the draft that is streamed to this person. Returns False if no draft can be stopped."""
        draft = self._telegram.draft(user_id)
        if draft is None or not draft.can_stop or draft.stopped:
            return False
        draft.stopped = True
        body = {"chat": self._chat(user_id), "draft_id": draft.draft_id}
        if draft.thread_id is not None:
            body["message_thread_id"] = draft.thread_id
        with self._repository.transaction():
            self._telegram.updates.put("stopped_message_generation", body)
        self._telegram.show_draft(user_id, draft)
        return True

    def vote(self, user_id: int, message_id: int, options: Sequence[int], *, chat_id: int | None = None) -> Json:
        """Votes in a poll, or (no options) takes the vote back. Returns the poll."""
        user = self._user(user_id)
        message = self._message(user_id if chat_id is None else chat_id, message_id)
        poll: Json = message.get("poll", {"is_closed": True})
        votes_key = f"votes:{message['chat']['id']}:{message_id}"
        if poll["is_closed"] or not set(options) <= set(range(len(poll["options"]))):
            raise ActRefused("there is no open poll with such options")
        votes = self._repository.setting(votes_key, {}) | {str(user_id): list(options)}
        for number, option in enumerate(poll["options"]):
            option["voter_count"] = sum(number in chosen for chosen in votes.values())
        poll["total_voter_count"] = sum(bool(chosen) for chosen in votes.values())
        kept = [poll["options"][number]["persistent_id"] for number in options]
        answer = {"poll_id": poll["id"], "user": user, "option_ids": list(options), "option_persistent_ids": kept}
        with self._repository.transaction():
            self._repository.set_setting(votes_key, votes)
            self._telegram.updates.put("poll", poll)
            if not poll["is_anonymous"]:
                self._telegram.updates.put("poll_answer", answer)
            self._telegram.replace_message(message, by_bot=bool(message["from"]["is_bot"]))
        return poll

    # Inline mode

    def ask_inline(self, user_id: int, query: str, *, chat_id: int | None = None, offset: str = "") -> str:
        """Types `query` after the bot's name in a chat. Returns the id of the inline query."""
        user, chat = self._user(user_id), self._chat(user_id if chat_id is None else chat_id)
        query_id, kind = str(secrets.randbits(62)), "sender" if chat["id"] == user_id else chat["type"]
        body = {"id": query_id, "from": user, "query": query[:256], "offset": offset, "chat_type": kind}
        with self._repository.transaction():
            self._repository.add_inline_query(query_id, user_id, chat["id"], query)
            self._telegram.updates.put("inline_query", body)
        return query_id

    async def choose_inline(self, query_id: str, result_id: str) -> Json:
        """Sends one of the results that the bot offered, as the person who asked."""
        query = self._repository.inline_query(query_id)
        results = ((query or {}).get("answer") or {}).get("results", [])
        result = next((one for one in results if one["id"] == result_id), None)
        if query is None or result is None:
            raise ActRefused(f"there is no result {result_id!r} for the inline query {query_id}")
        content = await content_of(self._telegram, result) | {"via_bot": self._telegram.bot}
        markup = result.get("reply_markup")
        message = self.send(query["user_id"], content | ({"reply_markup": markup} if markup else {}),
                            chat_id=query["chat_id"])  # fmt: skip
        chosen = {"result_id": result_id, "from": message["from"], "query": query["query"]}
        with self._repository.transaction():
            self._telegram.updates.put(
                "chosen_inline_result", chosen | ({"inline_message_id": inline_id(message)} if markup else {})
            )
        return message

    # The bot's standing

    def block(self, user_id: int) -> None:
        self._change_standing(user_id, "blocked", "member", "kicked")

    def unblock(self, user_id: int) -> None:
        self._change_standing(user_id, "member", "kicked", "member")

    def _change_standing(self, user_id: int, standing: str, old: str, new: str) -> None:
        user, chat = self._user(user_id), self._chat(user_id)
        with self._repository.transaction():
            self._repository.set_standing(chat["id"], standing)
            self._member_update(user, chat, old, new)
        self._telegram.feed.publish("chat", chat["id"], chat)

    def _member_update(self, user: Json, chat: Json, old: str, new: str) -> None:
        self._telegram.updates.put(
            "my_chat_member",
            {
                "chat": chat,
                "from": user,
                "date": self._telegram.date(),
                "old_chat_member": self._membership(old),
                "new_chat_member": self._membership(new),
            },
        )

    def _membership(self, status: str) -> Json:
        member: Json = {"user": self._telegram.bot, "status": status}
        if status == "administrator":
            return member | ADMIN_RIGHTS
        return {**member, "until_date": 0} if status == "kicked" else member

    # Lookups

    def _user(self, user_id: int) -> Json:
        user = self._repository.user(user_id)
        if user is None:
            raise ActRefused(f"there is no user {user_id}")
        return user

    def _chat(self, chat_id: int) -> Json:
        chat = self._repository.chat(chat_id)
        if chat is None:
            raise ActRefused(f"there is no chat {chat_id}")
        return chat

    def _message(self, chat_id: int, message_id: int) -> Json:
        message = self._repository.message(chat_id, message_id)
        if message is None:
            raise ActRefused(f"there is no message {message_id} in chat {chat_id}")
        return message


def _entities(entities: list[Entity], field: str = "entities") -> dict[str, Any]:
    return {field: entities} if entities else {}


def _callback_data(message: Json) -> list[str]:
    rows = message.get("reply_markup", {}).get("inline_keyboard", [])
    return [button["callback_data"] for row in rows for button in row if "callback_data" in button]
