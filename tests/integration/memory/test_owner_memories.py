"""What the owner writes and decides himself holds, whatever replies tell later."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from support.knowledge.memory_stage import NOON, OWNER, STRANGER, Memories, link, ref, told

from internal.errors import Conflict, NotFound, Refused
from internal.graph.model import Edge, Node
from internal.memory import service
from internal.memory.model import ProposedMemory
from internal.storage.tables import graph_edges, graph_nodes, observations, suggestions

OLDER, NEWER = ref("Memory", "Olena lives in Kyiv"), ref("Memory", "Olena lives in Lviv")


def conflict() -> ProposedMemory:
    return told(ref("Contradiction", "cities"), link("CONFLICTS_WITH", OLDER), link("CONFLICTS_WITH", NEWER))


def put(memories: Memories, label: str, **properties: Any) -> Node:
    return service.put_node(memories.connection, OWNER, label, properties, now=memories.now)


def put_edge(memories: Memories, type: str, source: Node, target: Node, **properties: Any) -> Edge:
    return service.put_edge(memories.connection, OWNER, type, source.id, target.id, properties, now=memories.now)


def change(memories: Memories, node: Node, **changes: Any) -> Node:
    return service.change_node(memories.connection, OWNER, node.id, changes, now=memories.now)


def fresh(memories: Memories, node: Node) -> Node:
    (found,) = [one for one in memories.nodes(node.label) if one.id == node.id]
    return found


def test_what_the_owner_writes_needs_no_line(memories: Memories) -> None:
    """It stays when everything that was said is forgotten."""
    goal, memory = put(memories, "Goal", description="run a marathon"), put(memories, "Memory", content="I run")
    put_edge(memories, "SUPPORTS", memory, goal, strength=0.9)
    memories.tell(told(ref("Memory", "I run"), link("SUPPORTS", ref("Goal", "run a marathon"))), episode="e")
    memories.forget("e")
    assert memories.node("Goal").id == goal.id
    assert memories.edge("SUPPORTS").properties == {"strength": 0.9}


def test_a_reply_does_not_overrule_the_owner_but_suggests(memories: Memories) -> None:
    """Once, and not again after he declined; what he accepts becomes his own word."""
    goal = put(memories, "Goal", description="run a marathon", priority=1)
    for _ in range(2):
        written = memories.tell(told(ref("Goal", "Run a marathon", priority=3, targetDate="2026-10-04")))
    assert not written.asked
    assert fresh(memories, goal).properties["priority"] == 1
    assert fresh(memories, goal).properties["targetDate"] == "2026-10-04T00:00:00+00:00"
    (suggested,) = service.suggestions(memories.connection, OWNER)
    assert (suggested.node_id, suggested.field, suggested.value, suggested.current) == (goal.id, "priority", 3, 1)
    service.decline_suggestion(memories.connection, OWNER, suggested.id, now=memories.now)
    memories.tell(told(ref("Goal", "run a marathon", priority=3)))
    assert service.suggestions(memories.connection, OWNER) == []
    assert memories.tell(told(ref("Goal", "run a marathon", priority=2))).asked
    (suggested,) = service.suggestions(memories.connection, OWNER)
    for _ in range(2):
        accepted = service.accept_suggestion(memories.connection, OWNER, suggested.id, now=memories.now)
    assert accepted.properties["priority"] == 2
    with pytest.raises(Conflict):
        service.decline_suggestion(memories.connection, OWNER, suggested.id, now=memories.now)


def test_what_was_suggested_goes_with_the_line_that_told_it(memories: Memories) -> None:
    """Its words are not kept in the question."""
    put(memories, "Decision", description="take Postgres", rationale="it is free")
    memories.tell(told(ref("Decision", "take Postgres", rationale="because of CANARY")), episode="e")
    assert memories.count(suggestions) == 1
    memories.forget("e")
    assert memories.count(suggestions) == 0


def test_what_the_owner_takes_away_does_not_come_back(memories: Memories) -> None:
    """A property that he emptied stays empty, also when it is told again."""
    memories.tell(told(ref("Decision", "take Postgres", rationale="it is free")))
    change(memories, memories.node("Decision"), rationale=None)
    memories.tell(told(ref("Decision", "take Postgres", rationale="it is free")))
    assert "rationale" not in memories.node("Decision").properties


def test_words_of_his_own_outlive_the_line_they_correct(memories: Memories) -> None:
    """The node is known by what he wrote; everything else the forgotten line told is gone."""
    memories.tell(told(ref("Goal", "run a maraton", priority=3)), episode="e")
    change(memories, memories.node("Goal"), description="run a marathon")
    memories.forget("e")
    assert memories.node("Goal").properties == {"description": "run a marathon", "status": "active"}


def test_a_mark_on_another_property_keeps_no_forgotten_words(memories: Memories) -> None:
    """He closed the goal, but its words were said in what is forgotten: it goes."""
    memories.tell(told(ref("Goal", "run a marathon")), episode="e")
    service.set_status(memories.connection, OWNER, memories.node("Goal").id, "achieved", now=memories.now)
    memories.forget("e")
    assert memories.nodes("Goal") == []


@pytest.mark.parametrize(
    ("label", "properties", "status"),
    [
        ("Goal", {"description": "x"}, "achieved"),
        ("Question", {"text": "x"}, "answered"),
        ("Context", {"name": "x", "type": "project"}, "completed"),
    ],
)
def test_one_tap_sets_a_status(memories: Memories, label: str, properties: dict[str, Any], status: str) -> None:
    """And a later reply that says otherwise only suggests."""
    memories.tell(told(ref(label, **properties)))
    node = memories.node(label)
    service.set_status(memories.connection, OWNER, node.id, status, now=memories.now)
    other = {"Goal": "active", "Question": "open", "Context": "active"}[label]
    assert memories.tell(told(ref(label, node_id=node.id, status=other))).asked
    assert memories.node(label).properties["status"] == status


def test_a_question_closed_by_a_tap_knows_when(memories: Memories) -> None:
    """Open again, it does not."""
    memories.tell(told(ref("Question", "Where?")))
    node = memories.node("Question")
    closed = service.set_status(memories.connection, OWNER, node.id, "answered", now=memories.now)
    assert closed.properties["answeredDate"] == memories.now.isoformat()
    opened = service.set_status(memories.connection, OWNER, node.id, "open", now=memories.now)
    assert "answeredDate" not in opened.properties


def test_a_question_answered_in_any_way_knows_when(memories: Memories) -> None:
    """Stored or changed by its properties, too; a date that is stated counts."""
    stored = service.put_node(memories.connection, OWNER, "Question", {"text": "Why?", "status": "answered"}, now=NOON)
    assert stored.properties["answeredDate"] == NOON.isoformat()
    then = (NOON - timedelta(days=3)).isoformat()
    for changes, wanted in (
        ({"status": "partial"}, None),
        ({"status": "answered", "answeredDate": then}, then),
        ({"status": "answered"}, then),
        ({"text": "Why so?"}, then),
        ({"status": "open"}, None),
        ({"status": "answered"}, memories.now.isoformat()),
    ):
        changed = service.change_node(memories.connection, OWNER, stored.id, changes, now=memories.now)
        assert changed.properties.get("answeredDate") == wanted, changes


@pytest.mark.parametrize(
    ("choice", "status", "lost"),
    [("newer", "resolved", OLDER.key.words), ("older", "resolved", NEWER.key.words), ("both", "accepted", "")],
)
def test_the_owner_settles_a_contradiction(memories: Memories, choice: Any, status: str, lost: str) -> None:
    """SUPERSEDES leads to the side that does not hold; pressed twice it is settled once."""
    memories.tell(told(OLDER))
    memories.tell(told(NEWER))
    memories.tell(conflict())
    node = memories.node("Contradiction")
    for _ in range(2):
        settled = service.resolve_contradiction(memories.connection, OWNER, node.id, choice, now=memories.now)
    assert settled.properties["status"] == status
    ids = {one.id: one.name for one in memories.nodes("Memory")}
    assert [ids[edge.target] for edge in memories.edges("SUPERSEDES")] == ([lost] if lost else [])
    gone = service.superseded(memories.connection, OWNER, ids)
    assert {ids[one] for one in gone} == ({lost} if lost else set())
    memories.tell(conflict())
    assert memories.node("Contradiction").properties["status"] == status


def test_the_owner_may_change_his_mind(memories: Memories) -> None:
    """The other side is superseded then, and it alone."""
    memories.tell(told(OLDER))
    memories.tell(told(NEWER))
    memories.tell(conflict())
    node = memories.node("Contradiction")
    sides = service.contradiction_sides(memories.connection, OWNER, node.id)
    assert [side.name for side in sides] == ["Olena lives in Kyiv", "Olena lives in Lviv"]
    for choice in ("newer", "older"):
        service.resolve_contradiction(memories.connection, OWNER, node.id, choice, now=memories.now)  # type: ignore[arg-type]
    assert memories.edge("SUPERSEDES").target == sides[1].id


def test_a_side_that_is_forgotten_settles_it(memories: Memories) -> None:
    """What is left contradicts nothing, and is not superseded any more."""
    memories.tell(told(OLDER), episode="old")
    memories.tell(told(NEWER), episode="new")
    memories.tell(conflict(), episode="both")
    node = memories.node("Contradiction")
    service.resolve_contradiction(memories.connection, OWNER, node.id, "older", now=memories.now)
    memories.forget("both", "old")
    assert memories.nodes("Contradiction") == []
    assert memories.edges("SUPERSEDES") == []
    assert memories.node("Memory").name == "Olena lives in Lviv"


def test_an_edge_is_one_between_its_ends(memories: Memories) -> None:
    """Written again it has the new attributes beside the old ones; removed, nothing of it is left."""
    a, b = put(memories, "Memory", content="a"), put(memories, "Memory", content="b")
    first = put_edge(memories, "RELATES_TO", a, b, strength=0.3)
    again = put_edge(memories, "RELATES_TO", a, b, relType="causes")
    assert (again.id, again.properties) == (first.id, {"strength": 0.3, "relType": "causes"})
    service.remove_edge(memories.connection, OWNER, first.id, now=memories.now)
    assert memories.count(graph_edges) == 0
    assert memories.count(observations) == 2


def test_a_removed_node_takes_its_edges_and_what_was_told_of_them(memories: Memories) -> None:
    """And a question that it answered is open again."""
    question = ref("Question", "Where?")
    memories.tell(told(ref("Memory", "In Lviv"), link("PARTIALLY_ANSWERS", question, completeness=1.0)))
    removal = service.remove_node(memories.connection, OWNER, memories.node("Memory").id, now=memories.now)
    assert removal.edges == 1
    assert list(removal.nodes.values()) == ["In Lviv"]
    assert memories.node("Question").properties["status"] == "open"
    assert memories.count(observations) == 1


REFUSALS: list[tuple[Callable[[Memories, Node], Any], type[Exception], str]] = [
    (lambda m, n: put(m, "Request", text="x"), Refused, "derived"),
    (lambda m, n: put(m, "Goal", description="x", status="done"), Refused, "unknown_value"),
    (lambda m, n: put_edge(m, "FACT", n, n), Refused, "fact"),
    (lambda m, n: put_edge(m, "RELATES_TO", n, n), Refused, "self_loop"),
    (lambda m, n: put_edge(m, "RELATES_TO", n, put(m, "Memory", content="b"), strength=1.1), Refused, "out_of_range"),
    (lambda m, n: change(m, n, confidence=2.0), Refused, "out_of_range"),
    (lambda m, n: service.set_status(m.connection, OWNER, n.id, "open", now=NOON), NotFound, ""),
    (lambda m, n: service.contradiction_sides(m.connection, OWNER, n.id), NotFound, ""),
    (lambda m, n: service.change_node(m.connection, STRANGER, n.id, {"content": "y"}, now=NOON), NotFound, ""),
    (lambda m, n: service.remove_node(m.connection, STRANGER, n.id, now=NOON), NotFound, ""),
    (lambda m, n: service.remove_edge(m.connection, OWNER, "no-edge", now=NOON), NotFound, ""),
    (lambda m, n: service.accept_suggestion(m.connection, OWNER, "none", now=NOON), NotFound, ""),
]


@pytest.mark.parametrize(("act", "error", "reason"), REFUSALS)
def test_what_cannot_be_is_refused(
    memories: Memories, act: Callable[[Memories, Node], Any], error: type[Exception], reason: str
) -> None:
    """With the word of the rule it breaks, and without a trace."""
    node = put(memories, "Memory", content="a")
    with pytest.raises(error) as caught:
        act(memories, node)
    assert getattr(caught.value, "reason", "") == reason
    assert fresh(memories, node).properties == node.properties


def test_a_one_sided_contradiction_cannot_be_settled(memories: Memories) -> None:
    """The owner may write one; it waits for its other side."""
    node = put(memories, "Contradiction", description="cities")
    put_edge(memories, "CONFLICTS_WITH", node, put(memories, "Memory", content="a"))
    with pytest.raises(Refused, match="one side"):
        service.resolve_contradiction(memories.connection, OWNER, node.id, "both", now=NOON)
    assert memories.count(graph_nodes) == 2


def test_a_preference_written_by_the_owner_is_an_observation(memories: Memories) -> None:
    """Its strength is his, whatever is observed later; how often it was observed grows."""
    node = put(memories, "Preference", preference="tea", strength=0.8, category="drinks")
    memories.now += timedelta(days=1)
    memories.tell(told(ref("Preference", "tea", strength=-1.0)))
    assert fresh(memories, node).properties["strength"] == 0.8
    assert fresh(memories, node).properties["observations"] == 2
