"""The retention of every memory of an owner, now and in the future if it is not used."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection

from internal.memory.plasticity import decay_repository
from internal.memory.plasticity.decay import Plasticity, own_half_life, retention

_FAR: Final = timedelta(days=365_000)
"""The latest date that is computed."""


@dataclass(frozen=True, slots=True)
class Strength:
    """The `retention` of a memory now, in [0, 1]; it began at `confidence` when the memory was used last.

    `half_life` None: it does not fade. `faded_at` is when it will be offered for forgetting, None: never.
    """

    id: str
    summary: str
    created: datetime
    last_accessed: datetime | None
    access_count: int
    confidence: float
    retention: float
    half_life: timedelta | None
    faded_at: datetime | None


def strengths(connection: Connection, user_id: int, rates: Plasticity, now: datetime) -> list[Strength]:
    """All visible memories, the most faded first."""
    found = []
    for one in decay_repository.unused_since(connection, user_id, now + timedelta(microseconds=1)):
        used = max(one.created, one.last_accessed or one.created)
        use = (one.created, one.last_accessed, one.access_count, one.confidence)
        own = None if rates.half_life is None else own_half_life(one.access_count, rates.half_life)
        left = retention(*use, now, rates.half_life)
        faded_at = _faded_at(one.confidence, used, own, rates.forget_below)
        found.append(Strength(one.id, one.summary, *use, left, own, faded_at))
    return sorted(found, key=lambda one: (one.retention, one.id))


def spread(found: list[Strength], parts: int = 10) -> list[int]:
    """A histogram of retention over equal parts of [0, 1], the lowest first."""
    counts = [0] * parts
    for strength in found:
        counts[min(int(strength.retention * parts), parts - 1)] += 1
    return counts


def _faded_at(confidence: float, used: datetime, half_life: timedelta | None, below: float) -> datetime | None:
    if half_life is None or below <= 0 or confidence <= 0:
        return None
    lives = max(
        math.log2(confidence / below), 1.0
    )  # a memory that was uncertain from the beginning has a half-life, too
    return used + min(half_life * lives, _FAR)
