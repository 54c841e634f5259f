"""`reply_markup` and `reply_parameters`: checked, and turned into the fields of a message."""

from bot.simulator.entities import utf16_length
from bot.simulator.repository import Json
from bot.simulator.server.errors import bad_request
from bot.simulator.telegram import Telegram, as_quoted

_CALLBACK_DATA_LIMIT = 64
_BUTTON_KINDS = (
    "callback_data", "url", "copy_text", "web_app", "login_url", "switch_inline_query", "pay", "disabled",
    "switch_inline_query_current_chat", "switch_inline_query_chosen_chat", "callback_game",
)  # fmt: skip


def checked_markup(markup: Json | None, *, inline_only: bool = False) -> Json:
    """`{"reply_markup": ...}` as Telegram keeps it, or nothing; raises its 400 for what it refuses."""
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
    url = button.get("url")
    if url is not None and not url.startswith(("http://", "https://", "tg://")):
        raise bad_request(f"inline keyboard button URL '{url}' is invalid: Wrong HTTP URL")
    return {key: value for key, value in button.items() if value is not None}


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
