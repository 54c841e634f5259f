"""Files, uploaded with a request, named by address or by id, and the objects that name them."""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx

from bot.simulator.methods.registry import MethodCall, Parameters, Upload, method
from bot.simulator.repository import Json, Repository
from bot.simulator.server.errors import ApiRefusal, bad_request
from bot.simulator.telegram import new_file_id
from internal.certificates import ssl_context

UPLOAD_LIMIT = 50 * 1024 * 1024
DOWNLOAD_LIMIT = 20 * 1024 * 1024
PHOTO_LIMIT = 10 * 1024 * 1024
PHOTO_BY_URL_LIMIT = 5 * 1024 * 1024
_FETCH_TIMEOUT = 20.0


@dataclass(frozen=True)
class MediaKind:
    """A kind of media: its folder, the prefix of its file ids, and its fields with their defaults."""

    folder: str
    prefix: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    named: bool = True
    captioned: bool = True


_SHOT = {"width": 640, "height": 360, "duration": 1}
_STICKER = {"type": "regular", "width": 512, "height": 512, "is_animated": False, "is_video": False, "emoji": ""}
KINDS: Mapping[str, MediaKind] = {
    "photo": MediaKind("photos", "AgAC", {"width": 0, "height": 0}, named=False),
    "audio": MediaKind("music", "CQAC", {"duration": 1, "performer": "", "title": ""}),
    "document": MediaKind("documents", "BQAC"),
    "video": MediaKind("videos", "BAAC", _SHOT),
    "animation": MediaKind("animations", "CgAC", _SHOT),
    "voice": MediaKind("voice", "AwAC", {"duration": 1, "mime_type": "audio/ogg"}, named=False),
    "video_note": MediaKind("video_notes", "DQAC", {"length": 240, "duration": 1}, named=False, captioned=False),
    "live_photo": MediaKind("live_photos", "BBAC", _SHOT, named=False),
    "sticker": MediaKind("stickers", "CAAC", _STICKER, named=False, captioned=False),
}


class GetFile(Parameters):
    file_id: str = ""


def store_media(repository: Repository, kind: str, upload: Upload, given: Mapping[str, Any] | None = None) -> Json:
    """Stores a file and returns the object of `kind` (one size of a photo) that names it, with the fields `given`."""
    size = len(upload.content)
    if not size:
        raise bad_request("file must be non-empty")
    if size > UPLOAD_LIMIT:
        raise ApiRefusal(413, "Request Entity Too Large")
    shape = KINDS[kind]
    body: Json = dict(zip(("file_id", "file_unique_id"), new_file_id(shape.prefix), strict=True)) | {"file_size": size}
    body |= {"file_name": upload.name, "mime_type": upload.mime} if shape.named else {}
    body |= dict(shape.fields)
    if kind == "photo":  # a person may send a broken picture too
        body |= zip(("width", "height"), _image_size(upload.content), strict=True)
    elif kind == "sticker":
        body |= {"is_video": upload.name.endswith(".webm"), "is_animated": upload.name.endswith(".tgs")}
    body = _with_given(body, shape, given or {})
    repository.save_file(body["file_id"], upload.name, upload.mime, upload.content)
    repository.save_media(kind, body)
    return body


async def media_object(
    repository: Repository, uploads: Mapping[str, Upload], kind: str, source: str | None, given: Mapping[str, Any]
) -> Json:
    """The object of a file that the bot uploads or names by id or address. Raises Telegram's refusals."""
    upload = uploads.get(source.removeprefix("attach://") if source else kind)
    if upload is None and source and source.startswith(("http://", "https://")):
        upload = await _fetched(source, PHOTO_BY_URL_LIMIT if kind == "photo" else DOWNLOAD_LIMIT)
    if upload is not None:
        if kind == "photo":
            _check_photo(upload.content)
        return store_media(repository, kind, upload, given)
    if not source:
        raise bad_request(f"there is no {kind.replace('_', ' ')} in the request")
    known = repository.media(source)
    if known is None:
        raise bad_request("wrong file identifier/HTTP URL specified")
    if known[0] != kind:
        names = [name.title().replace("_", "") for name in (known[0], kind)]
        raise bad_request(f"can't use file of type {names[0]} as {names[1]}")
    return _with_given(known[1], KINDS[kind], given)


def _with_given(body: Json, shape: MediaKind, given: Mapping[str, Any]) -> Json:
    able = {name: usual for name, usual in shape.fields.items() if not isinstance(usual, bool)}
    said = {name: type(usual)(given[name]) for name, usual in able.items() if given.get(name)}
    return {name: value for name, value in (body | said).items() if value != ""}


async def _fetched(url: str, limit: int) -> Upload:
    content, failed = b"", bad_request("failed to get HTTP URL content")
    try:
        async with (
            httpx.AsyncClient(timeout=_FETCH_TIMEOUT, trust_env=False, verify=ssl_context(url)) as client,
            client.stream("GET", url, follow_redirects=True) as answer,
        ):
            if not answer.is_success:
                raise failed
            mime = answer.headers.get("content-type", "application/octet-stream").split(";")[0]
            if mime == "text/html":
                raise bad_request("wrong type of the web page content")
            async for piece in answer.aiter_bytes():
                content += piece
                if len(content) > limit:
                    raise failed
    except (httpx.HTTPError, httpx.InvalidURL):
        raise failed from None
    return Upload(unquote(urlsplit(url).path.rsplit("/", 1)[-1]) or "file", mime, content)


def _check_photo(content: bytes) -> None:
    if len(content) > PHOTO_LIMIT:
        raise bad_request(
            f"file of size {len(content)} bytes is too big for a photo; the maximum size is {PHOTO_LIMIT} bytes"
        )
    width, height = _image_size(content)
    if not width:
        raise bad_request("IMAGE_PROCESS_FAILED")
    if width + height > 10_000 or max(width, height) > 20 * min(width, height):
        raise bad_request("PHOTO_INVALID_DIMENSIONS")


def _image_size(content: bytes) -> tuple[int, int]:
    """The width and height of a picture in pixels, or 0 for other files."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content)) as picture:
            return picture.size
    except (OSError, Image.DecompressionBombError):
        return 0, 0


@method("getFile", GetFile)
async def get_file(call: MethodCall, wanted: GetFile) -> Json:
    repository = call.telegram.repository
    known, file = repository.media(wanted.file_id), repository.file(wanted.file_id)
    if file is None:
        raise bad_request("wrong file_id or the file is temporarily unavailable" if known else "invalid file_id")
    name, _, content = file
    if len(content) > DOWNLOAD_LIMIT:
        raise bad_request("file is too big")
    kind, body = known or ("document", {"file_unique_id": "AQAD" + wanted.file_id[-16:]})
    return {"file_id": wanted.file_id, "file_unique_id": body["file_unique_id"], "file_size": len(content),
            "file_path": f"{KINDS[kind].folder}/{wanted.file_id}/{name}"}  # fmt: skip
