"""What replies tell becomes nodes and edges of the memory graph: every property and every relationship of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support.knowledge.memory_stage import CONVERSATION, NOON, OWNER, Memories, link, ref, told

from internal.graph import registry, store
from internal.graph.labels import NODES
from internal.graph.relationships import FACT, RELATIONSHIPS
from internal.memory import service
from internal.memory.model import MEMORY_LABELS, Likeness, ProposedMemory, RefKey
from internal.memory.observations import known_repository
from internal.memory.observations.changes import SessionRef
from internal.memory.queries import repository
from internal.recall.index.hits import MemoryHit
from internal.recall.prompt.memories import numbered
from internal.storage import evidence

SESSION = SessionRef("s1", datetime(2026, 2, 7, 14, 30, tzinfo=UTC))
POSTGRES, MYSQL = ref("Memory", "We take Postgres"), ref("Memory", "We take MySQL")
CHOICE = ref("Decision", "take Postgres")
SUMMER = {"startDate": "2025-06-01T00:00:00+00:00", "endDate": "2025-09-01T00:00:00+00:00"}


def contradiction(words: str = "which database", **properties: Any) -> ProposedMemory:
    sides = [link("CONFLICTS_WITH", POSTGRES), link("CONFLICTS_WITH", MYSQL)]
    return told(ref("Contradiction", words, **properties), *sides)


def only(memories: Memories, label: str) -> dict[str, Any]:
    return registry.specified_properties(memories.node(label))


def told_only(node: Any, *links: Any, **more: Any) -> Callable[[Memories], dict[str, Any]]:
    """A reply with one item; the properties of the only node of its label."""

    def tell(memories: Memories) -> dict[str, Any]:
        assert not memories.tell(told(node, *links), **more).refused
        return only(memories, node.label)

    return tell


def accessed(memories: Memories) -> dict[str, Any]:
    memories.tell(told(POSTGRES))
    store.touch_nodes(memories.connection, OWNER, [memories.node("Memory").id], NOON)
    memories.tell(told(POSTGRES))
    return only(memories, "Memory")


def told_of_entity(memories: Memories) -> dict[str, Any]:
    memories.entity("Grafana", type="tool", description="Dashboards", aliases=["Графана"], labels=["Object"])
    assert not memories.tell(told(POSTGRES, link("MENTIONS", ref("Entity", "Grafana")))).refused
    return only(memories, "Entity")


def answered(memories: Memories) -> dict[str, Any]:
    memories.tell(told(ref("Question", "Where does Olena live?")))
    known = memories.node("Question").id
    memories.tell(told(ref("Question", node_id=known, status="answered")), at=NOON + timedelta(days=3))
    return only(memories, "Question")


def resolved(memories: Memories) -> dict[str, Any]:
    memories.tell(contradiction())
    service.resolve_contradiction(
        memories.connection, OWNER, memories.node("Contradiction").id, "newer", now=memories.now
    )
    return only(memories, "Contradiction")


def about_facts(memories: Memories) -> dict[str, Any]:
    node = store.add_node(
        memories.connection, OWNER, "Contradiction", {"description": "WORKS_FOR", "facts": ["f1", "f2"]}, now=NOON
    )
    service.project_nodes(memories.connection, OWNER, [node.id], now=NOON)
    return registry.specified_properties(store.get_node(memories.connection, OWNER, node.id) or node)


def preferred(memories: Memories) -> dict[str, Any]:
    for strength in (1.0, 0.0):
        memories.tell(told(ref("Preference", "short answers", strength=strength, category="communication")))
    return only(memories, "Preference")


def from_lines(memories: Memories) -> dict[str, Any]:
    memories.tell(told(POSTGRES), source=CONVERSATION, reliability=0.9)
    memories.tell(told(MYSQL), source=CONVERSATION, reliability=0.7)
    return only(memories, "Source")


FULL = {
    "Preference": ref(
        "Preference", "short answers", description="in chats", aliases=["brief replies"], attributes={"where": "work"}
    ),
    "Topic": ref("Topic", "Software", description="How it is made", aliases=["Code"], attributes={"level": "pro"}),
}

PROPERTIES: dict[tuple[str, str], tuple[Callable[[Memories], dict[str, Any]], Any]] = {
    ("Memory", "content"): (told_only(POSTGRES), "We take Postgres"),
    ("Memory", "summary"): (told_only(ref("Memory", "We take Postgres", summary="database")), "database"),
    ("Memory", "confidence"): (told_only(ref("Memory", "We take Postgres", confidence=0.4)), 0.4),
    ("Memory", "accessCount"): (accessed, 1),
    ("Memory", "lastAccessed"): (accessed, NOON.isoformat()),
    ("Concept", "name"): (told_only(ref("Concept", "authentication")), "authentication"),
    ("Concept", "description"): (told_only(ref("Concept", "SSO", description="one login")), "one login"),
    ("Keyword", "term"): (told_only(ref("Keyword", "OAuth2")), "OAuth2"),
    ("Topic", "name"): (told_only(FULL["Topic"]), "Software"),
    ("Topic", "description"): (told_only(FULL["Topic"]), "How it is made"),
    ("Topic", "aliases"): (told_only(FULL["Topic"]), ["Code"]),
    ("Topic", "attributes"): (told_only(FULL["Topic"]), {"level": "pro"}),
    ("Entity", "name"): (told_of_entity, "Grafana"),
    ("Entity", "type"): (told_of_entity, "tool"),
    ("Entity", "description"): (told_of_entity, "Dashboards"),
    ("Entity", "aliases"): (told_of_entity, ["Графана"]),
    ("Entity", "attributes"): (told_of_entity, {}),
    ("Entity", "labels"): (told_of_entity, ["Object"]),
    ("Source", "type"): (from_lines, "conversation"),
    ("Source", "reference"): (from_lines, "episode:1"),
    ("Source", "title"): (from_lines, "dialogue"),
    ("Source", "reliability"): (from_lines, 0.8),
    ("Decision", "description"): (told_only(CHOICE), "take Postgres"),
    ("Decision", "rationale"): (told_only(ref("Decision", "take it", rationale="it is free")), "it is free"),
    ("Decision", "date"): (told_only(CHOICE, at=NOON), NOON.isoformat()),
    ("Decision", "outcome"): (told_only(ref("Decision", "take it", outcome="it went well")), "it went well"),
    ("Decision", "reversible"): (told_only(ref("Decision", "take it", reversible=False)), False),
    ("Goal", "description"): (told_only(ref("Goal", "run a marathon")), "run a marathon"),
    ("Goal", "status"): (told_only(ref("Goal", "run a marathon", status="abandoned")), "abandoned"),
    ("Goal", "priority"): (told_only(ref("Goal", "run a marathon", priority=2)), 2),
    ("Goal", "targetDate"): (
        told_only(ref("Goal", "run a marathon", targetDate="2026-10-04T00:00:00+03:00")), "2026-10-03T21:00:00+00:00",
    ),
    ("Question", "text"): (told_only(ref("Question", "Which city?")), "Which city?"),
    ("Question", "status"): (answered, "answered"),
    ("Question", "answeredDate"): (answered, (NOON + timedelta(days=3)).isoformat()),
    ("Context", "name"): (told_only(ref("Context", "Migration", type="project")), "Migration"),
    ("Context", "type"): (told_only(ref("Context", "Migration", type="task")), "task"),
    ("Context", "description"): (
        told_only(ref("Context", "Migration", type="project", description="to the cloud")), "to the cloud",
    ),
    ("Context", "status"): (told_only(ref("Context", "Migration", type="project", status="archived")), "archived"),
    ("Preference", "category"): (preferred, "communication"),
    ("Preference", "preference"): (preferred, "short answers"),
    ("Preference", "strength"): (preferred, 0.5),
    ("Preference", "observations"): (preferred, 2),
    ("Preference", "description"): (told_only(FULL["Preference"]), "in chats"),
    ("Preference", "aliases"): (told_only(FULL["Preference"]), ["brief replies"]),
    ("Preference", "status"): (
        told_only(ref("Preference", "answer briefly", category="instruction", status="active")), "active",
    ),
    ("Preference", "attributes"): (told_only(FULL["Preference"]), {"where": "work"}),
    ("TemporalMarker", "type"): (told_only(ref("TemporalMarker", "last summer", type="period", **SUMMER)), "period"),
    ("TemporalMarker", "description"): (told_only(ref("TemporalMarker", "last summer", type="period")), "last summer"),
    ("TemporalMarker", "startDate"): (
        told_only(ref("TemporalMarker", "last summer", type="period", **SUMMER)), SUMMER["startDate"],
    ),
    ("TemporalMarker", "endDate"): (
        told_only(ref("TemporalMarker", "last summer", type="period", **SUMMER)), SUMMER["endDate"],
    ),
    ("Contradiction", "description"): (resolved, "which database"),
    ("Contradiction", "resolution"): (resolved, "the newer memory holds"),
    ("Contradiction", "status"): (resolved, "resolved"),
    ("Contradiction", "facts"): (about_facts, ["f1", "f2"]),
}  # fmt: skip


def test_the_table_holds_every_property_of_every_label() -> None:
    """No property of the registry stays without a flow that fills it."""
    assert PROPERTIES.keys() == {(label, name) for label in MEMORY_LABELS for name in NODES[label].model.model_fields}


@pytest.mark.parametrize(("label", "name"), PROPERTIES, ids=map(".".join, PROPERTIES))
def test_each_property_is_filled_by_what_is_told(memories: Memories, label: str, name: str) -> None:
    """Told, derived or counted, as the specification describes it."""
    tell, value = PROPERTIES[label, name]
    assert tell(memories)[name] == value


@pytest.mark.parametrize("label", [one for one in MEMORY_LABELS if NODES[one].created])
def test_every_label_tells_its_id_and_when_it_was_created(memories: Memories, label: str) -> None:
    """Both are given by the store."""
    tell = next(tell for (one, _), (tell, _) in PROPERTIES.items() if one == label)
    shown = tell(memories)
    assert shown["id"]
    assert shown["created"] == memories.nodes(label)[0].created_at.isoformat()


GRAFANA = ref("Entity", "Grafana")

LINKS: dict[str, tuple[ProposedMemory, dict[str, Any]]] = {
    "RELATES_TO": (
        told(POSTGRES, link("RELATES_TO", MYSQL, strength=0.7, relType="alternative")),
        {"strength": 0.7, "relType": "alternative"},
    ),
    "HAS_CONCEPT": (told(POSTGRES, link("HAS_CONCEPT", ref("Concept", "SQL"), relevance=0.9)), {"relevance": 0.9}),
    "HAS_KEYWORD": (told(POSTGRES, link("HAS_KEYWORD", ref("Keyword", "SQL"))), {}),
    "BELONGS_TO": (told(POSTGRES, link("BELONGS_TO", ref("Topic", "Software"))), {"isPrimary": True}),
    "MENTIONS": (told(POSTGRES, link("MENTIONS", GRAFANA, role="subject")), {"role": "subject"}),
    "FROM_SOURCE": (told(POSTGRES), {"excerpt": "this was said"}),
    "IN_CONTEXT": (told(POSTGRES, link("IN_CONTEXT", ref("Context", "Migration", type="project"))), {}),
    "OCCURRED_DURING": (
        told(POSTGRES, link("OCCURRED_DURING", ref("TemporalMarker", "last summer", type="period", **SUMMER))), {},
    ),
    "INFORMED": (told(POSTGRES, link("INFORMED", CHOICE)), {}),
    "PARTIALLY_ANSWERS": (
        told(POSTGRES, link("PARTIALLY_ANSWERS", ref("Question", "Which one?"), completeness=0.4)),
        {"completeness": 0.4},
    ),
    "SUPPORTS": (told(POSTGRES, link("SUPPORTS", ref("Goal", "migrate"), strength=0.8)), {"strength": 0.8}),
    "REVEALS": (told(POSTGRES, link("REVEALS", ref("Preference", "free software"))), {}),
    "CONCEPT_RELATED_TO": (
        told(ref("Concept", "OAuth"), link("CONCEPT_RELATED_TO", ref("Concept", "SSO"), relType="is part of")),
        {"relType": "is part of"},
    ),
    "LED_TO": (told(CHOICE, link("LED_TO", ref("Decision", "hire a DBA"))), {}),
    "DEPENDS_ON": (told(ref("Goal", "release"), link("DEPENDS_ON", ref("Goal", "pass the review"))), {}),
    "PART_OF": (
        told(
            ref("Context", "schema", type="task"),
            link("PART_OF", ref("Context", "Migration", type="project")),
        ),
        {},
    ),
    "CONFLICTS_WITH": (contradiction(), {}),
}  # fmt: skip

OWN_TEST = {"SUPERSEDES"}
"""Only the owner's answer makes it: `test_memory_deciding.py`."""


