"""A pattern or a change in the owner's life, with the lines that show it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from internal.language.chronicle.lines import LineContent

Kind = Literal["met", "quiet", "matter", "change", "new"]


@dataclass(frozen=True, slots=True)
class Line:
    """A message with the entities it mentions and its content."""

    message_id: str
    at: datetime
    text: str
    entities: frozenset[str] = frozenset()
    content: LineContent = field(default_factory=LineContent)


@dataclass(frozen=True, slots=True)
class Reflection:
    """`subject` is a name, a matter or a fact; `before` the fact that it replaced, `names` are those who spoke of it.

    `count` are days, or people for a matter. `strength` in [0, 1] fades like a memory's. `key` stays the same while it
    has the same subject, and holds no words.
    """

    key: str
    kind: Kind
    subject: str
    count: int
    sources: Sequence[Line]
    strength: float = 1.0
    names: Sequence[str] = ()
    before: str = ""

    @property
    def at(self) -> datetime:
        """The time of its newest line."""
        return max(line.at for line in self.sources)
