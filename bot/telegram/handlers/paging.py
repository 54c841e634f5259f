"""Lists in pages: page numbers and the row of buttons to turn pages."""

from collections.abc import Callable

from aiogram.filters.callback_data import CallbackData

from bot.telegram.handlers.buttons import Button, Rows, button
from bot.telegram.i18n import label
from internal.access.model import Language

PAGE = 8
"""People on one page, so that a phone shows the whole keyboard without scrolling."""


def page_count(count: int) -> int:
    return max(1, -(-count // PAGE))


def clamp(page: int, count: int) -> int:
    """The nearest page that exists: people may be gone since the keyboard was made."""
    return min(max(0, page), page_count(count) - 1)


def page_row(lang: Language, page: int, count: int, to: Callable[[int], CallbackData]) -> Rows:
    """The row « 2 of 5 », or no row for a single page. `to` makes the data of a page's button."""
    pages = page_count(count)
    if pages == 1:
        return []
    here = label(lang, "people-page", page=page + 1, pages=pages)
    row: list[Button] = []
    if page > 0:
        row.append(button("«", to(page - 1)))
    row.append(button(here, to(page)))
    if page + 1 < pages:
        row.append(button("»", to(page + 1)))
    return [row]
