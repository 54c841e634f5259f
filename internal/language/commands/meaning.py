"""Tells by the vector of a message which page it asks for, where no rule recognises its words.

The weights belong to multilingual-e5-small; `benchmarks/page_questions/train.py` learns them from sentences.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from internal.language.discretion.meaning import STEM_WEIGHT, Vector, stems_of

WEIGHTS: Final = Path(__file__).with_name("page_weights.json")
LONGEST: Final = 20
"""Words of a message that may ask for a page."""
SURE: Final = 0.57
"""The chance from which a page is meant. In threefold tests 6 of 6,777 messages for no page reach it."""
_ONE_WAY: Final = 0.95
"""The chance from which only one of what others owe and what the owner owes is meant; below it both are shown."""
_OPEN_ENDS: Final = ("waiting", "promised")


@cache
def _weights() -> tuple[tuple[str, ...], Vector, Vector, dict[str, Vector]]:
    """The pages, the weights of a vector for each, their biases, and the weights of the beginnings of words."""
    known: dict[str, Any] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    stems = {stem: np.array(row, np.float32) for stem, row in known["stems"].items()}
    return tuple(known["pages"]), np.array(known["vector"], np.float32), np.array(known["bias"], np.float32), stems


def page_chances(text: str, vector: Vector) -> dict[str, float]:
    """The chance that a message asks for each page, or for "none"; its vector is that of a query."""
    pages, weights, bias, known = _weights()
    odds = weights @ vector + bias
    for stem in stems_of(text) & known.keys():
        odds = odds + np.float32(STEM_WEIGHT) * known[stem]
    shares = np.exp(odds - odds.max())
    return dict(zip(pages, map(float, shares / shares.sum()), strict=True))


def meant_pages(text: str, vector: Vector) -> tuple[str, ...]:
    """The pages that a message surely asks for: none, one, or both that tell who owes whom."""
    found = page_chances(text, vector)
    found.pop("none")
    open_ends = {page: found.pop(page) for page in _OPEN_ENDS}
    either = sum(open_ends.values())
    if either > SURE:
        sure = tuple(page for page, chance in open_ends.items() if chance > _ONE_WAY * either)
        return sure or _OPEN_ENDS
    best = max(found, key=lambda page: found[page])
    return (best,) if found[best] > SURE else ()
