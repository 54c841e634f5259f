"""The words by which lines are read and questions about the past are known."""

import re
from collections.abc import Mapping
from typing import Final

from internal.language.text.patterns import pattern
from internal.language.text.spelling import words
from internal.language.text.tables import table

_TABLE: Final[Mapping[str, str]] = table(__package__, "words")
_SHAPES: Final = ("often", "led", "because", "so")
WORDS: Final = {name: words(listed) for name, listed in _TABLE.items() if name not in _SHAPES}
SHAPES: Final[Mapping[str, re.Pattern[str]]] = {name: pattern(_TABLE[name]) for name in _SHAPES}
