"""What recall reports to metrics."""

import logging
from collections.abc import Mapping
from typing import Protocol

log = logging.getLogger(__name__)


class RecallObserver(Protocol):
    """Called after the fact; must not raise and must not wait."""

    def people_searched(self, user_id: int, seconds: float, results: int) -> None: ...

    def people_selected(self, user_id: int, count: int) -> None:
        """Reports how many people the reranker picked; not called when it was skipped."""

    def reranker_fallback(self, reason: str) -> None:
        """Reports that the best matches were used unpicked: off, failed, timeout or unknown_ids."""

    def recall_degraded(self, reason: str) -> None:
        """Reports that a part of recall worked without its model: enricher, embedder, terms or names."""

    def recalled(self, seconds: float, hits: Mapping[str, int]) -> None:
        """Reports a prompt that was filled: the seconds it took, and how much of each kind was recalled.

        `seconds` run from the embedded question to the selected contents, the reranker's time included.
        """


class NoObserver:
    """Ignores everything."""

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


def report_degraded(observer: RecallObserver, part: str, error: Exception) -> None:
    """Reports and logs a part of recall that worked without its model."""
    observer.recall_degraded(part)
    log.warning("recall_degraded", extra={"part": part, "reason": type(error).__name__})
