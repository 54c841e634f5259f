"""What recall tells whoever measures it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class RecallObserver(Protocol):
    """Called once each, after the fact; must not raise and must not wait."""

    def people_searched(self, user_id: int, seconds: float, results: int) -> None: ...

    def people_selected(self, user_id: int, count: int) -> None:
        """How many people the reranker picked (not called when it was passed over)."""
        ...

    def reranker_fallback(self, reason: str) -> None:
        """The best matches were used unpicked: off, failed, timeout or unknown_ids."""
        ...

    def recall_degraded(self, reason: str) -> None:
        """A part of recall did without its model: enricher, embedder or names."""
        ...

    def recalled(self, seconds: float, hits: Mapping[str, int]) -> None:
        """A prompt was given what belongs to a question: how long finding it took, and how much of each kind it was.

        Seconds from the question embedded to the prompt chosen; what the reranker took is in them where there is one.
        """
        ...


class NoObserver:
    """Nobody measures."""

    def people_searched(self, user_id: int, seconds: float, results: int) -> None:
        return

    def people_selected(self, user_id: int, count: int) -> None:
        return

    def reranker_fallback(self, reason: str) -> None:
        return

    def recall_degraded(self, reason: str) -> None:
        return

    def recalled(self, seconds: float, hits: Mapping[str, int]) -> None:
        return
