"""The contents of a message besides text: pictures, players, files, cards, polls."""

from collections.abc import Callable
from typing import Final

from nicegui import ui

from bot.shared.phrases import initials
from bot.simulator.page.page_context import PageContext, colour, full_name
from bot.simulator.repository import Json

_PLAYERS: Final = {
    "photo": ("img", "photo", "loading=lazy", "image"),
    "sticker": ("img", "sticker", "", ""),
    "animation": ("video", "photo", "autoplay loop muted playsinline", "gif_box"),
    "video": ("video", "photo", "controls preload=metadata", "movie"),
    "video_note": ("video", "round", "controls", "videocam"),
    "voice": ("audio", "sound", "controls preload=metadata", "play_arrow"),
    "audio": ("audio", "sound", "controls preload=metadata", "music_note"),
}
"""For each kind of stored file: its HTML element, class, properties, and the icon for an unknown file."""
_WAVE: Final = (5, 9, 14, 8, 17, 20, 11, 6, 13, 18, 9, 15, 7, 4, 10, 16, 12, 6, 9, 5)


def show_media(context: PageContext, message: Json, vote: Callable[[int], None]) -> None:
    """Lays out the media of a message; `vote` is called with the number of a poll's option."""
    kind = next((kind for kind in _PLAYERS if kind in message), "")
    if kind:
        _play(context, message, kind)
    elif "document" in message:
        _document(context, message["document"])
    elif "contact" in message:
        _contact(message["contact"])
    elif "venue" in message:
        _card("storefront", message["venue"]["title"], message["venue"]["address"])
    elif "location" in message:
        where = {key: str(message["location"][key]) for key in ("latitude", "longitude")}
        name = "live-location" if "live_period" in message["location"] else "location"
        _card("place", context.say(name), context.say("pin-location", **where))
    elif "dice" in message:
        with ui.element("div").classes("dice"):
            ui.label(message["dice"]["emoji"]).classes("sticker-emoji")
            ui.label(str(message["dice"]["value"])).classes("dice-value")
    elif "poll" in message:
        _poll(context, message["poll"], vote)
    elif not message.get("text") and "rich_message" not in message:
        _stand_in(context, message, "help_outline")


def _play(context: PageContext, message: Json, kind: str) -> None:
    tag, look, properties, icon = _PLAYERS[kind]
    file = message[kind][-1] if kind == "photo" else message[kind]
    known = context.telegram.repository.file(str(file["file_id"]))
    image = known is not None and known[1].startswith("image/")
    if known is None or (kind == "sticker" and not image):
        if kind == "sticker":
            ui.label(file.get("emoji", "🙂")).classes("sticker-emoji")
        elif tag == "audio":
            _wave(file, icon)
        else:
            _stand_in(context, message, icon)
        return
    if kind == "audio" and (file.get("title") or file.get("file_name")):
        ui.label(" — ".join(filter(None, (file.get("performer"), file.get("title"))))
                 or file["file_name"]).classes("card-title")  # fmt: skip
    element = ui.element("img" if image else tag).classes(look).props(f"src=/sim/files/{file['file_id']} {properties}")
    element.props["alt"] = context.media_name(message)
    if message.get("has_media_spoiler"):
        element.classes("veiled").props("tabindex=0")


def _card(icon: str, title: str, detail: str) -> None:
    with ui.element("div").classes("card"):
        ui.icon(icon).classes("card-icon")
        _lines(title, detail)


def _lines(title: str, detail: str) -> None:
    with ui.element("div").classes("card-lines"):
        ui.label(title).classes("card-title")
        ui.label(detail).classes("card-detail")


def _document(context: PageContext, document: Json) -> None:
    name, size = str(document.get("file_name", "")), readable_size(int(document.get("file_size", 0)))
    if context.telegram.repository.file(str(document["file_id"])) is None:
        _card("description", name, size)
        return
    link = ui.element("a").classes("card").props("download")
    link.props["href"] = f"/sim/files/{document['file_id']}"
    link.props["title"] = context.say("download")
    with link:
        ui.icon("download").classes("card-icon")
        _lines(name, size)


def _contact(contact: Json) -> None:
    with ui.element("div").classes("card"):
        avatar({"id": contact.get("user_id") or len(full_name(contact)), **contact})
        _lines(full_name(contact), str(contact.get("phone_number", "")))


def _wave(sound: Json, icon: str) -> None:
    seconds = int(sound.get("duration", 0))
    with ui.element("div").classes("card"):
        ui.icon(icon).classes("card-icon")
        with ui.element("div").classes("card-lines"):
            with ui.element("div").classes("wave"):
                for height in _WAVE:
                    ui.element("i").style(f"height:{height}px")
            ui.label(f"{seconds // 60}:{seconds % 60:02}").classes("card-detail")


def _stand_in(context: PageContext, message: Json, icon: str) -> None:
    with ui.element("div").classes("picture"):
        ui.icon(icon)
        ui.label(context.media_name(message))


def _poll(context: PageContext, poll: Json, vote: Callable[[int], None]) -> None:
    """Shows a poll with the share of each option; a tap votes."""
    votes = int(poll["total_voter_count"])
    with ui.element("div").classes("poll"):
        ui.label(poll["question"]).classes("card-title")
        state = "poll-closed" if poll["is_closed"] else "poll-anonymous" if poll["is_anonymous"] else "poll"
        ui.label(context.say(state)).classes("card-detail")
        for number, option in enumerate(poll["options"]):
            share = round(100 * option["voter_count"] / votes) if votes else 0
            row = ui.element("div").classes("poll-option").style(f"--share:{share}%")
            with row:
                ui.label(option["text"])
                ui.label(f"{share}%").classes("card-detail")
            if not poll["is_closed"]:
                row.props("role=button tabindex=0").on("click", lambda number=number: vote(number))
        ui.label(context.say("votes", count=votes)).classes("card-detail")


def avatar(person: Json) -> None:
    name = full_name(person)
    ui.label(initials(name)).classes(f"avatar small {colour(int(person['id']))}")


def readable_size(size: int) -> str:
    amount = float(size)
    for unit in ("B", "KB", "MB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GB"
