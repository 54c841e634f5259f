"""One owner's people as rows of one matrix, and the one budget of memory for all owners' matrices."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from internal.people.model import Circle, Person
from internal.recall.repository import PersonVector
from internal.storage.vectors import Vector

_CODES = {circle: code for code, circle in enumerate(Circle)}
_GROWTH = 1.5
_FIRST_ROWS = 16
_PROFILE_BYTES = 2_048
"""About what one profile takes in memory."""


class PeopleMatrix:
    """Every visible person's profile; those with a current vector are rows. Not safe for threads that write."""

    def __init__(self, dim: int, seq: int = 0, rows: int = _FIRST_ROWS) -> None:
        """`seq` is the place in the change log up to which this is right; `rows` the capacity to begin with.

        `commits` is the database's count at which that was checked last.
        """
        self.dim, self.seq, self.count = dim, seq, 0
        self.commits = -1
        self.profiles: dict[int, Person] = {}
        self._row_of: dict[int, int] = {}
        self._ids = np.empty(rows, dtype=np.int64)
        self._circles = np.empty(rows, dtype=np.int8)
        self._vectors = np.empty((rows, dim), dtype=np.float32)

    @classmethod
    def load(cls, dim: int, seq: int, people: Iterable[PersonVector], *, expected: int) -> PeopleMatrix:
        matrix = cls(dim, seq, max(expected, _FIRST_ROWS))
        for person in people:
            matrix.put(person)
        return matrix

    def __len__(self) -> int:
        return len(self.profiles)

    @property
    def nbytes(self) -> int:
        arrays = self._ids.nbytes + self._circles.nbytes + self._vectors.nbytes
        return arrays + len(self.profiles) * _PROFILE_BYTES

    @property
    def unembedded(self) -> list[Person]:
        """People whose vector is not there yet, or is of an older text."""
        return [person for person in self.profiles.values() if person.id not in self._row_of]

    @property
    def ids(self) -> NDArray[np.int64]:
        """Person ids by row, shape (count,)."""
        return self._ids[: self.count]

    @property
    def vectors(self) -> Vector:
        """Shape (count, dim), each row of length 1."""
        return self._vectors[: self.count]

    def row_of(self, person_id: int) -> int | None:
        return self._row_of.get(person_id)

    def outside(self, excluded: Collection[Circle]) -> NDArray[np.bool_]:
        """Which rows are in none of the excluded circles."""
        allowed = np.array([circle not in excluded for circle in Circle])
        return allowed[self._circles[: self.count]]

    def put(self, found: PersonVector) -> None:
        """Adds a person or takes over what changed."""
        person = found.person
        self.profiles[person.id] = person
        if found.vector is None:
            self._drop_row(person.id)
            return
        row = self._row_of.get(person.id)
        if row is None:
            row = self._new_row(person.id)
        self._circles[row] = _CODES[person.circle]
        self._vectors[row] = found.vector

    def drop(self, person_id: int) -> None:
        self.profiles.pop(person_id, None)
        self._drop_row(person_id)

    def follow(self, touched: Iterable[int], current: Sequence[PersonVector]) -> None:
        """Takes over what became of the people that were touched; those not among `current` are visible no more."""
        visible = {found.person.id for found in current}
        for person_id in touched:
            if person_id not in visible:
                self.drop(person_id)
        for found in current:
            self.put(found)

    def _new_row(self, person_id: int) -> int:
        if self.count == len(self._ids):
            self._grow()
        row = self._row_of[person_id] = self.count
        self._ids[row] = person_id
        self.count += 1
        return row

    def _drop_row(self, person_id: int) -> None:
        """The last row takes the place of the one that goes."""
        row = self._row_of.pop(person_id, None)
        if row is None:
            return
        self.count -= 1
        last = self.count
        if row != last:
            self._ids[row], self._circles[row] = self._ids[last], self._circles[last]
            self._vectors[row] = self._vectors[last]
            self._row_of[int(self._ids[row])] = row
        self._vectors[last] = 0  # a forgotten person's vector does not stay in memory

    def _grow(self) -> None:
        rows = int(len(self._ids) * _GROWTH) + 1
        for name in ("_ids", "_circles", "_vectors"):
            old = getattr(self, name)
            grown = np.empty((rows, *old.shape[1:]), dtype=old.dtype)
            grown[: self.count] = old[: self.count]
            setattr(self, name, grown)


class MatrixCache:
    """The matrices of the owners seen last, at most `budget` bytes together; one that is larger alone is kept alone."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._matrices: OrderedDict[int, PeopleMatrix] = OrderedDict()

    @property
    def nbytes(self) -> int:
        return sum(matrix.nbytes for matrix in self._matrices.values())

    def __len__(self) -> int:
        return len(self._matrices)

    def get(self, user_id: int) -> PeopleMatrix | None:
        matrix = self._matrices.get(user_id)
        if matrix is not None:
            self._matrices.move_to_end(user_id)
        return matrix

    def put(self, user_id: int, matrix: PeopleMatrix) -> None:
        self._matrices[user_id] = matrix
        self._matrices.move_to_end(user_id)
        self.shrink()

    def shrink(self) -> None:
        """Drops those used longest ago until the rest fits; the one used last stays."""
        while len(self._matrices) > 1 and self.nbytes > self._budget:
            self._matrices.popitem(last=False)

    def drop(self, user_id: int) -> None:
        self._matrices.pop(user_id, None)
