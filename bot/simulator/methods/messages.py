"""Messages of the bot: texts, drafts, deletion, buttons."""

import time
from datetime import timedelta
from typing import Any

from bot.simulator.entities import utf16_length
from bot.simulator.methods.contents import SendRich, rich_of
from bot.simulator.methods.registry import ChatId, JsonObject, MethodCall, Numbers, Parameters, method
from bot.simulator.methods.sending import SendMessage, Text, deliver, formatted, text_of
from bot.simulator.repository import Json
from bot.simulator.server.errors import bad_request
from bot.simulator.telegram import DRAFT_LIFETIME, Draft

CALLBACK_LIFETIME = 15 * 60
DELETABLE = timedelta(hours=48).total_seconds()
DICE_KEPT = timedelta(hours=24).total_seconds()


class SendMessageDraft(Text):
    chat_id: ChatId = None
    draft_id: int = 0
    rich_message: JsonObject = None
    message_thread_id: int | None = None
    can_stop: bool = False
    keep_on_stop: bool = False


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


@method("sendMessage", SendMessage)
async def send_message(call: MethodCall, wanted: SendMessage) -> Json:
    chat = call.telegram.reachable_chat(wanted.chat_id)
    return deliver(call, wanted, text_of(wanted), chat)


@method("sendRichMessageDraft", SendMessageDraft)
async def send_rich_message_draft(call: MethodCall, wanted: SendMessageDraft) -> bool:
    blocks = rich_of(SendRich(rich_message=wanted.rich_message))["rich_message"]["blocks"]
    words = "\n".join(str(one.get("text", "")) for one in blocks)
    shown: bool = await send_message_draft(call, wanted.model_copy(update={"text": words}))
    return shown


@method("sendMessageDraft", SendMessageDraft)
async def send_message_draft(call: MethodCall, wanted: SendMessageDraft) -> bool:
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


def _delete(call: MethodCall, chat: Json, message_id: int) -> bool:
    """Deletes a message if it may be deleted. Returns False if there is none; raises Telegram's refusal otherwise."""
    message = call.telegram.repository.message(chat["id"], message_id)
    if message is None:
        return False
    age = call.telegram.date() - int(message["date"])
    foreign = message["from"]["id"] != call.telegram.bot["id"] and not call.telegram.is_admin(chat)
    young_dice = chat["type"] == "private" and "dice" in message and age < DICE_KEPT
    if age >= DELETABLE or foreign or young_dice:
        raise bad_request(f"message can't be deleted{'' if foreign else ' for everyone'}")
    return call.telegram.remove_message(chat["id"], message_id)


@method("deleteMessage", DeleteMessage)
async def delete_message(call: MethodCall, wanted: DeleteMessage) -> bool:
    chat = call.telegram.reachable_chat(wanted.chat_id)
    if not wanted.message_id:
        raise bad_request("message identifier is not specified")
    if not _delete(call, chat, wanted.message_id):
        raise bad_request("message to delete not found")
    return True


@method("deleteMessages", DeleteMessages)
async def delete_messages(call: MethodCall, wanted: DeleteMessages) -> bool:
    """Deletes messages; those that cannot be found are skipped, as Telegram says."""
    chat = call.telegram.reachable_chat(wanted.chat_id)
    if not wanted.message_ids:
        raise bad_request("message identifiers are not specified")
    if len(wanted.message_ids) > 100:
        raise bad_request("too many message identifiers specified")
    with call.telegram.repository.transaction():
        for message_id in wanted.message_ids:
            _delete(call, chat, message_id)
    return True


@method("answerCallbackQuery", AnswerCallbackQuery)
async def answer_callback_query(call: MethodCall, wanted: AnswerCallbackQuery) -> bool:
    repository = call.telegram.repository
    query = repository.callback(wanted.callback_query_id)
    if query is None or query["at"] < time.time() - CALLBACK_LIFETIME:
        raise bad_request("query is too old and response timeout expired or query ID is invalid")
    if utf16_length(wanted.text) > 200:
        raise bad_request("MESSAGE_TOO_LONG")
    answer: dict[str, Any] = {"text": wanted.text, "show_alert": wanted.show_alert}
    repository.answer_callback(wanted.callback_query_id, answer)
    news = {**query, "answer": answer, "id": wanted.callback_query_id}
    call.telegram.feed.publish("answered", query["chat_id"], news)
    return True
