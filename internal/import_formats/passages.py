"""Long texts in passages that evidence can point to, and JSON as lines that can be read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

ENOUGH = 400
"""Characters from which a passage ends at the next paragraph."""

MOST = 1_000
"""Characters of the longest passage: what a person is ready to read to see where something was said."""

_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE = re.compile(r"(?<=[.!?…])[\"»”’)]*\s+(?=[\"«„“‘(—–-]*[A-ZА-ЯЁІЇЄҐ0-9])|\n\s*")
_DEEPEST = 50


def passages(text: str) -> list[str]:
    """The text in passages of about ENOUGH to MOST characters, cut between paragraphs, else sentences, else words.

    Joined they hold every word of the text in its order; none is empty.
    """
    found: list[str] = []
    open_ = ""
    for paragraph in _pieces(text, _PARAGRAPH):
        for piece in _short(paragraph):
            if open_ and len(open_) + len(piece) > MOST:
                found.append(open_.strip())
                open_ = ""
            open_ += piece
        if len(open_) >= ENOUGH:
            found.append(open_.strip())
            open_ = ""
    if open_.strip():
        found.append(open_.strip())
    return [passage for passage in found if passage]


def json_lines(value: Any) -> list[str]:
    """A JSON value as lines `path: value`, in its own order: `team.members[0].name: Олена`. Nulls are left out."""
    return [f"{path}: {scalar}" if path else scalar for path, scalar in _leaves(value, "", 0)]


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if depth > _DEEPEST:
        yield path, json.dumps(value, ensure_ascii=False)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{place}]", depth + 1)
    elif isinstance(value, str):
        if value.strip():
            yield path, " ".join(value.split())
    elif value is not None:
        yield path, json.dumps(value)


def _short(paragraph: str) -> Iterator[str]:
    """The paragraph, or where it is too long its sentences, and of those too long pieces cut between words."""
    if len(paragraph) <= MOST:
        yield paragraph
        return
    for sentence in _pieces(paragraph, _SENTENCE):
        rest = sentence
        while len(rest) > MOST:
            cut = rest.rfind(" ", ENOUGH, MOST) + 1 or MOST
            yield rest[:cut]
            rest = rest[cut:]
        yield rest


def _pieces(text: str, border: re.Pattern[str]) -> Iterator[str]:
    """The text cut behind each border, which stays with what is before it."""
    places = [0, *(match.end() for match in border.finditer(text)), len(text)]
    yield from (text[begin:end] for begin, end in pairwise(places) if begin < end)
