"""Entities and facts in the archivist's reply: what is kept, in what form, and what is refused alone."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from internal.agents.archivist.output import DEFAULT, REPLY_SCHEMA, ArchivistReply, parse, reply_schema
from internal.agents.model import TranscriptLine
from internal.knowledge.entities.types import DEFAULT_TYPES, EntityTypes
from internal.knowledge.model import OWNER_NODE, ProposedEntity, ProposedFact

NOON = datetime(2026, 2, 7, 12, 0, tzinfo=UTC)
TRANSCRIPT = (
    TranscriptLine(1, "user", "Анна", NOON, "Я работаю в ACME"),
    TranscriptLine(2, "assistant", "Laplaced", NOON, "Вы живёте в Киеве"),
    TranscriptLine(3, "user", "Анна", NOON, "Я живу в Одессе", forwarded_from="Оксана"),
    TranscriptLine(4, "user", "Оксана", NOON, "Я переехала во Львов", own=False),
    TranscriptLine(5, "user", "", NOON, "ACME основана в 2001 году."),
)
KNOWN = {18, 42}


def read(reply: Any, types: EntityTypes = DEFAULT) -> ArchivistReply:
    return parse(json.dumps(reply, ensure_ascii=False), TRANSCRIPT, KNOWN, types)


def entity(**fields: Any) -> dict[str, Any]:
    return {"name": "ACME", "labels": ["Organization"], "evidence": [1], **fields}


def fact(**fields: Any) -> dict[str, Any]:
    told = {"source": "Person:42", "relation": "WORKS_FOR", "target": "ACME", "fact": "Петров работает в ACME"}
    return {**told, "evidence": [1], **fields}


def reasons(reply: ArchivistReply) -> list[str]:
    return [refusal.reason for refusal in reply.refused]


def test_an_entity_arrives_whole() -> None:
    """With its types, other names, attributes and relevance, cleaned as people are."""
    written = entity(
        name=" ACME\n",
        summary="Компания &amp; сын",
        aliases=["Акме", "acme", ""],
        relevance="4",
        attributes={"a": None, "city": "Львов"},
    )
    reply = read({"entities": [written]})
    assert reply.entities == (
        ProposedEntity("ACME", ("Organization",), "Компания & сын", ("Акме",), {"city": "Львов"}, 4, (1,)),
    )
    assert reply.refused == ()


@pytest.mark.parametrize(
    ("labels", "kept"),
    [
        (["organization"], ("Organization",)),
        ("Company", ("Organization",)),
        (["Entity", "City"], ("Location",)),
        (["Nonsense", "Book"], ("Document",)),
        (["Person"], ("Person",)),
        ([], ()),
        (None, ()),
        (["Entity"], ()),
    ],
)
def test_types_are_known_by_their_usual_words(labels: Any, kept: tuple[str, ...]) -> None:
    """In any case; a word nobody knows costs nothing beside one that is known."""
    assert read({"entities": [entity(labels=labels)]}).entities[0].labels == kept


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (entity(name=""), "no_name"),
        (entity(name="user"), "not_an_entity"),
        (entity(name="Person:42"), "not_an_entity"),
        (entity(name="я" * 200), "bad_shape"),
        (entity(labels=["Nonsense"]), "unknown_label"),
        (entity(labels={"a": 1}), "bad_shape"),
        (entity(attributes=["a"]), "bad_attributes"),
        (entity(attributes={"a": {"b": 1}}), "bad_attributes"),
        (entity(labels=["Requirement"], attributes={"project_name": 5}), "bad_attributes"),
        (entity(evidence=[9]), "evidence_out_of_range"),
        (entity(evidence=[2]), "assistant_only"),
        ("ACME", "bad_shape"),
    ],
)
def test_an_entity_that_breaks_a_rule_is_refused_alone(item: Any, reason: str) -> None:
    """Its neighbours are kept."""
    reply = read({"entities": [entity(), item, entity(name="Initech")]})
    assert [kept.name for kept in reply.entities] == ["ACME", "Initech"]
    assert reasons(reply) == [reason]
    assert reply.refused[0].detail


def test_a_requirement_keeps_its_own_attributes() -> None:
    """They are texts; others may be any plain value."""
    attributes = {"project_name": "Альфа", "description": "ответ за секунду", "seconds": 1, "tags": ["a", "b"]}
    (kept,) = read({"entities": [entity(labels=["Requirement"], attributes=attributes)]}).entities
    assert kept.attributes == attributes


def test_a_fact_arrives_whole() -> None:
    """As it was written, its relation by the usual name."""
    written = fact(
        relation="works at", valid_at="2026-02", invalid_at=2027, entity_types={"ACME": "company", "X": "Nonsense"},
        attributes={"also": True}, evidence=["1", 2],
    )  # fmt: skip
    reply = read({"facts": [written]})
    assert reply.facts == (
        ProposedFact(
            "Person:42", "WORKS_FOR", "ACME", "Петров работает в ACME", "2026-02", "2027", {"acme": "Organization"},
            {"also": True}, (1,),
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("user", OWNER_NODE),
        ("User", OWNER_NODE),
        ("the owner", OWNER_NODE),
        ("я", OWNER_NODE),
        (42, "Person:42"),
        ("42", "Person:42"),
        ("person:18", "Person:18"),
        ("[Person:18] Мария", "Person:18"),
        ("Петров", "Петров"),
        ("1984", "1984"),
    ],
)
def test_an_end_is_the_owner_a_known_person_or_a_name(written: Any, meant: str) -> None:
    """A number that is nobody's id may be a title."""
    assert read({"facts": [fact(source=written)]}).facts[0].source == meant


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"source": "Person:43"}, "unknown_id"),
        ({"source": 43}, "unknown_id"),
        ({"source": None}, "no_end"),
        ({"target": "..."}, "no_end"),
        ({"target": {"name": "ACME"}}, "bad_shape"),
        ({"target": "person:42"}, "self_fact"),
        ({"relation": ""}, "relation_name"),
        ({"relation": "?!"}, "relation_name"),
        ({"fact": " "}, "no_fact"),
        ({"valid_at": ["2020"]}, "bad_date"),
        ({"valid_at": "очень " * 50}, "bad_date"),
        ({"evidence": []}, "no_evidence"),
        ({"evidence": None}, "no_evidence"),
        ({"evidence": [2]}, "assistant_only"),
        ({"evidence": [6]}, "evidence_out_of_range"),
        ({"attributes": {"a": {"b": []}}}, "bad_attributes"),
    ],
)
def test_a_fact_that_breaks_a_rule_is_refused_alone(changes: dict[str, Any], reason: str) -> None:
    """Its neighbours are kept."""
    reply = read({"facts": [fact(), fact(**changes), fact(target="Initech")]})
    assert [kept.target for kept in reply.facts] == ["ACME", "Initech"]
    assert reasons(reply) == [reason]


