"""Texts in Russian, Ukrainian and English: Fluent files in a folder, one for each language or a folder of them."""

from functools import cache
from pathlib import Path
from typing import ClassVar

from fluent.runtime import FluentBundle, FluentResource

from bot.shared.languages import LANGUAGES


class FluentPhrases:
    """The phrases of one language, called with a name and variables; languages other than the three become English."""

    locales: ClassVar[Path]

    def __init__(self, language: str) -> None:
        short = language.partition("-")[0].lower()
        self.language = short if short in LANGUAGES else "en"
        self._bundle = bundle(self.locales, self.language)

    def __call__(self, name: str, /, **values: str | int | float) -> str:
        pattern = self._bundle.get_message(name).value
        assert pattern is not None, name
        text, errors = self._bundle.format_pattern(pattern, values)
        assert not errors, (name, errors)
        return str(text)


@cache
def bundle(locales: Path, language: str) -> FluentBundle:
    """All messages of one language."""
    # Isolation marks would get into names that the pages compare and people copy.
    loaded = FluentBundle([language], use_isolating=False)
    for file in sorted((*locales.glob(f"{language}.ftl"), *(locales / language).glob("*.ftl"))):
        loaded.add_resource(FluentResource(file.read_text(encoding="utf-8")))
    return loaded


def initials(name: str) -> str:
    """The letters of a name on an avatar."""
    words = [word for word in name.split() if word[0].isalnum()]
    return "".join(word[0] for word in words[:2]).upper() or "?"
