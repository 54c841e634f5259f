"""Vectors of keys as rows of one matrix, with columns of numbers beside them, and one budget of memory for many."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import DTypeLike, NDArray

from internal.storage.vectors import Vector

_GROWTH = 1.5
FIRST_ROWS = 16

K = TypeVar("K", bound=Hashable)


class VectorRows(Generic[K]):
    """One row a key; the last row takes the place of one that goes. Not safe for threads that write."""

    def __init__(self, dim: int, rows: int = FIRST_ROWS, **columns: DTypeLike) -> None:
        """`rows` is the capacity to begin with; `columns` are the types of the numbers kept for each row."""
        self.count = 0
        self.keys: list[K] = []
        self._row_of: dict[K, int] = {}
        self._vectors: Vector = np.zeros((rows, dim), dtype=np.float32)
        self._columns: dict[str, NDArray[Any]] = {name: np.zeros(rows, dtype=kind) for name, kind in columns.items()}

    def __len__(self) -> int:
        return self.count

    @property
    def nbytes(self) -> int:
        return self._vectors.nbytes + sum(column.nbytes for column in self._columns.values())

    @property
    def vectors(self) -> Vector:
        """Shape (count, dim), each row of length 1, or of length 0 for a key that has no vector."""
        return self._vectors[: self.count]

    def column(self, name: str) -> NDArray[Any]:
        """Shape (count,)."""
        return self._columns[name][: self.count]

    def row_of(self, key: K) -> int | None:
        return self._row_of.get(key)

    def put(self, key: K, vector: Vector | None, **numbers: float) -> int:
        """Adds a key or takes over what changed; its row."""
        row = self._row_of.get(key)
        if row is None:
            row = self._new_row(key)
        self._vectors[row] = 0 if vector is None else vector
        for name, number in numbers.items():
            self._columns[name][row] = number
        return row

    def drop(self, key: K) -> bool:
        """Takes a key out; whether it was there. Its vector does not stay in memory."""
        row = self._row_of.pop(key, None)
        if row is None:
            return False
        self.count -= 1
        last = self.count
        moved = self.keys.pop()
        if row != last:
            self.keys[row], self._row_of[moved] = moved, row
            self._vectors[row] = self._vectors[last]
            for column in self._columns.values():
                column[row] = column[last]
        self._vectors[last] = 0
        return True

    def _new_row(self, key: K) -> int:
        if self.count == len(self._vectors):
            self._grow()
        row = self._row_of[key] = self.count
        self.keys.append(key)
        self.count += 1
        return row

    def _grow(self) -> None:
        rows = int(len(self._vectors) * _GROWTH) + 1
        self._vectors = _grown(self._vectors, self.count, rows)
        self._columns = {name: _grown(column, self.count, rows) for name, column in self._columns.items()}


def _grown(old: NDArray[Any], count: int, rows: int) -> NDArray[Any]:
    grown = np.zeros((rows, *old.shape[1:]), dtype=old.dtype)
    grown[:count] = old[:count]
    return grown


class OwnerLocks:
    """A lock for each owner, for as long as somebody holds or awaits it: owners who are silent take no memory."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    def of(self, user_id: int) -> asyncio.Lock:
        lock = self._locks.get(user_id)
        if lock is None:
            lock = self._locks[user_id] = asyncio.Lock()
        return lock


class Sized(Protocol):
    @property
    def nbytes(self) -> int:
        """What it takes in memory, about."""
        ...


V = TypeVar("V", bound=Sized)


class ByteCache(Generic[K, V]):
    """What was used last, at most `budget` bytes together; one that is larger alone is kept alone."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._kept: OrderedDict[K, V] = OrderedDict()

    @property
    def nbytes(self) -> int:
        return sum(one.nbytes for one in self._kept.values())

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: K) -> V | None:
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def put(self, key: K, value: V) -> None:
        self._kept[key] = value
        self._kept.move_to_end(key)
        self.shrink()

    def shrink(self) -> None:
        """Drops what was used longest ago until the rest fits; what was used last stays."""
        while len(self._kept) > 1 and self.nbytes > self._budget:
            self._kept.popitem(last=False)

    def drop(self, key: K) -> None:
        self._kept.pop(key, None)
