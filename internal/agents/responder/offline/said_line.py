"""A line that states something, as answers without a model quote it."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class SaidLine:
    """A line that states something: `n` is the number of its passage, `speaker` empty for the owner.

    `share` is that of the question's words in it; `change`: it tells what is different now; `follows`: it takes up a
    word of an older line that answers, such as the name of the old job. Without `at` it is of now.
    `in_file`: it stands in a file or a text, not in a dialogue. `place`: its number among all lines. `amended`: it
    reads as a line behind it corrects it.
    """

    text: str
    at: datetime | None = None
    n: int | None = None
    speaker: str = ""
    outdated: bool = False
    share: float = 0.0
    change: bool = False
    follows: bool = False
    in_file: bool = False
    place: int = 0
    amended: bool = False

    def newer_than(self, moment: datetime | None) -> bool:
        return self.at is None or moment is None or self.at > moment or (self.overrides and self.at == moment)

    @property
    def overrides(self) -> bool:
        """Whether an older line or fact is to be read as what was so before it."""
        return self.change or self.follows
