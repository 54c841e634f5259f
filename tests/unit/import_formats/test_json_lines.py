"""JSON becomes lines."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings, strategies as st

from internal.import_formats.json_stream import json_lines

scalars = st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1)
trees = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(min_size=1), inner))


@settings(deadline=None)
@given(trees)
def test_every_scalar_has_a_line(value: Any) -> None:
    """As many lines as scalars, each ending with one."""

    def count(inner: Any) -> int:
        if isinstance(inner, dict | list):
            return sum(map(count, inner.values() if isinstance(inner, dict) else inner))
        return 1

    assert len(json_lines(value)) == count(value)


def test_lines_say_where_a_value_stands() -> None:
    """Paths as they are written; nulls and empty texts say nothing."""
    raw = '{"team": {"lead": "Олена", "size": 3, "open": true, "note": null}, "tags": ["a", {"b": 1.5}], "none": " "}'
    assert json_lines(json.loads(raw)) == [
        "team.lead: Олена",
        "team.size: 3",
        "team.open: true",
        "tags[0]: a",
        "tags[1].b: 1.5",
    ]
    assert json_lines("слово") == ["слово"]
    deep: Any = "дно"
    for _ in range(500):
        deep = [deep]
    assert len(json_lines(deep)) == 1
