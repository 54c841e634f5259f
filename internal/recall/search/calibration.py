"""What a search's score says of one thing found: the chance, from 0 to 1, that it is what was asked for.

Messages bring their own chance. The constants are fitted by benchmarks/recall_chances.py with the offline embedder on
the labelled sets; of facts and people the log loss falls by half against the bare rate of right hits.
"""

from __future__ import annotations

import math
from typing import Final

SLOPE: Final = 2.017
HALFWAY: Final = 5.187
"""Facts: 512 hits of 75 questions, 68 of them right; log loss 0.187, 0.392 by the bare rate. The score is the one of
`scoring.fused`, so that a hit that stands five spreads above the others, by whatever channels, is as likely right as
not. Memories and entities are scored by the same sum, and no set of their own says otherwise."""

EPISODE_SLOPE: Final = 1.176
EPISODE_HALFWAY: Final = 3.202
"""Imports: 774 hits of 360 questions over six conversations, their sessions as imports; of 115 the lines shown held the
evidence. Log loss 0.343, 0.420 by the bare rate, 0.865 by the constants of facts: a score is measured in spreads among
so few, none of which stands out by five."""

PEOPLE_SLOPE: Final = 44.6
PEOPLE_BASE: Final = -0.934
"""People above the threshold: 205 hits, 147 of them right; log loss 0.308, 0.596 by the bare rate."""

PICKED: Final = 0.7
"""The least chance of somebody whom a model picked for the question: it has read the profile."""


def of_score(score: float) -> float:
    """The chance of a fact or memory with this fused score."""
    return _logistic(SLOPE * (score - HALFWAY))


def of_episode(score: float) -> float:
    """The chance of the lines that are shown of an import with this fused score."""
    return _logistic(EPISODE_SLOPE * (score - EPISODE_HALFWAY))


def of_person(score: float, threshold: float, *, picked: bool) -> float:
    """The chance of a person with this cosine (names added), where the embedding model's threshold is known."""
    chance = _logistic(PEOPLE_SLOPE * (score - threshold) + PEOPLE_BASE)
    return max(chance, PICKED) if picked else chance


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, x))))