def test_the_table_holds_every_relationship() -> None:
    """No relationship of the memory graph stays without a flow that makes it."""
    written = {one.name for one in RELATIONSHIPS.values() if not one.derived and one.name != FACT}
    assert LINKS.keys() | OWN_TEST == written
    for name, (_, attributes) in LINKS.items():
        found = [one for one in RELATIONSHIPS.values() if one.name == name and not one.derived]
        assert attributes.keys() == found[0].attributes.model_fields.keys(), name


@pytest.mark.parametrize("type", LINKS)
def test_each_relationship_is_made_with_its_attributes(memories: Memories, type: str) -> None:
    """It leads between the labels of the specification and cites the line that tells it."""
    memories.entity("Grafana")
    memory, attributes = LINKS[type]
    assert not memories.tell(memory, source=CONVERSATION).refused
    edges = memories.edges(type)
    assert len(edges) == (2 if type == "CONFLICTS_WITH" else 1)
    for edge in edges:
        assert edge.properties == attributes
        ends = [store.get_node(memories.connection, OWNER, end) for end in (edge.source, edge.target)]
        assert (type, *(end.label for end in ends if end)) in RELATIONSHIPS
        [observation] = service.observations_of(memories.connection, OWNER, edge.id)
        [line] = evidence.rows(memories.connection, OWNER, "observation", [observation.id])[observation.id]
        assert line.message_id == "e1/1"


