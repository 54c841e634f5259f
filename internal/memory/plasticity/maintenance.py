"""Nightly maintenance of memory: links decay and are pruned, faded memories are offered for forgetting.

It runs in short transactions, so that an owner with hundreds of thousands of links delays no other owner's message.
Every step is idempotent: decay follows from the time since the strength was set.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from internal.events import repository as events
from internal.memory.plasticity import decay_repository, night_repository, repository as plasticity_repository
from internal.memory.plasticity.decay import Plasticity, retention, settled
from internal.memory.plasticity.decay_repository import Unused
from internal.memory.plasticity.repository import Link

MAINTENANCE_DONE: Final = "maintenance_done"

PAGE: Final = 250
"""Most links of one step. 2,000 made a message wait for 1.4 s on a busy machine, 250 for 0.3 s."""

_SMALLEST: Final = 25
_STEP_S: Final = 0.02
"""Seconds that a step should take at most: the next one is halved if it took longer, else it may grow."""

OFFERED: Final = 100
"""Most faded memories that a report lists."""

NIGHT_MISSED: Final = timedelta(hours=36)


@dataclass(frozen=True, slots=True)
class FadedMemory:
    """A memory offered for forgetting; `retention` in [0, 1]."""

    id: str
    summary: str
    retention: float


@dataclass(frozen=True, slots=True)
class LinkPageResult:
    """The result of one page of links."""

    decayed: int = 0
    pruned: int = 0


@dataclass(frozen=True, slots=True)
class MaintenanceReport:
    """`links` and `memories` are how many there were; `kept` are faded memories that are the only record of something.

    `faded` is the number of offered memories, `offered` the most faded of them first. A dry run changed nothing.
    """

    user_id: int
    at: datetime
    dry_run: bool
    links: int
    decayed: int
    pruned: int
    memories: int
    faded: int
    kept: int
    offered: Sequence[FadedMemory] = ()

    def counts(self) -> dict[str, Any]:
        """The payload of the event: no words of memories."""
        values = asdict(self)
        return {name: values[name] for name in ("links", "decayed", "pruned", "memories", "faded", "kept")}


def night_due(last: datetime, now: datetime, zone: ZoneInfo, hour: int) -> bool:
    """Whether the maintenance of the owner's latest night was not done yet; `last` is the time of the last one.

    A `last` in the future comes from a wrong clock; then it is done again.
    """
    return last > now or last < _night_before(now, zone, hour)


def may_prune(last: datetime, now: datetime) -> bool:
    """Whether the night before this one was not missed. After a longer time links decay now and are pruned next night.

    Otherwise a clock that jumps ahead by a year would prune links for ever; the decay itself is undone once the clock
    is right.
    """
    return timedelta() <= now - last <= NIGHT_MISSED


def next_size(size: int, took: float) -> int:
    """The number of links of the next step, after one of `size` links that took `took` seconds."""
    return max(size // 2, _SMALLEST) if took > _STEP_S else min(size + _SMALLEST, PAGE)


def step(
    connection: Connection, user_id: int, links: Sequence[Link], plasticity: Plasticity, now: datetime, *, prune: bool
) -> LinkPageResult:
    """Decays a page of links to now and prunes those that are too weak."""
    left = _left(links, plasticity, now)
    due = [(one, rest) for one, rest in left if rest != one.strength]
    decayed = plasticity_repository.settle(connection, user_id, due, now)
    if not prune or not plasticity.prune_below:
        return LinkPageResult(decayed)
    weak = [one.id for one, rest in left if rest < plasticity.prune_below]
    return LinkPageResult(decayed, plasticity_repository.delete_weak(connection, user_id, weak, plasticity.prune_below))


def forecast(links: Sequence[Link], plasticity: Plasticity, now: datetime) -> LinkPageResult:
    """The result that `step` would have."""
    left = _left(links, plasticity, now)
    decayed = sum(1 for one, rest in left if rest != one.strength)
    return LinkPageResult(decayed, sum(1 for _, rest in left if rest < plasticity.prune_below))


def faded_memories(
    connection: Connection, user_id: int, plasticity: Plasticity, now: datetime
) -> tuple[list[FadedMemory], int]:
    """The memories to be offered for forgetting, the most faded first, and how many are kept as the only record.

    A memory is offered once it was not used for a half-life and its retention is below `forget_below`; so an uncertain
    one is not offered on its first day.
    """
    if plasticity.half_life is None or not plasticity.forget_below:
        return [], 0
    unused = decay_repository.unused_since(connection, user_id, now - plasticity.half_life)
    rated = ((memory, _retention(memory, plasticity, now)) for memory in unused)
    faded = [FadedMemory(one.id, one.summary, left) for one, left in rated if left < plasticity.forget_below]
    kept = decay_repository.only_records(connection, user_id, [memory.id for memory in faded])
    offered = [memory for memory in faded if memory.id not in kept]
    return sorted(offered, key=lambda one: (one.retention, one.id)), len(kept)


def finish(connection: Connection, report: MaintenanceReport) -> None:
    """Records that maintenance is done, with an event unless the memory is empty."""
    night_repository.note_night(connection, report.user_id, report.at)
    if report.links or report.memories:
        payload = report.counts()
        events.append(
            connection, MAINTENANCE_DONE, source="system:memory", now=report.at, user_id=report.user_id, payload=payload
        )


def _left(links: Sequence[Link], plasticity: Plasticity, now: datetime) -> list[tuple[Link, float]]:
    return [(link, settled(link.strength, link.since, now, plasticity.half_life)) for link in links]


def _retention(memory: Unused, plasticity: Plasticity, now: datetime) -> float:
    return retention(
        memory.created, memory.last_accessed, memory.access_count, memory.confidence, now, plasticity.half_life
    )


def _night_before(now: datetime, zone: ZoneInfo, hour: int) -> datetime:
    """The owner's latest past night hour; one skipped by daylight saving counts at the time it would have had."""
    local = now.astimezone(zone)
    for days in (0, 1):
        night = (local - timedelta(days=days)).replace(hour=hour, minute=0, second=0, microsecond=0, fold=0)
        if night.astimezone(now.tzinfo) <= now:
            break
    return night.astimezone(now.tzinfo)
