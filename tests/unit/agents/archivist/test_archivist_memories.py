"""Memories in the archivist's reply: 13 labels, 18 relationships, handles, and whose words count."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from internal.agents.archivist.output import ArchivistReply, parse
from internal.agents.archivist.reply.memories import LINKS
from internal.agents.model import TranscriptLine
from internal.errors import ModelReplyInvalid
from internal.graph import registry
from internal.graph.labels import NODES
from internal.knowledge.model import OWNER_NODE, ProposedEntity
from internal.memory.model import MEMORY_LABELS, NAMING, KnownMemory, NodeRef, ProposedLink, ProposedMemory

NOON = datetime(2026, 2, 7, 12, 0, tzinfo=UTC)
TRANSCRIPT = (
    TranscriptLine(1, "user", "Анна", NOON, "Я решила учить испанский, потому что еду в Мадрид"),
    TranscriptLine(2, "assistant", "Laplaced", NOON, "Вы любите кофе"),
    TranscriptLine(3, "user", "Анна", NOON, "Хочу машину", forwarded_from="Оксана"),
    TranscriptLine(4, "user", "Оксана", NOON, "Отчёт сдают в пятницу", own=False),
)
PEOPLE = {18, 42}
KNOWN = (
    KnownMemory("G1", "goal-1", "Goal", "Выучить испанский", "active"),
    KnownMemory("Q1", "question-1", "Question", "Когда сдают отчёт?", "open"),
    KnownMemory("M1", "memory-1", "Memory", "Отчёт сдают в четверг"),
    KnownMemory("M2", "memory-2", "Memory", "Отчёт сдают в пятницу"),
    KnownMemory("X1", "contradiction-1", "Contradiction", "Когда сдают отчёт", "unresolved"),
    KnownMemory("C1", "context-1", "Context", "Альфа", "active"),
    KnownMemory("P1", "preference-1", "Preference", "кофе"),
)


def read(*items: Any) -> ArchivistReply:
    return parse(json.dumps({"memories": items}, ensure_ascii=False), TRANSCRIPT, PEOPLE, memories=KNOWN)


def item(label: str | None = "Memory", evidence: Any = (1,), links: Any = (), **properties: Any) -> dict[str, Any]:
    told = {"properties": properties or {"content": "Едет в Мадрид"}, "evidence": list(evidence), "links": list(links)}
    return told if label is None else {"label": label, **told}


def link(type: str, label: str, /, properties: dict[str, Any] | None = None, **named: Any) -> dict[str, Any]:
    return {"type": type, "to": {"label": label, "properties": named}, "properties": properties or {}}


def reasons(reply: ArchivistReply) -> list[str]:
    return [refusal.reason for refusal in reply.refused]


def only(reply: ArchivistReply) -> ProposedMemory:
    assert reasons(reply) == []
    (kept,) = reply.memories
    return kept


def test_a_memory_arrives_with_what_was_told_and_nothing_more() -> None:
    """Defaults are the store's affair: a later reading must not take them for something said."""
    related = link("HAS_CONCEPT", "Concept", {"relevance": 0.8}, name="испанский язык")
    told = item(content=" Едет\nв Мадрид ", summary="Мадрид", confidence=0.9, links=[related])
    assert only(read(told)) == ProposedMemory(
        NodeRef("Memory", {"content": "Едет в Мадрид", "summary": "Мадрид", "confidence": 0.9}),
        (ProposedLink("HAS_CONCEPT", NodeRef("Concept", {"name": "испанский язык"}), {"relevance": 0.8}),),
        (1,),
    )


NODES_TOLD: dict[str, dict[str, Any]] = {
    "Memory": {"content": "x", "summary": "y", "confidence": 0.5},
    "Concept": {"name": "x", "description": "y"},
    "Keyword": {"term": "OAuth2"},
    "Topic": {"name": "x", "description": "y"},
    "Entity": {"name": "ACME", "description": "y", "type": "organization"},
    "Source": {"reference": "https://a.example/b", "type": "url", "title": "y", "reliability": 0.7},
    "Decision": {"description": "x", "rationale": "y", "date": "вчера", "outcome": "z", "reversible": True},
    "Goal": {"description": "x", "status": "achieved", "priority": 1, "targetDate": "до конца года"},
    "Question": {"text": "x", "status": "partial", "answeredDate": "2026-02-01"},
    "Context": {"name": "Альфа", "type": "project", "description": "y", "status": "completed"},
    "Preference": {
        "preference": "x",
        "category": "instruction",
        "strength": -0.8,
        "description": "y",
        "status": "ended",
    },
    "TemporalMarker": {"description": "отпуск", "type": "period", "startDate": "1 мая", "endDate": "2026-05-20"},
    "Contradiction": {"description": "x", "resolution": "y", "status": "resolved"},
}


