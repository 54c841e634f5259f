"""Reads the text in a picture by tesseract (Debian: tesseract-ocr, tesseract-ocr-rus, tesseract-ocr-ukr)."""

import asyncio
import contextlib
import os
import shutil
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from subprocess import DEVNULL, PIPE, run
from typing import Final

PROGRAM: Final = "tesseract"
_LANGUAGES: Final = ("ukr", "rus", "eng")
_NAMES: Final[dict[str, str]] = {"uk": "ukr", "ru": "rus", "en": "eng"}
_SHAPES: Final = str.maketrans("АВСЕНІКМОРТХУавсенікмортху", "ABCEHIKMOPTXYabcehikmoptxy")
"""Maps Cyrillic letters to the Latin ones that look the same."""
_AS_SURE: Final = 1.0
"""Percent of confidence up to which two readings of equal shapes differ only by language."""
_LEAST_CONFIDENCE: Final = 60.0
"""Least confidence of a reading, in percent: text that tesseract sees in leaves and fabrics is mostly below."""
_LEAST_LETTERS: Final = 4
_TIMEOUT: Final = 20.0


@cache
def languages() -> str:
    """The installed languages in tesseract's form; "" if it is not installed."""
    if shutil.which(PROGRAM) is None:
        return ""
    listed = run([PROGRAM, "--list-langs"], stdout=PIPE, stderr=DEVNULL, text=True, check=False).stdout.split()
    return "+".join(one for one in _LANGUAGES if one in listed)


async def text_in(jpeg: bytes, lang: str) -> str:
    """The text that can be read with confidence, on one line; "" if there is none, or not in time.

    All languages together see letters of one alphabet in words of the other (OPEN as ОРЕМ), so a picture with words is
    read again in the owner's language and in English; the surest reading counts, and between equal shapes the owner's.
    """
    if not languages():
        return ""
    found = [await _read(jpeg, languages())]
    if not found[0].text:
        return ""
    alone = [
        one for one in dict.fromkeys((_NAMES[lang], "eng")) if one in languages().split("+") and one != languages()
    ]
    found += [await _read(jpeg, one) for one in alone]
    best = max(found, key=lambda one: one.confidence)
    shape, least = best.text.translate(_SHAPES), best.confidence - _AS_SURE
    same = (one.text for one in found[1:2] if one.confidence >= least and one.text.translate(_SHAPES) == shape)
    return next(same, best.text)


@dataclass(frozen=True, slots=True)
class _Reading:
    """The words of which tesseract is sure, and its mean confidence in percent, weighted by letters."""

    text: str
    confidence: float


async def _read(jpeg: bytes, languages: str) -> _Reading:
    command = (PROGRAM, "stdin", "stdout", "-l", languages, "tsv")
    # One thread: several for one picture take more processor time than they save.
    reading = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env={**os.environ, "OMP_THREAD_LIMIT": "1"}
    )
    try:
        async with asyncio.timeout(_TIMEOUT):
            found, _ = await reading.communicate(jpeg)
    except TimeoutError:
        return _Reading("", 0)
    finally:
        with contextlib.suppress(ProcessLookupError):
            reading.kill()
    return _of_table(found.decode("utf-8", "replace"))


def _of_table(table: str) -> _Reading:
    """The text in tesseract's table, line by line."""
    rows = [line.split("\t") for line in table.splitlines()[1:]]
    words = [row for row in rows if len(row) == 12 and row[11].strip()]
    sure = [row for row in words if float(row[10]) >= _LEAST_CONFIDENCE]
    lines = [" ".join(row[11].strip() for row in line) for _, line in groupby(sure, key=lambda row: row[1:5])]
    text = " / ".join(lines)
    if sum(map(str.isalnum, text)) < _LEAST_LETTERS:
        return _Reading("", 0)
    letters = sum(len(row[11]) for row in words)
    return _Reading(text, sum(float(row[10]) * len(row[11]) for row in words) / letters)
