"""Dialogs: a question with its fields and buttons, from which nobody comes away without an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from bot.console.elements import words
from bot.console.page_context import PageContext
from bot.console.rest import BotDown, LoggedOut, RestError


@contextmanager
def asking(seat: PageContext, title: str, text: str = "") -> Iterator[ui.dialog]:
    """An open dialog; what is laid inside the block stands under its title.

    It belongs to the page, not to the part whose button opened it: that may be laid anew meanwhile.
    """
    with ui.context.client.content, ui.dialog() as dialog, ui.card().classes("ask"):
        dialog.props["aria-label"] = title
        words("h2", title)
        if text:
            words("p", text, "ask-text")
        yield dialog
    dialog.on_value_change(lambda event: None if event.value else dialog.delete())
    dialog.open()


@contextmanager
def answers() -> Iterator[None]:
    """The row of buttons."""
    with ui.element("div").classes("ask-acts"):
        yield


def cancel(seat: PageContext, dialog: ui.dialog) -> None:
    words("button", seat.say("people-cancel"), "act").props("type=button").on("click", dialog.close)


def answer(text: str, do: Callable[[], object]) -> TextElement:
    return words("button", text, "button").props("type=button").on("click", do)


class Fault:
    """Where a dialog says why it could not be done; the dialog stays open."""

    def __init__(self, seat: PageContext) -> None:
        self._seat = seat
        self._place = words("p", "", "fault ask-fault").props("role=alert")
        self._place.set_visibility(False)

    @contextmanager
    def told(self) -> Iterator[None]:
        try:
            yield
        except LoggedOut:
            ui.navigate.to("/login")
        except RestError as error:
            down = isinstance(error, BotDown)
            self._place.set_text(self._seat.say("trouble-down") if down else str(error))
            self._place.set_visibility(True)
