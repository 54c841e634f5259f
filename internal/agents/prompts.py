"""The common parts of agents' prompts. All text from outside is escaped here."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from itertools import groupby, takewhile
from string import Template
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from internal.agents.model import DialogueLine, OwnerProfile, TranscriptLine
from internal.language.text.block_tags import escape, neutralised

LANGUAGES = {"ru": "Russian", "uk": "Ukrainian", "en": "English"}


def instructions(package: str, *, short: bool = False, **fields: str) -> str:
    """The `prompt.md` beside an agent, with its `$fields` filled in. Raises KeyError for a missing field.

    `short`: `prompt.short.md`, if there is one.
    """
    return _template(package, short).substitute(fields).strip()


@cache
def _template(package: str, short: bool) -> Template:
    brief = files(package).joinpath("prompt.short.md")
    chosen = brief if short and brief.is_file() else files(package).joinpath("prompt.md")
    return Template(chosen.read_text(encoding="utf-8"))


def block(tag: str, lines: Sequence[str]) -> str:
    """The element `<tag>` around escaped lines; the empty string without lines."""
    return "\n".join((f"<{tag}>", *lines, f"</{tag}>")) if lines else ""


def joined(*blocks: str) -> str:
    """The non-empty blocks with an empty line between them."""
    return "\n\n".join(part for part in blocks if part)


def unescaped(text: str) -> str:
    """The inverse of `escape`, for a model's words, which copy "AT&amp;T" from the prompt."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def owner_block(owner: OwnerProfile) -> str:
    """The block about the owner."""
    username = f" (@{escape(owner.username)})" if owner.username else ""
    return block(
        "owner",
        [
            f"name: {escape(owner.name)}{username}",
            f"language: {LANGUAGES[owner.language]}",
            f"time zone: {escape(owner.timezone)}",
            *([_GROUP] if owner.user_id < 0 else []),
        ],
    )


_GROUP: Final = (
    "This owner is a group chat of several people. Each message names its speaker, who is one of the people: what a"
    " speaker says of himself is about that person. `user` is the group as a whole."
)


def facts_block(facts: Sequence[str]) -> str:
    """The block of known facts, each once."""
    return block("known_facts", [f"- {fact}" for fact in dict.fromkeys(escape(fact) for fact in facts) if fact])


def transcript_block(tag: str, lines: Sequence[TranscriptLine]) -> str:
    """The numbered lines of a transcript with their times; a forward is marked as somebody else's words."""
    return block(tag, [_line(line) for line in lines])


def _line(line: TranscriptLine) -> str:
    speaker = escape(line.speaker)
    if line.role == "assistant":
        speaker += " (assistant)"
    elif line.forwarded_from is not None:
        speaker += f" forwards what {escape(line.forwarded_from) or 'somebody else'} wrote (not the owner's own words)"
    elif speaker and not line.own:
        speaker += " (not the owner)"
    if line.quoted:
        speaker += f" (in reply to {escape(line.quoted)})"
    ids = f"{{telegram ids: {', '.join(map(str, line.telegram_ids))}}}" if line.telegram_ids else ""
    said = " ".join(
        part for part in (f"{speaker}:" if speaker else "", ids, escape(_with_quotations(line.text))) if part
    )
    return f"{line.number}. [{line.at:%Y-%m-%d %H:%M %a}] {said}"


def _with_quotations(text: str) -> str:
    """The text with quoted lines (beginning with ">") in brackets: a transcript has a message on one line."""
    if not text.startswith(">") and "\n>" not in text:
        return text
    runs = groupby(text.split("\n"), key=lambda one: one.startswith(">"))
    return "\n".join(
        f"(quotes: {' '.join(one[1:].strip() for one in run)})" if quoted else "\n".join(run) for quoted, run in runs
    )


def clock_metadata(now: datetime, timezone: str) -> dict[str, str]:
    """Date, time and zone of a moment in the form of a message's metadata: 2026-02-07, 14:30, UTC+3."""
    try:
        local = now.astimezone(ZoneInfo(timezone))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        local = now.astimezone(UTC)
    return {"current_date": f"{local:%Y-%m-%d}", "current_time": f"{local:%H:%M}", "user_timezone": _offset(local)}


def with_metadata(text: str, metadata: Mapping[str, str] | None) -> str:
    """A message's escaped text after its metadata, which has a short line of its own.

    Date, time and zone need no names: `<metadata>2026-02-07 14:30 UTC+3; forwarded_from: Maria</metadata>`.
    """
    if not metadata:
        return neutralised(text)
    clock = " ".join(escape(str(metadata[key])) for key in _CLOCK if metadata.get(key))
    others = (f"{escape(key)}: {escape(str(value))}" for key, value in metadata.items() if key not in _CLOCK)
    return f"<metadata>{'; '.join(filter(None, (clock, *others)))}</metadata>\n{neutralised(text)}"


_CLOCK: Final = ("current_date", "current_time", "user_timezone")
"""The metadata keys of a message's time."""


def _offset(local: datetime) -> str:
    offset = local.utcoffset()
    minutes = round(offset.total_seconds() / 60) if offset else 0
    if not minutes:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'+' if minutes > 0 else '-'}{hours}{f':{rest:02}' if rest else ''}"


SETTLED: Final = "settled"
"""Key in the metadata of a line that the program answered itself, with a card."""


def newest_lines(dialogue: Sequence[DialogueLine]) -> Sequence[DialogueLine]:
    """The owner's messages since the last answer, which get one answer, without those that the program answered."""
    newest = takewhile(lambda line: line.role == "user" and SETTLED not in (line.metadata or {}), reversed(dialogue))
    return list(newest)[::-1]
