"""Artifacts, the texts that readers find in them, and the reasons why a file cannot be read."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Literal, Protocol

from internal.errors import LaplacedError

Reason = Literal[
    "large", "slow", "encrypted", "damaged", "unknown", "empty", "gone", "unavailable", "refused", "unseen", "long"
]

ARTIFACT, FAILED, READ = "artifact", "failed", "read"
"""Keys in a message's attachment: the id of its artifact, why it was not read, and the text that was written into the
message."""


SPOKEN: Final = frozenset({"voice", "video_note", "audio"})
"""Kinds with speech."""

FILE = "file"
"""Key in an attachment that was just received: `id`, `name`, `mime` and `size`, by which the file is fetched."""


class ArtifactState(StrEnum):
    DUE = "due"
    READ = "read"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Artifact:
    """One file of an owner. `sha256` names its bytes in the store, None while or if they are not kept.

    `file_id` is Telegram's id for the bot `bot_id`. `reason` says why a failed one was not read.
    """

    user_id: int
    id: str
    kind: str
    name: str
    mime: str
    size: int | None
    sha256: str | None
    pages: int | None
    state: ArtifactState
    reason: str | None
    attempts: int
    message_id: str
    bot_id: int | None
    file_id: str
    added_at: datetime


async def _nobody_waits(part: int, parts: int) -> None:
    """Ignores the progress."""


@dataclass(frozen=True, slots=True)
class Received:
    """A file as it was received and is to be read."""

    artifact: Artifact
    content: bytes
    lang: str
    said: str = ""
    """The text of its message."""
    progress: Callable[[int, int], Awaitable[None]] = _nobody_waits
    """Called with the current part and the number of parts, if there are several."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of text, with the number of its page, sheet, slide or chapter if it has one.

    `title` is that of the sheet or chapter, `row` the row or rows of a sheet, such as `3–12`.
    """

    text: str
    page: int | None = None
    title: str = ""
    row: str = ""


@dataclass(frozen=True, slots=True)
class FileText:
    """The text that a reader found. `in_message`: a transcript or description, which becomes part of the message.

    `failed` says why there is less than there could be, such as a picture that no model saw, or too many pages.
    """

    parts: Sequence[Part]
    pages: int | None = None
    in_message: bool = False
    export: str | None = None
    """The format of an export of chats, whose conversations may be imported; it has no text of its own then."""
    failed: Reason | None = None

    @property
    def text(self) -> str:
        return "\n\n".join(part.text for part in self.parts)


class UnreadableFile(LaplacedError):
    """A file cannot be read, and will not be later."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Final = reason


class FileUnavailable(LaplacedError):
    """The bytes of a file cannot be fetched now."""


class Reader(Protocol):
    """Reads files of some kinds, within `media.timeout` or its own `patience`."""

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of attachments, as `bot.telegram.message_reader` names them."""

    async def read(self, received: Received) -> FileText:
        """The text of a file. Raises UnreadableFile, and ModelError if another attempt is worthwhile."""


class FileSource(Protocol):
    """The source of the bytes of received files."""

    async def fetch(self, artifact: Artifact, most: int) -> bytes:
        """Returns at most `most` bytes. Raises UnreadableFile for more, or if they are gone; FileUnavailable."""


def mark_of(kind: str, name: str, text: str | None = None) -> str:
    """The words by which a message shows its file: `[file name.pdf]`, or `[voice] the words in it`."""
    shown = " ".join((name if text is None else text).split())  # a second line would be taken for the owner's own
    return f"[file {shown}]" if text is None else f"[{kind}] {shown}".strip()


def with_marks(text: str, attachments: Sequence[dict[str, Any]]) -> str:
    """The text of a message with the text read from its files."""
    return "\n".join(filter(None, (text, *(str(one.get(READ) or "") for one in attachments))))


def due(attachments: Sequence[dict[str, Any]]) -> list[str]:
    """The ids of the artifacts among these attachments that are neither read nor failed."""
    return [one[ARTIFACT] for one in attachments if ARTIFACT in one and not (FAILED in one or READ in one)]
