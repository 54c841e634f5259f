"""What the rules can obey of the standing instructions: language, length, lists and emoji of an answer."""

import re
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from internal.agents.model import Language, ResponderRequest
from internal.language.dates.units import fold
from internal.language.instructions.topics import condition_of, language_of, times_of, topics_of
from internal.language.instructions.withdrawals import DISMISSED
from internal.language.text.spelling import sentence_spans

_WEEKEND: Final = 5
_NEVER: Final = re.compile(r"(?<!\w)(?:never|don't|do not|not|no|stop|не|ніколи|никогда|хватит|досить)(?!\w)")
_EMOJI: Final = re.compile("[\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff]+ ?")
_SHORT: Final = re.compile(r"short|brief|concise|кратк|коротк|короч|стисл|лакон")
_BULLET: Final = "- "
_QUOTE: Final = re.compile('[«“„"]')


def instructed_language(request: ResponderRequest) -> Language | None:
    """The language that the latest instruction which holds now asks for; None where none does."""
    asked = (language_of(text) for text in _holding(request) if not _unwanted(text))
    return next((language for language in asked if language is not None), None)


def as_instructed(answer: str, request: ResponderRequest) -> str:
    """The answer in the form that the latest instruction asks for: its first line, as a list or not, without emoji."""
    lines = answer.split("\n")
    if text := _latest(request, "list"):
        lines = [part for line in lines for part in _bullets(line, wanted=not _unwanted(text))]
    if (text := _latest(request, "emoji")) and _unwanted(text):
        lines = [_EMOJI.sub("", line).strip() for line in lines]
    if (text := _latest(request, "length")) and _unwanted(text) != bool(_SHORT.search(text)):
        lines = lines[:1]
    return "\n".join(lines)


def _bullets(line: str, *, wanted: bool) -> list[str]:
    bare = line.removeprefix(_BULLET)
    if not wanted or line != bare or not bare or bare.endswith(":"):
        return [line if wanted else bare]
    parts = [(0, len(bare))] if _QUOTE.search(bare) else sentence_spans(bare)
    return [_BULLET + bare[start:end].strip() for start, end in parts]


def _unwanted(text: str) -> bool:
    return bool(_NEVER.search(text) or DISMISSED.match(text))


def _latest(request: ResponderRequest, topic: str) -> str:
    """The latest instruction about a manner of answering that holds now; empty where there is none."""
    return next((text for text in _holding(request) if topic in topics_of(text)), "")


def _holding(request: ResponderRequest) -> list[str]:
    """The folded texts of the instructions that hold now, the latest first."""
    now = request.now.astimezone(ZoneInfo(request.owner.timezone))
    return [text for one in reversed(request.instructions) if _is_unconditional_now(text := fold(one.text), now)]


def _is_unconditional_now(text: str, now: datetime) -> bool:
    """Whether an instruction has no condition but days and times of day that fit."""
    times = times_of(text)
    fitting = {
        "weekends" if now.weekday() >= _WEEKEND else "weekdays",
        *(["mornings"] if 5 <= now.hour < 12 else []),
        *(["evenings"] if now.hour >= 18 or now.hour < 5 else []),
    }
    return condition_of(text) == times and times <= fitting
