"""`/artifacts`: the files that an owner sent, and their text."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from pydantic import BaseModel
from sqlalchemy import Connection

from bot.web.http.fields import Limit, Offset, Out, UserFilter, UserId, Uuid
from bot.web.http.owners import Owners, owner_of
from bot.web.http.routers import KEYED, READING, APIRouter, refusals
from internal.artifacts import repository as artifacts
from internal.artifacts.model import Artifact
from internal.flows.views import artifacts as view
from internal.storage.database import Database

Erase = Callable[[int, str], Awaitable[None]]
"""Erases a message of an owner with its files, down to their bytes. Raises NotFound, and Conflict while in use."""


class ArtifactOut(Out):
    """A file; `state` is due, read or failed, with the `reason` of a failure; `sha256` is that of the stored bytes."""

    id: str
    kind: str
    name: str
    mime: str
    size: int | None
    pages: int | None
    sha256: str | None
    state: str
    reason: str | None
    message_id: str
    added_at: datetime


class ArtifactsOut(BaseModel):
    artifacts: list[ArtifactOut]
    count: int


class PartOut(Out):
    """A passage; `position` names page, slide, sheet and row or chapter, as answers cite it."""

    n: int
    page: int | None
    position: str
    text: str


class TextOut(BaseModel):
    """The passages of the text, in order."""

    id: str
    name: str
    parts: list[PartOut]


def artifacts_router(database: Database, owners: Owners, erase: Erase) -> APIRouter:
    router = APIRouter(prefix="/artifacts", tags=["artifacts"], dependencies=KEYED)

    def found(connection: Connection, uuid: str, user_id: int | None) -> Artifact:
        return view.get_artifact(connection, owner_of(connection, artifacts.owner_of, "artifact", uuid, user_id), uuid)

    @router.get("", responses=READING)
    async def list_artifacts(user_id: UserId, limit: Limit = 100, offset: Offset = 0) -> ArtifactsOut:
        """The owner's files, latest first."""
        await owners.about(user_id)

        def read(connection: Connection) -> ArtifactsOut:
            listed = view.visible(connection, user_id, limit=limit, offset=offset)
            count = view.count(connection, user_id)
            return ArtifactsOut(artifacts=[ArtifactOut.of(one) for one in listed], count=count)

        return await database.read(read)

    @router.get("/{uuid}", responses=READING)
    async def get_artifact(uuid: Uuid, user_filter: UserFilter = None) -> ArtifactOut:
        """One file."""
        return ArtifactOut.of(await database.read(lambda c: found(c, uuid, user_filter)))

    @router.get("/{uuid}/text", responses=READING)
    async def get_text(uuid: Uuid, user_filter: UserFilter = None) -> TextOut:
        """The text of a file: passages with their pages, a transcript, or a description."""

        def read(connection: Connection) -> TextOut:
            file = found(connection, uuid, user_filter)
            parts = view.text_of(connection, file.user_id, file)
            return TextOut(id=file.id, name=file.name, parts=[PartOut.of(one) for one in parts])

        return await database.read(read)

    @router.delete("/{uuid}", status_code=204, responses={**READING, **refusals(409)})
    async def delete_artifact(uuid: Uuid, user_filter: UserFilter = None) -> None:
        """Erases a file, its message, its text and what only they support. 409 while its message is being answered."""
        file = await database.read(lambda c: found(c, uuid, user_filter))
        await erase(file.user_id, file.message_id)

    return router
