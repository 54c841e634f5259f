"""Caches of results by the texts they were made of; they are dropped whenever anything is forgotten."""

from collections.abc import Callable
from functools import lru_cache
from typing import Final, ParamSpec, Protocol, TypeVar
from weakref import WeakSet

P = ParamSpec("P")
T = TypeVar("T")


class TextHolder(Protocol):
    """Something that keeps parts of an owner's data in memory."""

    def forget(self, user_id: int) -> None:
        """Drops everything it holds of this owner; it reads what it needs again."""


_DROPPED: Final[list[Callable[[], object]]] = []
_ASKED: Final[WeakSet[TextHolder]] = WeakSet()


def cached(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keeps the latest results of a function, at most `most`; `functools.lru_cache` outlives what was forgotten."""

    def keeper(function: Callable[P, T]) -> Callable[P, T]:
        cached = lru_cache(most)(function)
        _DROPPED.append(cached.cache_clear)
        return cached  # type: ignore[return-value] # its arguments are hashable

    return keeper


def register_cache(drop: Callable[[], object]) -> None:
    """Calls `drop` whenever anything is forgotten, for a cache that does not know the owners of its texts."""
    _DROPPED.append(drop)


def register_holder(holder: TextHolder) -> None:
    """Registers `holder`, as long as it lives, to drop owners who forget something."""
    _ASKED.add(holder)


def forget(user_id: int) -> None:
    """Drops all that this process keeps of texts. Filling it again costs the next messages a few milliseconds."""
    for drop in _DROPPED:
        drop()
    for holder in list(_ASKED):
        holder.forget(user_id)
