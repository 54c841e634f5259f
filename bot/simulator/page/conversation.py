"""The list of messages: history, days, live previews; it stays at the end unless the reader has scrolled up."""

from datetime import date, datetime

from nicegui import ui

from bot.simulator.page.bubbles import Bubble, Reactions
from bot.simulator.page.page_context import PageContext
from bot.simulator.page.rendering import html_of
from bot.simulator.repository import Json
from bot.simulator.telegram import Draft

_PAGE = 60
_MOST = 300  # bubbles on the screen; in a busy chat the oldest disappear


class Conversation:
    """Shows one chat; the page passes it the news."""

    def __init__(self, context: PageContext, reactions: Reactions) -> None:
        self._context = context
        self._reactions = reactions
        self._bubbles: dict[int, Bubble] = {}
        self._last_day: date | None = None
        # Laid out from the bottom: the browser keeps the end in view while messages and drafts grow.
        with ui.element("div").classes("scroller") as self._scroller, ui.element("div").classes("messages"):
            self._earlier = ui.button(context.say("earlier"), on_click=self._show_earlier, color=None).props(
                "flat no-caps"
            )
            self._earlier.classes("earlier")
            self._list = ui.element("div").classes("list")
            self._preview = ui.element("div").classes("preview")
        self._load(None)
        self.show_preview()

    def _load(self, before: int | None) -> None:
        messages = self._context.telegram.repository.history(self._context.chat_id, _PAGE + 1, before)
        self._earlier.set_visibility(len(messages) > _PAGE)
        for message in filter(self._context.shows, messages[-_PAGE:]):
            self.add(message)
        if not messages:
            self._welcome()

    def _welcome(self) -> None:
        if not self._context.private:
            return
        with self._list, ui.element("div").classes("welcome") as self._greeting:
            ui.label(self._context.bot_name()).classes("welcome-title")
            ui.label(self._context.bot_description() or self._context.say("start-hint")).classes("welcome-text")
            ui.button(self._context.say("start"), on_click=lambda: self._reactions.send("/start"), color=None).props(
                "unelevated no-caps"
            )

    def _show_earlier(self) -> None:
        """Adds older messages at the top: lays out the list again, with the shown ones after them."""
        first = min(self._bubbles, default=None)
        shown = [bubble.message for bubble in self._bubbles.values()]
        self._list.clear()
        self._bubbles.clear()
        self._last_day = None
        self._load(first)
        for message in shown:
            self.add(message)

    def add(self, message: Json) -> None:
        """Shows a message at the end of the list."""
        if not self._bubbles:
            self._list.clear()
        day = datetime.fromtimestamp(message["date"]).date()
        with self._list:
            if day != self._last_day:
                self._last_day = day
                ui.label(self._context.say.day(day, date.today())).classes("day")
            self._bubbles[message["message_id"]] = Bubble(self._context, message, self._reactions)

    def arrived(self, message: Json) -> None:
        """Shows a new message, and drops the oldest bubble of a very long list."""
        if not self._context.shows(message):
            return
        self.add(message)
        if len(self._bubbles) > _MOST:
            self.remove(min(self._bubbles))
            self._earlier.set_visibility(True)

    def replace(self, message: Json) -> None:
        bubble = self._bubbles.get(message["message_id"])
        if bubble is not None:
            bubble.replace(message)

    def remove(self, message_id: int) -> None:
        bubble = self._bubbles.pop(message_id, None)
        if bubble is not None:
            bubble.element.delete()

    def refresh_ticks(self) -> None:
        for bubble in self._bubbles.values():
            bubble.refresh_ticks()

    def settle_button(self, message_id: int, data: str) -> None:
        if message_id in self._bubbles:
            self._bubbles[message_id].settle_button(data)

    def go_to_end(self) -> None:
        ui.run_javascript(f"getHtmlElement({self._scroller.id}).scrollTop = 0")

    def show_preview(self) -> None:
        """Shows the draft that is being streamed, or the typing dots, or nothing."""
        draft = self._context.telegram.draft(self._context.chat_id)
        self._preview.clear()
        with self._preview:
            if draft is not None and not (draft.stopped and not draft.keep_on_stop):
                self._draft(draft)
            elif self._context.telegram.is_typing(self._context.chat_id):
                with ui.element("div").classes("message theirs"), ui.element("div").classes("bubble"):
                    _dots()

    def _draft(self, draft: Draft) -> None:
        with ui.element("div").classes("message theirs"), ui.element("div").classes("stack"):
            with ui.element("div").classes("bubble draft"):
                if draft.text:
                    ui.html(html_of(draft.text, draft.entities), sanitize=False).classes("text")
                else:
                    ui.label(self._context.say("thinking")).classes("thinking")
                if not draft.stopped:
                    _dots()
            if draft.can_stop and not draft.stopped:
                stop = ui.button(self._context.say("stop"), icon="stop_circle", on_click=self._stop, color=None)
                stop.props("flat no-caps dense").classes("key stop")

    def _stop(self) -> None:
        self._context.people.stop_generation(self._context.user_id)


def _dots() -> None:
    with ui.element("span").classes("dots"):
        for _ in range(3):
            ui.element("i")
