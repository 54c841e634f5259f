"""People and the rules about them that need no database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from internal.language.text.block_tags import escape


class Circle(StrEnum):
    """The closeness of a person. The first two are the inner circle, always in the system prompt."""

    FAMILY = "Family"
    WORK_INNER = "Work_Inner"
    FRIENDS = "Friends"
    WORK_OUTER = "Work_Outer"
    OTHER = "Other"

    @classmethod
    def parse(cls, text: str) -> Circle:
        """The circle with this name in any case, also `Work Inner` and `work-inner`. Raises ValueError for others."""
        wanted = text.strip().casefold().replace(" ", "_").replace("-", "_")
        for circle in cls:
            if circle.value.casefold() == wanted:
                return circle
        raise ValueError(f"no circle is called {text!r}; there are {', '.join(cls)}")


INNER_CIRCLE = frozenset({Circle.FAMILY, Circle.WORK_INNER})


@dataclass(frozen=True, slots=True)
class Person:
    """A profile. `field_meta` marks fields that the owner set: {"circle": {"by": "owner", "at": ...}}."""

    id: int
    user_id: int
    entity_id: str
    display_name: str
    circle: Circle
    bio: str
    first_seen: datetime
    last_seen: datetime
    aliases: tuple[str, ...] = ()
    telegram_id: int | None = None
    username: str | None = None
    mention_count: int = 0
    rev: int = 0
    field_meta: dict[str, Any] = field(default_factory=dict)

    def owner_set(self, name: str) -> bool:
        """Whether the owner edited this field; then a model may only suggest."""
        return bool(self.field_meta.get(name, {}).get("by") == "owner")

    @property
    def names(self) -> tuple[str, ...]:
        return (self.display_name, *self.aliases)


def names_of(person: Person) -> tuple[str, ...]:
    """All names of a person for the name tools: display name, aliases, and the username with its @."""
    return (*person.names, *((f"@{person.username}",) if person.username else ()))


def embedding_text(person: Person) -> str:
    """The text embedded for a person: name, username, aliases and bio joined by single spaces.

    Source: people-graph specification, "Создание Embeddings".
    """
    return f"{person.display_name} {person.username or ''} {' '.join(person.aliases)} {person.bio}"


def candidate_line(person: Person) -> str:
    """`[Person:42] Петров | Work_Inner | 127 mentions | Коллега по проекту X | also: Саша`, escaped, on one line."""
    also = f" | also: {', '.join(escape(alias) for alias in person.aliases)}" if person.aliases else ""
    return (
        f"[Person:{person.id}] {escape(person.display_name)} | {person.circle.value} | "
        f"{person.mention_count} mentions | {escape(person.bio)}{also}"
    )


def people_block(tag: str, people: Sequence[Person]) -> str:
    """The element `<tag>` with a candidate line for each person; the empty string without people."""
    if not people:
        return ""
    return "\n".join((f"<{tag}>", *(candidate_line(person) for person in people), f"</{tag}>"))
