"""What makes a page of the console."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.console.page_context import PageContext


@dataclass(frozen=True, slots=True)
class Page:
    """`name` is its phrase `page-<name>`; `icon` a Material icon; `key` the letter that follows `g` on the keyboard.

    `build` lays the page inside <main>; a Trouble it raises is shown as an error with a way on. `everybody`: the page
    can show all users at once; others are about one, and the shell chooses whom.
    """

    name: str
    path: str
    icon: str
    key: str
    build: Callable[[PageContext], Awaitable[None]]
    everybody: bool = False
    wide: bool = False
    """Fills the window; otherwise a page is a column that scrolls."""
