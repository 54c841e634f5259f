"""A pattern that is compiled late is used as any other."""

from __future__ import annotations

import re

import pytest

from internal.language.text.patterns import pattern


def test_it_finds_what_a_compiled_one_finds() -> None:
    """The first time and ever after, by each of its methods; its flags count."""
    late, early = pattern(r"(?P<n>\d+) КОТ", re.IGNORECASE), re.compile(r"(?P<n>\d+) КОТ", re.IGNORECASE)
    text = "12 кот и 3 Кот"
    for _ in range(2):
        assert late.findall(text) == early.findall(text) == ["12", "3"]
        assert [one["n"] for one in late.finditer(text)] == ["12", "3"]
        assert late.sub("x", text) == early.sub("x", text)
    assert (late.pattern, late.flags, late.groups) == (early.pattern, early.flags, early.groups)
    with pytest.raises(AttributeError):
        late.nothing_of_the_kind  # type: ignore[attr-defined]  # noqa: B018
