"""What every importer reads and makes: episodes whose segments are somebody's messages, and what was left out."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo

from internal.errors import LaplacedError
from internal.knowledge.model import Segment

_ANSWERING = re.compile(r"(\[reply to [^\]\n]*\]) ")

FORMATS = ("telegram", "slack", "github", "zoom")


class Unreadable(LaplacedError):
    """The file cannot be read as what it was taken for."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An episode before it is stored: at most one slice of an archivist, its segments numbered from 1, each with a key.

    `place` is the chat, channel, repository or meeting that it was said in.
    """

    name: str
    source_description: str
    source_url: str | None
    place: str
    segments: tuple[Segment, ...]


@dataclass(slots=True)
class Terms:
    """How to read for one owner, and the count of what was `skipped`, by its reason.

    `owner` is his Telegram id, `me` other names and ids of his, case-folded. `zone` is where times without one were
    written. `own_bot` is the Telegram id of this very bot. `chats` are the names or ids of those to read, case-folded
    (none = all). `start` is when a meeting began that does not tell. `workspace` is a Slack workspace's name in links.
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

    def wanted(self, *names: str | None) -> bool:
        """Whether a chat of these names and ids is to be read."""
        return not self.chats or any(name is not None and name.strip().casefold() in self.chats for name in names)


def clean(text: str) -> str:
    """The text without what no database and no wire can carry: half surrogates and null characters."""
    text = text.replace("\x00", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode()
    return text.strip()


def answering(text: str) -> tuple[str, str]:
    """What a message says of the one it answers, as an importer wrote it in front, "" if nothing; and its own words."""
    found = _ANSWERING.match(text)
    return (found[1], text[found.end() :]) if found else ("", text)


def moment(value: object, zone: tzinfo = UTC) -> datetime | None:
    """The UTC time of Unix seconds or an ISO time (without a zone: of `zone`); None for what is no time at all."""
    try:
        if isinstance(value, str) and not value.replace(".", "", 1).isdecimal():
            at = datetime.fromisoformat(value)
            return (at if at.tzinfo is not None else at.replace(tzinfo=zone)).astimezone(UTC)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(float(value), UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None
