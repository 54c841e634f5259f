"""Parts of pages with lists: growing lists, choices, figures, meters, dialogs and fields."""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from nicegui import ui

from bot.console.elements import empty_list, heading, trouble_notice, words
from bot.console.page_context import PageContext
from bot.console.rest import Json

AT_ONCE: Final = 50
"""Rows that a list fetches at a time."""

Fetch = Callable[[int], Awaitable[tuple[list[Json], int]]]
"""Returns the rows from an offset on, and how many there are in all."""

Choose = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class EmptyText:
    """The empty state of a list: a Material icon and the phrases of a title and a text."""

    icon: str
    title: str
    text: str


class GrowingList:
    """A list that shows its first rows, and more on demand.

    `keeps`: an unchanged row keeps its element, so that a person who reads it or is about to press a button
    in it is not disturbed.
    """

    def __init__(
        self,
        context: PageContext,
        fetch: Fetch,
        row: Callable[[Json], None],
        nothing: EmptyText,
        *,
        keeps: bool = False,
    ) -> None:
        self._context, self._fetch, self._row, self._nothing, self._keeps = context, fetch, row, nothing, keeps
        self._shown = 0
        self._drawn: dict[str, ui.element] = {}
        self._empty = ui.element("div")
        self._list = ui.element("ul").classes("rows")
        self._more = ui.button(context.say("earlier"), color=None, on_click=self._earlier).props("flat no-caps")
        self._more.classes("button")

    async def show(self, fetch: Fetch | None = None) -> int | None:
        """Shows the list from its beginning, from `fetch` if given. Returns the number of all rows. Raises Trouble.

        Returns None if another `fetch` was given meanwhile; its rows are shown.
        """
        self._fetch = asked = fetch or self._fetch
        rows, count = await asked(0)
        if asked is not self._fetch:
            return None
        self._empty.clear()
        if not rows:
            with self._empty:
                empty_list(
                    self._nothing.icon, self._context.say(self._nothing.title), self._context.say(self._nothing.text)
                )
        self._list.set_visibility(bool(rows))
        if not self._keeps:
            self._list.clear()
            self._drawn = {}
        before, self._drawn, self._shown = self._drawn, {}, 0
        self._add(rows, count, before)
        for gone in self._list.default_slot.children[self._shown :]:
            gone.delete()
        return count

    async def _earlier(self) -> None:
        asked, shown = self._fetch, self._shown
        with trouble_notice(self._context):
            rows, count = await asked(shown)
            if asked is self._fetch and shown == self._shown:  # nothing else was pressed meanwhile
                self._add(rows, count, {})

    def _add(self, rows: list[Json], count: int, before: dict[str, ui.element]) -> None:
        for row in rows:
            key = json.dumps(row, sort_keys=True)
            drawn = before.pop(key, None)
            if drawn is None:
                with self._list:
                    self._row(row)
                drawn = self._list.default_slot.children[-1]
            if self._list.default_slot.children[self._shown] is not drawn:
                drawn.move(target_index=self._shown)
            self._drawn[key] = drawn
            self._shown += 1
        self._more.set_visibility(bool(rows) and self._shown < count)


class Choices:
    """A row of buttons, one of which is pressed."""

    def __init__(
        self, context: PageContext, label: str, options: Mapping[str, str], chosen: str, choose: Choose
    ) -> None:
        """`options` are the labels by value."""
        self._context, self._choose = context, choose
        with ui.element("div").classes("choices").props("role=group") as group:
            group.props["aria-label"] = label
            self._buttons = {value: self._button(value, text) for value, text in options.items()}
        self.chosen = chosen
        self._press()

    def _button(self, value: str, text: str) -> ui.element:
        async def pressed() -> None:
            self.chosen = value
            self._press()
            with trouble_notice(self._context):
                await self._choose(value)

        return words("button", text, "choice").props("type=button").on("click", pressed)

    def _press(self) -> None:
        for value, button in self._buttons.items():
            button.props(f"aria-pressed={str(value == self.chosen).lower()}")


@contextmanager
def figures() -> Iterator[None]:
    """A row of `figure`s."""
    with ui.element("dl").classes("figures"):
        yield


def figure(name: str, value: str, kind: str = "") -> None:
    """A number with its name; `kind` is "", "good", "warn" or "bad"."""
    with ui.element("div").classes(f"figure {kind}".strip()):
        words("dt", name)
        words("dd", value)


def dollars(amount: float) -> str:
    """US dollars; small amounts to a hundredth of a cent, the price of one call."""
    return f"${amount:.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


def meter(share: float, label: str, kind: str = "") -> None:
    """A bar filled by a share from 0 to 1; `label` says it in words."""
    with ui.element("div").classes(f"meter {kind}".strip()).props("role=img") as bar:
        bar.props["aria-label"] = label
        ui.element("span").style(f"width: {min(max(share, 0.0), 1.0) * 100:.1f}%")


@contextmanager
def question(title: str) -> Iterator[ui.dialog]:
    """A dialog with that title, opened with `open()`; closing it removes it.

    It belongs to the page: the row or menu that opened it may be gone before it is answered.
    """
    with ui.context.client.content, ui.dialog() as dialog, ui.element("div").classes("question"):
        dialog.props["aria-label"] = title
        dialog.on("hide", dialog.delete)
        heading(title, 2)
        yield dialog


def answers(context: PageContext, dialog: ui.dialog, label: str, done: Callable[[], Awaitable[None]]) -> None:
    """The buttons of a dialog; confirming calls `done`, and closes the dialog unless that was refused."""

    async def confirmed() -> None:
        with trouble_notice(context):
            await done()
            dialog.close()

    with ui.element("div").classes("question-buttons"):
        words("button", context.say("records-cancel"), "button quiet").props("type=button").on("click", dialog.close)
        words("button", label, "button").props("type=button").on("click", confirmed)


def button(label: str, click: Callable[..., Any] | None, *, icon: str | None = None, quiet: bool = False) -> ui.button:
    made = ui.button(label, icon=icon, color=None, on_click=click).props(
        "no-caps " + ("flat" if quiet else "unelevated")
    )
    return made.classes("button")


def field(label: str, value: str = "", *, lines: bool = False, most: int = 2000) -> ui.input:
    """A field with its label. `lines`: a text of several lines."""
    made = ui.textarea(label, value=value) if lines else ui.input(label, value=value)
    return made.props(f"outlined dense maxlength={most}" + (" rows=3" if lines else "")).classes("field")


def row_field(label: str, *, most: int = 2000) -> ui.input:
    """A field with its label above it, like a Select."""
    with ui.element("div").classes("select"):
        words("span", label, "select-label").props("aria-hidden=true")
        made = ui.input().props(f"outlined dense maxlength={most}").classes("field")
        made.props["aria-label"] = label
    return made


class Select:
    """A plain HTML select, as phones have good ones of their own."""

    def __init__(self, label: str, options: Mapping[str, str], chosen: str) -> None:
        self.value = chosen
        with ui.element("label").classes("select"):
            words("span", label, "select-label")
            with ui.element("select").on("change", self._changed, js_handler="(e) => emit(e.target.value)"):
                for value, text in options.items():
                    option = words("option", text).props("selected" if value == chosen else "")
                    option.props["value"] = value

    def _changed(self, event: Any) -> None:
        self.value = str(event.args)
