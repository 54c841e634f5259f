"""The bot's methods on existing messages: forward, copy, pin, react."""

from collections.abc import Callable

from bot.simulator.methods.files import KINDS
from bot.simulator.methods.registry import ChatId, JsonObjects, MethodCall, Numbers, Parameters, method
from bot.simulator.methods.sending import Sending, caption_of, deliver, new_album
from bot.simulator.repository import Json
from bot.simulator.server.errors import bad_request
from bot.simulator.telegram import REACTIONS, as_quoted

_CONTENT = frozenset({
    *KINDS, "text", "entities", "link_preview_options", "caption", "caption_entities", "show_caption_above_media",
    "has_media_spoiler", "location", "venue", "contact", "dice", "poll", "invoice",
    "rich_message",
})  # fmt: skip


class FromChat(Sending):
    from_chat_id: ChatId = None
    message_id: int | None = None
    message_ids: Numbers = None
    remove_caption: bool = False


class OfMessage(Parameters):
    chat_id: ChatId = None
    message_id: int | None = None
    user_id: int | None = None
    actor_chat_id: int | None = None


class SetMessageReaction(OfMessage):
    reaction: JsonObjects = None


def _found(call: MethodCall, chat_id: ChatId, message_id: int | None, verb: str) -> Json:
    chat = call.telegram.reachable_chat(chat_id)
    if not message_id:
        raise bad_request("message identifier is not specified")
    message = call.telegram.repository.message(chat["id"], message_id)
    if message is None:
        raise bad_request(f"message to {verb} not found")
    return message


def _forwarded(wanted: FromChat, message: Json) -> Json:
    author = {"type": "user", "sender_user": message["from"], "date": message["date"]}
    return _content(message) | {"forward_origin": message.get("forward_origin", author)}


def _copied(wanted: FromChat, message: Json) -> Json:
    content = _content(message)
    if wanted.caption is not None or wanted.remove_caption:
        kept = {key: value for key, value in content.items() if "caption" not in key}
        content = kept | (caption_of(wanted) if "text" not in content else {})
    return content


def _content(message: Json) -> Json:
    return {key: value for key, value in message.items() if key in _CONTENT}


def _able(message: Json | None) -> bool:
    return message is not None and bool(_CONTENT & message.keys()) and not message.get("has_protected_content")


def _transfer_methods(verb: str, done: str, content_of: Callable[[FromChat, Json], Json]) -> None:
    """Registers `...Message` and `...Messages` of a verb; the latter skips missing messages and keeps albums."""

    async def one(call: MethodCall, wanted: FromChat) -> Json:
        chat = call.telegram.reachable_chat(wanted.chat_id)
        message = _found(call, wanted.from_chat_id, wanted.message_id, verb)
        if not _able(message):
            raise bad_request(f"message can't be {done}")
        sent = deliver(call, wanted, content_of(wanted, message), chat)
        return {"message_id": sent["message_id"]} if verb == "copy" else sent

    async def many(call: MethodCall, wanted: FromChat) -> list[Json]:
        chat, source = call.telegram.reachable_chat(wanted.chat_id), call.telegram.reachable_chat(wanted.from_chat_id)
        numbers = wanted.message_ids or []
        if not numbers:
            raise bad_request("message identifiers are not specified")
        if len(numbers) > 100:
            raise bad_request("too many message identifiers specified")
        if numbers != sorted(set(numbers)):
            raise bad_request("message identifiers must be in a strictly increasing order")
        found = [call.telegram.repository.message(source["id"], number) for number in numbers]
        able = [message for message in found if message is not None and _able(message)]
        if not able:
            raise bad_request(f"there are no messages to {verb}")
        albums = {one: new_album(call) for one in {message.get("media_group_id") for message in able} - {None}}
        contents = [content_of(wanted, one) | albums.get(one.get("media_group_id"), {}) for one in able]
        with call.telegram.repository.transaction():
            return [{"message_id": deliver(call, wanted, content, chat)["message_id"]} for content in contents]

    method(f"{verb}Message", FromChat)(one)
    method(f"{verb}Messages", FromChat)(many)


_transfer_methods("forward", "forwarded", _forwarded)
_transfer_methods("copy", "copied", _copied)


# Pins, the last one first


def _set_pinned(call: MethodCall, chat: Json, numbers: list[int]) -> bool:
    if not call.telegram.is_admin(chat):
        raise bad_request("not enough rights to manage pinned messages in the chat")
    chat_id = chat["id"]
    call.telegram.repository.set_setting(f"pinned:{chat_id}", numbers)
    call.telegram.feed.publish("pinned", chat_id)
    return True


@method("pinChatMessage", OfMessage)
async def pin_chat_message(call: MethodCall, wanted: OfMessage) -> bool:
    message = _found(call, wanted.chat_id, wanted.message_id, "pin")
    chat, number = message["chat"], message["message_id"]
    others = [one for one in call.telegram.pinned(chat["id"]) if one != number]
    _set_pinned(call, chat, [number, *others])
    call.telegram.bot_message(chat, {"pinned_message": as_quoted(message)})
    return True


@method("unpinChatMessage", OfMessage)
async def unpin_chat_message(call: MethodCall, wanted: OfMessage) -> bool:
    chat = call.telegram.reachable_chat(wanted.chat_id)
    numbers = call.telegram.pinned(chat["id"])
    number = wanted.message_id or next(iter(numbers), 0)
    if number not in numbers:
        raise bad_request("message to unpin not found")
    return _set_pinned(call, chat, [one for one in numbers if one != number])


@method("unpinAllChatMessages", OfMessage)
async def unpin_all_chat_messages(call: MethodCall, wanted: OfMessage) -> bool:
    return _set_pinned(call, call.telegram.reachable_chat(wanted.chat_id), [])


@method("setMessageReaction", SetMessageReaction)
async def set_message_reaction(call: MethodCall, wanted: SetMessageReaction) -> bool:
    message = _found(call, wanted.chat_id, wanted.message_id, "react")
    given = wanted.reaction or []
    if len(given) > 1:
        raise bad_request("REACTIONS_TOO_MANY")
    emoji = [str(one.get("emoji")).replace("\ufe0f", "") for one in given if one.get("type") == "emoji"]
    if len(emoji) < len(given) or not set(emoji) <= set(REACTIONS.split()):
        raise bad_request("REACTION_INVALID")
    call.telegram.react(message, call.telegram.bot["id"], given)
    return True


@method("deleteMessageReaction", OfMessage)
async def delete_message_reaction(call: MethodCall, wanted: OfMessage) -> bool:
    message = _found(call, wanted.chat_id, wanted.message_id, "react")
    if message["chat"]["type"] == "private" or not call.telegram.is_admin(message["chat"]):
        raise bad_request("not enough rights to delete reactions")
    call.telegram.react(message, wanted.user_id or wanted.actor_chat_id or 0, [])
    return True
