"""Exports of conversations that are sent to the chat: recognised, offered for import, and imported on a tap."""

import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.access import repository as users
from internal.access.model import User
from internal.artifacts.model import Artifact
from internal.artifacts.store import ArtifactStore
from internal.config.media import MediaConfig
from internal.dialogue.mailbox.model import Outgoing
from internal.dialogue.model import Message
from internal.errors import expect_found
from internal.flows.artifacts.transcripts import Buttons
from internal.flows.transfer.imports import ImportedDrafts, Importer, sum_of_imports
from internal.flows.turn.intake import IntakePhrases
from internal.import_formats import formats
from internal.import_formats.model import EpisodeDraft, ReadOptions, Unreadable
from internal.import_formats.sources import ExportFiles, open_export
from internal.language.worker.process_pool import LanguageWorker
from internal.storage.database import Database

SUFFIXES: Final = frozenset({"json", "zip", "vtt"})
TITLES: Final[Mapping[str, str]] = {"telegram": "Telegram", "slack": "Slack", "github": "GitHub", "zoom": "Zoom"}
_BATCH: Final = 50


def export_format(content: bytes, name: str) -> str | None:
    """The format of an export; None for any other file. Runs in a process of its own."""
    with contextlib.suppress(Unreadable), _opened(content, name) as export:
        return formats.detect_format(export)
    return None


def read_export(content: bytes, name: str, terms: ReadOptions) -> list[EpisodeDraft]:
    """The conversations of an export. Runs in a process of its own. Raises Unreadable."""
    with _opened(content, name) as export:
        return list(formats.drafts(formats.detect_format(export), [export], terms))


@contextlib.contextmanager
def _opened(content: bytes, name: str) -> Iterator[ExportFiles]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"export.{name.rpartition('.')[2].casefold()}"
        path.write_bytes(content)
        with open_export(path) as export:
            yield export


def offer(
    user: User, artifact: Artifact, message: Message, format_: str, phrases: IntakePhrases, buttons: Buttons
) -> Outgoing | None:
    """Asks whether to import the export; None if it did not come through a chat."""
    if message.bot_id is None or message.chat_id is None:
        return None
    text = phrases(user.lang, "export-offer", name=artifact.name, format=TITLES[format_])
    address = (user.user_id, message.bot_id, message.chat_id, text, f"export:{artifact.id}")
    return Outgoing(*address, thread_id=message.thread_id, reply_to=message.tg_id, keyboard=buttons(user, artifact.id))


class FileImports:
    """Imports an export that was sent as a file. A repetition, after a crash or a second tap, stores nothing twice."""

    def __init__(self, database: Database, store: ArtifactStore, importer: Importer, limits: MediaConfig) -> None:
        self._database, self._store, self._importer, self._limits = database, store, importer, limits

    async def run(self, user: User, artifact: Artifact) -> ImportedDrafts:
        """Imports what is new. Raises NotFound if the bytes are gone, ModelUnavailable if they cannot be read now."""
        content = expect_found(await self._store.get(artifact.sha256 or ""), f"{artifact.name} is gone")
        own_bot = await self._database.read(lambda c: users.read_setting(c, "bot_id"))
        terms = ReadOptions(user.user_id, frozenset({user.name.casefold()}), ZoneInfo(user.tz), own_bot)
        process = LanguageWorker(call_timeout=self._limits.timeout.total_seconds())
        try:
            drafts = await process.run(read_export, content, artifact.name, terms)
        finally:
            await process.close()
        taken = [
            await self._importer.take(user.user_id, drafts[first : first + _BATCH], dry_run=False)
            for first in range(0, len(drafts), _BATCH)
        ]
        return sum_of_imports(taken)


class Known:
    """The sender of a file, who was admitted before."""

    async def stored(self, user_id: int) -> bool:
        return True

    def expect(self, connection: Connection, user_id: int, now: object) -> None:
        """Does nothing, as the rows exist."""
