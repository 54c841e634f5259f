"""The console's texts in Russian, Ukrainian and English, one file for each page."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from babel.dates import format_datetime, format_timedelta
from babel.numbers import format_decimal

from bot.shared.phrases import FluentPhrases

_TALK = re.compile(r"(dialogue|session) (\d{4}-\d\d-\d\d \d\d:\d\d)")
"""Names of stored fragments (in UTC) and of sessions (in the owner's zone)."""
_EXACT = {"year": "y", "month": "LLL y"}
"""The date patterns for facts whose dates were stated less exactly than by day."""


class Phrases(FluentPhrases):
    """The phrases of the console in one language; times are shown in the zone `tz`."""

    locales = Path(__file__).parent / "locales"

    def __init__(self, language: str, tz: str = "UTC") -> None:
        super().__init__(language)
        self.zone = ZoneInfo(tz)

    def known(self, name: str, otherwise: str, /, **values: str | int | float) -> str:
        """The phrase, or `otherwise` if the console has none of that name."""
        return self(name, **values) if self._bundle.has_message(name) else otherwise

    def reason(self, decision: str) -> str:
        """The reason for a decision: a rule's key in the reader's language, a model's sentence unchanged."""
        return self.known(f"reason-{decision.replace('_', '-')}", decision)

    def relation(self, name: str) -> str:
        """The relation of a fact; most are free text."""
        return self.known(f"relation-{name}", name.replace("_", " ").lower())

    def source(self, name: str) -> str:
        """The name of a source or context: for a conversation its time in the reader's words, any other unchanged."""
        talk = _TALK.fullmatch(name)
        if talk is None:
            return name
        at = datetime.fromisoformat(talk[2]).replace(tzinfo=UTC if talk[1] == "dialogue" else self.zone)
        return f"{self('label-Session')}, {self.moment(at)}"

    def moment(self, at: datetime | str | None, form: str = "d MMM y, HH:mm") -> str:
        """A time in the owner's zone, in a CLDR pattern, or a dash for None. Accepts REST's ISO 8601, too."""
        if at is None:
            return "—"
        moment = datetime.fromisoformat(at) if isinstance(at, str) else at
        return format_datetime(moment.astimezone(self.zone), form, locale=self.language)

    def day(self, fact: Mapping[str, Any], field: str) -> str:
        """A date of a fact with the precision that was stated: a year, a month or a day."""
        return self.moment(fact[field], _EXACT.get(fact[f"{field}_precision"], "d MMM y"))

    def ago(self, at: datetime | str, now: datetime) -> str:
        moment = datetime.fromisoformat(at) if isinstance(at, str) else at
        return format_timedelta(moment - now, add_direction=True, locale=self.language, format="short")

    def span(self, length: timedelta) -> str:
        """A duration in its largest unit, from seconds up: 3 hr."""
        return format_timedelta(length, locale=self.language, format="short")

    def number(self, value: float) -> str:
        return format_decimal(value, locale=self.language)

    def bundle(self, names: Iterable[str]) -> dict[str, str]:
        """Several phrases without variables, for the browser."""
        return {name: self(name) for name in names}
