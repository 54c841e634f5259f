"""One owner's people as rows of a vector matrix."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from internal.people.model import INNER_CIRCLE, Circle, Person
from internal.recall.index.people_repository import PersonVector
from internal.recall.index.vector_rows import FIRST_ROWS, ByteCache, VectorRows
from internal.storage.vectors import Vector

_CODES = {circle: code for code, circle in enumerate(Circle)}
_PROFILE_BYTES = 2_048
"""Approximate memory of one profile."""


class PeopleMatrix:
    """The profiles of all visible people; those with a current vector are rows. Not thread-safe for writes."""

    def __init__(self, dim: int, seq: int = 0, rows: int = FIRST_ROWS) -> None:
        """`seq` is the change log position up to which the matrix is current, `rows` the initial capacity.

        `cache_version` is the database's `cache_version` when that was last checked.
        """
        self.dim, self.seq = dim, seq
        self.cache_version = -1
        self.profiles: dict[int, Person] = {}
        self._of_entities: dict[str, int] = {}
        self._inner: list[Person] | None = None
        self._rows: VectorRows[int] = VectorRows(dim, rows, id=np.int64, circle=np.int8)

    @classmethod
    def load(cls, dim: int, seq: int, people: Iterable[PersonVector], *, expected: int) -> PeopleMatrix:
        matrix = cls(dim, seq, max(expected, FIRST_ROWS))
        for person in people:
            matrix.put(person)
        return matrix

    def __len__(self) -> int:
        return len(self.profiles)

    @property
    def count(self) -> int:
        """The number of people with a vector."""
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes + len(self.profiles) * _PROFILE_BYTES

    @property
    def unembedded(self) -> list[Person]:
        """People who have no vector yet, or one of an older text."""
        if self.count == len(self.profiles):
            return []
        return [person for person in self.profiles.values() if self._rows.row_of(person.id) is None]

    @property
    def inner_circle(self) -> list[Person]:
        """Most mentioned first, then in order of creation."""
        if self._inner is None:
            inner = (person for person in self.profiles.values() if person.circle in INNER_CIRCLE)
            self._inner = sorted(inner, key=lambda person: (-person.mention_count, person.id))
        return self._inner

    def of_entities(self, entity_ids: Iterable[str]) -> list[Person]:
        """The visible people with these entity ids, in order of creation."""
        found = {person_id for entity_id in entity_ids if (person_id := self._of_entities.get(entity_id)) is not None}
        return [self.profiles[person_id] for person_id in sorted(found)]

    @property
    def ids(self) -> NDArray[np.int64]:
        """Person ids by row, shape (count,)."""
        return self._rows.column("id")

    @property
    def vectors(self) -> Vector:
        """Shape (count, dim), each row of length 1."""
        return self._rows.vectors

    def row_of(self, person_id: int) -> int | None:
        return self._rows.row_of(person_id)

    def outside(self, excluded: Collection[Circle]) -> NDArray[np.bool_]:
        """Which rows are in none of the excluded circles."""
        allowed = np.array([circle not in excluded for circle in Circle])
        rows: NDArray[np.bool_] = allowed[self._rows.column("circle")]
        return rows

    def put(self, row: PersonVector) -> None:
        """Adds or replaces a person."""
        person = row.person
        self._inner = None
        self._of_entities[person.entity_id] = person.id
        self.profiles[person.id] = person
        if row.vector is None:
            self._rows.drop(person.id)
        else:
            self._rows.put(person.id, row.vector, id=person.id, circle=_CODES[person.circle])

    def drop(self, person_id: int) -> None:
        self._inner = None
        removed = self.profiles.pop(person_id, None)
        if removed is not None and self._of_entities.get(removed.entity_id) == person_id:
            del self._of_entities[removed.entity_id]
        self._rows.drop(person_id)

    def apply_changes(self, touched: Iterable[int], current: Sequence[PersonVector]) -> None:
        """Applies changes: `touched` people who are not among `current` are removed, the others replaced."""
        visible = {row.person.id for row in current}
        for person_id in touched:
            if person_id not in visible:
                self.drop(person_id)
        for row in current:
            self.put(row)


MatrixCache = ByteCache[int, PeopleMatrix]
"""The matrices of the owners who searched last."""
