"""The Message fields of a voice note, a photo, a sticker and other media, with a file or without content."""

from collections.abc import Callable

from bot.simulator.methods.files import store_media
from bot.simulator.methods.registry import Upload
from bot.simulator.repository import Json, Repository
from bot.simulator.telegram import new_file_id


def _file(size: int, mime: str = "") -> Json:
    file_id, unique = new_file_id()
    return {"file_id": file_id, "file_unique_id": unique, "file_size": size, **({"mime_type": mime} if mime else {})}


def voice() -> Json:
    return {"voice": {**_file(17_312, "audio/ogg"), "duration": 7}}


def photo() -> Json:
    sizes = [(90, 67, 1_410), (320, 240, 19_822), (1280, 960, 141_004)]
    return {"photo": [{**_file(size), "width": width, "height": height} for width, height, size in sizes]}


def sticker() -> Json:
    look = {"type": "regular", "width": 512, "height": 512, "is_animated": False, "is_video": False}
    return {"sticker": {**_file(24_118), **look, "emoji": "🐈", "set_name": "LocalCats"}}


def video() -> Json:
    return {"video": {**_file(1_204_233, "video/mp4"), "width": 1280, "height": 720, "duration": 12}}


def video_note() -> Json:
    return {"video_note": {**_file(304_120), "length": 384, "duration": 9}}


def audio() -> Json:
    return {"audio": {**_file(3_150_002, "audio/mpeg"), "duration": 184, "title": "Vals", "performer": "Local band"}}


def animation() -> Json:
    shape = {"width": 480, "height": 270, "duration": 3}
    return {"animation": {**_file(212_400, "video/mp4"), **shape}}


def document() -> Json:
    return {"document": {**_file(48_210, "application/pdf"), "file_name": "notes.pdf"}}


def location() -> Json:
    return {"location": {"latitude": 50.4501, "longitude": 30.5234}}


MEDIA: dict[str, Callable[[], Json]] = {
    make.__name__: make for make in (voice, photo, sticker, video, video_note, audio, animation, document, location)
}


def with_file(repository: Repository, kind: str, upload: Upload, seconds: int = 0) -> Json:
    """Stores a file that a person sends as this kind of media. Returns the Message fields that name it."""
    body = store_media(repository, kind, upload, {"duration": seconds, "mime_type": upload.mime})
    return {"photo": [body]} if kind == "photo" else {kind: body}
