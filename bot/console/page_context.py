"""The description of a page, and the state of an open one: its session, its language, and the chosen user."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from bot.console.phrases import Phrases
from bot.console.rest import ConsoleRest, Json


@dataclass(frozen=True, slots=True)
class PageContext:
    """What all parts of a page share.

    `users` are those this session may see, most recently active first. `user_id` is the chosen one; None for everybody,
    on pages that can show all users, or if there is no user yet.
    """

    rest: ConsoleRest
    say: Phrases
    admin: bool
    users: list[Json]
    user_id: int | None
    theme: str

    @property
    def user(self) -> Json | None:
        return next((user for user in self.users if user["user_id"] == self.user_id), None)

    def at(self, path: str, **query: Any) -> str:
        """An address within the console, about the same user."""
        parameters: dict[str, Any] = {} if self.user_id is None else {"user": self.user_id}
        parameters |= {name: value for name, value in query.items() if value is not None}
        return f"{path}?{urlencode(parameters)}" if parameters else path


_COLOURS = 8


def tone(number: int) -> str:
    """The CSS class of somebody's colour, one of eight."""
    return f"tone-{abs(number) % _COLOURS}"


@dataclass(frozen=True, slots=True)
class Page:
    """`name` is its phrase `page-<name>`; `icon` a Material icon; `key` the letter after `g` on the keyboard.

    `build` lays out the page inside <main>; a Trouble it raises is shown as an error. `everybody`: the page can show
    all users at once; other pages show one, which the shell chooses.
    """

    name: str
    path: str
    icon: str
    key: str
    build: Callable[[PageContext], Awaitable[None]]
    everybody: bool = False
    wide: bool = False
    """Fills the window; otherwise a page is a column that scrolls."""
