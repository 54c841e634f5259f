"""The lines of a dialogue that are to be answered."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from internal.agents.model import DialogueLine

SETTLED: Final = "settled"
"""Key in the metadata of a line that the program answered itself, with a card."""


def newest_lines(dialogue: Sequence[DialogueLine]) -> Sequence[DialogueLine]:
    """The owner's messages since the last answer, which get one answer; what the program answered is none of them."""
    newest = takewhile(lambda line: line.role == "user" and SETTLED not in (line.metadata or {}), reversed(dialogue))
    return list(newest)[::-1]
