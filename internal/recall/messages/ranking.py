"""The learned ranking of messages: a weight for each feature, and the chance that a message with a score is an answer.

The weights are stored in `ranking.json`, written by `internal.recall.messages.training` from judged questions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from internal.recall.messages.features import NAMES
from internal.recall.messages.message_rows import Floats


@dataclass(frozen=True, slots=True)
class Ranking:
    """A linear score of features and its logistic calibration.

    chance = 1 / (1 + exp(-(slope * score + lag * (score - the question's best) + offset))).
    """

    weights: Mapping[str, float]
    slope: float
    lag: float
    offset: float

    def scores(self, matrix: Floats) -> Floats:
        """The score of each candidate, shape (candidates,); a feature without a weight counts nothing."""
        scores: Floats = matrix @ np.array([self.weights.get(name, 0.0) for name in NAMES], dtype=np.float32)
        return scores

    def chances(self, scores: Floats) -> Floats:
        """The chance in [0, 1] that each candidate is an answer, from the scores of all candidates of one question."""
        behind_best = scores - scores.max(initial=-np.inf)
        chances: Floats = 1 / (
            1 + np.exp(-np.clip(self.slope * scores + self.lag * behind_best + self.offset, -50, 50))
        )
        return chances


@dataclass(frozen=True, slots=True)
class Rankings:
    """`lexical` is for questions without a vector, `dense` for those with one."""

    lexical: Ranking
    dense: Ranking

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Rankings:
        """Reads what `stored` returned. Raises ValueError for a weight of an unknown feature."""
        rankings = {name: Ranking(**stored[name]) for name in ("lexical", "dense")}
        unknown = {name for ranking in rankings.values() for name in ranking.weights} - set(NAMES)
        if unknown:
            raise ValueError(f"a ranking has weights for unknown features: {', '.join(sorted(unknown))}")
        return cls(**rankings)

    def stored(self) -> dict[str, Any]:
        """The rankings as `of` reads them."""
        return asdict(self)


def write_rankings(path: Path, rankings: Rankings) -> None:
    """Writes rankings to a file, weights rounded to five digits."""

    def rounded(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: rounded(item) for name, item in value.items()}
        return round(float(value), 5)

    path.write_text(json.dumps(rounded(rankings.stored()), indent=2) + "\n", encoding="utf-8")


@cache
def shipped_rankings() -> Rankings:
    """The rankings that come with the product."""
    stored = files("internal.recall.messages").joinpath("ranking.json").read_text(encoding="utf-8")
    return Rankings.of(json.loads(stored))
