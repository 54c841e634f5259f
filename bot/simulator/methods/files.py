"""Documents: sending, finding and fetching files."""

from bot.simulator.entities import CAPTION_LIMIT
from bot.simulator.methods.messages import formatted
from bot.simulator.methods.registry import Call, ChatId, JsonObject, JsonObjects, Parameters, Upload, method
from bot.simulator.methods.replies import checked_markup, quoted
from bot.simulator.repository import Json, Repository
from bot.simulator.server.errors import ApiRefusal, bad_request
from bot.simulator.telegram import as_bot_sees, new_file_id

UPLOAD_LIMIT = 50 * 1024 * 1024
DOWNLOAD_LIMIT = 20 * 1024 * 1024


class SendDocument(Parameters):
    chat_id: ChatId = None
    message_thread_id: int | None = None
    document: str | None = None
    caption: str | None = None
    parse_mode: str | None = None
    caption_entities: JsonObjects = None
    reply_markup: JsonObject = None
    reply_parameters: JsonObject = None
    reply_to_message_id: int | None = None


class GetFile(Parameters):
    file_id: str = ""


@method("sendDocument", SendDocument)
async def send_document(call: Call, wanted: SendDocument) -> Json:
    telegram = call.telegram
    chat = telegram.reachable_chat(wanted.chat_id)
    caption, entities = formatted(
        wanted.caption, wanted.parse_mode, wanted.caption_entities, limit=CAPTION_LIMIT,
        too_long="message caption is too long",
    )  # fmt: skip
    content: Json = {"document": _document(call, wanted.document)}
    content |= {"caption": caption} if caption else {}
    content |= {"caption_entities": entities} if caption and entities else {}
    content |= quoted(telegram, chat, wanted.reply_parameters, wanted.reply_to_message_id)
    content |= checked_markup(wanted.reply_markup)
    return as_bot_sees(telegram.bot_message(chat, content, thread_id=wanted.message_thread_id))


def _document(call: Call, given: str | None) -> Json:
    upload = call.uploads.get((given or "").removeprefix("attach://")) or call.uploads.get("document")
    if upload is not None:
        return store_document(call.telegram.repository, upload)
    file = call.telegram.repository.file(given or "")
    if file is None:
        missing = "there is no document in the request"
        raise bad_request("wrong file identifier/HTTP URL specified" if given else missing)
    name, mime, content = file
    return {"file_id": given, "file_unique_id": "AQAD" + str(given)[-16:], "file_name": name, "mime_type": mime,
            "file_size": len(content)}  # fmt: skip


def store_document(repository: Repository, upload: Upload) -> Json:
    """Keeps an uploaded file; the Document object that names it."""
    if not upload.content:
        raise bad_request("file must be non-empty")
    if len(upload.content) > UPLOAD_LIMIT:
        raise ApiRefusal(413, "Request Entity Too Large")
    file_id, unique = new_file_id()
    repository.save_file(file_id, upload.name, upload.mime, upload.content)
    return {"file_id": file_id, "file_unique_id": unique, "file_name": upload.name, "mime_type": upload.mime,
            "file_size": len(upload.content)}  # fmt: skip


@method("getFile", GetFile)
async def get_file(call: Call, wanted: GetFile) -> Json:
    file = call.telegram.repository.file(wanted.file_id)
    if file is None:
        raise bad_request("invalid file_id")
    name, _, content = file
    if len(content) > DOWNLOAD_LIMIT:
        raise bad_request("file is too big")
    return {"file_id": wanted.file_id, "file_unique_id": "AQAD" + wanted.file_id[-16:], "file_size": len(content),
            "file_path": f"documents/{wanted.file_id}/{name}"}  # fmt: skip