@pytest.mark.parametrize("label", MEMORY_LABELS)
def test_every_property_of_every_label_is_read(label: str) -> None:
    """As the specification names them; only what the store counts itself is not."""
    conflict = [link("CONFLICTS_WITH", "Memory", content=one) for one in "ab"] if label == "Contradiction" else []
    kept = only(read(item(label, links=conflict, **NODES_TOLD[label])))
    assert kept.node == NodeRef(label, NODES_TOLD[label])
    kept_by_store = {"lastAccessed", "accessCount", "observations", "facts", "aliases", "attributes", "labels"}
    assert set(NODES_TOLD[label]) == set(NODES[label].model.model_fields) - kept_by_store


ATTRIBUTES: dict[str, dict[str, Any]] = {
    "RELATES_TO": {"strength": 0.7, "relType": "similar"},
    "HAS_CONCEPT": {"relevance": 0.8},
    "BELONGS_TO": {"isPrimary": True},
    "MENTIONS": {"role": "subject"},
    "FROM_SOURCE": {"excerpt": "x"},
    "PARTIALLY_ANSWERS": {"completeness": 0.5},
    "SUPPORTS": {"strength": 0.5},
    "CONCEPT_RELATED_TO": {"relType": "part of"},
}


@pytest.mark.parametrize("type", LINKS)
def test_every_relationship_is_read_with_its_attributes(type: str) -> None:
    """All 18 of the memory graph, with every attribute the specification gives them."""
    one = LINKS[type]
    other = {**NODES_TOLD[one.target], NAMING[one.target]: "другое"}
    links = [link(type, one.target, ATTRIBUTES.get(type), **other)]
    if one.source == "Contradiction":
        links += [link("CONFLICTS_WITH", "Memory", content=each) for each in "ab"]
    kept = only(read(item(one.source, links=links, **NODES_TOLD[one.source])))
    assert kept.links[0] == ProposedLink(type, NodeRef(one.target, other), ATTRIBUTES.get(type, {}))
    assert set(ATTRIBUTES.get(type, ())) == set(one.attributes.model_fields)


def test_there_are_eighteen() -> None:
    """And none of them is a fact or the chronicle's."""
    assert len(LINKS) == 18


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ({"confidence": "0,9"}, {"confidence": 0.9}),
        ({"confidence": 90}, {"confidence": 0.9}),
        ({"confidence": "75%"}, {"confidence": 0.75}),
        ({"confidence": "high"}, {"confidence": 0.9}),
        ({"confidence": 1}, {"confidence": 1}),
        ({"confidence": None, "summary": ""}, {}),
        ({"id_": None, "created": "2020", "last_accessed": "x", "accessCount": 7}, {}),
    ],
)
def test_shares_are_read_however_they_are_written(written: dict[str, Any], kept: dict[str, Any]) -> None:
    """What only the store knows is passed over, and so is what is empty."""
    assert only(read(item(content="x", **written))).node.properties == {"content": "x", **kept}


@pytest.mark.parametrize(
    ("label", "written", "kept"),
    [
        ("Goal", {"goal": "x", "target_date": 2027, "priority": "2"}, {"targetDate": "2027", "priority": 2}),
        ("goal", {"text": "x", "Status": "Done", "deadline": "май"}, {"status": "achieved", "targetDate": "май"}),
        ("Goal", {"description": "x", "priority": "high", "status": "cancelled"},
         {"priority": 1, "status": "abandoned"}),
        ("Decision", {"decision": "x", "reversible": "да", "reason": "y"}, {"reversible": True, "rationale": "y"}),
        ("Question", {"question": "x", "status": "resolved"}, {"status": "answered"}),
        ("Preference", {"preference": "x", "strength": "-80%", "observations": 9}, {"strength": -0.8}),
        ("temporal_marker", {"description": "лето", "start_date": "2026-06-01"}, {"startDate": "2026-06-01"}),
        ("Source", {"reference": "https://a.example"}, {"type": "url"}),
        ("Keyword", {"name": "OAuth2"}, {}),
    ],
)  # fmt: skip
def test_other_ways_to_write_a_property(label: str, written: dict[str, Any], kept: dict[str, Any]) -> None:
    """snake_case, the label's own word for its text, other words for states, ranks and truths."""
    node = only(read(item(label, **written))).node
    naming = NAMING[node.label]
    assert {name: value for name, value in node.properties.items() if name != naming} == kept
    assert node.properties[naming]


