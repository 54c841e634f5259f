"""Parses single values of a reply: text on one line, names, aliases, and the cited lines."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from internal.agents.model import TranscriptLine
from internal.agents.prompts import unescaped
from internal.agents.reply_items import cut
from internal.errors import Refused
from internal.people.bio import MAX_BIO
from internal.people.names import MAX_ALIASES, MAX_NAME

_SPAN = re.compile(
    r"(?:(?:line|message)s?\s*)?[#\[(]*(-?\d{1,9})[\])]*(?:\s*(?:-|–|—|\.\.|to)\s*[#\[(]*(\d{1,9})[\])]*)?", re.I
)
_NOTHING = frozenset({"n/a", "null", "none", "unknown", "undefined"})
"""Words that models write for a missing text."""

_SEPARATOR = re.compile(r"\s*[,;&]\s*|\s+and\s+")


def prose(raw: object, limit: int) -> str:
    """Text on one line, cut at the last whole word within `limit` characters; empty if absent."""
    if raw is None:
        return ""
    if not isinstance(raw, str):
        raise Refused("bad_shape", f"{str(raw)[:MAX_NAME]!r} is no text")
    text = " ".join(unescaped(raw).split())
    if text.casefold() in _NOTHING:
        return ""
    return cut(text, limit)


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
        alias = prose(item, MAX_BIO) if isinstance(item, str) else ""
        if any(map(str.isalnum, alias)) and len(alias) <= MAX_NAME and alias.casefold() != name.casefold():
            unique.setdefault(alias.casefold(), alias)
    return tuple(unique.values())[:MAX_ALIASES]


def cited_lines(raw: Mapping[str, Any], lines: Mapping[int, TranscriptLine]) -> tuple[int, ...]:
    """The numbers under `evidence` in order; empty when absent, which means the whole slice.

    Other values and numbers without a line are skipped. Raises Refused if none is left, or only the assistant's lines.
    """
    evidence = raw.get("evidence")
    if evidence is None or evidence == []:
        cited: list[int] = []
    else:
        cited = sorted({number for number in line_numbers(evidence, lines) if number in lines})
        if not cited:
            number = next(iter(line_numbers(evidence, ())), None)
            if number is None:
                raise Refused("bad_evidence", f"{str(evidence)[:MAX_NAME]!r} is no line number")
            raise Refused("evidence_out_of_range", f"there is no line {number}")
    # The bot's own words are no evidence: it would believe its own inventions.
    if not any(lines[number].role == "user" for number in cited or lines):
        raise Refused("assistant_only", "only the assistant said it")
    return tuple(cited)


def line_numbers(raw: object, lines: Collection[int]) -> list[int]:
    """The numbers meant by 3, "[3]", "1-3", "1, 3", {"line": 3} or a list of these; of a range those in `lines`."""
    if isinstance(raw, dict):
        raw = list(raw.values())
    if isinstance(raw, list):
        return [number for item in raw for number in line_numbers(item, lines)]
    if isinstance(raw, str):
        parts = [part for part in _SEPARATOR.split(raw) if part]
        spans = [match for part in parts if (match := _SPAN.fullmatch(part))]
        return [number for span in spans for number in _span(span, lines)] if len(spans) == len(parts) else []
    whole = isinstance(raw, int | float) and not isinstance(raw, bool) and raw == raw // 1
    return [int(raw)] if whole and isinstance(raw, int | float) else []


def _span(match: re.Match[str], lines: Collection[int]) -> list[int]:
    first, last = int(match[1]), int(match[2] or match[1])
    return [number for number in sorted(lines) if first <= number <= last] or [first]
