"""Results of a search of knowledge: what was found, and why."""

from dataclasses import dataclass
from typing import Final

from internal.graph.model import Node
from internal.knowledge.model import Episode, Fact
from internal.language.names.person_names import NAMED

MIN_WORDS_SHARE: Final = 0.25
"""The minimum share of a question's words for something found by words alone to be relevant."""


@dataclass(frozen=True, slots=True)
class Reasons:
    """Why something was found: cosine, share of the question's words, how clearly an end of it is named (0 to 1)."""

    meaning: float | None
    words: float
    name: float

    def relevant(self, threshold: float) -> bool:
        """Whether any one channel makes it relevant to the question; `threshold` is the least cosine."""
        return (
            self.words >= MIN_WORDS_SHARE
            or self.name >= NAMED
            or (self.meaning is not None and self.meaning >= threshold)
        )


@dataclass(frozen=True, slots=True)
class FactHit:
    """A fact that was found. `score` compares within one search; `hops` from the centre, None if far away."""

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
    """An episode that was found, or a passage of a file by its number; see FactHit."""

    episode: Episode
    score: float
    reasons: Reasons
    passage: int | None = None


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A typed memory that was found, or was added because it is linked to one that was.

    For an added one `via` is the node id of the memory found, `strength` that of the link, and `reasons` is None.
    """

    node: Node
    score: float
    reasons: Reasons | None = None
    via: str | None = None
    strength: float | None = None
