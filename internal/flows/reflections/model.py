"""A pattern or a change in the owner's life, with the lines that show it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from internal.language.chronicle.lines import LineContent

Kind = Literal["met", "quiet", "matter", "change", "new"]


@dataclass(frozen=True, slots=True)
class Line:
    """What somebody said, the entities it mentions, and what it tells."""

    message_id: str
    at: datetime
    text: str
    entities: frozenset[str] = frozenset()
    content: LineContent = field(default_factory=LineContent)


@dataclass(frozen=True, slots=True)
class Reflection:
    """`subject` is a name, a matter or a fact; `before` the fact in whose place it came, `names` who spoke of it.

    `count` are days, of a matter people. `strength` in [0, 1] fades as a memory's does. `key` is the same as long as it
    is about the same, and holds no words.
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
        """When the newest of its lines was said."""
        return max(line.at for line in self.sources)
