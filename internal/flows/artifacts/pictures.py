"""Pictures: read for the memory, and shown to models with vision."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Final, cast

from internal.access.model import Language
from internal.agents.describer.agent import ModelDescriber
from internal.artifacts import repository as artifacts
from internal.artifacts.media.pictures import NoPicture, data_url, small_jpeg
from internal.artifacts.media.text_in_pictures import text_in
from internal.artifacts.model import FileText, Part, Reason, Received, UnreadableFile
from internal.artifacts.store import ArtifactStore
from internal.dialogue.model import Message
from internal.errors import ModelError, ModelRefused
from internal.storage.database import Database

PHOTO: Final = "photo"
MOST_SHOWN: Final = 10
"""The most pictures in one request, as many as an album has."""

_TRIES: Final = 2
"""Attempts at a description, after which the picture is stored without one; the responder may still see it."""


class PictureReader:
    """Reads what a picture shows and the words in it: `description | words`. Without a describer only the words."""

    kinds = frozenset({PHOTO})
    patience = timedelta(minutes=3)

    def __init__(self, describer: ModelDescriber | None) -> None:
        self._describer = describer

    async def read(self, received: Received) -> FileText:
        """Reads a picture. Raises what `Reader.read` raises."""
        try:
            jpeg = await small_jpeg(received.content)
        except NoPicture:
            raise UnreadableFile("damaged") from None
        lang = cast(Language, received.lang)
        (description, failed), words = await asyncio.gather(self._described(received, jpeg), text_in(jpeg, lang))
        if words and "|" not in description:
            description = f"{description} | {words}".strip()
        return FileText([Part(description)], in_message=True, failed=failed)

    async def _described(self, received: Received, jpeg: bytes) -> tuple[str, Reason | None]:
        """The description, or the reason why there is none."""
        if self._describer is None:
            return "", "unseen"
        artifact, lang = received.artifact, cast(Language, received.lang)
        try:
            described = await self._describer.describe(data_url(jpeg), received.said, lang, artifact.user_id)
        except ModelRefused:
            return "", "unseen"
        except ModelError:
            if artifact.attempts < _TRIES:
                raise
            return "", None
        return described, None


class ShownPictures:
    """The pictures of messages as they are put into requests."""

    def __init__(self, database: Database, store: ArtifactStore) -> None:
        self._database, self._store = database, store

    async def of(self, user_id: int, messages: Sequence[Message]) -> dict[str, list[str]]:
        """The data URLs of the pictures in each message, by message id; only the last MOST_SHOWN pictures."""
        ids = [one.id for one in messages if any(found.get("kind") == PHOTO for found in one.attachments)]
        if not ids:
            return {}
        found = await self._database.read(lambda c: artifacts.of_messages(c, user_id, ids))
        kept = [one for one in found if one.kind == PHOTO and one.sha256 is not None][-MOST_SHOWN:]
        shown: dict[str, list[str]] = {}
        for artifact in kept:
            content = await self._store.get(artifact.sha256 or "")
            if content is not None:
                shown.setdefault(artifact.message_id, []).append(data_url(await small_jpeg(content)))
        return shown
