"""What a search of knowledge gives back: the thing that was found, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from internal.graph.model import Node
from internal.knowledge.model import Episode, Fact
from internal.language.names.person_names import NAMED

ENOUGH_WORDS: Final = 0.25
"""A share of a question's words from which something found by them alone belongs to it."""


@dataclass(frozen=True, slots=True)
class Reasons:
    """Why something was found: its cosine, its share of the question's words, how plainly an end of it is named."""

    meaning: float | None
    words: float
    name: float

    def relevant(self, threshold: float) -> bool:
        """Whether it belongs to the question at all, by any one channel."""
        return (
            self.words >= ENOUGH_WORDS or self.name >= NAMED or (self.meaning is not None and self.meaning >= threshold)
        )


@dataclass(frozen=True, slots=True)
class FactHit:
    """A fact that was found. `score` compares within one search; `hops` from the centre, None if none or far away."""

    fact: Fact
    score: float
    reasons: Reasons
    hops: int | None = None


@dataclass(frozen=True, slots=True)
class NodeHit:
    """A node that was found; see FactHit."""

    node: Node
    score: float
    reasons: Reasons


@dataclass(frozen=True, slots=True)
class EpisodeHit:
    """An episode that was found; see FactHit."""

    episode: Episode
    score: float
    reasons: Reasons


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A typed memory that was found, or came along with one that was.

    `via` is then the one found (its node id) to which a link of that `strength` leads; `reasons` are None for it.
    """

    node: Node
    score: float
    reasons: Reasons | None = None
    via: str | None = None
    strength: float | None = None
