"""`/memory/plasticity`, `/memory/maintenance` and `/memory/strength`: changing links, and the remaining strength."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Literal

from pydantic import BaseModel

from bot.web.http.fields import Limit, Offset, UserId, filled
from bot.web.http.owners import Owners
from bot.web.http.routers import KEYED, READING, WRITING, APIRouter
from bot.web.http.sessions import expect_visible
from bot.web.memory import schemas
from internal.memory.plasticity import strength_changes
from internal.memory.plasticity.decay import Plasticity
from internal.memory.plasticity.maintenance import MaintenanceReport
from internal.memory.plasticity.strength import Strength, spread, strengths
from internal.scheduling.clock import Clock
from internal.storage.database import Database

Maintain = Callable[[int, bool], Awaitable[MaintenanceReport]]
"""Maintains an owner's memory now, or (True) only reports what would change. Raises NotFound."""


def plasticity_router(database: Database, clock: Clock, owners: Owners, maintain: Maintain) -> APIRouter:
    router = APIRouter(prefix="/memory", tags=["plasticity"], dependencies=KEYED)

    @router.post("/plasticity/strengthen", responses=WRITING)
    async def strengthen_link(order: schemas.LinkChange) -> schemas.StrengthOut:
        """Hebbian learning. Returns the new strength, at most 1. 404 for memories without a link in this direction."""
        await owners.about(order.user_id)
        change = (order.user_id, order.source_id, order.target_id, order.amount)
        return schemas.StrengthOut(
            strength=await database.write(lambda c: strength_changes.strengthen(c, *change, now=clock.now()))
        )

    @router.post("/plasticity/weaken", responses=WRITING)
    async def weaken_link(order: schemas.LinkChange) -> schemas.StrengthOut:
        """Synaptic depression. Returns the new strength, at least 0. 404 for memories that are not linked so."""
        await owners.about(order.user_id)
        change = (order.user_id, order.source_id, order.target_id, order.amount)
        return schemas.StrengthOut(
            strength=await database.write(lambda c: strength_changes.weaken(c, *change, now=clock.now()))
        )

    @router.post("/plasticity/decay", responses=WRITING)
    async def decay_links(order: schemas.DecayOrder) -> schemas.ChangedOut:
        """Weakens links below a threshold; those at 0 stay at 0."""
        if not await owners.about(order.user_id):
            return schemas.ChangedOut(changed=0)
        change = (order.user_id, order.threshold, order.decay)
        return schemas.ChangedOut(
            changed=await database.write(lambda c: strength_changes.decay(c, *change, now=clock.now()))
        )

    @router.post("/plasticity/prune", responses=WRITING)
    async def prune_links(order: schemas.PruneOrder) -> schemas.RemovedOut:
        """Deletes links weaker than a threshold for good."""
        if not await owners.about(order.user_id):
            return schemas.RemovedOut(removed=0)
        return schemas.RemovedOut(
            removed=await database.write(lambda c: strength_changes.prune(c, order.user_id, order.min_strength))
        )

    @router.post("/maintenance", responses=WRITING)
    async def run_maintenance(order: schemas.MaintenanceOrder) -> schemas.MaintenanceOut:
        """Does the nightly maintenance now: links decay by the time that passed, the weakest are pruned."""
        expect_visible(order.user_id)
        report = await maintain(order.user_id, order.dry_run)
        return schemas.MaintenanceOut(**asdict(report))

    return router


class MemoryStrengthOut(BaseModel):
    """`retention` is the strength now, 0 to 1: `confidence` at the last use, halved by each `half_life_days` since.

    `half_life_days` grows with use; null: it does not fade. At `faded_at` it is offered for forgetting; null: never.
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
        days = None if one.half_life is None else one.half_life / timedelta(days=1)
        return filled(cls, one, half_life_days=days)


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
        """Memories, the weakest or the strongest first. This does not count as an access."""
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
