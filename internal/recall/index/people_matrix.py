"""One owner's people as rows of one matrix."""

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
"""About what one profile takes in memory."""


class PeopleMatrix:
    """Every visible person's profile; those with a current vector are rows. Not safe for threads that write."""

    def __init__(self, dim: int, seq: int = 0, rows: int = FIRST_ROWS) -> None:
        """`seq` is the place in the change log up to which this is right; `rows` the capacity to begin with.

        `commits` is the database's count at which that was checked last.
        """
        self.dim, self.seq = dim, seq
        self.commits = -1
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
        """How many have a vector."""
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes + len(self.profiles) * _PROFILE_BYTES

    @property
    def unembedded(self) -> list[Person]:
        """People whose vector is not there yet, or is of an older text."""
        if self.count == len(self.profiles):
            return []
        return [person for person in self.profiles.values() if self._rows.row_of(person.id) is None]

    @property
    def inner_circle(self) -> list[Person]:
        """Most mentioned first, then in the order in which they came."""
        if self._inner is None:
            inner = (person for person in self.profiles.values() if person.circle in INNER_CIRCLE)
            self._inner = sorted(inner, key=lambda person: (-person.mention_count, person.id))
        return self._inner

    def of_entities(self, entity_ids: Iterable[str]) -> list[Person]:
        """The visible people who are these entities, in the order in which they came."""
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

    def put(self, found: PersonVector) -> None:
        """Adds a person or takes over what changed."""
        person = found.person
        self._inner = None
        self._of_entities[person.entity_id] = person.id
        self.profiles[person.id] = person
        if found.vector is None:
            self._rows.drop(person.id)
        else:
            self._rows.put(person.id, found.vector, id=person.id, circle=_CODES[person.circle])

    def drop(self, person_id: int) -> None:
        self._inner = None
        gone = self.profiles.pop(person_id, None)
        if gone is not None and self._of_entities.get(gone.entity_id) == person_id:
            del self._of_entities[gone.entity_id]
        self._rows.drop(person_id)

    def follow(self, touched: Iterable[int], current: Sequence[PersonVector]) -> None:
        """Takes over what became of the people that were touched; those not among `current` are visible no more."""
        visible = {found.person.id for found in current}
        for person_id in touched:
            if person_id not in visible:
                self.drop(person_id)
        for found in current:
            self.put(found)


MatrixCache = ByteCache[int, PeopleMatrix]
"""The matrices of the owners seen last."""
