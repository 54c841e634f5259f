"""The calls behind an operator's commands: archive, backup, doctor, quarantine, dead runs, queues."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Protocol

from pydantic import Field, field_validator

from bot.web.http.fields import LARGEST_ID, RequestBody
from bot.web.http.routers import APIRouter
from internal.dialogue.mailbox.model import QuarantinedUpdate
from internal.flows.operations.health_checks import Check

BACKUP_PATH = "/admin/backup"
QUARANTINE_PATH = "/admin/quarantine"
REPLAY_PATH = "/admin/quarantine/replay"
DROP_PATH = "/admin/quarantine/drop"
DEAD_RUNS_PATH = "/admin/runs/dead"
REVIVE_PATH = "/admin/runs/revive"
QUEUES_PATH = "/admin/queues"


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A finished, verified backup. `size` is in bytes."""

    path: str
    at: datetime
    revision: str
    size: int


@dataclass(frozen=True, slots=True)
class DeadRun:
    """A run that was given up after its last attempt, with the reason."""

    id: str
    user_id: int
    agent: str
    attempts: int
    created_at: datetime
    error: str


@dataclass(frozen=True, slots=True)
class RunCount:
    """The number of an agent's runs in a state: due, claimed, replied, applied or dead."""

    agent: str
    state: str
    count: int


@dataclass(frozen=True, slots=True)
class Queues:
    """What waits, for all owners. `unread` updates were received, `owed` messages are to be sent.

    `held` messages wait for people who blocked the bot. `backups` are those of the data folder, newest first.
    """

    unread: int
    unread_since: datetime | None
    owed: int
    owed_since: datetime | None
    held: int
    runs: list[RunCount]
    backups: list[BackupReport]


class Operations(Protocol):
    """The port of an operator's commands."""

    async def back_up(self, to: Path | None) -> BackupReport:
        """Backs up into the folder of backups, by itself or into the file `to` in it.

        Raises StorageError, and Refused if that file exists or is elsewhere.
        """

    async def quarantined(self) -> list[QuarantinedUpdate]: ...

    async def replay(self, n: int | None) -> int:
        """Handles one quarantined update, or (None) all of them, once more. Raises NotFound for an unknown one."""

    async def drop(self, n: int | None) -> int:
        """Discards one quarantined update, or (None) all of them. Raises NotFound for an unknown one."""

    async def dead_runs(self, user_id: int | None) -> list[DeadRun]: ...

    async def revive(self, user_id: int | None) -> int:
        """Gives dead runs of one owner, or (None) of everybody, another series of attempts. Returns how many."""

    async def queues(self) -> Queues: ...


class BackupOrder(RequestBody):
    to: str | None = None

    @field_validator("to")
    @classmethod
    def _absolute(cls, value: str | None) -> str | None:
        if value is not None and not Path(value).is_absolute():
            raise ValueError("the path must be absolute: the server has a working directory of its own")
        return value


class NumberOrder(RequestBody):
    n: Annotated[int, Field(ge=1, le=LARGEST_ID)] | None = None


class OwnerOrder(RequestBody):
    user_id: Annotated[int, Field(ge=-LARGEST_ID, le=LARGEST_ID)] | None = None


def operations_router(operations: Operations) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.post(BACKUP_PATH)
    async def back_up(order: BackupOrder) -> BackupReport:
        return await operations.back_up(None if order.to is None else Path(order.to))

    @router.post(QUARANTINE_PATH)
    async def quarantined(order: RequestBody) -> list[QuarantinedUpdate]:
        return await operations.quarantined()

    @router.post(REPLAY_PATH)
    async def replay(order: NumberOrder) -> int:
        return await operations.replay(order.n)

    @router.post(DROP_PATH)
    async def drop(order: NumberOrder) -> int:
        return await operations.drop(order.n)

    @router.post(DEAD_RUNS_PATH)
    async def dead_runs(order: OwnerOrder) -> list[DeadRun]:
        return await operations.dead_runs(order.user_id)

    @router.post(REVIVE_PATH)
    async def revive(order: OwnerOrder) -> int:
        return await operations.revive(order.user_id)

    @router.post(QUEUES_PATH)
    async def queues(order: RequestBody) -> Queues:
        return await operations.queues()

    return router


DOCTOR_PATH = "/admin/doctor"

Examine = Callable[[], Awaitable[list[Check]]]


class DoctorOrder(RequestBody):
    """A body without fields."""


def doctor_router(examine: Examine) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.post(DOCTOR_PATH)
    async def doctor(order: DoctorOrder) -> list[Check]:
        return await examine()

    return router


ARCHIVE_PATH = "/admin/archive"


@dataclass(frozen=True, slots=True)
class ArchiveReport:
    """The result of archiving: `fragments` were published now; the rest counts applied, waiting and dead runs."""

    fragments: int
    applied: int = 0
    waiting: int = 0
    dead: int = 0


Archive = Callable[[int | None, str | None, bool], Awaitable[ArchiveReport]]
"""Archives what waits, now: of one user or (None) of everybody. With an agent's name also earlier fragments that it
never worked on; if the last is true, also those it did.

Raises NotFound for an unknown user and Refused for an unknown agent.
"""


class ArchiveOrder(RequestBody):
    user_id: Annotated[int, Field(ge=-LARGEST_ID, le=LARGEST_ID)] | None = None
    backfill: str | None = None
    again: bool = False


def archive_router(archive: Archive) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.post(ARCHIVE_PATH)
    async def archive_now(order: ArchiveOrder) -> ArchiveReport:
        return await archive(order.user_id, order.backfill, order.again)

    return router
