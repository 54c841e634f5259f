"""Reads stored updates leniently: a missing field or one of unknown form costs only the field, not the message."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from aiogram import Bot
from aiogram.types import Update
from pydantic import ValidationError

from bot.shared.rich_text import rich_text
from bot.telegram.message_reader import NOBODY

Json = dict[str, Any]

MOST_FAULTS: Final = 50
"""The most faults of an update that are repaired; one with more is not an update of Telegram's."""

_MESSAGES: Final = ("message", "edited_message")
_RICH_MEDIA: Final = {"voice_note": "voice"} | {
    kind: kind for kind in ("photo", "video", "audio", "animation", "document", "location")
}


def read_update(raw: str, bot: Bot, received_at: datetime) -> Update:
    """Parses an update from JSON. Raises ValidationError if not even its message and chat can be read."""
    context = {"bot": bot}
    if '"rich_message"' not in raw:
        try:
            return Update.model_validate_json(raw, context=context)
        except ValidationError:
            pass
    plain = json.loads(raw)
    for kind in _MESSAGES:
        message = plain.get(kind)
        _spell_out(message)
        _spell_out(message.get("reply_to_message") if isinstance(message, dict) else None)
    for _ in range(MOST_FAULTS):
        try:
            return Update.model_validate(plain, context=context)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
            if not _mended(plain, fault["loc"], missing=fault["type"] == "missing", at=received_at):
                raise
    return Update.model_validate(plain, context=context)


def _spell_out(message: Any) -> None:
    """Puts the text and the media of a rich message into the fields of ordinary messages."""
    rich = message.pop("rich_message", None) if isinstance(message, dict) else None
    if rich is None:
        return
    text = rich_text(rich)
    if text:
        message.setdefault("text", text)
    for kind, block in _media(rich):
        message.setdefault(kind, block)


def _media(part: Any) -> Sequence[tuple[str, Any]]:
    if isinstance(part, list):
        return [found for one in part for found in _media(one)]
    if not isinstance(part, dict):
        return ()
    own = [(_RICH_MEDIA[key], value) for key, value in part.items() if key in _RICH_MEDIA]
    return own or [found for value in part.values() for found in _media(value)]


def _mended(update: Json, loc: Sequence[int | str], *, missing: bool, at: datetime) -> bool:
    """Repairs a fault: fills in a missing value, or removes an unreadable one. Returns whether that was possible."""
    path: list[tuple[Any, int | str]] = []
    holder: Any = update
    for key in loc:  # names of a union's members appear between the keys
        found = holder.get(key) if isinstance(holder, dict) else holder[key] if isinstance(key, int) else None
        if found is not None:
            path.append((holder, key))
            holder = found
    named = [key for _, key in path]
    if "forward_origin" in named:  # otherwise forwarded words would become the owner's
        message = path[named.index("forward_origin")][0]
        message["forward_origin"] = _author_unknown(message["forward_origin"], at)
        return True
    if missing and isinstance(holder, dict) and (filled := _filled(holder, str(loc[-1]), at)) is not None:
        holder[str(loc[-1])] = filled
        return True
    if len(path) < 2:  # the message itself
        return False
    holder, key = path[-1]
    if named[-1] == "from" and isinstance(holder.get("chat"), dict):  # in a private chat it is the other person
        holder["from"] = {"id": holder["chat"].get("id"), "is_bot": False, "first_name": NOBODY}
    else:
        del holder[key]
    return True


def _filled(holder: Mapping[str, Any], key: str, at: datetime) -> Any:
    """The default of a missing required field; None if there is none."""
    match key:
        case "date":
            return int(at.timestamp())
        case "first_name":
            return str(holder.get("username") or NOBODY)
        case "type" if isinstance(holder.get("id"), int):
            return "private" if holder["id"] > 0 else "supergroup"
        case "chat_instance":
            return ""
        case _ if key.startswith(("is_", "can_", "has_")):
            return False
    return None


def _author_unknown(origin: Any, at: datetime) -> Json:
    """The origin of a forward as a hidden user's, with the name that it gives anywhere."""
    return {"type": "hidden_user", "date": int(at.timestamp()), "sender_user_name": _name(origin) or NOBODY}


def _name(origin: Any) -> str:
    if not isinstance(origin, dict):
        return ""
    names = ("sender_user_name", "title", "first_name", "name", "author_signature", "username")
    own = next((origin[key] for key in names if isinstance(origin.get(key), str)), "")
    return own or next(filter(None, map(_name, origin.values())), "")
