"""The languages of the pages, and the choice of one for a visitor."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from nicegui import Client

LANGUAGES: Final = {"uk": "Українська", "ru": "Русский", "en": "English"}
_OF_THE_LIBRARY: Final[Mapping[str, Literal["uk", "ru", "en-GB"]]] = {"uk": "uk", "ru": "ru", "en": "en-GB"}


def preferred(accepted: str) -> str:
    """The first language of an Accept-Language header that the pages have, else English."""
    for part in accepted.split(","):
        short = part.split(";")[0].strip().partition("-")[0].lower()
        if short in LANGUAGES:
            return short
    return "en"


def speak(client: Client, language: str) -> None:
    """Sets the page library's language for this visitor only: its pages have one language for all."""
    client.page = copy(client.page)
    client.page.language = _OF_THE_LIBRARY[language]
