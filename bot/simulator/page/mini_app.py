"""A Mini App in a frame, opened like in Telegram: with signed data about the person, colours and a back button."""

import hmac
import json
import time
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from nicegui import ui

from bot.simulator.page.page_context import PageContext
from bot.simulator.repository import Json

VERSION: Final = "9.6"
"""The version of Mini Apps that this Telegram reports."""

_COLOURS: Final = {
    "light": {"bg_color": "#ffffff", "text_color": "#111418", "secondary_bg_color": "#f1f3f5", "hint_color": "#5b6570"},
    "dark": {"bg_color": "#17212b", "text_color": "#f2f5f8", "secondary_bg_color": "#232e3c", "hint_color": "#9aa7b4"},
}
_USER_FIELDS: Final = ("id", "first_name", "last_name", "username", "language_code")
_FRAME: Final = (Path(__file__).parent / "mini_app.js").read_text(encoding="utf-8")


def init_data(token: str, user: Json, at: int, start_param: str = "") -> str:
    """The data about the person who opened a Mini App, signed with the bot's token."""
    known = {name: user[name] for name in _USER_FIELDS if name in user}
    fields = {"query_id": f"q{at}", "user": json.dumps(known, ensure_ascii=False), "auth_date": str(at)}
    fields |= {"start_param": start_param} if start_param else {}
    lines = "\n".join(f"{name}={value}" for name, value in sorted(fields.items()))
    secret = hmac.new(b"WebAppData", token.encode(), sha256).digest()
    return urlencode(fields | {"hash": hmac.new(secret, lines.encode(), sha256).hexdigest()})


def open_mini_app(context: PageContext, url: str, *, dark: bool) -> None:
    """Shows the page at `url` in a dialog until it closes itself or is closed."""
    colours = _COLOURS["dark" if dark else "light"]
    launch = {
        "tgWebAppData": init_data(context.telegram.token, context.user, int(time.time())),
        "tgWebAppVersion": VERSION,
        "tgWebAppPlatform": "web",
        "tgWebAppThemeParams": json.dumps(colours),
    }
    with ui.dialog() as dialog, ui.card().classes("mini-app"):
        with ui.row().classes("mini-app-head"):
            back = ui.button(icon="arrow_back", color=None).props("flat round dense").classes("mini-app-back invisible")
            back.props["aria-label"] = context.say("back")
            ui.label(context.bot_name()).classes("dialog-title")
            close = ui.button(icon="close", on_click=dialog.close, color=None).props("flat round dense")
            close.props["aria-label"] = context.say("close")
        frame = ui.element("iframe").classes("mini-app-frame")
        frame.props["src"] = f"{url}#{urlencode(launch)}"
        frame.props["title"] = context.bot_name()
    frame.on("close-app", dialog.close)
    dialog.on("hide", dialog.delete)
    dialog.open()
    ui.run_javascript(_FRAME.replace("FRAME", str(frame.id)).replace("BACK", str(back.id)))
