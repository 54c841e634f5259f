"""Messages of the bot: sending, drafts, edits, deletion, buttons."""

import time
from typing import Any

from bot.simulator.entities import TEXT_LIMIT, Entity, checked, trimmed, utf16_length, with_found
from bot.simulator.markup import parse
from bot.simulator.methods.registry import Call, ChatId, JsonObject, JsonObjects, Numbers, Parameters, method
from bot.simulator.methods.replies import checked_markup, quoted
from bot.simulator.repository import Json
from bot.simulator.server.errors import bad_request
from bot.simulator.telegram import DRAFT_LIFETIME, Draft, as_bot_sees

_CALLBACK_LIFETIME = 15 * 60


class Text(Parameters):
    text: str | None = None
    parse_mode: str | None = None
    entities: JsonObjects = None


class SendMessage(Text):
    chat_id: ChatId = None
    message_thread_id: int | None = None
    reply_markup: JsonObject = None
    reply_parameters: JsonObject = None
    reply_to_message_id: int | None = None
    protect_content: bool = False


class SendMessageDraft(Text):
    chat_id: ChatId = None
    draft_id: int = 0
    message_thread_id: int | None = None
    can_stop: bool = False
    keep_on_stop: bool = False


class EditMessageText(Text):
    chat_id: ChatId = None
    message_id: int | None = None
    reply_markup: JsonObject = None


class EditMessageReplyMarkup(Parameters):
    chat_id: ChatId = None
    message_id: int | None = None
    reply_markup: JsonObject = None


class DeleteMessage(Parameters):
    chat_id: ChatId = None
    message_id: int | None = None


class DeleteMessages(Parameters):
    chat_id: ChatId = None
    message_ids: Numbers = None


class AnswerCallbackQuery(Parameters):
    callback_query_id: str = ""
    text: str = ""
    show_alert: bool = False
    url: str = ""
    cache_time: int = 0


def formatted(
    text: str | None, parse_mode: str | None, entities: list[Entity] | None, *, limit: int = TEXT_LIMIT,
    too_long: str = "message is too long",
) -> tuple[str, list[Entity]]:  # fmt: skip
    """Text and entities as Telegram would store them; given entities win over `parse_mode`, as there."""
    given = text or ""
    if entities:
        plain, marked = given, checked(entities, given)
    else:
        plain, marked = parse(given, parse_mode)
    plain, marked = trimmed(plain, marked)
    if utf16_length(plain) > limit:
        raise bad_request(too_long)
    return plain, with_found(plain, marked)


def _required(text: Text) -> Json:
    plain, entities = formatted(text.text, text.parse_mode, text.entities)
    if not plain:
        raise bad_request("message text is empty")
    return {"text": plain, **({"entities": entities} if entities else {})}


@method("sendMessage", SendMessage)
async def send_message(call: Call, wanted: SendMessage) -> Json:
    telegram = call.telegram
    chat = telegram.reachable_chat(wanted.chat_id)
    content = _required(wanted)
    content |= quoted(telegram, chat, wanted.reply_parameters, wanted.reply_to_message_id)
    content |= checked_markup(wanted.reply_markup)
    if wanted.protect_content:
        content["has_protected_content"] = True
    return as_bot_sees(telegram.bot_message(chat, content, thread_id=wanted.message_thread_id))


@method("sendMessageDraft", SendMessageDraft)
async def send_message_draft(call: Call, wanted: SendMessageDraft) -> bool:
    chat = call.telegram.reachable_chat(wanted.chat_id)
    if chat["type"] != "private":
        raise bad_request("message drafts can be sent only to private chats")
    if wanted.draft_id == 0:
        raise bad_request("DRAFT_ID_INVALID")
    text, entities = formatted(wanted.text, wanted.parse_mode, wanted.entities)
    shown = call.telegram.draft(chat["id"])
    stopped = shown is not None and shown.draft_id == wanted.draft_id and shown.stopped
    draft = Draft(
        wanted.draft_id, text, entities, wanted.can_stop, wanted.keep_on_stop, wanted.message_thread_id,
        time.monotonic() + DRAFT_LIFETIME, stopped,
    )  # fmt: skip
    call.telegram.show_draft(chat["id"], draft)
    return True


