"""The chat page."""

from __future__ import annotations

from fastapi import FastAPI

from bot.simulator.telegram import Telegram


def mount(app: FastAPI, telegram: Telegram) -> None:
    """Serve the chat page at `/`."""
    from nicegui import ui

    @ui.page("/")
    def chat_page() -> None:
        ui.label("Local Telegram")

    ui.run_with(app, title="Local Telegram", show_welcome_message=False, tailwind=False)
