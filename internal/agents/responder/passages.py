"""The `<past_messages>` block of a prompt: earlier lines, passage by passage, each with its speaker and time."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from internal.agents.model import PassageLine, RecalledPassage
from internal.agents.prompts import block
from internal.language.text.block_tags import escape

ASSISTANT: Final = "you"
"""The speaker of the assistant's own words, as the assistant is shown it."""


def passages_block(passages: Sequence[RecalledPassage], timezone: str) -> str:
    """`<past_messages>` with the lines of every passage; the empty string when there is none."""
    return block("past_messages", [line for passage in passages for line in passage_lines(passage, timezone)])


def page_block(n: int, page: Sequence[str]) -> str:
    """`<page>` with the title, the address and the text of a web page, to be cited as `[S<n>]`."""
    title, url, text = map(escape, page)
    return block("page", [f"[S{n}] {title} | {url}", text])


def results_block(found: Sequence[Sequence[str]]) -> str:
    """`<results>` of a web search: titles, addresses and a few words of each page."""
    return block("results", [escape(" | ".join(one)) for one in found])


def passage_lines(passage: RecalledPassage, timezone: str) -> list[str]:
    """`[S1] 2026-02-03 Tue 14:30 Оля: Купила билеты`, then its other lines, indented, with the time if on that day.

    Behind what does not hold any more stands ` (outdated since 2026-05-03)`.
    """
    lines: list[str] = []
    day = ""
    for line in passage.lines:
        at = local(line.at, timezone)
        date, time = f"{at:%Y-%m-%d %a}", f"{at:%H:%M}"
        when = time if date == day else f"{date} {time}"
        late = "" if line.outdated is None else f" (outdated since {local(line.outdated, timezone):%Y-%m-%d})"
        lines.append(f"{when} {_said(line)}{late}")
        day = date
    return [f"[S{passage.n}] {lines[0]}", *(f"  {line}" for line in lines[1:])] if lines else []


def local(moment: datetime, timezone: str) -> datetime:
    """A moment in a zone; in UTC if there is no such zone."""
    try:
        return moment.astimezone(ZoneInfo(timezone))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return moment.astimezone(UTC)


def _said(line: PassageLine) -> str:
    speaker = ASSISTANT if line.kind == "assistant" else escape(line.speaker)
    if line.kind == "other":
        speaker = f"{speaker} (not the owner)".lstrip()
    return f"{speaker}: {escape(line.text)}" if speaker else escape(line.text)
