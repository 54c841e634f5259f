"""Detects the format of an export and reads its episodes."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from internal.import_formats import github, slack, telegram, zoom
from internal.import_formats.json_stream import JsonStream
from internal.import_formats.model import FORMATS, EpisodeDraft, ReadOptions, Unreadable, clean
from internal.import_formats.sources import CountingReader, ExportFiles

TELEGRAM_FILE = "result.json"
LONGEST_NAME = 300
LONGEST_ADDRESS = 1_000
_BEGINNING = 4096


def detect_format(export: ExportFiles) -> str:
    """Detects one of FORMATS by the contents. Raises Unreadable if it is none of them."""
    if slack.is_slack(export.files):
        return "slack"
    if TELEGRAM_FILE in export.files and len(export.files) > 1:
        return "telegram"
    if any(file.lower().endswith(".vtt") for file in export.files):
        return "zoom"
    if len(export.files) == 1:
        with export.open(export.files[0]) as reader:
            format_ = _by_content(reader)
        if format_ is not None:
            return format_
    raise Unreadable(f"{export.name} is no export that I know; name it with --format {'|'.join(FORMATS)}")


def drafts(format_: str, exports: Sequence[ExportFiles], terms: ReadOptions) -> Iterator[EpisodeDraft]:
    """Yields the episodes of exports of one format, in order. Raises Unreadable."""
    yield from map(_bounded, _drafts(format_, exports, terms))


def _drafts(format_: str, exports: Sequence[ExportFiles], terms: ReadOptions) -> Iterator[EpisodeDraft]:
    if format_ == "github":
        yield from github.read(exports, terms)
        return
    for export in exports:
        if format_ == "slack":
            yield from slack.read(export, terms)
        elif format_ == "zoom":
            yield from zoom.read(export, terms)
        else:
            with export.open(_result(export)) as reader:
                yield from telegram.read(reader.json(), reader.name, terms)


def _bounded(draft: EpisodeDraft) -> EpisodeDraft:
    """The draft with names, addresses and keys cut to a reasonable length."""
    return EpisodeDraft(
        name=clean(draft.name)[:LONGEST_NAME],
        source_description=clean(draft.source_description)[:LONGEST_NAME],
        source_url=_address(draft.source_url),
        place=clean(draft.place)[:LONGEST_NAME],
        segments=tuple(
            replace(
                segment,
                speaker=segment.speaker and clean(segment.speaker)[:LONGEST_NAME],
                forwarded_from=segment.forwarded_from and clean(segment.forwarded_from)[:LONGEST_NAME],
                url=_address(segment.url),
                key=_key(segment.key or ""),
            )
            for segment in draft.segments
        ),
    )


def _address(url: str | None) -> str | None:
    url = clean(url or "")
    return url if 0 < len(url) <= LONGEST_ADDRESS else None


def _key(key: str) -> str:
    key = clean(key)
    return key if len(key) <= LONGEST_ADDRESS else hashlib.sha256(key.encode()).hexdigest()


def bytes_to_read(format_: str, export: ExportFiles) -> int:
    """The number of bytes of it that `drafts` will read, for a progress bar."""
    if format_ == "slack":
        return sum(export.size(file) for file in slack.day_files(export))
    if format_ == "telegram":
        return export.size(_result(export))
    passes = 2 if format_ == "github" else 1
    return passes * sum(export.size(file) for file in export.files)


def _result(export: ExportFiles) -> str:
    if len(export.files) != 1 and TELEGRAM_FILE not in export.files:
        raise Unreadable(f"{export.name} is no export of Telegram Desktop: it has no {TELEGRAM_FILE}")
    return TELEGRAM_FILE if TELEGRAM_FILE in export.files else export.files[0]


def _by_content(reader: CountingReader) -> str | None:
    head = reader.read(_BEGINNING)
    if zoom.is_transcript(head.decode("utf-8", "replace")):
        return "zoom"
    stream = JsonStream(_with_head(head, reader), reader.name)
    opening = stream.peek()
    if opening == "[":
        for _ in stream.elements():
            return "github" if _github(stream.value()) else None
    if opening != "{":
        return None
    seen = set()
    for key in stream.members():
        seen.add(key)
        if key in {"messages", "chats"}:
            return "telegram"
        if {"number", "title"} <= seen or {"body", "issue_url"} <= seen:
            return "github"
    return None


def _github(item: Any) -> bool:
    return github.is_issue(item) or github.is_comment(item)


def _with_head(head: bytes, reader: CountingReader) -> Any:
    """A read function that returns `head` again and then reads on."""
    heads = [head]
    return lambda size: heads.pop() if heads else reader.read(size)
