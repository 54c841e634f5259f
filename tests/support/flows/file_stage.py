"""An owner's dialogue in which files are sent, over a real database, store and reader."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select
from support.flows.erase_stage import KEY
from support.flows.flow_stage import BOT, OWNER, Talk

from bot.telegram.handlers.files.files import import_buttons
from bot.telegram.handlers.transcripts import listen_again_buttons
from bot.telegram.i18n import label, phrase
from internal.artifacts.model import Artifact, FileUnavailable, Reader, UnreadableFile
from internal.artifacts.store import ArtifactStore
from internal.config.media import MediaConfig
from internal.config.settings import AccessConfig
from internal.dialogue.model import Message
from internal.flows.artifacts.documents import DocumentReader
from internal.flows.artifacts.file_bytes import UnusedFiles
from internal.flows.artifacts.read_files import ArtifactReading
from internal.flows.forgetting.requests import ForgettingService
from internal.flows.turn.files import unseen
from internal.flows.turn.intake import Intake, StoredMessage
from internal.flows.views import artifacts as view
from internal.storage.tables import artifact_files

CONTRACT = Path(__file__).parents[2] / "data/files/contract_ru.pdf"
LOCKED = CONTRACT.with_name("locked.pdf")


class Shelf:
    """A source of files by their Telegram id, which may be out of reach, or make one wait."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.outages = 0
        self.fetched = 0
        self.open = asyncio.Event()
        self.open.set()

    async def fetch(self, artifact: Artifact, most: int) -> bytes:
        self.fetched += 1
        await self.open.wait()
        if self.outages:
            self.outages -= 1
            raise FileUnavailable("no network")
        if artifact.file_id not in self.files:
            raise UnreadableFile("gone")
        if len(self.files[artifact.file_id]) > most:
            raise UnreadableFile("large")
        return self.files[artifact.file_id]


class FileStage:
    """Files are sent with `send`, read with `read`; `eraser` forgets, and `unused` deletes bytes."""

    def __init__(self, talk: Talk, folder: Path, url: str = "", **limits: Any) -> None:
        self.talk, self.shelf = talk, Shelf()
        self.store = ArtifactStore(url, folder)
        self.readers: list[Reader] = []
        self.folder = folder / "artifacts"
        self.limits = MediaConfig(**limits)
        self.unused = UnusedFiles(talk.database, self.store)
        self.eraser = ForgettingService(talk.database, talk.clock, KEY, [self.unused])

    def reading(self) -> ArtifactReading:
        """As a process that was just started has it."""
        reader = DocumentReader(self.limits)
        return ArtifactReading(
            self.talk.database,
            self.talk.clock,
            self.store,
            [reader, *self.readers],
            self.shelf,
            self.limits,
            label,
            lambda *_: [],
            import_buttons,
            listen_again_buttons,
            ["archivist"],
        )

    async def send(
        self, name: str, content: bytes, text: str = "", user_id: int = OWNER, kind: str = "document", **limits: Any
    ) -> StoredMessage:
        """A message with a file; `limits` are those of access."""
        self.shelf.files[f"id-{name}"] = content
        file = {"id": f"id-{name}", "name": name, "mime": None, "size": len(content)}
        config = AccessConfig(**{"messages_per_minute": 0} | limits)
        intake = Intake(
            self.talk.database, self.talk.clock, self.talk.buffers, config, phrase, self.talk.group_window,
            reads=self.reading().kinds,
        )  # fmt: skip
        attachments = [{"kind": kind, "name": name, "file": file}]
        incoming = self.talk.incoming(text, user_id=user_id, attachments=attachments)
        return await intake.take(await self.talk.update(), await self.talk.user(user_id), incoming)

    async def read(self, sent: StoredMessage) -> Artifact:
        """Reads the file of a message, as its turn does. What became of it."""
        assert sent.message is not None
        user = await self.talk.user(sent.message.user_id)
        await self.reading().read_of(user, [sent.message], unseen)
        return await self.of(sent.message)

    async def sent_and_read(self, name: str, content: bytes, text: str = "", user_id: int = OWNER) -> Artifact:
        """Sends a file, has it read, and answers its turn."""
        sent = await self.send(name, content, text, user_id)
        file = await self.read(sent)
        assert sent.turn is not None
        self.talk.clock.advance(10)
        await self.talk.flow().answer(sent.turn)
        return file

    async def of(self, message: Message) -> Artifact:
        found = await self.talk.read(lambda c: view.visible(c, message.user_id, limit=100))
        return next(one for one in found if one.message_id == message.id)

    async def text(self, file: Artifact) -> list[tuple[int | None, str]]:
        parts = await self.talk.read(lambda c: view.text_of(c, file.user_id, file))
        return [(part.page, part.text) for part in parts]

    async def noted(self) -> list[str]:
        """The hashes of bytes that are, or may be, kept."""

        def read(connection: Connection) -> list[str]:
            return list(connection.execute(select(artifact_files.c.sha256)).scalars())

        return await self.talk.read(read)

    def kept(self) -> list[str]:
        """The names of the files in the folder."""
        return sorted(path.name for path in self.folder.rglob("*") if path.is_file())


__all__ = ["BOT", "CONTRACT", "LOCKED", "OWNER", "FileStage"]
