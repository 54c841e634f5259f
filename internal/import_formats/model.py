"""What all importers share: the episodes they make, how to read for an owner, and counts of what was skipped."""

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo

from internal.errors import LaplacedError
from internal.knowledge.model import Segment

_REPLY_TO = re.compile(r"(\[reply to [^\]\n]*\]) ")

FORMATS = ("telegram", "slack", "github", "zoom")


class Unreadable(LaplacedError):
    """The file cannot be read in the expected format."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An episode before it is stored: at most one archivist slice, its segments numbered from 1, each with a key.

    `place` is the chat, channel, repository or meeting it comes from.
    """

    name: str
    source_description: str
    source_url: str | None
    place: str
    segments: tuple[Segment, ...]


@dataclass(slots=True)
class ReadOptions:
    """How to read for one owner, and the numbers of `skipped` messages by reason.

    `owner` is the owner's Telegram id, `me` other names and ids of the owner, case-folded. `zone` applies to times
    without a zone. `own_bot` is the Telegram id of this bot. `chats` are the names or ids of chats to read, case-folded
    (none = all). `start` is when a meeting began whose file does not say. `workspace` is a Slack workspace's name in
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