def test_a_link_leads_the_other_way_where_the_other_node_comes_first(memories: Memories) -> None:
    """A goal may be told with the memory that supports it as well as the memory with the goal."""
    memories.tell(told(ref("Goal", "migrate"), link("SUPPORTS", POSTGRES, outgoing=False)))
    assert memories.edge("SUPPORTS").source == memories.node("Memory").id


# --- One thing is one node


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (ref("Concept", "Authentication"), ref("Concept", " authentication ")),
        (ref("Keyword", "OAuth2"), ref("Keyword", "oauth2")),
        (ref("Topic", "Всё подряд"), ref("Topic", "все подряд")),
        (ref("Context", "Migration", type="project"), ref("Context", "MIGRATION", type="project")),
        (ref("Goal", "Пробежать марафон"), ref("Goal", "пробежать марафон.")),
        (ref("Question", "Куди їдемо?"), ref("Question", "куди їдемо")),
        (ref("Decision", "Take Postgres!"), ref("Decision", "take Postgres")),
        (ref("Memory", "Мы берём Postgres."), ref("Memory", "мы берем Postgres")),
        (ref("Preference", "Short answers"), ref("Preference", "short answers")),
        (ref("TemporalMarker", "Літо", type="period"), ref("TemporalMarker", "літо", type="period")),
        (ref("Source", "https://example.org", type="url"), ref("Source", "HTTPS://example.org", type="url")),
    ],
    ids=lambda one: one.label,
)  # fmt: skip
def test_the_same_words_are_one_node_whatever_their_case(memories: Memories, first: Any, again: Any) -> None:
    """Case, ё, spaces and the marks at the ends of a sentence make no difference; the first wording stays."""
    memories.tell(told(first))
    written = memories.tell(told(again))
    assert memories.node(first.label).properties[next(iter(first.properties))] == first.key.words
    assert written.nodes == [memories.node(first.label).id]
    assert written.changes.referenced == written.nodes or first.label == "Preference"


