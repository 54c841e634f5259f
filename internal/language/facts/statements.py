"""Tells by the vector of a sentence what it states: a promise, an occasion, a contact, in words that no rule knows.

The weights belong to multilingual-e5-small; `benchmarks/life_statements/train.py` learns them from sentences.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from internal.language.text.linear_model import Vector, kind_chances

WEIGHTS: Final = Path(__file__).with_name("statement_weights.json")
TASKS: Final = ("promise", "mine")
"""What somebody will do for the owner, and what the owner will do for somebody."""
OCCASIONS: Final = ("birthday", "wedding", "anniversary", "memorial", "event")
ENDS: Final = ("off", "done")
"""What was called off or changed, and what was done."""
SURE: Final = 0.55
"""The chance from which a sentence counts as one of some kinds."""

Chances = Mapping[str, float]
Judge = Callable[[str], Chances]
"""Tells the chances of a sentence: it needs the embedder, which is known to the language process only."""


def statement_chances(text: str, vector: Vector) -> Chances:
    """The chance that a sentence states each kind, or "none"; its vector is that of a document."""
    return kind_chances(WEIGHTS, text, vector)


def stated(sentence: str, judge: Judge | None, kinds: Sequence[str], least: float = SURE) -> str | None:
    """The likeliest of these kinds, if a sentence surely states one of them; None too where nobody judges."""
    chances = judge(sentence) if judge is not None else {}
    return max(kinds, key=chances.__getitem__) if sum(chances.get(kind, 0.0) for kind in kinds) > least else None
