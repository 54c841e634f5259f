"""Test seams that ship with the product: a clock that stands still and a scripted model server."""

from internal.testing.clock import FIRST_MOMENT, FrozenClock
from internal.testing.script import Answer, Asked, Fault, Reply, Step
from internal.testing.server import ScriptedModel
from internal.testing.vectors import TrigramEmbedder, trigram_vectors

__all__ = [
    "FIRST_MOMENT",
    "Answer",
    "Asked",
    "Fault",
    "FrozenClock",
    "Reply",
    "ScriptedModel",
    "Step",
    "TrigramEmbedder",
    "trigram_vectors",
]
