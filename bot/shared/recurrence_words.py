"""A rule of recurrence in words: "every Monday", "щодня". The caller supplies the phrases."""

from collections.abc import Callable
from typing import Final

from internal.tasks.model import WEEKDAYS

_WORKDAYS: Final = "MO,TU,WE,TH,FR"
_WEEKEND: Final = "SA,SU"


def repeat_words(rule: str, say: Callable[..., str]) -> str:
    """`rule` is in the form of RFC 5545; `say` returns a phrase by its name and variables."""
    parts = dict(part.split("=", 1) for part in rule.split(";"))
    every, days = int(parts.get("INTERVAL", "1")), parts.get("BYDAY", "")
    if parts["FREQ"] == "WEEKLY" and days and every == 1:
        if days in (_WORKDAYS, _WEEKEND):
            return say("repeat-workdays" if days == _WORKDAYS else "repeat-weekends")
        named = [say("repeat-weekday", day=WEEKDAYS.index(day)) for day in days.split(",") if day in WEEKDAYS]
        return say("repeat-on", days=_joined(named, say)) if named else say("repeat-weekly", count=1)
    return say(f"repeat-{parts['FREQ'].casefold()}", count=every)


def _joined(words: list[str], say: Callable[..., str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {say('repeat-and')} {words[-1]}"
