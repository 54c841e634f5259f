"""Polite words at the beginning of a sentence that do not change its meaning."""

from typing import Final

from internal.language.text.spelling import words
from internal.language.text.tables import table

_TABLE: Final = table(__package__, "openings")
POLITE: Final[str] = _TABLE["polite"]
"""Words of politeness, as alternatives of a pattern."""
OPENING: Final[str] = f"{POLITE}|{_TABLE['opening']}"
"""Polite words and all other openings."""
LEADING: Final[str] = f"{OPENING}|{_TABLE['urging']}"
"""Openings and words of urging: "давай на ты" is more than an opening if it orders a manner."""
OPENING_WORDS: Final = words(LEADING.replace("|", " ")) - words("to for the by way other real go free feel you до речі")
