"""Splits long texts into passages that evidence can point to, and JSON into readable lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

MIN_CHARACTERS = 400
"""From this length a passage ends at the next paragraph."""

MAX_CHARACTERS = 1_000
"""Characters of the longest passage: as much as a person will read to check a source."""

_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE = re.compile(r"(?<=[.!?…])[\"»”’)]*\s+(?=[\"«„“‘(—–-]*[A-ZА-ЯЁІЇЄҐ0-9])|\n\s*")
_MAX_DEPTH = 50


def passages(text: str) -> list[str]:
    """Splits a text into passages of MIN_CHARACTERS to MAX_CHARACTERS at paragraphs, else sentences, else words.

    No word is lost or moved; no passage is empty.
    """
    finished: list[str] = []
    current = ""
    for paragraph in _split_after(text, _PARAGRAPH):
        for piece in _split_paragraph(paragraph):
            if current and len(current) + len(piece) > MAX_CHARACTERS:
                finished.append(current.strip())
                current = ""
            current += piece
        if len(current) >= MIN_CHARACTERS:
            finished.append(current.strip())
            current = ""
    if current.strip():
        finished.append(current.strip())
    return [passage for passage in finished if passage]


def json_lines(value: Any) -> list[str]:
    """A JSON value as lines `path: value` in its own order: `team.members[0].name: Олена`. Nulls are left out."""
    return [f"{path}: {scalar}" if path else scalar for path, scalar in _leaves(value, "", 0)]


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if depth > _MAX_DEPTH:
        yield path, json.dumps(value, ensure_ascii=False)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{index}]", depth + 1)
    elif isinstance(value, str):
        if value.strip():
            yield path, " ".join(value.split())
    elif value is not None:
        yield path, json.dumps(value)


def _split_paragraph(paragraph: str) -> Iterator[str]:
    """The paragraph; if it is too long its sentences, and those too long cut between words."""
    if len(paragraph) <= MAX_CHARACTERS:
        yield paragraph
        return
    for sentence in _split_after(paragraph, _SENTENCE):
        begin = 0  # never the rest as a text of its own: copying that for each passage took minutes for a long one
        while len(sentence) - begin > MAX_CHARACTERS:
            space = sentence.rfind(" ", begin + MIN_CHARACTERS, begin + MAX_CHARACTERS)
            end = space + 1 or begin + MAX_CHARACTERS
            yield sentence[begin:end]
            begin = end
        yield sentence[begin:]


def _split_after(text: str, border: re.Pattern[str]) -> Iterator[str]:
    """Splits the text after each border, which stays with the text before it."""
    positions = [0, *(match.end() for match in border.finditer(text)), len(text)]
    yield from (text[begin:end] for begin, end in pairwise(positions) if begin < end)
