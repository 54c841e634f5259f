"""Inline mode: the bot's answer to what a user types after its name, and the message that a chosen result becomes."""

import time
from collections.abc import Mapping
from typing import Final

from bot.simulator.methods.contents import Place, SendContact, SendVenue, contact_of, location_of, venue_of
from bot.simulator.methods.media import media_of
from bot.simulator.methods.messages import CALLBACK_LIFETIME
from bot.simulator.methods.registry import JsonObject, JsonObjects, MethodCall, Parameters, method
from bot.simulator.methods.sending import Captioned, Text, checked_markup, text_of
from bot.simulator.repository import Json
from bot.simulator.server.errors import bad_request
from bot.simulator.telegram import Telegram

_MOST_RESULTS: Final = 50
_MEDIA: Final[Mapping[str, str]] = {"gif": "animation", "mpeg4_gif": "animation"} | {
    kind: kind for kind in ("photo", "video", "audio", "voice", "document", "sticker")
}
"""The kinds of message that results with a file become."""


class AnswerInlineQuery(Parameters):
    inline_query_id: str = ""
    results: JsonObjects = None
    cache_time: int = 300
    is_personal: bool = False
    next_offset: str = ""
    button: JsonObject = None


@method("answerInlineQuery", AnswerInlineQuery)
async def answer_inline_query(call: MethodCall, wanted: AnswerInlineQuery) -> bool:
    query = call.telegram.repository.inline_query(wanted.inline_query_id)
    if query is None or query["at"] < time.time() - CALLBACK_LIFETIME:
        raise bad_request("query is too old and response timeout expired or query ID is invalid")
    results = [_checked(result) for result in wanted.results or []]
    if len(results) > _MOST_RESULTS:
        raise bad_request("RESULTS_TOO_MUCH")
    if len({result["id"] for result in results}) < len(results):
        raise bad_request("RESULT_ID_DUPLICATE")
    answer = {**wanted.model_dump(exclude={"inline_query_id"}), "results": results}
    call.telegram.repository.answer_inline_query(wanted.inline_query_id, answer)
    call.telegram.feed.publish("inline", query["chat_id"], {**query, "id": wanted.inline_query_id, "answer": answer})
    return True


def _checked(result: Json) -> Json:
    """A result, with the fields of its message if they are known. Raises Telegram's refusal of an invalid one."""
    kind, given = result.get("type"), result.get("input_message_content")
    if not 1 <= len(str(result.get("id") or "").encode()) <= 64:
        raise bad_request("RESULT_ID_INVALID")
    content: Json | None = None
    if given is not None:
        content = _content_of(given)
    elif kind == "venue":
        content = venue_of(SendVenue.model_validate(result))
    elif kind == "location":
        content = {"location": location_of(Place.model_validate(result))}
    elif kind == "contact":
        content = contact_of(SendContact.model_validate(result))
    elif kind not in _MEDIA or not _source(result):
        raise bad_request("can't parse InlineQueryResult: there is no message content in the result")
    if kind == "article" and not result.get("title"):
        raise bad_request('can\'t parse InlineQueryResult: Field "title" must be of type String')
    return {**result, "id": str(result["id"]), "content": content, **checked_markup(result.get("reply_markup"))}


def _content_of(given: Json) -> Json:
    if "message_text" in given:
        return text_of(Text.model_validate({**given, "text": given["message_text"]}))
    if "phone_number" in given:
        return contact_of(SendContact.model_validate(given))
    if "address" in given:
        return venue_of(SendVenue.model_validate(given))
    return {"location": location_of(Place.model_validate(given))}


def _source(result: Json) -> str:
    name = str(result["type"]).removesuffix("_gif")
    return str(result.get(f"{name}_file_id") or result.get(f"{name}_url") or "")


async def content_of(telegram: Telegram, result: Json) -> Json:
    """The Message fields of a chosen result; a file at an address is fetched now."""
    if result["content"] is not None:
        return dict(result["content"])
    item = Captioned.model_validate({key: value for key, value in result.items() if key != "type"})
    return await media_of(telegram.repository, {}, _MEDIA[result["type"]], item, _source(result))