def test_another_form_of_a_concept_is_the_same_node(memories: Memories) -> None:
    """What the digest knows as a form of it, or as the same in meaning, is no new node."""
    memories.tell(told(ref("Concept", "аутентификация")))
    known = memories.node("Concept").id
    memories.tell(
        told(POSTGRES, link("HAS_CONCEPT", ref("Concept", "аутентификации"))),
        same={RefKey("Concept", "аутентификации"): [Likeness("gone", "form"), Likeness(known, "form")]},
    )
    memories.tell(
        told(ref("Concept", "вхід")),
        told(ref("Concept", "входу")),
        forms={RefKey("Concept", "входу"): RefKey("Concept", "вхід")},
    )
    assert sorted(node.name for node in memories.nodes("Concept")) == ["аутентификация", "вхід"]
    assert memories.edge("HAS_CONCEPT").target == known


def test_a_time_marker_is_the_same_only_at_the_same_time(memories: Memories) -> None:
    """Last summer is another one every year."""
    for year in (2024, 2025, 2025):
        dates = {"startDate": f"{year}-06-01T00:00:00+00:00", "endDate": f"{year}-09-01T00:00:00+00:00"}
        memories.tell(told(ref("TemporalMarker", "last summer", type="period", **dates)))
    assert len(memories.nodes("TemporalMarker")) == 2


