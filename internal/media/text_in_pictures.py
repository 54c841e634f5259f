"""The text in a picture, read by tesseract (Debian: tesseract-ocr, tesseract-ocr-rus, tesseract-ocr-ukr)."""

import asyncio
import contextlib
import os
import shutil
from functools import cache
from itertools import groupby
from subprocess import DEVNULL, PIPE, run
from typing import Final

PROGRAM: Final = "tesseract"
_LANGUAGES: Final = ("ukr", "rus", "eng")
_LEAST_CONFIDENCE: Final = 60.0
"""Percent. What tesseract sees in leaves and fabrics is mostly below."""
_LEAST_LETTERS: Final = 4
_TIMEOUT: Final = 20.0


@cache
def languages() -> str:
    """The languages that can be read, as tesseract takes them; "" where it is not installed."""
    if shutil.which(PROGRAM) is None:
        return ""
    listed = run([PROGRAM, "--list-langs"], stdout=PIPE, stderr=DEVNULL, text=True, check=False).stdout.split()
    return "+".join(one for one in _LANGUAGES if one in listed)


async def text_in(jpeg: bytes) -> str:
    """What can be read with confidence, on one line; "" where nothing can be, or not in time."""
    if not languages():
        return ""
    command = (PROGRAM, "stdin", "stdout", "-l", languages(), "tsv")
    # One thread: several for one picture take more processor time than they save.
    reading = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env={**os.environ, "OMP_THREAD_LIMIT": "1"}
    )
    try:
        async with asyncio.timeout(_TIMEOUT):
            found, _ = await reading.communicate(jpeg)
    except TimeoutError:
        return ""
    finally:
        with contextlib.suppress(ProcessLookupError):
            reading.kill()
    return _confident(found.decode("utf-8", "replace"))


def _confident(table: str) -> str:
    """The words of tesseract's table of which it is sure, line after line."""
    rows = [line.split("\t") for line in table.splitlines()[1:]]
    sure = [row for row in rows if len(row) == 12 and float(row[10]) >= _LEAST_CONFIDENCE and row[11].strip()]
    lines = [" ".join(row[11].strip() for row in line) for _, line in groupby(sure, key=lambda row: row[1:5])]
    text = " / ".join(lines)
    return text if sum(map(str.isalnum, text)) >= _LEAST_LETTERS else ""
