"""Tells by the vector of a message which page it asks for, where no rule recognises its words.

The weights belong to multilingual-e5-small; `benchmarks/page_questions/train.py` learns them from sentences.
"""

from pathlib import Path
from typing import Final

from internal.language.text.linear_model import Vector, kind_chances

WEIGHTS: Final = Path(__file__).with_name("page_weights.json")
LONGEST: Final = 20
"""Words of a message that may ask for a page."""
SURE: Final = 0.57
"""The chance from which a page is meant. In threefold tests 6 of 6,777 messages for no page reach it."""
_ONE_WAY: Final = 0.95
"""The chance from which only one of what others owe and what the owner owes is meant; below it both are shown."""
_OPEN_ENDS: Final = ("waiting", "promised")


def meant_pages(text: str, vector: Vector) -> tuple[str, ...]:
    """The pages that a message surely asks for: none, one, or both that tell who owes whom."""
    found = kind_chances(WEIGHTS, text, vector)
    found.pop("none")
    open_ends = {page: found.pop(page) for page in _OPEN_ENDS}
    either = sum(open_ends.values())
    if either > SURE:
        sure = tuple(page for page, chance in open_ends.items() if chance > _ONE_WAY * either)
        return sure or _OPEN_ENDS
    best = max(found, key=lambda page: found[page])
    return (best,) if found[best] > SURE else ()