def test_a_link_by_words_alone_means_what_the_reply_tells(memories: Memories) -> None:
    """The item gives the dates, the link only names the marker."""
    memories.tell(
        told(ref("TemporalMarker", "last summer", type="period", **SUMMER)),
        told(POSTGRES, link("OCCURRED_DURING", ref("TemporalMarker", "last summer"))),
    )
    assert memories.edge("OCCURRED_DURING").target == memories.node("TemporalMarker").id


# --- What changes


def test_a_repeated_preference_is_observed_more_often_and_its_strength_is_the_mean(memories: Memories) -> None:
    """Once an episode, whatever number of lines tell it; a strength that nobody states is half of all."""
    for strength in (0.9, -0.3):
        memories.tell(told(ref("Preference", "remote work", strength=strength)))
    memories.tell(told(ref("Preference", "remote work")), told(ref("Preference", "Remote work")))
    node = memories.node("Preference")
    assert node.properties["observations"] == 3
    assert node.properties["strength"] == pytest.approx((0.9 - 0.3 + 0.5) / 3)


@pytest.mark.parametrize(
    ("words", "sign"),
    [
        ("не любит спам", -1), ("ненавидить спам", -1), ("hates spam", -1), ("doesn't like spam", -1),
        ("любит чай", 1), ("любить каву", 1), ("likes tea", 1), ("короткие ответы", 1), ("no meetings before ten", -1),
    ],
)  # fmt: skip
def test_the_wording_tells_a_like_from_a_dislike(memories: Memories, words: str, sign: int) -> None:
    """Where the reply says nothing of strength."""
    memories.tell(told(ref("Preference", words)))
    assert memories.node("Preference").properties["strength"] == sign * 0.5


def test_a_goal_that_is_reached_changes_its_status(memories: Memories) -> None:
    """Told by its handle, later than it was set; what it said before stays."""
    memories.tell(told(ref("Goal", "run a marathon", priority=1)))
    goal = memories.node("Goal").id
    memories.tell(told(ref("Goal", node_id=goal, status="achieved")))
    assert memories.node("Goal").properties == {"description": "run a marathon", "status": "achieved", "priority": 1}


def test_what_was_said_later_holds_whenever_it_arrives(memories: Memories) -> None:
    """An import of last year does not undo what was said yesterday."""
    memories.tell(told(ref("Goal", "run a marathon", status="achieved")), at=NOON)
    memories.tell(told(ref("Goal", "run a marathon", status="active")), at=NOON - timedelta(days=300))
    assert memories.node("Goal").properties["status"] == "achieved"


def test_a_memory_is_dated_by_what_was_said_first(memories: Memories) -> None:
    """An import of what was said years ago is of those years, in lists and prompts; forgetting moves the date on."""
    spring, summer = NOON - timedelta(days=3_000), NOON - timedelta(days=2_900)
    memories.tell(told(ref("Memory", "Bought a bike")))
    memories.tell(told(ref("Memory", "Moved to Lviv")), at=summer, episode="summer")
    memories.tell(told(ref("Memory", "Moved to Lviv")), at=spring, episode="spring")
    listed = repository.listing(memories.connection, OWNER, "Memory", limit=5)
    assert [(node.name, node.dated) for node in listed] == [
        ("Bought a bike", NOON + timedelta(hours=1)),
        ("Moved to Lviv", spring),
    ]
    shown = numbered([MemoryHit(node, 1.0) for node in listed])
    assert [one.at for one in shown] == [node.dated for node in listed]
    known = known_repository.known_nodes(memories.connection, OWNER, ["Memory"], limit=1)
    assert [one.words for one in known] == ["Bought a bike"]
    memories.forget("spring")
    assert {node.dated for node in memories.nodes("Memory")} == {NOON + timedelta(hours=1), summer}
    put = service.put_node(memories.connection, OWNER, "Goal", {"description": "swim"}, now=NOON)
    assert put.dated == NOON


