"""The call behind `laplaced doctor`: an examination of the installation."""

from collections.abc import Awaitable, Callable

from bot.web.http.routers import APIRouter
from bot.web.http.schemas import Request
from internal.flows.operations.health_checks import Check

DOCTOR_PATH = "/admin/doctor"

Examine = Callable[[], Awaitable[list[Check]]]


class DoctorOrder(Request):
    """Nothing can be asked for."""


def doctor_router(examine: Examine) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.post(DOCTOR_PATH)
    async def doctor(order: DoctorOrder) -> list[Check]:
        return await examine()

    return router
