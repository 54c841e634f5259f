"""Calibration of search scores: the chance, from 0 to 1, that what was found is what was asked for.

Messages bring their own chance. The constants are fitted by benchmarks/search/fit_calibration.py with the offline
embedder on the labelled sets; for facts and people the log loss is half of that of the base rate of right hits.
"""

import math
from typing import Final

FACT_SLOPE: Final = 2.017
FACT_MIDPOINT: Final = 5.187
"""Facts: 512 hits of 75 questions, 68 of them right; log loss 0.187, 0.392 by the base rate. The score is that of
`scoring.fuse`: a hit five standard deviations above the others, by whatever channels, is right with a chance of one
half. Memories and entities are scored by the same sum, and no labelled set of their own contradicts it."""

EPISODE_SLOPE: Final = 1.176
EPISODE_MIDPOINT: Final = 3.202
"""Imports: 774 hits of 360 questions over six conversations, their sessions as imports; for 115 the lines shown held
the evidence. Log loss 0.343, 0.420 by the base rate, 0.865 by the constants of facts: among so few texts none stands
out by five standard deviations."""

PEOPLE_SLOPE: Final = 44.6
PEOPLE_OFFSET: Final = -0.934
"""People above the threshold: 205 hits, 147 of them right; log loss 0.308, 0.596 by the base rate."""

MIN_PICKED_CHANCE: Final = 0.7
"""The least chance of somebody whom the reranker picked: it has read the profile."""


def fact_chance(score: float) -> float:
    """The chance of a fact or memory with this fused score."""
    return _logistic(FACT_SLOPE * (score - FACT_MIDPOINT))


def episode_chance(score: float) -> float:
    """The chance of the lines shown of an import with this fused score."""
    return _logistic(EPISODE_SLOPE * (score - EPISODE_MIDPOINT))


def person_chance(score: float, threshold: float, *, picked: bool) -> float:
    """The chance of a person with this cosine (name boost added); `threshold` is the embedding model's."""
    chance = _logistic(PEOPLE_SLOPE * (score - threshold) + PEOPLE_OFFSET)
    return max(chance, MIN_PICKED_CHANCE) if picked else chance


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, x))))
