"""A field for a day and a time of day."""

from datetime import date, datetime, time, timedelta

from babel.dates import format_date
from nicegui import ui

from bot.console.elements import icon_button
from bot.console.lists import button, row_field
from bot.console.phrases import Phrases


class DateTimeField:
    """A day from a calendar and a time of day, written as the page is and not as the browser would."""

    def __init__(self, say: Phrases) -> None:
        self._say = say
        self._day = row_field(say("moment-day")).props("readonly")
        self._day.props["placeholder"] = say("moment-none")
        with self._day.add_slot("append"):
            opener = icon_button("event", say("moment-calendar"))
            with opener, ui.menu().props("role=dialog") as menu, ui.date(on_change=self._chosen) as self._calendar:
                button(say("moment-none"), self.clear, quiet=True)
        menu.props["aria-label"] = say("moment-day")
        self._calendar.props("minimal")
        self._day.on("click", menu.open)
        self._calendar.on_value_change(menu.close)
        self._time = row_field(say("moment-time")).props('mask="##:##" placeholder="––:––" inputmode=numeric')

    def _chosen(self) -> None:
        day = self._calendar.value
        self._day.value = format_date(date.fromisoformat(day), "d MMM y", locale=self._say.language) if day else ""

    def clear(self) -> None:
        self._calendar.value = None
        self._time.value = ""

    def read(self, otherwise: str = "") -> str | None:
        """A time in the owner's zone, a bare date without a time of day, "" if both are empty, or None if mistyped.

        A time without a day is the next such time. `otherwise` is the default time of day.
        """
        day = self._calendar.value
        clock = self._time.value or (otherwise if day else "")
        if not clock:
            return day or ""
        try:
            hour = time.fromisoformat(clock)
        except ValueError:
            ui.notify(self._say("moment-mistyped"), type="warning")
            return None
        now = datetime.now(self._say.zone)
        at = datetime.combine(date.fromisoformat(day) if day else now.date(), hour, self._say.zone)
        return (at if day or at > now else at + timedelta(days=1)).isoformat(timespec="seconds")
