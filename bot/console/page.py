"""The description of a console page."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.console.page_context import PageContext


@dataclass(frozen=True, slots=True)
class Page:
    """`name` is its phrase `page-<name>`; `icon` a Material icon; `key` the letter after `g` on the keyboard.

    `build` lays out the page inside <main>; a Trouble it raises is shown as an error. `everybody`: the page can show
    all users at once; other pages show one, and the shell chooses whom.
    """

    name: str
    path: str
    icon: str
    key: str
    build: Callable[[PageContext], Awaitable[None]]
    everybody: bool = False
    wide: bool = False
    """Fills the window; otherwise a page is a column that scrolls."""
