"""Media that the bot sends: one table of kinds, albums, and media in edits."""

from collections.abc import Mapping
from functools import partial

from bot.simulator.methods.files import KINDS, media_object
from bot.simulator.methods.registry import JsonObjects, MethodCall, Upload, method
from bot.simulator.methods.sending import Captioned, Sending, caption_of, deliver, new_album
from bot.simulator.repository import Json, Repository
from bot.simulator.server.errors import bad_request

ALBUM = 10
_ALBUM_COMPANY = dict.fromkeys(("photo", "video", "live_photo"), "picture") | {"audio": "audio", "document": "document"}


class SendMediaGroup(Sending):
    media: JsonObjects = None


async def media_of(
    repository: Repository, uploads: Mapping[str, Upload], kind: str, item: Captioned, source: str | None
) -> Json:
    """The Message fields of one item: the media, its caption, its spoiler."""
    body = await media_object(repository, uploads, kind, source, item.model_extra or {})
    if kind == "live_photo":
        still = await media_object(repository, uploads, "photo", item.given("photo"), {})
        body |= {"photo": [still]}
    content: Json = {kind: [body] if kind == "photo" else body}
    if kind == "animation":  # Telegram sends it as both, for bots that do not know animations
        content["document"] = {key: value for key, value in body.items() if key not in KINDS[kind].fields}
    if KINDS[kind].captioned:
        content |= caption_of(item)
    return content | ({"has_media_spoiler": True} if item.has_spoiler else {})


async def input_media(call: MethodCall, given: Json) -> Json:
    """The Message fields of an InputMedia object."""
    kind = str(given.get("type"))
    if kind not in KINDS or not KINDS[kind].captioned or kind == "voice":
        raise bad_request("can't parse InputMedia: type must be specified and supported")
    item = Captioned.model_validate({key: value for key, value in given.items() if key != "type"})
    return await media_of(call.telegram.repository, call.uploads, kind, item, str(given.get("media") or ""))


async def _send(call: MethodCall, wanted: Sending, *, kind: str) -> Json:
    chat = call.telegram.reachable_chat(wanted.chat_id)
    content = await media_of(call.telegram.repository, call.uploads, kind, wanted, wanted.given(kind))
    return deliver(call, wanted, content, chat)


for _kind in KINDS:
    method("send" + _kind.title().replace("_", ""), Sending)(partial(_send, kind=_kind))


@method("sendMediaGroup", SendMediaGroup)
async def send_media_group(call: MethodCall, wanted: SendMediaGroup) -> list[Json]:
    chat = call.telegram.reachable_chat(wanted.chat_id)
    given = wanted.media or []
    if not given:
        raise bad_request("there are no messages to send")
    if len(given) > ALBUM:
        raise bad_request("too many messages to send as an album")
    if len({_ALBUM_COMPANY.get(str(item.get("type"))) for item in given} - {None}) != 1:
        raise bad_request("can't mix such media in an album" if len(given) > 1 else "can't parse InputMedia")
    contents = [await input_media(call, item) for item in given]
    group = new_album(call)
    with call.telegram.repository.transaction():
        return [deliver(call, wanted, content | group, chat) for content in contents]
