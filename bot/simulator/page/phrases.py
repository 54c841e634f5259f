"""The page's texts in Russian, Ukrainian and English."""

from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path

from babel.dates import format_date, format_skeleton
from fluent.runtime import FluentBundle, FluentResource

from bot.shared.languages import LANGUAGES

_LOCALES = Path(__file__).parent / "locales"


class Phrases:
    """Calls it with a phrase's name and its variables; other languages than the three fall back to English."""

    def __init__(self, language: str) -> None:
        short = language.partition("-")[0].lower()
        self.language = short if short in LANGUAGES else "en"
        self._bundle = _bundle(self.language)

    def __call__(self, name: str, /, **values: str | int) -> str:
        pattern = self._bundle.get_message(name).value
        assert pattern is not None, name
        text, errors = self._bundle.format_pattern(pattern, values)
        assert not errors, (name, errors)
        return str(text)

    def day(self, day: date, today: date) -> str:
        """A day as a chat's separator names it: today, yesterday, 21 November, 21 November 2025."""
        if day == today:
            return self("today")
        if day == today - timedelta(days=1):
            return self("yesterday")
        if day.year != today.year:
            return format_date(day, "long", locale=self.language)
        return format_skeleton("MMMMd", datetime(day.year, day.month, day.day), locale=self.language)


@cache
def _bundle(language: str) -> FluentBundle:
    # Isolation marks would be part of names that the page compares and that people copy.
    bundle = FluentBundle([language], use_isolating=False)
    bundle.add_resource(FluentResource((_LOCALES / f"{language}.ftl").read_text(encoding="utf-8")))
    return bundle
