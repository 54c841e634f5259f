"""Callback data of every button. `owner` is whom the button was made for; whoever else presses it gets a toast.

Telegram allows 64 bytes: prefixes are short, and ids are at most a UUID beside a Telegram id.
"""

from __future__ import annotations

from enum import StrEnum

from aiogram.filters.callback_data import CallbackData

from internal.access.model import Language
from internal.people.model import Circle


class Owned(CallbackData, prefix="_"):
    owner: int


class LanguageButton(Owned, prefix="l"):
    lang: Language


class ZoneButton(Owned, prefix="z"):
    """An empty `zone` asks for another one in words."""

    zone: str


class PeopleButton(Owned, prefix="pp"):
    """A page of one circle; no circle is the overview. Pages count from 0."""

    circle: Circle | None = None
    page: int = 0


class PersonAction(StrEnum):
    SHOW = "s"
    CIRCLE = "c"
    EDIT = "e"
    MERGE = "m"
    FORGET = "f"


class PersonButton(Owned, prefix="p"):
    person: int
    action: PersonAction = PersonAction.SHOW


class CircleButton(Owned, prefix="c"):
    person: int
    circle: Circle


class FieldButton(Owned, prefix="e"):
    person: int
    field: str


class MergePageButton(Owned, prefix="mp"):
    source: int
    page: int = 0


class MergeButton(Owned, prefix="m"):
    """Without `sure` it asks first."""

    source: int
    target: int
    sure: bool = False


class SplitButton(Owned, prefix="sp"):
    source: int


class ForgetButton(Owned, prefix="f"):
    """`person` 0 is everything. Without `sure` it asks first."""

    person: int = 0
    sure: bool = False


class UndoButton(Owned, prefix="u"):
    forgetting: str


class SuggestionButton(Owned, prefix="s"):
    suggestion: str
    accept: bool


class SuggestionsButton(Owned, prefix="ss"):
    """The first of what waits for the owner's decision."""


class AccessButton(Owned, prefix="a"):
    """Removes a user; without `sure` it asks first."""

    user: int
    sure: bool = False


class KeepButton(Owned, prefix="k"):
    """Leaves everything as it is."""


Button = tuple[str, str]
Rows = list[list[Button]]


def button(text: str, data: CallbackData) -> Button:
    return text, data.pack()