def test_partial_answers_make_a_question_partial_and_then_answered(memories: Memories) -> None:
    """Their completeness adds up, from a half on it counts; it is answered when the last of them was said."""
    question = ref("Question", "What does the trip cost?")
    memories.tell(told(question))
    states = [memories.node("Question").properties["status"]]
    for words, share in (("the train is 40", 0.3), ("the hotel is 60", 0.3), ("the rest is 30", 0.4)):
        memories.tell(told(ref("Memory", words), link("PARTIALLY_ANSWERS", question, completeness=share)))
        states.append(memories.node("Question").properties["status"])
    assert states == ["open", "open", "partial", "answered"]
    assert memories.node("Question").properties["answeredDate"] == memories.now.isoformat()


def test_a_question_that_is_said_to_be_open_again_is_open(memories: Memories) -> None:
    """And the earlier answers do not count any more."""
    question = ref("Question", "Where do we go?")
    memories.tell(told(ref("Memory", "to Lviv"), link("PARTIALLY_ANSWERS", question, completeness=1.0)))
    assert memories.node("Question").properties["status"] == "answered"
    memories.tell(told(ref("Question", "Where do we go?", status="open")))
    assert memories.node("Question").properties == {"text": "Where do we go?", "status": "open"}


def test_the_first_topic_is_the_main_one_unless_another_is_said_to_be(memories: Memories) -> None:
    """A memory has one main topic."""
    memories.tell(
        told(POSTGRES, link("BELONGS_TO", ref("Topic", "a")), link("BELONGS_TO", ref("Topic", "b"))),
        told(MYSQL, link("BELONGS_TO", ref("Topic", "c")), link("BELONGS_TO", ref("Topic", "d"), isPrimary=True)),
    )
    names = {node.id: node.name for node in memories.nodes("Topic")}
    main = {names[edge.target]: edge.properties["isPrimary"] for edge in memories.edges("BELONGS_TO")}
    assert main == {"a": True, "b": False, "c": False, "d": True}


def test_decisions_chain(memories: Memories) -> None:
    """Each told with the one before it, known by its handle."""
    memories.tell(told(ref("Decision", "move to the cloud")))
    first = memories.node("Decision").id
    memories.tell(told(ref("Decision", "hire Olena"), link("LED_TO", ref("Decision", node_id=first), outgoing=False)))
    assert memories.edge("LED_TO").source == first


# --- Where it comes from


def test_a_memory_quotes_each_of_its_lines(memories: Memories) -> None:
    """The latest quote is the excerpt; it is verbatim and no longer than 300 characters."""
    long = "слово " * 100
    memories.tell(told(POSTGRES, lines=(1, 2)), said=("first  line", long), source=CONVERSATION)
    excerpt = memories.edge("FROM_SOURCE").properties["excerpt"]
    assert excerpt in ("first  line", long[:300])
    assert len(memories.observations(memories.edge("FROM_SOURCE").id)) == 2


def test_a_source_is_trusted_less_when_what_it_told_was_superseded(memories: Memories) -> None:
    """By half of the share of its memories that do not hold any more."""
    memories.tell(contradiction(), source=CONVERSATION)
    memories.tell(told(POSTGRES), told(MYSQL), source=CONVERSATION)
    assert memories.node("Source").properties["reliability"] == 0.9
    service.resolve_contradiction(
        memories.connection, OWNER, memories.node("Contradiction").id, "newer", now=memories.now
    )
    assert memories.node("Source").properties["reliability"] == pytest.approx(0.9 * 0.75)


def test_what_was_said_in_a_session_is_in_its_context(memories: Memories) -> None:
    """One context a session: active, completed when the session is closed, part of the project it is about."""
    project = link("IN_CONTEXT", ref("Context", "Migration", type="project"))
    memories.tell(told(POSTGRES, project), session=SESSION)
    memories.tell(told(MYSQL), session=SESSION)
    node = store.get_node(memories.connection, OWNER, service.session_context_id(OWNER, "s1"))
    assert node is not None
    assert node.properties == {"name": "session 2026-02-07 14:30", "type": "session", "status": "active"}
    within = {edge.source for edge in memories.edges("IN_CONTEXT") if edge.target == node.id}
    assert within == {one.id for one in memories.nodes("Memory")}
    assert memories.edge("PART_OF").source == node.id
    service.complete_session(memories.connection, OWNER, "s1", now=NOON)
    memories.tell(told(POSTGRES), session=SESSION)
    assert [one.properties["status"] for one in memories.nodes("Context") if one.id == node.id] == ["completed"]


