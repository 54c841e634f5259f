"""Dialogs with fields and buttons."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from bot.console.elements import words
from bot.console.page_context import PageContext
from bot.console.rest import BotDown, LoggedOut, RestError


@contextmanager
def asking(context: PageContext, title: str, text: str = "") -> Iterator[ui.dialog]:
    """Opens a dialog; elements created in the block are laid under its title.

    It belongs to the page, not to the part whose button opened it, which may be laid out again meanwhile.
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


def cancel(context: PageContext, dialog: ui.dialog) -> None:
    words("button", context.say("people-cancel"), "act").props("type=button").on("click", dialog.close)


def answer(text: str, do: Callable[[], object]) -> TextElement:
    return words("button", text, "button").props("type=button").on("click", do)


class DialogError:
    """The place for an error in a dialog, which stays open."""

    def __init__(self, context: PageContext) -> None:
        self._context = context
        self._box = words("p", "", "fault ask-fault").props("role=alert")
        self._box.set_visibility(False)

    @contextmanager
    def shown(self) -> Iterator[None]:
        try:
            yield
        except LoggedOut:
            ui.navigate.to("/login")
        except RestError as error:
            down = isinstance(error, BotDown)
            self._box.set_text(self._context.say("trouble-down") if down else str(error))
            self._box.set_visibility(True)
