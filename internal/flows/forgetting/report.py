"""The numbers of things that were erased with a forgetting."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from internal.knowledge.claims.changes import Removal


@dataclass(slots=True)
class ErasureReport:
    """Counts of erased things. `parts` are names and sentences of profiles that stay, `texts` emptied derived texts.

    `gone` are the ids of the facts.
    """

    episodes: int = 0
    messages: int = 0
    facts: int = 0
    entities: int = 0
    people: int = 0
    memories: int = 0
    parts: int = 0
    texts: int = 0
    gone: list[str] = field(default_factory=list)

    def add(self, removal: Removal) -> None:
        self.facts += len(removal.changes.deleted)
        self.entities += len(removal.nodes)
        self.gone += removal.changes.deleted

    def join(self, other: ErasureReport) -> None:
        """Adds the counts of another erasure."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))

    def counts(self) -> dict[str, int]:
        """The counts that are not zero."""
        named = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: count for name, count in named.items() if count and isinstance(count, int)}
