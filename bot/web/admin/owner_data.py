"""The calls behind `laplaced export`, `forget` and the import of an export: one owner's data as a whole."""

from pathlib import Path
from typing import Annotated, Protocol

from fastapi import Response
from pydantic import Field, field_validator

from bot.web.http.fields import RequestBody
from bot.web.http.routers import APIRouter
from internal.flows.forgetting.requests import Erased
from internal.flows.transfer.restore_export import ReadExport
from internal.storage.forgetting.forgettings import Kind

EXPORT_PATH = "/admin/export"
FORGET_PATH = "/admin/forget"
UNDO_PATH = "/admin/forget/undo"
MESSAGES_PATH = "/admin/forget/messages"
READ_BACK_PATH = "/admin/import/export"

_LARGEST_ID = 2**63 - 1
Owner = Annotated[int, Field(ge=-_LARGEST_ID, le=_LARGEST_ID)]


class OwnerData(Protocol):
    """The port of one owner's data. Raises NotFound for an unknown owner."""

    async def export(self, user_id: int) -> str:
        """All data of the owner, as JSON text."""

    async def forget(self, user_id: int, kind: Kind, ref_id: str | None, *, messages: bool = False) -> Erased:
        """Erases something now, without time to undo. Raises what `ForgettingService.erase_now` raises."""

    async def count_messages(self, user_id: int, kind: Kind, ref_id: str | None) -> int:
        """The number of messages that would be erased too. Raises NotFound."""

    async def undo(self, user_id: int, forgetting: str) -> None:
        """Shows again what a forgetting hides. Raises NotFound if it is too late, or nothing is hidden."""

    async def read_back(self, user_id: int, file: Path) -> ReadExport:
        """Stores an export. Raises what `restore_export.read_back` raises, and Refused for a file that is unreadable or
        outside of the data folder.
        """


class _Order(RequestBody):
    user_id: Owner


class ExportOrder(_Order):
    pass


class ForgetOrder(_Order):
    kind: Kind
    ref_id: Annotated[str, Field(max_length=200)] | None = None
    messages: bool = False


class UndoOrder(_Order):
    forgetting: Annotated[str, Field(max_length=200)]


class ReadBackOrder(_Order):
    file: str

    @field_validator("file")
    @classmethod
    def _absolute(cls, value: str) -> str:
        if not Path(value).is_absolute():
            raise ValueError("the path must be absolute: the server has a working directory of its own")
        return value


def owner_data_router(owner_data: OwnerData) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.post(EXPORT_PATH)
    async def export(order: ExportOrder) -> Response:
        return Response(await owner_data.export(order.user_id), media_type="application/json")

    @router.post(FORGET_PATH)
    async def forget(order: ForgetOrder) -> Erased:
        return await owner_data.forget(order.user_id, order.kind, order.ref_id, messages=order.messages)

    @router.post(MESSAGES_PATH)
    async def count_messages(order: ForgetOrder) -> int:
        return await owner_data.count_messages(order.user_id, order.kind, order.ref_id)

    @router.post(UNDO_PATH, status_code=204)
    async def undo(order: UndoOrder) -> None:
        await owner_data.undo(order.user_id, order.forgetting)

    @router.post(READ_BACK_PATH)
    async def read_back(order: ReadBackOrder) -> ReadExport:
        return await owner_data.read_back(order.user_id, Path(order.file))

    return router
