"""The bot's edits of its messages, also of inline ones: text, caption, media, place, poll, buttons."""

import base64
import binascii
from typing import Any

from bot.simulator.methods.contents import Place, SendRich, location_of, rich_of
from bot.simulator.methods.files import KINDS
from bot.simulator.methods.media import input_media
from bot.simulator.methods.registry import ChatId, JsonObject, MethodCall, Parameters, method
from bot.simulator.methods.sending import Captioned, Text, caption_of, checked_markup, text_of
from bot.simulator.repository import Json
from bot.simulator.server.errors import bad_request
from bot.simulator.telegram import as_bot_sees


class Edit(Parameters):
    """The message to edit, and its new buttons."""

    chat_id: ChatId = None
    message_id: int | None = None
    inline_message_id: str = ""
    reply_markup: JsonObject = None


class EditMessageText(Text, Edit):
    rich_message: JsonObject = None


class EditMessageCaption(Captioned, Edit):
    pass


class EditMessageMedia(Edit):
    media: JsonObject = None


class EditMessageLiveLocation(Place, Edit):
    pass


def inline_id(message: Json) -> str:
    """The id by which a bot edits an inline message."""
    return base64.urlsafe_b64encode(f"{message['chat']['id']}:{message['message_id']}".encode()).decode()


def _message(call: MethodCall, wanted: Edit, verb: str = "edit") -> Json:
    if wanted.inline_message_id:
        return _inline_message(call, wanted.inline_message_id)
    chat = call.telegram.reachable_chat(wanted.chat_id)
    if not wanted.message_id:
        raise bad_request("message identifier is not specified")
    message = call.telegram.repository.message(chat["id"], wanted.message_id)
    if message is None:
        raise bad_request(f"message to {verb} not found" if verb == "edit" else "message with poll to stop not found")
    if message["from"]["id"] != call.telegram.bot["id"] or "forward_origin" in message:
        raise bad_request("message can't be edited")
    return message


def _inline_message(call: MethodCall, given: str) -> Json:
    try:
        chat_id, _, message_id = base64.urlsafe_b64decode(given).decode().partition(":")
        message = call.telegram.repository.message(int(chat_id), int(message_id))
    except (binascii.Error, ValueError):
        message = None
    if message is None or message.get("via_bot", {}).get("id") != call.telegram.bot["id"]:
        raise bad_request("MESSAGE_ID_INVALID")
    return message


def _store(call: MethodCall, wanted: Edit, before: Json, dropped: frozenset[str], fresh: Json) -> Json | bool:
    """Stores a new version without the `dropped` fields and with the `fresh` ones. Returns the method's answer."""
    after = {key: value for key, value in before.items() if key not in dropped | {"reply_markup"}} | fresh
    after |= checked_markup(wanted.reply_markup, inline_only=True)
    if before == after:
        raise bad_request(
            "message is not modified: specified new message content and reply markup are exactly the same "
            "as a current content and reply markup of the message"
        )
    # For Telegram, a change of the keyboard alone is not an edit of the message.
    if any(before.get(key) != after.get(key) for key in {*dropped, *fresh}):
        after["edit_date"] = call.telegram.date()
    call.telegram.replace_message(after, by_bot=after["from"]["id"] == call.telegram.bot["id"])
    return True if wanted.inline_message_id else as_bot_sees(after)


_TEXT = frozenset({"text", "entities", "link_preview_options", "rich_message"})
_CAPTION = frozenset({"caption", "caption_entities", "show_caption_above_media"})


@method("editMessageText", EditMessageText)
async def edit_message_text(call: MethodCall, wanted: EditMessageText) -> Json | bool:
    message = _message(call, wanted)
    if not {"text", "rich_message"} & message.keys():
        raise bad_request("there is no text in the message to edit")
    rich = wanted.rich_message
    fresh = text_of(wanted) if rich is None else rich_of(SendRich(rich_message=rich))
    return _store(call, wanted, message, _TEXT, fresh)


@method("editMessageCaption", EditMessageCaption)
async def edit_message_caption(call: MethodCall, wanted: EditMessageCaption) -> Json | bool:
    message = _message(call, wanted)
    if not any(kind in message for kind, shape in KINDS.items() if shape.captioned):
        raise bad_request("there is no caption in the message to edit")
    return _store(call, wanted, message, _CAPTION, caption_of(wanted))


@method("editMessageMedia", EditMessageMedia)
async def edit_message_media(call: MethodCall, wanted: EditMessageMedia) -> Json | bool:
    message = _message(call, wanted)
    if "text" not in message and not any(kind in message for kind in KINDS):
        raise bad_request("there is no media in the message to edit")
    content = await input_media(call, wanted.media or {})
    return _store(call, wanted, message, _TEXT | _CAPTION | set(KINDS) | {"has_media_spoiler"}, content)


@method("editMessageReplyMarkup", Edit)
async def edit_message_reply_markup(call: MethodCall, wanted: Edit) -> Json | bool:
    return _store(call, wanted, _message(call, wanted), frozenset(), {})


def _live(call: MethodCall, wanted: Edit) -> Json:
    message = _message(call, wanted)
    if "location" not in message or "venue" in message:
        raise bad_request("there is no live location in the message to edit")
    if call.telegram.date() >= message["date"] + message["location"].get("live_period", 0):
        raise bad_request("message can't be edited")
    return message


@method("editMessageLiveLocation", EditMessageLiveLocation)
async def edit_message_live_location(call: MethodCall, wanted: EditMessageLiveLocation) -> Json | bool:
    message = _live(call, wanted)
    period = {"live_period": message["location"]["live_period"]}
    return _store(call, wanted, message, frozenset({"location"}), {"location": period | location_of(wanted)})


@method("stopMessageLiveLocation", Edit)
async def stop_message_live_location(call: MethodCall, wanted: Edit) -> Json | bool:
    message = _live(call, wanted)
    place = {key: value for key, value in message["location"].items() if key != "live_period"}
    return _store(call, wanted, message, frozenset({"location"}), {"location": place})


@method("stopPoll", Edit)
async def stop_poll(call: MethodCall, wanted: Edit) -> Any:
    message = _message(call, wanted, "stop")
    if "poll" not in message:
        raise bad_request("message is not a poll")
    if message["poll"]["is_closed"]:
        raise bad_request("poll has already been closed")
    poll = message["poll"] | {"is_closed": True}
    _store(call, wanted, message, frozenset({"poll"}), {"poll": poll})
    return poll
