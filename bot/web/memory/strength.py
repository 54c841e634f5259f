"""`/memory/strength`: how much is left of memories, and when they will have faded."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from pydantic import BaseModel

from bot.web.http.errors import KEYED, READING
from bot.web.http.fields import Limit, Offset, UserId
from bot.web.http.owners import Owners
from bot.web.http.routers import APIRouter
from internal.memory.plasticity.decay import Plasticity
from internal.memory.plasticity.strength import Strength, spread, strengths
from internal.scheduling.clock import Clock
from internal.storage.database import Database


class MemoryStrengthOut(BaseModel):
    """`retention` is the strength now, 0 to 1: `confidence` at the last use, halved by each `half_life_days` since.

    `half_life_days` grows with use; null: it does not fade. At `faded_at` it is offered for forgetting, null: never.
    """

    id: str
    summary: str
    created: datetime
    last_accessed: datetime | None
    access_count: int
    confidence: float
    retention: float
    half_life_days: float | None
    faded_at: datetime | None

    @classmethod
    def of(cls, one: Strength) -> MemoryStrengthOut:
        fields = {name: getattr(one, name) for name in cls.model_fields if name != "half_life_days"}
        return cls(half_life_days=None if one.half_life is None else one.half_life / timedelta(days=1), **fields)


class MemoryStrengthsOut(BaseModel):
    """The rates of this installation, and the memories; `spread` counts them by tenths of retention, lowest first."""

    half_life_days: float | None
    strengthen: float
    prune_below: float
    forget_below: float
    at: datetime
    spread: list[int]
    memories: list[MemoryStrengthOut]
    count: int


def memory_strength_router(database: Database, clock: Clock, owners: Owners, rates: Plasticity) -> APIRouter:
    router = APIRouter(prefix="/memory/strength", tags=["plasticity"], dependencies=KEYED)

    @router.get("", responses=READING)
    async def list_strengths(
        user_id: UserId, first: Literal["weakest", "strongest"] = "weakest", limit: Limit = 100, offset: Offset = 0
    ) -> MemoryStrengthsOut:
        """Memories, the weakest or the strongest first. This is no access."""
        await owners.stored(user_id)
        now = clock.now()
        found = await database.read(lambda c: strengths(c, user_id, rates, now))
        ordered = found if first == "weakest" else found[::-1]
        return MemoryStrengthsOut(
            half_life_days=None if rates.half_life is None else rates.half_life / timedelta(days=1),
            strengthen=rates.strengthen,
            prune_below=rates.prune_below,
            forget_below=rates.forget_below,
            at=now,
            spread=spread(found),
            memories=[MemoryStrengthOut.of(one) for one in ordered[offset : offset + limit]],
            count=len(found),
        )

    return router
