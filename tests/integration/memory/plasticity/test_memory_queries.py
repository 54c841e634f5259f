"""The specified example queries over real rows."""

from __future__ import annotations

from datetime import timedelta

import pytest
from support.knowledge.plasticity_stage import DAY, NOON, OWNER, STRANGER, Memories

from internal.errors import NotFound, Refused
from internal.memory.queries import examples


def concept_of(m: Memories, name: str, *memories: str) -> str:
    node_id = m.node("Concept", name=name)
    for memory in memories:
        m.edge("HAS_CONCEPT", memory, node_id)
    return node_id


def test_memories_of_a_concept_come_last_accessed_first(memories: Memories, stranger: Memories) -> None:
    """At most twenty; before them those that were never accessed, as Cypher orders them; of this owner only."""
    ids = [memories.memory(str(n), NOON + timedelta(minutes=n)) for n in range(23)]
    concept_of(memories, "authentication", *ids)
    concept_of(memories, "tea", memories.memory("tea"))
    concept_of(stranger, "authentication", stranger.memory("of another"))
    for n, one in enumerate(ids[:22]):
        memories.set_accessed(one, NOON + n * DAY, 1)
    found = examples.by_concept(memories.connection, OWNER, "authentication")
    assert [node.id for node in found] == [ids[22], *ids[21:2:-1]]
    assert [node.properties["content"] for node in examples.by_concept(memories.connection, OWNER, "tea")] == ["tea"]
    assert len(examples.by_concept(memories.connection, OWNER, "authentication", limit=5)) == 5
    memories.hide(ids[22])
    assert examples.by_concept(memories.connection, OWNER, "authentication", limit=1)[0].id == ids[21]


def test_a_concept_is_found_by_its_very_name_first(memories: Memories) -> None:
    """Another case is found where nothing is called exactly so."""
    exact, other = memories.memory("exact"), memories.memory("other")
    concept_of(memories, "Чай", exact)
    concept_of(memories, "чай", other)
    find = examples.by_concept
    assert [node.id for node in find(memories.connection, OWNER, "Чай")] == [exact]
    assert {node.id for node in find(memories.connection, OWNER, "ЧАЙ")} == {exact, other}
    assert find(memories.connection, OWNER, "кава") == []


def test_open_questions_with_what_may_answer_them(memories: Memories, stranger: Memories) -> None:
    """Every pair; answered and partly answered questions, and those that nothing answers, are left out."""
    first, second = memories.memory("first"), memories.memory("second")
    asked = memories.node("Question", text="Where?")
    later = memories.node("Question", NOON + DAY, text="When?")
    done = memories.node("Question", text="Who?", status="answered")
    partly = memories.node("Question", text="Why?", status="partial")
    memories.node("Question", text="How?")
    for memory, question in ((first, asked), (second, asked), (first, later), (first, done), (first, partly)):
        memories.edge("PARTIALLY_ANSWERS", memory, question, completeness=0.5)
    found = examples.open_questions(memories.connection, OWNER)
    pairs = [(one.question.id, one.memory.id) for one in found]
    assert pairs == [*sorted([(asked, first), (asked, second)]), (later, first)]
    assert examples.open_questions(memories.connection, STRANGER) == []
    assert len(examples.open_questions(memories.connection, OWNER, limit=1)) == 1


def test_unresolved_contradictions_with_their_memories(memories: Memories) -> None:
    """Resolved and accepted ones are left out, and so are those that are superseded."""
    old, new = memories.memory("old"), memories.memory("new")
    open_one = memories.node("Contradiction", description="tea or coffee")
    closed = memories.node("Contradiction", description="x", status="resolved")
    accepted = memories.node("Contradiction", description="y", status="accepted")
    for conflict in (open_one, closed, accepted):
        for memory in (old, new):
            memories.edge("CONFLICTS_WITH", conflict, memory)
    memories.edge("SUPERSEDES", open_one, old)
    found = examples.contradictions(memories.connection, OWNER)
    assert [(one.contradiction.id, one.memory.id) for one in found] == sorted([(open_one, old), (open_one, new)])
    memories.hide(old)
    assert [one.memory.id for one in examples.contradictions(memories.connection, OWNER)] == [new]


def test_preferences_of_a_category_strongest_first(memories: Memories, stranger: Memories) -> None:
    """A dislike comes last; without a category all are listed."""
    likes = {"tea": 0.9, "juice": -0.8, "coffee": 0.2}
    for name, strength in likes.items():
        memories.node("Preference", preference=name, category="drinks", strength=strength)
    memories.node("Preference", preference="tabs", category="coding style", strength=1.0)
    stranger.node("Preference", preference="beer", category="drinks", strength=1.0)
    found = examples.preferences(memories.connection, OWNER, "drinks")
    assert [node.properties["preference"] for node in found] == ["tea", "coffee", "juice"]
    everything = examples.preferences(memories.connection, OWNER)
    assert [node.properties["preference"] for node in everything] == ["tabs", "tea", "coffee", "juice"]
    assert examples.preferences(memories.connection, OWNER, "food") == []


def test_memories_that_share_a_concept(memories: Memories) -> None:
    """Each once, who shares most first, the memory itself left out, at most twenty."""
    me, near, far = memories.memory("me"), memories.memory("near"), memories.memory("far")
    concept_of(memories, "a", me, near, far)
    concept_of(memories, "b", me, near)
    concept_of(memories, "c", memories.memory("elsewhere"))
    find = examples.shared_concepts
    assert [node.id for node in find(memories.connection, OWNER, me)] == [near, far]
    concept_of(memories, "d", me, *(memories.memory(str(n)) for n in range(30)))
    assert len(find(memories.connection, OWNER, me)) == 20
    hidden = concept_of(memories, "e", memories.memory("lone"), far)
    memories.hide(hidden)
    assert {node.id for node in find(memories.connection, OWNER, far)} == {me, near}
    with pytest.raises(NotFound):
        find(memories.connection, STRANGER, me)
    with pytest.raises(Refused, match="not from a Concept"):
        find(memories.connection, OWNER, concept_of(memories, "f"))