def test_a_label_that_is_missing_is_a_memory() -> None:
    """And properties may stand flat beside the evidence."""
    assert only(read(item(None))).node.label == "Memory"
    assert only(read({"content": "x", "evidence": "1"})).node == NodeRef("Memory", {"content": "x"})
    assert only(read({"type": "Goal", "properties": {"description": "x"}, "evidence": [1]})).node.label == "Goal"


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"properties": {"content": "x"}}, "no_evidence"),
        (item(evidence=[]), "no_evidence"),
        (item(evidence=[2]), "assistant_only"),
        (item(evidence=[9]), "evidence_out_of_range"),
        (item("Dream", name="x"), "unknown_label"),
        (item("Session", name="x"), "unknown_label"),
        (item(content=" "), "missing_attribute"),
        (item(content="x", mood="y"), None),
        (item(content="x", confidence=7), "out_of_range"),
        (item(content="x", confidence="sure"), "wrong_type"),
        (item(content=["x"]), "bad_shape"),
        (item("Goal", description="x", status="wished"), "unknown_value"),
        (item("Goal", description="x", priority=0), "out_of_range"),
        (item("Goal", description="x", targetDate={"year": 1}), "bad_date"),
        (item("Context", name="Альфа"), "missing_attribute"),
        (item("Preference", preference="x", strength=-2), "out_of_range"),
        (item("Keyword", term="я" * 3_000), None),
        (item("Concept", name="я" * 3_000), "bad_shape"),
        (item("Entity", name="..."), "no_name"),
        (item("Entity", name="Person:7"), "unknown_id"),
        (item("Contradiction", description="x"), "one_sided"),
        ({"id": "G9", "properties": {"status": "achieved"}, "evidence": [1]}, "unknown_id"),
        ({"id": "goal-1", "properties": {"status": "achieved"}, "evidence": [1]}, "unknown_id"),
        ({"id": "G1", "label": "Question", "evidence": [1]}, "wrong_label"),
        ({"id": "G1", "properties": {"status": "wished"}, "evidence": [1]}, "unknown_value"),
        ({"id": "G1", "properties": "achieved", "evidence": [1]}, "bad_shape"),
        ("Выучить испанский", "bad_shape"),
    ],
)
def test_what_breaks_a_rule_is_refused_alone(told: Any, reason: str | None) -> None:
    """With the registry's own reasons; its neighbours are kept."""
    reply = read(item(content="a"), told, item(content="b"))
    contents = [kept.node.properties.get("content") for kept in reply.memories]
    assert (contents[0], contents[-1]) == ("a", "b")
    assert reasons(reply) == ([reason] if reason else [])
    assert len(reply.memories) == (2 if reason else 3)
    assert all(refusal.detail for refusal in reply.refused)


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (link("LIKES", "Concept", name="x"), "unknown_relationship"),
        (link("FACT", "Topic", name="x"), "unknown_relationship"),
        (link("NEXT", "Memory", content="x"), "unknown_relationship"),
        (link("HAS_CONCEPT", "Goal", description="x"), "wrong_ends"),
        (link("LED_TO", "Decision", description="x"), "wrong_ends"),
        (link("HAS_CONCEPT", "Concept", {"relevance": 3}, name="x"), "out_of_range"),
        (link("HAS_CONCEPT", "Concept", {"weight": 3}, name="x"), "unknown_attribute"),
        (link("HAS_CONCEPT", "Concept", name=""), "missing_attribute"),
        (link("RELATES_TO", "Memory", content="a"), "self_link"),
        ({"type": "HAS_CONCEPT"}, "no_end"),
        ({"type": "RELATES_TO", "to": {"id": "M9"}}, "unknown_id"),
        ({"type": "HAS_CONCEPT", "to": ["x"]}, "bad_shape"),
        ("HAS_CONCEPT", "bad_shape"),
    ],
)
def test_a_link_that_breaks_a_rule_costs_nothing_else(told: Any, reason: str) -> None:
    """The memory and its other links stay."""
    reply = read(item(content="a", links=[told, link("HAS_KEYWORD", "Keyword", term="k")]))
    assert [one.type for one in reply.memories[0].links] == ["HAS_KEYWORD"]
    assert reasons(reply) == [reason]


