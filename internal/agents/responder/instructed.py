"""What the rules can obey of the standing instructions: the language of an answer."""

import re
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from internal.agents.model import Language, ResponderRequest
from internal.language.dates.units import fold
from internal.language.instructions.topics import condition_of, language_of, times_of

_WEEKEND: Final = 5
_NEVER: Final = re.compile(r"(?<!\w)(?:never|don't|do not|not|no|stop|не|ніколи|никогда|хватит|досить)(?!\w)")


def instructed_language(request: ResponderRequest) -> Language | None:
    """The language that the latest instruction which holds now asks for; None where none does."""
    now = request.now.astimezone(ZoneInfo(request.owner.timezone))
    for one in reversed(request.instructions):
        text = fold(one.text)
        language = language_of(text)
        if language is not None and not _NEVER.search(text) and _holds(text, now):
            return language
    return None


def _holds(text: str, now: datetime) -> bool:
    """Whether an instruction has no condition but days and times of day that fit."""
    times = times_of(text)
    fitting = {
        "weekends" if now.weekday() >= _WEEKEND else "weekdays",
        *(["mornings"] if 5 <= now.hour < 12 else []),
        *(["evenings"] if now.hour >= 18 or now.hour < 5 else []),
    }
    return condition_of(text) == times and times <= fitting
