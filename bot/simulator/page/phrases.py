"""The page's texts in Russian, Ukrainian and English."""

from datetime import date, datetime, timedelta
from pathlib import Path

from babel.dates import format_date, format_skeleton

from bot.shared.phrases import FluentPhrases


class Phrases(FluentPhrases):
    """The phrases of the page in one language."""

    locales = Path(__file__).parent / "locales"

    def day(self, day: date, today: date) -> str:
        """A day for the separator in a chat: today, yesterday, 21 November, 21 November 2025."""
        if day == today:
            return self("today")
        if day == today - timedelta(days=1):
            return self("yesterday")
        if day.year != today.year:
            return format_date(day, "long", locale=self.language)
        return format_skeleton("MMMMd", datetime(day.year, day.month, day.day), locale=self.language)