@method("editMessageText", EditMessageText)
async def edit_message_text(call: Call, wanted: EditMessageText) -> Json:
    message = _own_message(call, wanted.chat_id, wanted.message_id, "edit")
    if "text" not in message:
        raise bad_request("there is no text in the message to edit")
    changed = {key: value for key, value in message.items() if key not in {"entities", "reply_markup"}}
    changed |= _required(wanted) | checked_markup(wanted.reply_markup, inline_only=True)
    return _store_edit(call, message, changed)


@method("editMessageReplyMarkup", EditMessageReplyMarkup)
async def edit_message_reply_markup(call: Call, wanted: EditMessageReplyMarkup) -> Json:
    message = _own_message(call, wanted.chat_id, wanted.message_id, "edit")
    changed = {key: value for key, value in message.items() if key != "reply_markup"}
    changed |= checked_markup(wanted.reply_markup, inline_only=True)
    return _store_edit(call, message, changed)


def _own_message(call: Call, chat_id: ChatId, message_id: int | None, verb: str) -> Json:
    chat = call.telegram.reachable_chat(chat_id)
    if not message_id:
        raise bad_request("message identifier is not specified")
    message = call.telegram.repository.message(chat["id"], message_id)
    if message is None:
        raise bad_request(f"message to {verb} not found")
    if message["from"]["id"] != call.telegram.bot["id"]:
        raise bad_request("message can't be edited")
    return message


def _store_edit(call: Call, before: Json, after: Json) -> Json:
    if before == after:
        raise bad_request(
            "message is not modified: specified new message content and reply markup are exactly the same "
            "as a current content and reply markup of the message"
        )
    # A change of the keyboard alone is no edit of the message for Telegram.
    same_text = all(before.get(key) == after.get(key) for key in ("text", "entities"))
    message = after if same_text else {**after, "edit_date": call.telegram.date()}
    call.telegram.replace_message(message, by_bot=True)
    return message


@method("deleteMessage", DeleteMessage)
async def delete_message(call: Call, wanted: DeleteMessage) -> bool:
    chat = call.telegram.reachable_chat(wanted.chat_id)
    if not wanted.message_id:
        raise bad_request("message identifier is not specified")
    if not call.telegram.remove_message(chat["id"], wanted.message_id):
        raise bad_request("message to delete not found")
    return True


@method("deleteMessages", DeleteMessages)
async def delete_messages(call: Call, wanted: DeleteMessages) -> bool:
    """Messages that cannot be found are skipped, as Telegram says."""
    chat = call.telegram.reachable_chat(wanted.chat_id)
    if not wanted.message_ids:
        raise bad_request("message identifiers are not specified")
    if len(wanted.message_ids) > 100:
        raise bad_request("too many message identifiers specified")
    with call.telegram.repository.transaction():
        for message_id in wanted.message_ids:
            call.telegram.remove_message(chat["id"], message_id)
    return True


@method("answerCallbackQuery", AnswerCallbackQuery)
async def answer_callback_query(call: Call, wanted: AnswerCallbackQuery) -> bool:
    repository = call.telegram.repository
    query = repository.callback(wanted.callback_query_id)
    if query is None or query["at"] < time.time() - _CALLBACK_LIFETIME:
        raise bad_request("query is too old and response timeout expired or query ID is invalid")
    if utf16_length(wanted.text) > 200:
        raise bad_request("MESSAGE_TOO_LONG")
    answer: dict[str, Any] = {"text": wanted.text, "show_alert": wanted.show_alert}
    repository.answer_callback(wanted.callback_query_id, answer)
    news = {**query, "answer": answer, "id": wanted.callback_query_id}
    call.telegram.feed.publish("answered", query["chat_id"], news)
    return True
