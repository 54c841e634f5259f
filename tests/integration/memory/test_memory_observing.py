"""What replies tell becomes nodes and edges of the memory graph: every property and every relationship of it."""

from __future__ import annotations

from memory_stage import Memories, link, ref, told


def test_first(memories: Memories) -> None:
    """A memory is stored."""
    w = memories.tell(
        told(
            ref("Memory", "Мы выбрали Postgres", confidence=0.8),
            link("HAS_CONCEPT", ref("Concept", "базы данных"), relevance=0.9),
            link("BELONGS_TO", ref("Topic", "Архитектура")),
            link("INFORMED", ref("Decision", "взять Postgres", rationale="дешевле")),
        )
    )
    assert not w.refused
    print(w.changes.counts(), memories.graph())
    memories.forget("e1")
    print(memories.graph())
