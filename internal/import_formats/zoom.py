"""Reads Zoom transcripts (WebVTT): speakers' words at times since the beginning of the meeting."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import PurePath

from internal.import_formats.model import EpisodeDraft, ReadOptions, Unreadable, clean, conversations
from internal.import_formats.sources import CountingReader, ExportFiles
from internal.knowledge.model import Segment

MAX_BYTES = 16 << 20
"""Most bytes of a transcript; a day of talk has one million."""

MAX_PAUSE = timedelta(seconds=15)
"""The longest silence within a segment of a speaker."""

MAX_CHARACTERS = 1_000
"""Most characters of one segment."""

_CUE = re.compile(r"((?:\d+:)?\d{2}:\d{2}[.,]\d{3})\s*-->\s*((?:\d+:)?\d{2}:\d{2}[.,]\d{3})")
# No part of a tag holds "<": otherwise each of many unclosed ones would be searched to the end of the text.
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?\s+([^\s<>][^<>]*)>")
_TAG = re.compile(r"</?[a-z][^<>]*>|<\d[^<>]*>")
_SPEAKER = re.compile(r"([^\s:][^:\n]{0,63}): (?=\S)")
_CLOUD = re.compile(r"GMT(\d{8}-\d{6})")
_LOCAL = re.compile(r"(\d{4}-\d{2}-\d{2} \d{2}\.\d{2}\.\d{2})")


@dataclass(frozen=True, slots=True)
class _Cue:
    begin: timedelta
    end: timedelta
    speaker: str | None
    text: str


def is_transcript(beginning: str) -> bool:
    return beginning.lstrip("\ufeff").startswith("WEBVTT")


def read(export: ExportFiles, terms: ReadOptions) -> Iterator[EpisodeDraft]:
    """Yields the episodes of every transcript. Raises Unreadable, also when the beginning of the meeting is unknown."""
    transcripts = [file for file in export.files if file.lower().endswith(".vtt")] or list(export.files)[:1]
    for file in transcripts:
        with export.open(file) as reader:
            start = _meeting_start(reader.name, terms)
            yield from _meeting(_text(reader), reader.name, start, terms)


def _meeting(text: str, name: str, start: datetime, terms: ReadOptions) -> Iterator[EpisodeDraft]:
    if not is_transcript(text):
        raise Unreadable(f"{name} is no Zoom transcript: it does not begin with WEBVTT")
    local = f"{start.astimezone(terms.zone):%Y-%m-%d %H:%M}"
    segments_in_order = [_segment(utterance, start, terms) for utterance in utterances(text)]
    for segments in conversations(segments_in_order):
        yield EpisodeDraft(
            name=f"Zoom meeting {local}",
            source_description=f"Transcript of a Zoom meeting on {local}",
            source_url=None,
            place=f"Zoom {local}",
            segments=segments,
        )


def _segment(cue: _Cue, start: datetime, terms: ReadOptions) -> Segment:
    milliseconds = cue.begin // timedelta(milliseconds=1)
    return Segment(
        n=0,
        at=start + cue.begin,
        text=cue.text,
        message_id=None,
        speaker=cue.speaker,
        own=terms.is_me(cue.speaker),
        key=f"zoom:{start:%Y%m%dT%H%M%SZ}:{milliseconds}",
    )


def utterances(text: str) -> Iterator[_Cue]:
    """Joins cues until the speaker changes or is silent for more than MAX_PAUSE, or the text grows too long."""
    current: _Cue | None = None
    for cue in _cues(text):
        if current is not None and _continues(current, cue):
            current = _Cue(current.begin, cue.end, current.speaker, f"{current.text} {cue.text}")
            continue
        if current is not None:
            yield current
        current = cue
    if current is not None:
        yield current


def _continues(previous: _Cue, cue: _Cue) -> bool:
    if cue.speaker != previous.speaker or cue.begin - previous.end > MAX_PAUSE:
        return False
    return len(previous.text) + len(cue.text) < MAX_CHARACTERS


def _cues(text: str) -> Iterator[_Cue]:
    for block in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n").replace("\r", "\n")):
        lines = block.strip().split("\n")
        timing = next((index for index, line in enumerate(lines[:2]) if _CUE.match(line)), None)
        if timing is None:
            continue  # the header, a note, a style
        times = _CUE.match(lines[timing])
        speaker, words = _speaker_and_words("\n".join(lines[timing + 1 :]))
        if times is not None and words:
            yield _Cue(_offset(times[1]), _offset(times[2]), speaker, words)


def _speaker_and_words(payload: str) -> tuple[str | None, str]:
    voice = _VOICE.search(payload)
    words = " ".join(html.unescape(_TAG.sub("", payload)).split())
    if voice is not None:
        return clean(html.unescape(voice[1])), clean(words)
    speaker = _SPEAKER.match(words)
    if speaker is not None:
        return clean(speaker[1]), clean(words[speaker.end() :])
    return None, clean(words)


def _offset(time: str) -> timedelta:
    hours, minutes, seconds = (["0", *time.replace(",", ".").split(":")])[-3:]
    return timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds))


def _meeting_start(name: str, terms: ReadOptions) -> datetime:
    """The given beginning, else that of the file's name: UTC for cloud recordings, local time for local ones."""
    if terms.start is not None:
        return terms.start.astimezone(UTC)
    cloud = _CLOUD.search(PurePath(name).name)
    try:
        if cloud is not None:
            return datetime.strptime(cloud[1], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
        local = _LOCAL.search(name)
        if local is not None:
            return datetime.strptime(local[1], "%Y-%m-%d %H.%M.%S").replace(tzinfo=terms.zone).astimezone(UTC)
    except ValueError:
        pass
    raise Unreadable(f"{name} does not tell when the meeting began: give it with --start")


def _text(reader: CountingReader) -> str:
    parts = []
    while data := reader.read(1 << 20):
        parts.append(data)
        if sum(map(len, parts)) > MAX_BYTES:
            raise Unreadable(f"{reader.name} is larger than a transcript can be")
    try:
        return b"".join(parts).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable(f"{reader.name} is no text in UTF-8") from None
