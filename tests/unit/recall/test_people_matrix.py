"""One owner's people as rows of a matrix, and the budget of all matrices."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, strategies as st

from internal.people.model import INNER_CIRCLE, Circle, Person
from internal.recall.index.people_matrix import MatrixCache, PeopleMatrix
from internal.recall.index.people_repository import PersonVector

DIM = 3
NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)

_CHANGES = st.lists(
    st.tuples(st.integers(1, 12), st.sampled_from(["vector", "pending", "drop"]), st.sampled_from(tuple(Circle))),
    max_size=60,
)


def _person(person_id: int, circle: Circle, number: int | None) -> PersonVector:
    vector = None if number is None else np.full(DIM, number, dtype=np.float32)
    return PersonVector(Person(person_id, 1, f"e{person_id}", f"Имя {person_id}", circle, "", NOON, NOON), vector)


@given(_CHANGES)
def test_a_matrix_holds_exactly_what_was_put_last(changes: list[tuple[int, str, Circle]]) -> None:
    """Rows move when others go, and the matrix grows; every person keeps his own vector and circle."""
    matrix = PeopleMatrix(DIM, rows=2)
    expected: dict[int, tuple[int | None, Circle]] = {}
    for number, (person_id, change, circle) in enumerate(changes, start=1):
        if change == "drop":
            matrix.drop(person_id)
            expected.pop(person_id, None)
        else:
            value = number if change == "vector" else None
            matrix.put(_person(person_id, circle, value))
            expected[person_id] = (value, circle)
    outside = matrix.outside(INNER_CIRCLE)
    found: dict[int, tuple[int | None, bool]] = {
        person.id: (None, person.circle not in INNER_CIRCLE) for person in matrix.unembedded
    }
    for row, person_id in enumerate(matrix.ids.tolist()):
        assert matrix.row_of(person_id) == row
        assert len(set(matrix.vectors[row].tolist())) == 1
        found[person_id] = (int(matrix.vectors[row, 0]), bool(outside[row]))
    assert found == {person_id: (value, circle not in INNER_CIRCLE) for person_id, (value, circle) in expected.items()}
    assert {person_id: person.circle for person_id, person in matrix.profiles.items()} == {
        person_id: circle for person_id, (_, circle) in expected.items()
    }


def test_a_dropped_vector_does_not_stay_in_memory() -> None:
    """Whoever is forgotten is forgotten in the spare rows too."""
    matrix = PeopleMatrix(DIM, rows=4)
    for person_id in (1, 2):
        matrix.put(_person(person_id, Circle.OTHER, 7))
    matrix.drop(2)
    matrix.drop(1)
    assert not matrix._rows._vectors[:2].any()


@pytest.mark.parametrize(("budget", "kept"), [(1, [3]), (10**9, [1, 2, 3])])
def test_the_budget_drops_whoever_was_seen_longest_ago(budget: int, kept: list[int]) -> None:
    """One that is larger than the budget alone is kept alone."""
    cache = MatrixCache(budget)
    for user_id in (1, 2, 3):
        cache.put(user_id, PeopleMatrix(DIM))
    assert [user_id for user_id in (1, 2, 3) if cache.get(user_id) is not None] == kept


def test_looking_at_a_matrix_keeps_it() -> None:
    """Used last, dropped last."""
    size = PeopleMatrix(DIM).nbytes
    cache = MatrixCache(2 * size)
    cache.put(1, PeopleMatrix(DIM))
    cache.put(2, PeopleMatrix(DIM))
    assert cache.get(1) is not None
    cache.put(3, PeopleMatrix(DIM))
    assert cache.get(2) is None
    assert cache.get(1) is not None
    cache.drop(1)
    assert cache.nbytes == size


def test_the_inner_circle_and_entities_follow_every_change() -> None:
    """Most mentioned first; somebody who goes or changes his circle is found as he is now."""
    matrix = PeopleMatrix(DIM)
    circles = {1: Circle.FAMILY, 2: Circle.FRIENDS, 3: Circle.WORK_INNER, 4: Circle.FAMILY}
    for person_id, circle in circles.items():
        person = replace(_person(person_id, circle, None).person, mention_count=person_id % 4)
        matrix.put(PersonVector(person, None))
    assert [one.id for one in matrix.inner_circle] == [3, 1, 4]
    assert [one.id for one in matrix.of_entities(["e3", "e1", "e9"])] == [1, 3]
    matrix.drop(3)
    matrix.put(_person(1, Circle.OTHER, None))
    assert [one.id for one in matrix.inner_circle] == [4]
    assert [one.id for one in matrix.of_entities(["e3", "e1"])] == [1]