def test_links_are_understood_in_either_direction() -> None:
    """Only a relationship between two nodes of one label has a direction of its own."""
    memory = {"label": "Memory", "properties": {"content": "m"}}
    goal = item("Goal", description="x", links=[
        {"type": "supports", "to": memory, "strength": "0.5"},
        {"type": "depends on", "from": {"properties": {"description": "y"}}},
    ])  # fmt: skip
    assert only(read(goal)).links == (
        ProposedLink("SUPPORTS", NodeRef("Memory", {"content": "m"}), {"strength": 0.5}, outgoing=False),
        ProposedLink("DEPENDS_ON", NodeRef("Goal", {"description": "y"}), {}, outgoing=False),
    )


def test_the_end_of_a_link_may_be_its_name_alone() -> None:
    """Its label follows from the relationship; twice the same link is one."""
    links = [
        {"type": "HAS_CONCEPT", "to": "испанский"},
        {"type": "HAS_CONCEPT", "to": {"name": "Испанский"}},
        {"type": "MENTIONS", "to": "Person:42"},
        {"type": "MENTIONS", "to": {"label": "Person", "id": 18, "name": "Петров"}},
        {"type": "MENTIONS", "to": "user"},
        {"type": "SUPPORTS", "to": "[G1]"},
    ]
    assert [one.other for one in only(read(item(links=links))).links] == [
        NodeRef("Concept", {"name": "испанский"}),
        NodeRef("Entity", {"name": "Person:42"}),
        NodeRef("Entity", {"name": "Person:18"}),
        NodeRef("Entity", {"name": OWNER_NODE}),
        NodeRef("Goal", {}, "goal-1"),
    ]


@pytest.mark.parametrize("numbered", [1, "1", "mem_1", "01a201ed-3a80-7596-bc4e-5994ea684f11"])
def test_a_number_of_the_models_own_is_no_handle(numbered: Any) -> None:
    """Some number whatever they write; the words tell what is meant."""
    concept = {"type": "HAS_CONCEPT", "to": {"id": numbered, "name": "испанский"}}
    memory, acme = read(
        {"id": numbered, **item(links=[concept])}, {"id": numbered, **item("Entity", name="ACME")}
    ).memories
    assert memory.node == NodeRef("Memory", {"content": "Едет в Мадрид"})
    assert memory.links[0].other == NodeRef("Concept", {"name": "испанский"})
    assert acme.node == NodeRef("Entity", {"name": "ACME"})


def test_a_known_node_is_meant_by_its_handle() -> None:
    """It carries what changes and never its own words again: they stay as they were first told."""
    reached = {"id": "g1", "properties": {"status": "achieved", "description": "Испанский"}, "evidence": [1]}
    answered = item(content="Отчёт в пятницу", evidence=[4], links=[
        {"type": "PARTIALLY_ANSWERS", "to": {"id": "Q1"}, "properties": {"completeness": 1}},
        {"type": "IN_CONTEXT", "to": {"id": "C1", "label": "Context"}},
    ])  # fmt: skip
    reply = read(reached, answered)
    assert reasons(reply) == []
    assert reply.memories[0].node == NodeRef("Goal", {"status": "achieved"}, "goal-1")
    assert [one.other for one in reply.memories[1].links] == [
        NodeRef("Question", {}, "question-1"),
        NodeRef("Context", {}, "context-1"),
    ]


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (item("Goal", [3], description="Купить машину"), "not_own_words"),
        (item("Preference", [4], preference="кофе"), "not_own_words"),
        (item("Decision", [3, 2], description="x"), "not_own_words"),
        (item("Question", [4], text="x?"), "not_own_words"),
        ({"id": "G1", "properties": {"status": "achieved"}, "evidence": [3]}, "not_own_words"),
        ({"id": "P1", "properties": {"strength": 1}, "evidence": [4]}, "not_own_words"),
        ({"id": "X1", "properties": {"status": "resolved"}, "evidence": [4]}, "not_own_words"),
        ({"id": "Q1", "properties": {"status": "answered"}, "evidence": [4]}, None),
        (item("Memory", [4], content="Отчёт в пятницу"), None),
        (item("Contradiction", [4], [link("CONFLICTS_WITH", "Memory", content=one) for one in "ab"], description="x"),
         None),
    ],
)  # fmt: skip
def test_only_the_owners_words_tell_of_what_he_wants(told: Any, reason: str | None) -> None:
    """A forward's "I want" is its author's; what happened, and an answer, may come from anybody."""
    reply = read(told)
    assert reasons(reply) == ([reason] if reason else [])
    assert len(reply.memories) == (0 if reason else 1)


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        (link("SUPPORTS", "Goal", description="x"), False),
        (link("REVEALS", "Preference", preference="x"), False),
        ({"type": "REVEALS", "to": {"id": "P1"}}, False),
        ({"type": "SUPPORTS", "to": {"id": "G1", "properties": {"status": "achieved"}}}, False),
        ({"type": "SUPPORTS", "to": {"id": "G1"}}, True),
        ({"type": "PARTIALLY_ANSWERS", "to": {"id": "Q1"}}, True),
    ],
)
def test_nor_does_a_link_bring_them_in_by_the_back_door(told: dict[str, Any], kept: bool) -> None:
    """Others' words may support a known goal, but neither tell a new one nor reveal a preference."""
    reply = read(item("Memory", [4], [told]))
    assert bool(reply.memories[0].links) is kept
    assert reasons(reply) == ([] if kept else ["not_own_words"])