# --- What memories are like


def test_a_new_memory_is_linked_to_the_nearest_ones(memories: Memories) -> None:
    """At most three of them, by how near they are, and once for each pair."""
    near = [ref("Memory", f"note {n}") for n in range(5)]
    memories.tell(*map(told, near))
    ids = [node.id for node in memories.nodes("Memory")]
    related = {POSTGRES.key: [Likeness(one, "vector", 0.9 - n / 10) for n, one in enumerate(ids)]}
    for _ in range(2):
        memories.tell(told(POSTGRES), related=related)
    edges = sorted(memories.edges("RELATES_TO"), key=lambda edge: -(edge.strength or 0))
    assert [(edge.target, edge.strength) for edge in edges] == [(ids[0], 0.9), (ids[1], 0.8), (ids[2], 0.7)]
    assert {edge.properties["relType"] for edge in edges} == {"similar"}


def test_without_vectors_memories_are_alike_by_what_they_share(memories: Memories) -> None:
    """The more of their concepts and entities are the same, the stronger; the owner himself is in all of them."""
    owner = store.ensure_owner_node(memories.connection, OWNER, "Оля", NOON).id
    memories.entities["me"] = owner
    shared = [link("HAS_CONCEPT", ref("Concept", one)) for one in ("SQL", "servers")]
    memories.tell(told(POSTGRES, *shared))
    memories.tell(told(ref("Memory", "I was born in Lviv"), link("MENTIONS", ref("Entity", "me"))))
    memories.tell(told(MYSQL, *shared, link("MENTIONS", ref("Entity", "me"))))
    assert memories.edge("RELATES_TO").strength == pytest.approx(0.4)


# --- Contradictions


def test_a_contradiction_is_known_by_what_it_is_between(memories: Memories) -> None:
    """Told again in other words it is not asked again, however it was settled."""
    first = memories.tell(contradiction())
    assert first.asked
    assert memories.node("Contradiction").properties["status"] == "unresolved"
    again = memories.tell(contradiction("two databases at once"))
    assert not again.asked
    assert memories.node("Contradiction").name == "which database"


# --- Refused one by one


@pytest.mark.parametrize(
    ("memory", "reason"),
    [
        (told(ref("Memory", "x", confidence=1.5)), "out_of_range"),
        (told(ref("Goal", "x", status="done")), "unknown_value"),
        (told(ref("Context", "x")), "missing_attribute"),
        (told(ref("Concept", "x", colour="red")), "unknown_attribute"),
        (told(ref("Concept", " ")), "no_name"),
        (told(ref("Goal", node_id="nobody", status="achieved")), "unknown_node"),
        (told(ref("Concept", "x"), lines=(7,)), "no_support"),
        (told(ref("Contradiction", "x"), link("CONFLICTS_WITH", POSTGRES)), "one_sided"),
        (told(POSTGRES, link("MENTIONS", ref("Entity", "nobody"))), "unknown_entity"),
        (told(POSTGRES, link("SUPPORTS", ref("Goal", "x"), strength=2.0)), "out_of_range"),
        (told(POSTGRES, link("SUPPORTS", ref("Question", "x"))), "wrong_ends"),
        (told(POSTGRES, link("LIKES", ref("Goal", "x"))), "unknown_relationship"),
        (told(POSTGRES, link("RELATES_TO", POSTGRES)), "self_loop"),
    ],
)
def test_what_breaks_a_rule_is_refused_alone(memories: Memories, memory: ProposedMemory, reason: str) -> None:
    """With the registry's own word for it; the rest of the reply is written."""
    written = memories.tell(memory, told(ref("Memory", "kept")))
    assert [one.reason for one in written.refused] == [reason]
    assert "kept" in [node.name for node in memories.nodes("Memory")]


def test_telling_the_same_reply_twice_changes_nothing(memories: Memories) -> None:
    """A run that is applied again after a crash stores no second observation."""
    item = told(POSTGRES, link("HAS_CONCEPT", ref("Concept", "SQL")), link("REVEALS", ref("Preference", "free")))
    memories.tell(item, episode="e", at=NOON)
    before = memories.graph()
    memories.tell(item, episode="e", at=NOON)
    assert memories.graph() == before
