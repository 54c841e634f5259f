"""Decay of memories and their links: rates by preset, decay by elapsed time, retention of an unused memory."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from internal.config.settings import MemoryConfig, PlasticityPreset


@dataclass(frozen=True, slots=True)
class Plasticity:
    """The rates. Each use of two memories together adds `strengthen` to their link; `half_life` None: no decay.

    Links weaker than `prune_below` are pruned at night; memories with a retention below `forget_below` are offered for
    forgetting. Both are in [0, 1], 0 = never.
    """

    strengthen: float
    half_life: timedelta | None
    prune_below: float
    forget_below: float


PRESETS: Final[Mapping[PlasticityPreset, Plasticity]] = {
    "default": Plasticity(0.1, timedelta(days=90), 0.05, 0.05),
    "conservative": Plasticity(0.05, timedelta(days=365), 0.02, 0.02),
    "aggressive": Plasticity(0.2, timedelta(days=30), 0.1, 0.1),
    "off": Plasticity(0.0, None, 0.0, 0.0),
}
"""An unused link of 0.5 is pruned after 10 months with `default`, after 4 years and a half with `conservative`, after
10 weeks with `aggressive`. `off` stops all decay; other settings still override it."""


def plasticity_of(config: MemoryConfig) -> Plasticity:
    """The preset's rates with the overrides applied."""
    preset = PRESETS[config.plasticity]
    days = config.half_life_days
    return Plasticity(
        strengthen=preset.strengthen if config.strengthen is None else config.strengthen,
        half_life=preset.half_life if days is None else timedelta(days=days),
        prune_below=preset.prune_below if config.prune_below is None else config.prune_below,
        forget_below=preset.forget_below if config.forget_below is None else config.forget_below,
    )


def settled(strength: float, since: datetime, now: datetime, half_life: timedelta | None) -> float:
    """The strength left after the time from `since` to `now`: half after each half-life, in [0, 1].

    One step gives the same result as many. A negative time, after the clock was set back, undoes the decay of the
    time that never passed.
    """
    if half_life is None:
        return strength
    lives = (now - since) / half_life
    # Beyond this many half-lives the result equals 0 or 1, and the power would overflow.
    return min(max(strength * math.exp2(-min(max(lives, -1000.0), 1000.0)), 0.0), 1.0)


def strengthened(strength: float, amount: float) -> float:
    """The strength plus `amount`, at most 1."""
    return min(strength + amount, 1.0)


def retention(
    created: datetime,
    last_accessed: datetime | None,
    access_count: int,
    confidence: float,
    now: datetime,
    half_life: timedelta | None,
) -> float:
    """The retention of a memory, in [0, 1]: halved by each half-life in which it was not used.

    Its half-life grows with use, by 1 + ln(1 + accesses): the tenth recall adds less than the first. An uncertain
    memory begins with less.
    """
    if half_life is None:
        return confidence
    idle = max(now - max(created, last_accessed or created), timedelta())
    return confidence * math.exp2(-min(idle / own_half_life(access_count, half_life), 1000.0))


def own_half_life(access_count: int, half_life: timedelta) -> timedelta:
    """The half-life of a memory with this number of accesses; `half_life` is that of an unused one."""
    return half_life * (1 + math.log1p(access_count))