def test_evidence_of_what_is_the_owners_own_is_only_his() -> None:
    """Other lines beside his support nothing."""
    assert only(read(item("Goal", [1, 2, 3], description="x"))).evidence == (1,)
    assert only(read(item("Memory", [1, 2, 3], content="x"))).evidence == (1, 3)


def test_a_contradiction_may_be_told_from_both_its_memories() -> None:
    """What counts is that two conflict, wherever it is said; one that is left alone takes its links along."""
    conflict = {"type": "CONFLICTS_WITH", "from": {"label": "Contradiction", "properties": {"description": "Отчёт"}}}
    both = read(item(content="a", links=[conflict]), item(content="b", links=[conflict]))
    assert [len(kept.links) for kept in both.memories] == [1, 1]
    one = read(item(content="a", links=[conflict]))
    assert [len(kept.links) for kept in one.memories] == [0]


def test_entities_that_memories_name_are_looked_up_like_others() -> None:
    """Each once, with all the lines that name it."""
    acme = link("MENTIONS", "Entity", {"role": "employer"}, name="ACME", type="Company", description="работа")
    reply = read(item(links=[acme]), item("Memory", [4], [acme], content="y"), item("Entity", [1], name="Person:42"))
    assert reply.mentioned == (
        ProposedEntity("ACME", summary="работа", evidence=(1, 4)),
        ProposedEntity("Person:42", evidence=(1,)),
    )
    assert reply.entities == ()


NAMES = (
    *("label", "properties", "links", "evidence", "id", "type", "to", "from", "content", "name", "status", "strength"),
    *("description", "text", "preference", "confidence", "priority", "targetDate", "target_date", "relevance"),
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from([*MEMORY_LABELS, *LINKS, "G1", "Q1", "M1", "Person:42", "user", "achieved", "90%", "high", 1]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=30,
)
ITEMS = st.fixed_dictionaries(
    {},
    optional={
        "label": st.sampled_from([*MEMORY_LABELS, "Person", None]) | VALUES,
        "id": st.sampled_from(["G1", "X1", "Q9"]) | VALUES,
        "properties": st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4) | VALUES,
        "links": st.lists(
            st.fixed_dictionaries({"type": st.sampled_from(list(LINKS)), "to": VALUES}, optional={"properties": VALUES})
        )
        | VALUES,
        "evidence": st.lists(st.integers(1, 4), max_size=3) | VALUES,
    },
)


@given(st.lists(ITEMS | VALUES, max_size=4) | VALUES)
def test_whatever_a_model_writes_only_sound_memories_come_out(value: Any) -> None:
    """Nothing but ModelReplyInvalid is raised; what comes out passes the registry and rests on the owner's words."""
    try:
        reply = parse(json.dumps({"memories": value}), TRANSCRIPT, PEOPLE, memories=KNOWN)
    except ModelReplyInvalid:
        return
    if isinstance(value, list):
        assert len(value) <= len(reply.memories) + len(reply.refused)
    for kept in reply.memories:
        assert kept.evidence
        assert set(kept.evidence) <= {1, 3, 4}
        if kept.node.label in ("Goal", "Preference", "Decision"):
            assert kept.evidence == (1,)
        for ref in (kept.node, *(one.other for one in kept.links)):
            assert ref.label in MEMORY_LABELS
            assert (NAMING[ref.label] in ref.properties) == (ref.node_id is None)
        for one in kept.links:
            ends = (kept.node, one.other) if one.outgoing else (one.other, kept.node)
            registry.check_edge(one.type, ends[0].label, ends[1].label, one.properties)
