"""Parses single values of a reply: text on one line, names, aliases, and the cited lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from internal.agents.model import TranscriptLine
from internal.agents.prompts import unescaped
from internal.errors import Refused
from internal.people.bio import MAX_BIO
from internal.people.names import MAX_ALIASES, MAX_NAME

_LINE = re.compile(r"[#\[(]?(-?\d{1,9})[\])]?")


def prose(raw: object, limit: int) -> str:
    """Text on one line, cut at the last whole word within `limit` characters; absent is empty."""
    if raw is None:
        return ""
    if not isinstance(raw, str):
        raise Refused("bad_shape", f"{str(raw)[:MAX_NAME]!r} is no text")
    text = " ".join(unescaped(raw).split())
    return text if len(text) <= limit else text[:limit].rsplit(" ", 1)[0]


def name_of(raw: object) -> str:
    """A name on one line; empty if it has neither letter nor digit. Refused if it is too long to be one."""
    name = prose(raw, MAX_BIO)
    if len(name) > MAX_NAME:
        raise Refused("bad_shape", "the name is too long to be one")
    return name if any(map(str.isalnum, name)) else ""


def aliases_of(raw: object, name: str) -> tuple[str, ...]:
    """Aliases: each once, never empty (an empty alias would match everybody), never the name itself."""
    if raw is not None and not isinstance(raw, list | str):
        raise Refused("bad_shape", "`aliases` is no array")
    listed = [raw] if isinstance(raw, str) else raw or []
    unique: dict[str, str] = {}
    for item in listed:
        alias = " ".join(unescaped(item).split()) if isinstance(item, str) else ""
        if any(map(str.isalnum, alias)) and len(alias) <= MAX_NAME and alias.casefold() != name.casefold():
            unique.setdefault(alias.casefold(), alias)
    return tuple(unique.values())[:MAX_ALIASES]


def cited_lines(raw: Mapping[str, Any], lines: Mapping[int, TranscriptLine]) -> tuple[int, ...]:
    """The numbers under `evidence` in order; empty when absent, which means the whole slice.

    Refused for what is no line number, for a line outside the slice, and where only the assistant speaks.
    """
    numbers = raw.get("evidence")
    if numbers is None or numbers == []:
        cited: list[int] = []
    else:
        cited = sorted({_line_number(item) for item in (numbers if isinstance(numbers, list) else [numbers])})
    outside = [number for number in cited if number not in lines]
    if outside:
        raise Refused("evidence_out_of_range", f"there is no line {outside[0]}")
    # The bot's own words prove nothing about anybody: it would come to believe what it once invented.
    if not any(lines[number].role == "user" for number in cited or lines):
        raise Refused("assistant_only", "only the assistant said it")
    return tuple(cited)


def _line_number(raw: object) -> int:
    if isinstance(raw, str) and (match := _LINE.fullmatch(raw.strip())):
        return int(match[1])
    if isinstance(raw, int | float) and not isinstance(raw, bool) and raw == raw // 1:
        return int(raw)
    raise Refused("bad_evidence", f"{str(raw)[:MAX_NAME]!r} is no line number")
