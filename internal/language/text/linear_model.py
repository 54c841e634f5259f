"""A linear model that tells kinds of texts apart, by the vector of a text and the beginnings of its words.

A file of weights belongs to multilingual-e5-small. `benchmarks/page_questions` and `benchmarks/life_statements` learn
theirs.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]

STEM_WEIGHT: Final = 0.15
"""How much the beginning of a word counts beside the vector."""


@cache
def _kinds(weights: Path) -> tuple[tuple[str, ...], Vector, Vector, dict[str, Vector]]:
    """The kinds, the weights of a vector for each, their biases, and the weights of the beginnings of words."""
    known: dict[str, Any] = json.loads(weights.read_text(encoding="utf-8"))
    stems = {stem: np.array(row, np.float32) for stem, row in known["stems"].items()}
    return tuple(known["kinds"]), np.array(known["vector"], np.float32), np.array(known["bias"], np.float32), stems


def kind_chances(weights: Path, text: str, vector: Vector) -> dict[str, float]:
    """The chance that a text is of each kind that a file of weights tells apart."""
    kinds, rows, bias, known = _kinds(weights)
    odds = rows @ vector + bias
    for stem in stems_of(text) & known.keys():
        odds = odds + np.float32(STEM_WEIGHT) * known[stem]
    shares = np.exp(odds - odds.max())
    return dict(zip(kinds, map(float, shares / shares.sum()), strict=True))


def stems_of(text: str) -> frozenset[str]:
    """The beginnings of the words of a text; that of the first once more, marked."""
    found = [word[:5] for word in re.findall(r"[^\W\d_]+", text.casefold())]
    return frozenset([*found, *(f"1{one}" for one in found[:1])])
