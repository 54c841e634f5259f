"""What the vectors of texts tell beside their words: for whom an order is, what a sentence touches, what is near.

The weights belong to multilingual-e5-small; `benchmarks/discretion_set/train.py` learns them from sentences.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from internal.language.discretion.sensitivity import TOPICS, Topic, topics_of

Vector = NDArray[np.float32]

WEIGHTS: Final = Path(__file__).with_name("weights.json")
STEM_WEIGHT: Final = 0.15
"""How much the beginning of a word counts beside the vector."""
_TOUCHED: Final = -0.3
"""Log-odds from which a sentence touches a topic: the safe side of even."""
_DENIED: Final = -2.0
"""Log-odds of all topics together below which words that name one mean something else ("a series about detectives")."""
_SPREAD: Final = 0.02
"""The standard deviation of the cosines of an order with texts that have nothing to do with it."""


@cache
def _weights() -> dict[str, Any]:
    return dict(json.loads(WEIGHTS.read_text(encoding="utf-8")))


@cache
def _row(*path: str) -> Vector:
    found = _weights()
    for one in path:
        found = found[one]
    return np.array(found, np.float32)


def for_others(text: str, vector: Vector) -> float:
    """The log-odds that a message asks for words that somebody else will read; its vector is that of a query."""
    known = _weights()["order"]
    stems = sum(known["stems"].get(stem, 0.0) for stem in stems_of(text))
    return float(vector @ _row("order", "vector")) + float(known["bias"]) + STEM_WEIGHT * float(stems)


def touched(text: str, vector: Vector) -> frozenset[Topic]:
    """The topics that a sentence touches, by its words and by its vector, which is that of a document."""
    stored = _weights()["topics"]
    known = {name: float(vector @ _row("topics", name, "vector") + one["bias"]) for name, one in stored.items()}
    by_words = topics_of(text)
    found = set(by_words if known["any"] > _DENIED else by_words & {"secret"})
    if known["secret"] > _TOUCHED:
        found.add("secret")
    if not found - {"secret"}:
        nearest = max((one for one in TOPICS if one != "secret"), key=lambda one: known[one])
        if known[nearest] > _TOUCHED or (known["any"] > _TOUCHED and not found):
            found.add(nearest)
    return frozenset(found)


def nearness(order: str, vector: Vector, texts: Vector) -> Vector:
    """How near texts are to an order, in standard deviations of texts that have nothing to do with it."""
    return np.asarray((texts @ vector - _row("usual", script_of(order)) @ vector) / np.float32(_SPREAD), np.float32)


def script_of(text: str) -> str:
    return "other" if re.search("[а-яіїєґ]", text.casefold()) else "latin"


def stems_of(text: str) -> frozenset[str]:
    """The beginnings of the words of a text; that of the first once more, marked."""
    found = [word[:5] for word in re.findall(r"[^\W\d_]+", text.casefold())]
    return frozenset([*found, *(f"1{one}" for one in found[:1])])
