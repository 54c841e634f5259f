"""Shared by all importers: drafts of episodes, options of reading, and splitting messages into episodes."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo

from internal.errors import LaplacedError
from internal.knowledge.model import Segment
from internal.language.text.passages import passages

_REPLY_TO = re.compile(r"(\[reply to [^\]\n]*\]) ")

FORMATS = ("telegram", "slack", "github", "zoom")


class Unreadable(LaplacedError):
    """The file cannot be read in the expected format."""


@dataclass(frozen=True, slots=True)
class EpisodeDraft:
    """An episode before it is stored: at most one archivist slice, its segments numbered from 1, each with a key.

    `place` is its chat, channel, repository or meeting.
    """

    name: str
    source_description: str
    source_url: str | None
    place: str
    segments: tuple[Segment, ...]


@dataclass(slots=True)
class ReadOptions:
    """The options of reading for one owner, and the numbers of `skipped` messages by reason.

    `owner` is the owner's Telegram id, `me` other names and ids of the owner, case-folded. `zone` applies to times
    without a zone. `own_bot` is the Telegram id of this bot. `chats` are the names or ids of chats to read, case-folded
    (none = all). `start` is the beginning of a meeting whose file has none. `workspace` is a Slack workspace's name in
    links.
    """

    owner: int
    me: frozenset[str] = frozenset()
    zone: tzinfo = UTC
    own_bot: int | None = None
    chats: frozenset[str] = frozenset()
    start: datetime | None = None
    workspace: str | None = None
    skipped: Counter[str] = field(default_factory=Counter)

    def is_me(self, *names: str | None) -> bool:
        """Whether one of these names or ids is the owner's."""
        return any(name is not None and name.strip().casefold() in self.me for name in names)

    def is_selected(self, *names: str | None) -> bool:
        """Whether to read a chat with these names and ids."""
        return not self.chats or any(name is not None and name.strip().casefold() in self.chats for name in names)


def clean(text: str) -> str:
    """The text without lone surrogates and null characters, which no database accepts."""
    text = text.replace("\x00", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode()
    return text.strip()


def split_reply(text: str) -> tuple[str, str]:
    """Splits the "[reply to ...]" that an importer put before a message ("" if none) from the message's own words."""
    match = _REPLY_TO.match(text)
    return (match[1], text[match.end() :]) if match else ("", text)


def parse_time(value: object, zone: tzinfo = UTC) -> datetime | None:
    """The UTC time of Unix seconds or an ISO time (in `zone` if it has none); None for anything else."""
    try:
        if isinstance(value, str) and not value.replace(".", "", 1).isdecimal():
            at = datetime.fromisoformat(value)
            return (at if at.tzinfo is not None else at.replace(tzinfo=zone)).astimezone(UTC)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(float(value), UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


GAP = timedelta(hours=6)
"""The longest silence within a conversation: shorter than a night's sleep."""

MAX_MESSAGES = 60
"""Most messages of one episode, the number that one model call reads."""

MAX_CHARACTERS = 20_000
"""Most characters of one episode, some 7,000 tokens: with long messages a slice has fewer of them."""

MAX_SEGMENT_CHARACTERS = 4_096
"""Most characters of one segment, like of a Telegram message; a longer one becomes several."""


def conversations(messages: Iterable[Segment], gap: timedelta = GAP) -> Iterator[tuple[Segment, ...]]:
    """Yields the episodes of a chat: split at silences longer than `gap`, and before they grow too long.

    A conversation that is too long is split at the longest silence of its second half.
    """
    current: list[Segment] = []
    size = 0
    for message in _in_passages(messages):
        added = len(message.text or "")
        if current and abs(message.at - current[-1].at) > gap:
            yield numbered(current)
            current, size = [], 0
        while current and (len(current) == MAX_MESSAGES or size + added > MAX_CHARACTERS):
            cut = _split_point(current, message)
            yield numbered(current[:cut])
            current = current[cut:]
            size = sum(len(segment.text or "") for segment in current)
        current.append(message)
        size += added
    if current:
        yield numbered(current)


def numbered(messages: Sequence[Segment]) -> tuple[Segment, ...]:
    """The messages as segments 1, 2, 3 ... of an episode."""
    return tuple(replace(message, n=n) for n, message in enumerate(messages, start=1))


def _split_point(messages: Sequence[Segment], following: Segment) -> int:
    """The number of messages before the longest silence of their second half."""
    next_messages = [*messages[1:], following]
    half = len(messages) // 2
    silences = [(next_messages[i].at - messages[i].at, i) for i in range(half, len(messages))]
    return max(silences)[1] + 1


def _in_passages(messages: Iterable[Segment]) -> Iterator[Segment]:
    for message in messages:
        # The reply note is not split with the text, because another export has another note.
        reply_note, text = split_reply(message.text or "")
        if len(text) <= MAX_SEGMENT_CHARACTERS:
            yield message
            continue
        for number, passage in enumerate(passages(text), start=1):
            passage_text = f"{reply_note} {passage}" if reply_note and number == 1 else passage
            yield replace(message, text=passage_text, key=message.key if number == 1 else f"{message.key}/{number}")
