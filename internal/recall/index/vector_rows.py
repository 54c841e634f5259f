"""Vectors by key as rows of one matrix, with numeric columns beside them, and a cache with one memory budget.

Vectors are bytes: a quarter of the memory, and products at a third of the time.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Final, Generic, Protocol, TypeVar
from weakref import WeakValueDictionary

import numpy as np
import simsimd
from numpy.typing import DTypeLike, NDArray

from internal.storage.vectors import Vector

_GROWTH = 1.5
FIRST_ROWS = 16
MANY_ROWS: Final = 1_500
"""Rows from which a computation takes about a millisecond."""

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


async def on_thread(rows: int, work: Callable[[], T], many: int = MANY_ROWS) -> T:
    """Runs `work`, on a thread if `rows` are many: changing to a thread costs a fifth of a millisecond."""
    return work() if rows < many else await asyncio.to_thread(work)


class VectorRows(Generic[K]):
    """One row per key; a removed row is filled with the last one. Not thread-safe for writes."""

    def __init__(self, dim: int, rows: int = FIRST_ROWS, **columns: DTypeLike) -> None:
        """`rows` is the initial capacity; `columns` are the types of the numbers kept for each row."""
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
        """Shape (count, dim); each row has length 1, or 0 for a key without a vector."""
        return self._vectors[: self.count]

    def column(self, name: str) -> NDArray[Any]:
        """Shape (count,)."""
        return self._columns[name][: self.count]

    def row_of(self, key: K) -> int | None:
        return self._row_of.get(key)

    def put(self, key: K, vector: Vector | None, **numbers: float) -> int:
        """Adds or replaces a key and returns its row."""
        row = self._row_of.get(key)
        if row is None:
            row = self._new_row(key)
        self._vectors[row] = 0 if vector is None else vector
        for name, number in numbers.items():
            self._columns[name][row] = number
        return row

    def drop(self, key: K) -> bool:
        """Removes a key and wipes its vector from memory. Returns whether it was there."""
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
        self._vectors = _enlarged(self._vectors, self.count, rows)
        self._columns = {name: _enlarged(column, self.count, rows) for name, column in self._columns.items()}


def _enlarged(old: NDArray[Any], count: int, rows: int) -> NDArray[Any]:
    larger = np.zeros((rows, *old.shape[1:]), dtype=old.dtype)
    larger[:count] = old[:count]
    return larger


class OwnerLocks:
    """One lock per owner, freed when nobody holds or awaits it."""

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
        """Approximate memory in bytes."""


V = TypeVar("V", bound=Sized)


class ByteCache(Generic[K, V]):
    """A least-recently-used cache of at most `budget` bytes; a single larger value is kept."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._values: OrderedDict[K, V] = OrderedDict()

    @property
    def nbytes(self) -> int:
        return sum(one.nbytes for one in self._values.values())

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K) -> V | None:
        value = self._values.get(key)
        if value is not None:
            self._values.move_to_end(key)
        return value

    def put(self, key: K, value: V) -> None:
        self._values[key] = value
        self._values.move_to_end(key)
        self.shrink()

    def held(self) -> list[K]:
        return list(self._values)

    def shrink(self) -> None:
        """Drops the least recently used values until the rest fits; the last used one stays."""
        while len(self._values) > 1 and self.nbytes > self._budget:
            self._values.popitem(last=False)

    def drop(self, key: K) -> None:
        self._values.pop(key, None)


_LARGEST: Final = 127
_BLOCK_BYTES: Final = 4 * 1024 * 1024
"""Bytes that one call of the library reads, a millisecond: it holds the interpreter lock meanwhile."""

Codes = NDArray[np.int8]
Scales = NDArray[np.float32]


def quantise(vectors: Vector) -> tuple[Codes, Scales]:
    """Codes (rows, dimensions) and scales (rows,): `codes * scales[:, None]` approximates the vectors.

    A cosine of two such vectors is off by some 0.002 at 384 dimensions. The scale of a zero vector is 0.
    """
    largest = np.abs(vectors).max(axis=1, initial=0)
    factors = np.divide(_LARGEST, largest, out=np.zeros_like(largest), where=largest > 0)
    codes = np.rint(vectors * factors[:, np.newaxis]).astype(np.int8)
    return codes, (largest / np.float32(_LARGEST)).astype(np.float32)


def cosines(codes: Codes, scales: Scales, query: Vector) -> Vector:
    """The cosines of coded rows with a normalised query: shape (rows,), 0 for rows without a vector."""
    query_codes, scale = quantise(query[np.newaxis])
    result = np.empty(len(codes), dtype=np.float32)
    rows = max(1, _BLOCK_BYTES // max(1, codes.shape[1]))
    for start in range(0, len(codes), rows):
        block = simsimd.cdist(query_codes, codes[start : start + rows], metric="dot", out_dtype="float32")
        result[start : start + rows] = np.asarray(block)[0]
    result *= scales * scale[0]
    return result
