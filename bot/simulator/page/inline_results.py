"""The bot's inline results above the field while a user types after its name; a tap sends one."""

from collections.abc import Callable
from functools import partial
from typing import Final

from nicegui import ui

from bot.simulator.actions import ActRefused
from bot.simulator.page.page_context import PageContext
from bot.simulator.repository import Json
from bot.simulator.server.errors import ApiRefusal

_PAUSE_S: Final = 0.3
"""Seconds without typing after which the bot is asked, as in Telegram's apps."""
_Row = tuple[str, str, Callable[[], object]]
"""The title, the detail, and the action of a tap."""


class InlineResults:
    """Asks the bot, and fills `box` with its answer."""

    def __init__(
        self, context: PageContext, box: ui.element, fill: Callable[[str], None], send: Callable[[str], None]
    ) -> None:
        """`fill` puts a text into the field, `send` sends one."""
        self._context, self._box, self._fill, self._send = context, box, fill, send
        self._handle = f"@{context.telegram.bot['username']}"
        self._typed = ""
        self._asked = ""

    def typed(self, text: str) -> bool:
        """Takes the text of the field. Returns False if it does not begin with the bot's name."""
        self._typed, self._asked = text, ""
        handle, space, words = text.partition(" ")
        if space and handle.lower() == self._handle:
            ui.timer(_PAUSE_S, partial(self._ask, text, words), once=True)
            return True
        offered = text.startswith("@") and not space and self._handle.startswith(text.lower())
        if offered:
            self._rows([(self._handle, self._context.say("inline"), partial(self._fill, f"{self._handle} "))])
        return offered

    def _ask(self, text: str, words: str) -> None:
        if text == self._typed:
            context = self._context
            self._asked = context.people.ask_inline(context.user_id, words, chat_id=context.chat_id)

    def answered(self, query: Json) -> None:
        """Shows the bot's answer, unless the query is no longer in the field."""
        if query["id"] != self._asked:
            return
        rows: list[_Row] = [
            (
                str(one.get("title") or self._context.preview(one["content"] or {})),
                str(one.get("description") or ""),
                partial(self._choose, query["id"], one["id"]),
            )
            for one in query["answer"]["results"]
        ]
        button = query["answer"].get("button")
        if button and self._context.private:
            start = f"/start {button.get('start_parameter', '')}".strip()
            rows.insert(0, (button["text"], "", partial(self._start, start)))
        self._rows(rows)

    def _start(self, text: str) -> None:
        self._fill("")
        self._send(text)

    async def _choose(self, query_id: str, result_id: str) -> None:
        try:
            await self._context.people.choose_inline(query_id, result_id)
        except (ActRefused, ApiRefusal) as error:
            ui.notify(self._context.say("not-sent", reason=str(error)), type="negative")
        else:
            self._fill("")

    def _rows(self, rows: list[_Row]) -> None:
        self._box.clear()
        self._box.set_visibility(bool(rows))
        with self._box:
            for title, detail, act in rows:
                row = ui.element("div").classes("command inline-result").props("role=button tabindex=0")
                with row.on("click", act):
                    ui.label(title).classes("command-name")
                    ui.label(detail).classes("command-text")
