"""The common parts of sending methods: text, captions, `reply_markup`, and the resulting message."""

import re
from typing import Any

from pydantic import ConfigDict

from bot.simulator.entities import CAPTION_LIMIT, TEXT_LIMIT, Entity, check_entities, trimmed, utf16_length, with_found
from bot.simulator.markup import parse
from bot.simulator.methods.registry import ChatId, JsonObject, JsonObjects, MethodCall, Parameters
from bot.simulator.repository import Json
from bot.simulator.server.errors import bad_request
from bot.simulator.telegram import Telegram, as_bot_sees, as_quoted

_CALLBACK_DATA_LIMIT = 64
_LINK = re.compile(r"(?:https?|tg|ton)://\S+|[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:[/?#]\S*)?")
_INSECURE = re.compile(r"http://(?!127\.0\.0\.1|localhost)")
"""An http address of another machine; Mini Apps on this machine need no certificate."""
_BUTTON_KINDS = (
    "callback_data", "url", "copy_text", "web_app", "login_url", "switch_inline_query", "pay", "disabled",
    "switch_inline_query_current_chat", "switch_inline_query_chosen_chat", "callback_game",
)  # fmt: skip


def checked_markup(markup: Json | None, *, inline_only: bool = False) -> Json:
    """`{"reply_markup": ...}` as Telegram stores it, or nothing. Raises its 400 for what it refuses."""
    if not markup:
        return {}
    if "inline_keyboard" in markup:
        rows = [[_button(button) for button in row] for row in markup["inline_keyboard"] if row]
        return {"reply_markup": {"inline_keyboard": rows}} if rows else {}
    if inline_only:
        raise bad_request("inline keyboard expected")
    if not any(key in markup for key in ("keyboard", "remove_keyboard", "force_reply")):
        raise bad_request("object expected as reply markup")
    return {"reply_markup": markup}


def _button(button: Json) -> Json:
    if not button.get("text"):
        raise bad_request("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
    kinds = [kind for kind in _BUTTON_KINDS if button.get(kind) is not None]
    if not kinds:
        raise bad_request("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
    data = button.get("callback_data")
    if data is not None and not 0 < len(data.encode()) <= _CALLBACK_DATA_LIMIT:
        raise bad_request("BUTTON_DATA_INVALID")
    kept = {key: value for key, value in button.items() if value is not None}
    if (url := button.get("url")) is not None:
        if not _LINK.fullmatch(url):
            raise bad_request(f"inline keyboard button URL '{url}' is invalid: Wrong HTTP URL")
        kept["url"] = url if "://" in url else f"http://{url}"
    page = str((button.get("web_app") or {}).get("url"))
    if _INSECURE.match(page):
        raise bad_request(f"inline keyboard button Web App URL '{page}' is invalid: Only HTTPS links are allowed")
    return kept


def new_album(call: MethodCall) -> Json:
    """The field that messages of one album share."""
    return {"media_group_id": str(call.telegram.repository.count_up("media_group_id", 13_000_000_000_000_001))}


def quoted(telegram: Telegram, chat: Json, parameters: Json | None, message_id: int | None) -> Json:
    """`{"reply_to_message": ...}` for `reply_parameters` or the old `reply_to_message_id`."""
    wanted = parameters or ({"message_id": message_id} if message_id else {})
    number = wanted.get("message_id")
    if not number:
        return {}
    message = telegram.repository.message(chat["id"], int(number))
    if message is None:
        if wanted.get("allow_sending_without_reply"):
            return {}
        raise bad_request("message to be replied not found")
    result: Json = {"reply_to_message": as_quoted(message)}
    quote = wanted.get("quote")
    if quote:
        text = str(message.get("text") or message.get("caption") or "")
        if quote not in text:
            raise bad_request("QUOTE_TEXT_INVALID")
        position = utf16_length(text[: text.index(quote)])
        result["quote"] = {"text": quote, "position": position, "is_manual": True}
    return result


class Text(Parameters):
    text: str | None = None
    parse_mode: str | None = None
    entities: JsonObjects = None
    link_preview_options: JsonObject = None


class Captioned(Parameters):
    """One item of media; its further fields, which differ by kind, are in `model_extra`."""

    model_config = ConfigDict(extra="allow", coerce_numbers_to_str=True)

    caption: str | None = None
    parse_mode: str | None = None
    caption_entities: JsonObjects = None
    show_caption_above_media: bool = False
    has_spoiler: bool = False

    def given(self, name: str) -> Any:
        return (self.model_extra or {}).get(name)


class Sending(Captioned):
    """The target of a message, and the options that all messages may have."""

    chat_id: ChatId = None
    message_thread_id: int | None = None
    reply_markup: JsonObject = None
    reply_parameters: JsonObject = None
    reply_to_message_id: int | None = None
    protect_content: bool = False
    message_effect_id: str | None = None


class SendMessage(Text, Sending):
    pass


def formatted(
    text: str | None, parse_mode: str | None, entities: list[Entity] | None, *, limit: int = TEXT_LIMIT,
    too_long: str = "message is too long",
) -> tuple[str, list[Entity]]:  # fmt: skip
    """Text and entities as Telegram would store them; given entities take precedence over `parse_mode`, as there."""
    given = text or ""
    if entities:
        plain, marked = given, check_entities(entities, given)
    else:
        plain, marked = parse(given, parse_mode)
    plain, marked = trimmed(plain, marked)
    if utf16_length(plain) > limit:
        raise bad_request(too_long)
    return plain, with_found(plain, marked)


def text_of(text: Text) -> Json:
    """The fields of a text message. Raises the refusal of an empty one."""
    plain, entities = formatted(text.text, text.parse_mode, text.entities)
    if not plain:
        raise bad_request("message text is empty")
    options = {"link_preview_options": text.link_preview_options} if text.link_preview_options else {}
    return {"text": plain, **({"entities": entities} if entities else {}), **options}


def caption_of(item: Captioned) -> Json:
    """The fields of a caption, which may be missing."""
    caption, entities = formatted(
        item.caption,
        item.parse_mode,
        item.caption_entities,
        limit=CAPTION_LIMIT,
        too_long="message caption is too long",
    )
    above = {"show_caption_above_media": True} if caption and item.show_caption_above_media else {}
    return {
        **({"caption": caption} if caption else {}),
        **({"caption_entities": entities} if entities else {}),
        **above,
    }


def deliver(call: MethodCall, wanted: Sending, content: Json, chat: Json | None = None) -> Json:
    """Stores and shows a message of the bot; returns it as the bot sees it."""
    chat = chat or call.telegram.reachable_chat(wanted.chat_id)
    content |= quoted(call.telegram, chat, wanted.reply_parameters, wanted.reply_to_message_id)
    content |= checked_markup(wanted.reply_markup)
    if wanted.protect_content:
        content["has_protected_content"] = True
    if wanted.message_effect_id and chat["type"] == "private":
        content["effect_id"] = wanted.message_effect_id
    return as_bot_sees(call.telegram.bot_message(chat, content, thread_id=wanted.message_thread_id))