@pytest.mark.parametrize("end", ["source", "target"])
@pytest.mark.parametrize(
    ("evidence", "kept"), [([1], (1,)), ([5], (5,)), ([1, 2, 3, 4], (1,)), ([3], None), ([4], None), ([3, 4], None)]
)
def test_about_the_owner_only_his_own_words_count(end: str, evidence: list[int], kept: tuple[int, ...] | None) -> None:
    """A forward's "I" is its author, another speaker's is that speaker; a text without one may speak of him."""
    reply = read({"facts": [fact(**{end: "user", "evidence": evidence})]})
    assert [one.evidence for one in reply.facts] == ([kept] if kept else [])
    assert reasons(reply) == ([] if kept else ["not_own_words"])


def test_others_may_be_spoken_of_by_anybody_but_the_assistant() -> None:
    """A forward tells about its author."""
    reply = read({"facts": [fact(source="Оксана", relation="LIVES_IN", target="Одесса", evidence=[2, 3, 4])]})
    assert reply.facts[0].evidence == (3, 4)


def test_the_owners_own_types_are_types_like_the_others() -> None:
    """In what is asked for and in what is understood."""
    types = EntityTypes([("Task", "A work item"), ("project", "A project of ours"), ("Topic", "Only hobbies")])
    assert read({"entities": [entity(labels=["task"])]}, types).entities[0].labels == ("Task",)
    labels = reply_schema(types).schema["properties"]["entities"]["items"]["properties"]["labels"]["items"]["enum"]
    assert labels == [*(one.name for one in DEFAULT_TYPES), "Task", "Project"]
    assert types.of(("project",)).subtype == "project"
    assert types.of(("topic", "task")).name == "Task"
    assert types.of(("task", "preference")).label == "Preference"
    found = types.find("topic")
    assert found is not None
    assert found.description == "Only hobbies"


