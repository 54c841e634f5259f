"""Writes a session as Markdown for its owner: every message word for word, with the verdicts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

from internal.chronicle.model import AGENT, ChronicleEvent, EventLabel, Session
from internal.language.text.tables import table

Language = Literal["ru", "uk", "en"]


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a transcript in one language."""

    untitled: str
    opened: str
    closed: str
    still_open: str
    about: str
    you: str
    no_words: str
    verdicts: Mapping[str, str]
    summed_up: str
    judged: str
    rulings: Mapping[str, str]
    labels: Mapping[EventLabel, str]


_WORDS: Final[Mapping[Language, Words]] = {
    language: Words(**stated) for language, stated in table(__package__, "transcript_words").items()
}


def markdown(
    session: Session,
    events: Sequence[ChronicleEvent],
    entities: Iterable[str] = (),
    *,
    lang: Language = "en",
    agent: str = AGENT,
    plain: Callable[[str], str] = str,
) -> str:
    """The transcript of a session: its events in the order of NEXT, times in its own zone.

    Messages are quoted line by line, so that no text can pass for a heading of the page. `entities` are the names of
    mentioned entities, `agent` is the author of answers. `plain` escapes the user's text so that it looks as written on
    the rendered page; answers are Markdown already.
    """
    words, zone = _WORDS[lang], ZoneInfo(session.tz)
    entities = [plain(name) for name in entities]
    lines = [f"# {plain(_line(session.topic)) or words.untitled}", "", *_head(session, words, zone, entities)]
    day: date | None = None
    for event in events:
        local = event.at.astimezone(zone)
        if local.date() != day:
            day = local.date()
            lines += ["", f"## {day.isoformat()}"]
        lines += ["", *_event(event, local, words, agent, plain)]
    return "\n".join(lines) + "\n"


def _head(session: Session, words: Words, zone: ZoneInfo, entities: Iterable[str]) -> list[str]:
    opened = f"{session.opened_at.astimezone(zone):%Y-%m-%d %H:%M} ({session.tz})"
    closed = words.still_open if session.closed_at is None else f"{session.closed_at.astimezone(zone):%Y-%m-%d %H:%M}"
    named = ", ".join(_line(name) for name in entities)
    lines = [f"- {words.opened}: {opened}", f"- {words.closed}: {closed}"]
    return [*lines, f"- {words.about}: {named}"] if named else lines


def _event(event: ChronicleEvent, local: datetime, words: Words, agent: str, plain: Callable[[str], str]) -> list[str]:
    time = f"{local:%H:%M:%S}"
    if event.label is EventLabel.ANALYSIS:
        return _analysis(event.attrs, time, words)
    answer = event.label is EventLabel.RESPONSE
    said = event.text if answer else plain(event.text)
    speaker = _line(agent) if answer else words.you
    return [f"**{time} {speaker}** · {words.labels[event.label]}", "", *_quoted(said or words.no_words)]


def _analysis(attrs: Mapping[str, Any], time: str, words: Words) -> list[str]:
    title = words.summed_up if attrs["type"] == "session_summary" else words.judged
    verdict = words.verdicts.get(attrs["verdict"], attrs["verdict"])
    lines = [f"**{time} {title}** · {verdict}"]
    if attrs.get("summary"):
        lines += ["", *_quoted(attrs["summary"])]
    reasons = [
        f"- {words.rulings[name]}: {'; '.join(map(_line, attrs[name]))}" for name in words.rulings if attrs.get(name)
    ]
    return [*lines, "", *reasons] if reasons else lines


def _quoted(text: str) -> list[str]:
    return [f"> {line}".rstrip() for line in text.splitlines()] or [">"]


def _line(text: str) -> str:
    """Text on a single line."""
    return " ".join(text.split())
