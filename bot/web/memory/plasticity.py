"""`/memory/plasticity` and `/memory/maintenance`: the specified operations on links, and the nightly maintenance."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict

from bot.web.http.errors import KEYED, WRITING
from bot.web.http.owners import Owners
from bot.web.http.routers import APIRouter
from bot.web.http.sessions import expect_visible
from bot.web.memory import schemas
from internal.memory.plasticity import operations
from internal.memory.plasticity.maintenance import MaintenanceReport
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
            strength=await database.write(lambda c: operations.strengthen(c, *change, now=clock.now()))
        )

    @router.post("/plasticity/weaken", responses=WRITING)
    async def weaken_link(order: schemas.LinkChange) -> schemas.StrengthOut:
        """Synaptic depression. Returns the new strength, at least 0. 404 for memories that are not linked so."""
        await owners.about(order.user_id)
        change = (order.user_id, order.source_id, order.target_id, order.amount)
        return schemas.StrengthOut(
            strength=await database.write(lambda c: operations.weaken(c, *change, now=clock.now()))
        )

    @router.post("/plasticity/decay", responses=WRITING)
    async def decay_links(order: schemas.DecayOrder) -> schemas.ChangedOut:
        """Weakens links below a threshold; those at 0 stay at 0."""
        if not await owners.about(order.user_id):
            return schemas.ChangedOut(changed=0)
        change = (order.user_id, order.threshold, order.decay)
        return schemas.ChangedOut(changed=await database.write(lambda c: operations.decay(c, *change, now=clock.now())))

    @router.post("/plasticity/prune", responses=WRITING)
    async def prune_links(order: schemas.PruneOrder) -> schemas.RemovedOut:
        """Deletes links weaker than a threshold for good."""
        if not await owners.about(order.user_id):
            return schemas.RemovedOut(removed=0)
        return schemas.RemovedOut(
            removed=await database.write(lambda c: operations.prune(c, order.user_id, order.min_strength))
        )

    @router.post("/maintenance", responses=WRITING)
    async def run_maintenance(order: schemas.MaintenanceOrder) -> schemas.MaintenanceOut:
        """Does the nightly maintenance now: links decay by the time that passed, the weakest are pruned."""
        expect_visible(order.user_id)
        report = await maintain(order.user_id, order.dry_run)
        return schemas.MaintenanceOut(**asdict(report))

    return router