def test_the_default_types_are_the_specified_nine() -> None:
    """In the order of their priority, with the nodes that the architecture gives them."""
    assert [(one.name, one.priority, one.label, one.subtype) for one in DEFAULT_TYPES] == [
        ("Preference", "highest", "Preference", None),
        ("Requirement", "high", "Entity", "rule"),
        ("Procedure", "medium", "Entity", "rule"),
        ("Organization", "medium", "Entity", "organization"),
        ("Document", "medium", "Entity", "concept"),
        ("Event", "medium", "Entity", "concept"),
        ("Location", "low", "Entity", "place"),
        ("Topic", "lowest", "Topic", None),
        ("Object", "lowest", "Entity", "tool"),
    ]
    assert EntityTypes([("Task", "")]).of(("Task",)).subtype == "concept"


def test_the_schema_describes_what_is_read() -> None:
    """Fields of entities and facts are those of the proposals."""
    properties = REPLY_SCHEMA.schema["properties"]
    assert set(properties["entities"]["items"]["properties"]) == set(ProposedEntity.__slots__)
    assert set(properties["facts"]["items"]["properties"]) == set(ProposedFact.__slots__)


ANY = (
    st.none()
    | st.integers(-3, 50)
    | st.sampled_from(["user", "ACME", "Person:42", "Person:9", "", "2020", "Topic", "1"])
)
ANYTHING = ANY | st.lists(ANY, max_size=3) | st.dictionaries(st.sampled_from(["name", "a", "b"]), ANY, max_size=2)
ITEM = st.dictionaries(st.sampled_from([*ProposedEntity.__slots__, *ProposedFact.__slots__]), ANYTHING, max_size=9)


@given(st.lists(ITEM, max_size=4), st.lists(ITEM, max_size=4))
def test_every_item_is_kept_or_refused(entities: list[Any], facts: list[Any]) -> None:
    """And what is kept keeps the rules: a name, known people, lines that somebody said, own words about the owner."""
    reply = read({"entities": entities, "facts": facts})
    assert len(reply.entities) + len(reply.facts) + len(reply.refused) == len(entities) + len(facts)
    assert all(one.name for one in reply.entities)
    for one in reply.facts:
        ends = {one.source, one.target}
        assert set(one.evidence) <= ({1, 5} if OWNER_NODE in ends else {1, 3, 4, 5})
        assert one.evidence
        assert not {end for end in ends if end.startswith("Person:")} - {"Person:42", "Person:18"}


@pytest.mark.parametrize(("written", "read_as"), [(0.8, 4), (0.1, 1), (5.0, 5), ("3", 3), (6, None), ("high", None)])
def test_relevance_is_read_as_a_share_too_and_never_costs_the_entity(written: Any, read_as: int | None) -> None:
    """Weaker models write 0.8; what says nothing is left out."""
    assert read({"entities": [entity(relevance=written)]}).entities[0].relevance == read_as
