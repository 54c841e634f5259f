"""The chat page: a Telegram that a person can use in the browser, built with NiceGUI."""

from pathlib import Path

from fastapi import FastAPI

from bot.shared.languages import preferred, speak
from bot.simulator.telegram import Telegram

_HERE = Path(__file__).parent
_ICON = (_HERE / "icon.svg").read_text(encoding="utf-8")
_AWAY_S = 15.0
"""Seconds that a page may be unreachable without being loaded again."""


def mount(app: FastAPI, telegram: Telegram) -> None:
    """Serves the chat page at `/`, for the person `?user=ID`, in the group `&chat=ID` if given.

    If there is an installation to set up, `/setup` is the page to choose the models.
    """
    from nicegui import Client, ui

    from bot.simulator.page.chat_page import ChatPage
    from bot.simulator.page.setup_page import SetupPage

    style = (_HERE / "style.css").read_text(encoding="utf-8")

    @ui.page("/", title=f"{telegram.bot['first_name']} · Telegram", favicon=_ICON)
    def chat_page(client: Client, user: int | None = None, chat: int | None = None) -> None:
        language = preferred(client.request.headers.get("accept-language", ""))
        speak(client, language)
        ui.add_css(style)
        ChatPage(telegram, client, language, user, chat)

    installation = telegram.installation
    if installation is not None:

        @ui.page("/setup", title=f"{telegram.bot['first_name']} · Telegram", favicon=_ICON)
        def setup_page(client: Client) -> None:
            language = preferred(client.request.headers.get("accept-language", ""))
            speak(client, language)
            ui.add_css(style)
            ui.dark_mode(telegram.repository.setting("theme"))
            SetupPage(installation, language)

    ui.run_with(app, show_welcome_message=False, tailwind=False, reconnect_timeout=_AWAY_S)
