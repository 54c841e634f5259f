"""Artifacts as the owner sees them: without those about to be erased, and with their text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from internal.artifacts import repository as artifacts
from internal.artifacts.model import ARTIFACT, READ, Artifact
from internal.dialogue import repository as dialogue
from internal.errors import NotFound
from internal.flows.visibility.pending_forgettings import everything_asked, messages_to_forget
from internal.knowledge import episode_repository as episodes

_PAGE: Final = re.compile(r", \S+ (\d+)(?: \(.*\))?(?:, \S+ [\d–]+)?$")
_MARK: Final = re.compile(r"^\[\w+\] ")
_LAST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class TextPart:
    """A passage of a file with its number, and its page if it has one."""

    n: int
    page: int | None
    text: str
    position: str
    """The file and page of a passage, as they are cited."""


def visible(connection: Connection, user_id: int, *, limit: int, offset: int = 0) -> list[Artifact]:
    """An owner's files, latest first."""
    if everything_asked(connection, user_id) is not None:
        return []
    to_forget = messages_to_forget(connection, user_id)
    return artifacts.listing(connection, user_id, limit=limit, offset=offset, without=to_forget)


def count(connection: Connection, user_id: int) -> int:
    """The number of files that `visible` has in all."""
    if everything_asked(connection, user_id) is not None:
        return 0
    return artifacts.count(connection, user_id, without=messages_to_forget(connection, user_id))


def get_artifact(connection: Connection, user_id: int, artifact_id: str) -> Artifact:
    """A visible file. Raises NotFound."""
    found = artifacts.find(connection, user_id, artifact_id)
    gone = found is None or everything_asked(connection, user_id) is not None
    if found is None or gone or found.message_id in messages_to_forget(connection, user_id):
        raise NotFound(f"there is no artifact {artifact_id}")
    return found


def artifact_by_name(connection: Connection, user_id: int, name: str) -> Artifact | None:
    """The latest file with this name, or whose name contains it."""
    wanted = name.casefold().strip()
    files = visible(connection, user_id, limit=500)
    exact = (file for file in files if file.name.casefold() == wanted or file.id == name)
    return next(exact, None) or next((file for file in files if wanted and wanted in file.name.casefold()), None)


def text_of(connection: Connection, user_id: int, artifact: Artifact) -> Sequence[TextPart]:
    """The text of a file, passage by passage; empty if it could not be read."""
    parts = episodes.episode_segments(connection, user_id, artifact.id, 1, _LAST)
    if parts:
        return [TextPart(part.n, _page(part.speaker), part.text or "", part.speaker or artifact.name) for part in parts]
    said = dialogue.by_ids(connection, user_id, [artifact.message_id])
    marks = [str(found.get(READ) or "") for m in said for found in m.attachments if found.get(ARTIFACT) == artifact.id]
    return [TextPart(1, None, _MARK.sub("", mark), artifact.name) for mark in marks if mark]


def _page(position: str | None) -> int | None:
    found = _PAGE.search(position or "")
    return int(found[1]) if found else None
