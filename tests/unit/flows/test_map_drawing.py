"""The drawing of who is what to whom."""

from __future__ import annotations

import re

import pytest

from internal.access.model import LANGUAGES, Language
from internal.flows.views.map_drawing import drawn


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_legend_is_whole_below_few_people(lang: Language) -> None:
    """Its last word ends inside the picture: 8 pixels for a letter at most."""
    svg = drawn([], lang)
    [width] = re.findall(r'viewBox="\S+ \S+ (\d+)', svg)
    [(begin, word)] = re.findall(r'<text x="(164)">(\w+)</text></g>', svg)
    assert 16 + int(begin) + 8 * len(word) <= int(width)
