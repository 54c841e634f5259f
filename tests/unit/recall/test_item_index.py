"""Items in memory: after any changes the same as an index made again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, strategies as st

from internal.recall.index.item_repository import ALWAYS, FOREVER, ItemRow
from internal.recall.index.items import ItemIndex, Moment
from internal.storage.types import to_micros

DIM = 2
NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
DAY = 86_400_000_000
_TERMS = st.lists(st.sampled_from("abc"), max_size=3).map(" ".join)
_ITEMS = st.builds(
    lambda number, terms, vector, source: ItemRow(
        ref_id=f"f{number}",
        terms=terms,
        text=None if terms is not None else "новый текст",
        vector=np.array([vector, 1], dtype=np.float32) if vector is not None else None,
        source=f"n{source}",
        target="n9",
    ),
    st.integers(0, 40),
    st.none() | _TERMS,
    st.none() | st.integers(1, 5),
    st.integers(0, 3),
)
_STEPS = st.lists(st.tuples(st.lists(_ITEMS, max_size=6), st.sets(st.integers(0, 40), max_size=12)), max_size=25)
QUERY = [(("a", 1.0), ("b", 0.6)), (("c", 1.0),)]


def contents(index: ItemIndex) -> dict[str, tuple[float, list[float], bool, bool]]:
    scores, own = index.lexical(QUERY), index.source_in(["n1"])
    return {
        ref_id: (
            round(float(scores[row]), 4),
            index.vectors[row].tolist(),
            bool(index.embedded[row]),
            bool(own[row]),
        )
        for row, ref_id in enumerate(index.ids)
    }


@given(st.lists(_ITEMS, max_size=20), _STEPS)
def test_changes_lead_to_the_same_index_as_reading_all_anew(
    first: list[ItemRow], steps: list[tuple[list[ItemRow], set[int]]]
) -> None:
    """Whatever comes, changes and goes, and however often the lists are compacted on the way."""
    index = ItemIndex.load(DIM, 0, first, expected=len(first))
    there = {item.ref_id: item for item in first}
    for changed, gone in steps:
        index.apply_changes([*(item.ref_id for item in changed), *(f"f{number}" for number in gone)], changed)
        there = {ref_id: item for ref_id, item in there.items() if int(ref_id[1:]) not in gone}
        there |= {item.ref_id: item for item in changed}
    assert contents(index) == contents(ItemIndex.load(DIM, 0, there.values(), expected=1))
    assert index.unanalysed == {ref_id: item.text for ref_id, item in there.items() if item.terms is None}
    assert len(index) == len(there)


def test_terms_that_come_later_are_taken_over_once() -> None:
    """What had none is found by them; what has gone meanwhile stays away."""
    index = ItemIndex.load(
        DIM, 0, [ItemRow("f1", None, "текст", None), ItemRow("f2", None, "другой", None)], expected=2
    )
    index.apply_changes(["f2"], [])
    index.set_terms({"f1": "a", "f2": "a"})
    assert index.unanalysed == {}
    assert index.lexical([(("a", 1.0),)]).tolist() == [pytest.approx(1.0, abs=0.01)]


def _fact(ref_id: str, begins: int = ALWAYS, ends: int = FOREVER, known: int = 0, gone: int = FOREVER) -> ItemRow:
    noon = to_micros(NOON)

    def at(days: int) -> int:
        return days if days in (ALWAYS, FOREVER) else noon + days * DAY

    return ItemRow(ref_id, "a", None, None, at(begins), at(ends), at(known), at(gone))


FACTS = [
    _fact("held", begins=-10, ends=-5, known=-9),
    _fact("holds", begins=-5, known=-4),
    _fact("will", begins=5, known=-1),
    _fact("always", known=-2),
    _fact("corrected", begins=-8, known=-8, gone=-1),
]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, {"holds", "will", "always"}),
        ({"as_of": -6}, {"held", "always"}),
        ({"as_of": -5}, {"holds", "always"}),
        ({"as_of": 6}, {"holds", "will", "always"}),
        ({"known_at": -3}, {"held", "holds", "corrected"}),
        ({"known_at": -1}, {"held", "holds", "will", "always"}),
        ({"include_invalid": True}, {"held", "holds", "will", "always", "corrected"}),
        ({"include_invalid": True, "as_of": -6}, {"held", "always", "corrected"}),
    ],
)
def test_which_facts_count(asked: dict[str, int | bool], found: set[str]) -> None:
    """What held is [valid, invalid), what was known is [created, expired); both axes by stored times alone."""
    index = ItemIndex.load(0, 0, FACTS, expected=len(FACTS))
    times = {name: NOON + timedelta(days=value) for name, value in asked.items() if not isinstance(value, bool)}
    moment = Moment(NOON, include_invalid=bool(asked.get("include_invalid")), **times)
    counting = index.valid_at(moment)
    assert {ref_id for row, ref_id in enumerate(index.ids) if counting[row]} == found
