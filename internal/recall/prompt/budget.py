"""The token budget of one part of a prompt."""

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def within_budget(items: Iterable[T], tokens: int, cost: Callable[[T], int]) -> list[T]:
    """The first items that fit into `tokens`; one that is too long for the rest is skipped for shorter ones."""
    kept: list[T] = []
    for item in items:
        if (needed := cost(item)) <= tokens:
            kept.append(item)
            tokens -= needed
    return kept
