"""The registry against the tables of the specifications, property by property and relationship by relationship."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from internal.errors import Refused
from internal.graph import registry
from internal.graph.labels import NODES, SUMMARY
from internal.graph.model import Node
from internal.graph.relationships import RELATIONSHIPS

NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Kind:
    """What a property takes, what it does not take with the reason, and words the refusal must hold."""

    good: tuple[Any, ...]
    bad: tuple[tuple[Any, str], ...]
    says: str


def one_of(*values: str) -> Kind:
    bad = (("no such value", "unknown_value"), (values[0].upper() + " ", "unknown_value"), (1, "unknown_value"))
    return Kind(values, bad, values[-1])


def numbers(low: float, high: float) -> Kind:
    outside = ((low - 0.01, "out_of_range"), (high + 0.01, "out_of_range"), (float("nan"), "out_of_range"))
    return Kind(
        (low, high, (low + high) / 2, int(high)), (*outside, ("0.5", "wrong_type"), (True, "wrong_type")), "number"
    )


def whole(low: int, high: int | None = None) -> Kind:
    beyond = () if high is None else ((high + 1, "out_of_range"),)
    bad = ((low - 1, "out_of_range"), *beyond, ("1", "wrong_type"), (1.5, "wrong_type"), (True, "wrong_type"))
    return Kind((low, low + 3), bad, "whole number")


TEXT = Kind(("слова", ""), ((1, "wrong_type"), (["a"], "wrong_type")), "text")
NAME = Kind(("Київ", "a"), ((1, "wrong_type"), ({}, "wrong_type"), (" ", "missing_attribute")), "not empty")
SHARE, LIKING = numbers(0, 1), numbers(-1, 1)
COUNT, RANK = whole(0), whole(1)
FLAG = Kind((True, False), ((1, "wrong_type"), ("true", "wrong_type")), "true or false")
TIME = Kind(
    ("2026-02-07T12:00:00Z", "2026-02-07T14:00:00+02:00", NOON),
    (("yesterday", "wrong_type"), (1770465600, "wrong_type"), ("0001-01-01T00:00:00+05:00", "out_of_range")),
    "ISO 8601",
)
NAMES = Kind((["а", "b"], []), (("a", "wrong_type"), ([1], "wrong_type"), ([""], "out_of_range")), "list")
LISTED = Kind((["а", ""], []), (("a", "wrong_type"), ([1], "wrong_type")), "list")
OBJECT = Kind(
    ({"a": [1, None]}, {}),
    (([], "wrong_type"), ({"a": float("nan")}, "out_of_range"), ({"a": b""}, "wrong_type")),
    "object",
)
DATE = Kind(("2026-02-22",), (("22.02.2026", "out_of_range"), (1, "wrong_type")), "YYYY-MM-DD")
CLOCK = Kind(("23:59:59",), (("24:00:00", "out_of_range"), ("1:00", "out_of_range"), (1, "wrong_type")), "HH:MM:SS")

STATUS = {"Goal": one_of("active", "achieved", "abandoned"), "Question": one_of("open", "partial", "answered")}
KNOWN = {"description": TEXT, "aliases": NAMES, "attributes": OBJECT}

# Required properties are marked by a star. `id` and `created` are the store's own.
SPECIFIED: dict[str, dict[str, Kind]] = {
    "Memory": {"content*": NAME, "summary": TEXT, "lastAccessed": TIME, "accessCount": COUNT, "confidence": SHARE},
    "Concept": {"name*": NAME, "description": TEXT},
    "Keyword": {"term*": NAME},
    "Topic": {"name*": NAME, **KNOWN},
    "Entity": {
        "name*": NAME,
        "type": one_of("person", "organization", "project", "tool", "technology", "place", "concept", "rule"),
        "labels": NAMES,
        **KNOWN,
    },
    "Source": {
        "type*": one_of("conversation", "file", "url", "document", "observation"),
        "reference*": NAME,
        "title": TEXT,
        "reliability": SHARE,
    },
    "Decision": {"description*": NAME, "rationale": TEXT, "date": TIME, "outcome": TEXT, "reversible": FLAG},
    "Goal": {"description*": NAME, "status": STATUS["Goal"], "priority": RANK, "targetDate": TIME},
    "Question": {"text*": NAME, "status": STATUS["Question"], "answeredDate": TIME},
    "Context": {
        "name*": NAME,
        "type*": one_of("project", "task", "conversation", "session", "domain"),
        "description": TEXT,
        "status": one_of("active", "completed", "archived"),
    },
    "Preference": {
        "category": TEXT,
        "preference*": NAME,
        "strength": LIKING,
        "observations": COUNT,
        **KNOWN,
        "status": one_of("active", "ended"),  # ours: of a standing instruction
    },
    "TemporalMarker": {
        "type*": one_of("point", "period", "sequence"),
        "description*": NAME,
        "startDate": TIME,
        "endDate": TIME,
    },
    "Contradiction": {
        "description*": NAME,
        "resolution": TEXT,
        "status": one_of("unresolved", "resolved", "accepted"),
        "facts": NAMES,
    },
}

CHRONICLE: dict[str, dict[str, Kind]] = {
    "Session": {
        "name*": NAME,
        "topic*": TEXT,
        "status*": one_of("active", "closed"),
        "trigger*": one_of("/db", "/sa", "/ss"),
    },
    "Request": {"name*": NAME, "author*": one_of("user"), "text*": TEXT, "type*": one_of("text", "command")},
    "Response": {
        "name*": NAME,
        "author*": one_of("Grynya"),
        "summary*": TEXT,
        "full_text*": TEXT,
        "type*": one_of("text"),
    },
    "Feedback": {"name*": NAME, "author*": one_of("user"), "text*": TEXT},
    "Analysis": {
        "name*": NAME,
        "type*": one_of("response_analysis", "session_summary"),
        "verdict*": one_of("correct", "partially_correct", "incorrect"),
        "rules_used*": LISTED,
        "rules_ignored*": LISTED,
        "errors*": LISTED,
        "lessons*": LISTED,
    },
    "Year": {"name*": NAME, "value*": RANK},
    "Day": {"name*": NAME, "date*": DATE},
}

FACT: dict[str, Kind] = {
    "name*": NAME,
    "fact*": NAME,
    "attributes": OBJECT,
    "episodes": NAMES,
    "updated_at": TIME,
    "original_fact": TEXT,
    "update_reason": TEXT,
}
EVENTS = ("Request", "Response", "Feedback", "Analysis")

MEMORY_EDGES: dict[tuple[str, str, str], dict[str, Kind]] = {
    ("RELATES_TO", "Memory", "Memory"): {"strength": SHARE, "relType": TEXT},
    ("HAS_CONCEPT", "Memory", "Concept"): {"relevance": SHARE},
    ("HAS_KEYWORD", "Memory", "Keyword"): {},
    ("BELONGS_TO", "Memory", "Topic"): {"isPrimary": FLAG},
    ("MENTIONS", "Memory", "Entity"): {"role": TEXT},
    ("FROM_SOURCE", "Memory", "Source"): {"excerpt": TEXT},
    ("IN_CONTEXT", "Memory", "Context"): {},
    ("OCCURRED_DURING", "Memory", "TemporalMarker"): {},
    ("INFORMED", "Memory", "Decision"): {},
    ("PARTIALLY_ANSWERS", "Memory", "Question"): {"completeness": SHARE},
    ("SUPPORTS", "Memory", "Goal"): {"strength": SHARE},
    ("REVEALS", "Memory", "Preference"): {},
    ("CONCEPT_RELATED_TO", "Concept", "Concept"): {"relType": TEXT},
    ("LED_TO", "Decision", "Decision"): {},
    ("DEPENDS_ON", "Goal", "Goal"): {},
    ("PART_OF", "Context", "Context"): {},
    ("CONFLICTS_WITH", "Contradiction", "Memory"): {},
    ("SUPERSEDES", "Contradiction", "Memory"): {},
}
FACT_EDGES = {
    ("FACT", source, target): FACT
    for source in ("Entity", "Preference", "Topic")
    for target in ("Entity", "Preference", "Topic")
}
ENTITIES = ("Entity", "Concept", "Preference", "Topic")
"""What the chronicle calls Entity, which may be a Concept there, has labels of its own in the memory graph."""
CHRONICLE_EDGES: dict[tuple[str, str, str], dict[str, Kind]] = {
    **{("PART_OF", event, "Session"): {} for event in EVENTS},
    **{("RESPONDS_TO", "Response", asked): {} for asked in ("Request", "Feedback")},
    ("FEEDBACK_ON", "Feedback", "Response"): {},
    ("ANALYZES", "Analysis", "Response"): {},
    ("SUMMARIZES", "Analysis", "Session"): {},
    **{("NEXT", before, after): {} for before in EVENTS for after in EVENTS},
    **{("LAST_EVENT", "Session", event): {} for event in EVENTS},
    ("MONTH", "Year", "Day"): {"number*": whole(1, 12)},
    **{("HAPPENED_AT", any_node, "Day"): {"time*": CLOCK} for any_node in ("Session", "Entity", *EVENTS)},
    **{("INVOLVES", "Session", entity): {"context": TEXT} for entity in ENTITIES},
    **{("MENTIONS", event, entity): {"relevance": whole(1, 5)} for event in EVENTS for entity in ENTITIES},
}
EDGES = MEMORY_EDGES | FACT_EDGES | CHRONICLE_EDGES
ALL = SPECIFIED | CHRONICLE


def least(properties: Mapping[str, Kind]) -> dict[str, Any]:
    """The required properties alone."""
    return {name[:-1]: kind.good[0] for name, kind in properties.items() if name.endswith("*")}


def node(label: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    return registry.check_node(label, properties, derived=label in CHRONICLE)


def refusal(check: Any, *arguments: Any, **options: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        check(*arguments, **options)
    return caught.value


def unstarred(properties: Mapping[str, Kind]) -> list[tuple[str, Kind]]:
    return [(name.removesuffix("*"), kind) for name, kind in properties.items()]


def between_all_ends(relationship: str) -> list[tuple[tuple[str, str, str], dict[str, Kind]]]:
    return [(key, properties) for key, properties in EDGES.items() if key[0] == relationship]


def same(value: Any, stored: Any) -> bool:
    if isinstance(value, datetime) or (isinstance(value, str) and value.startswith("2026-02-07T")):
        wanted = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        return datetime.fromisoformat(stored) == wanted and str(stored).endswith("+00:00")
    return bool(stored == value)


def test_there_are_exactly_the_specified_labels_and_relationships() -> None:
    """Thirteen of the memory graph, eight of the chronicle with one in common; eighteen relationships of the memory."""
    assert set(NODES) == set(ALL)
    assert (len(SPECIFIED), len(CHRONICLE) + 1, len(MEMORY_EDGES)) == (13, 8, 18)
    assert set(RELATIONSHIPS) == set(EDGES)


@pytest.mark.parametrize("label", ALL)
def test_a_label_has_exactly_the_specified_properties(label: str) -> None:
    """No more, no fewer; the required ones are enough."""
    assert set(NODES[label].model.model_fields) == {name.removesuffix("*") for name in ALL[label]}
    assert least(ALL[label]).items() <= node(label, least(ALL[label])).items()


@pytest.mark.parametrize("label", ALL)
def test_a_property_takes_what_is_specified(label: str) -> None:
    """Every good value is kept as it is, times in UTC."""
    for name, kind in unstarred(ALL[label]):
        for value in kind.good:
            stored = node(label, least(ALL[label]) | {name: value})
            assert same(value, stored[name]) or (name == "summary" and value == ""), name


@pytest.mark.parametrize("label", ALL)
def test_a_property_refuses_anything_else(label: str) -> None:
    """The refusal names label, property and what was expected, with the reason of its kind."""
    for name, kind in unstarred(ALL[label]):
        for value, reason in kind.bad:
            refused = refusal(node, label, least(ALL[label]) | {name: value})
            assert (refused.reason, str(refused).split(":")[0]) == (reason, f"{label}.{name}")
            assert kind.says in str(refused)


@pytest.mark.parametrize("label", ALL)
def test_a_required_property_cannot_be_absent_nor_an_unknown_one_be_there(label: str) -> None:
    """Absent and None are the same: missing where required, nothing where not."""
    required = least(ALL[label])
    for name in required:
        for without in ({k: v for k, v in required.items() if k != name}, required | {name: None}):
            refused = refusal(node, label, without)
            assert (refused.reason, str(refused).split(":")[0]) == ("missing_attribute", f"{label}.{name}")
    refused = refusal(node, label, required | {"colour": "red"})
    assert (refused.reason, str(refused)[: len(label) + 8]) == ("unknown_attribute", f"{label}.colour:")
    optional = {name: None for name in ALL[label] if not name.endswith("*")}
    assert node(label, required | optional) == node(label, required)


@pytest.mark.parametrize("name", ["id", "created"])
def test_what_the_store_gives_cannot_be_written(name: str) -> None:
    """Ids and times of creation are not the client's."""
    assert refusal(node, "Goal", {"description": "a", name: "2026-02-07"}).reason == "kept_by_store"


@pytest.mark.parametrize("relationship", sorted({key[0] for key in EDGES}))
def test_an_attribute_takes_what_is_specified_and_nothing_else(relationship: str) -> None:
    """Good values are kept; a bad one is refused by relationship, attribute and what was expected."""
    for key, properties in between_all_ends(relationship):
        required = least(properties)
        for name, kind in unstarred(properties):
            for value in kind.good:
                stored = registry.check_edge(*key, required | {name: value}, derived=True)
                assert same(value, stored[name]), (key, name)
            for value, reason in kind.bad:
                refused = refusal(registry.check_edge, *key, required | {name: value}, derived=True)
                assert (refused.reason, str(refused).split(":")[0]) == (reason, f"{relationship}.{name}"), key
                assert kind.says in str(refused), key


@pytest.mark.parametrize("relationship", sorted({key[0] for key in EDGES}))
def test_a_relationship_has_exactly_the_specified_attributes(relationship: str) -> None:
    """Unknown ones are refused, required ones asked for."""
    for key, properties in between_all_ends(relationship):
        assert set(RELATIONSHIPS[key].attributes.model_fields) == {name for name, _ in unstarred(properties)}, key
        required = least(properties)
        refused = refusal(registry.check_edge, *key, required | {"colour": "red"}, derived=True)
        assert (refused.reason, str(refused).split(":")[0]) == ("unknown_attribute", f"{relationship}.colour"), key
        for name in required:
            without = {k: v for k, v in required.items() if k != name}
            refused = refusal(registry.check_edge, *key, without, derived=True)
            assert (refused.reason, str(refused).split(":")[0]) == ("missing_attribute", f"{relationship}.{name}"), key


def test_what_is_derived_cannot_be_written() -> None:
    """The chronicle is rows that point at messages: its nodes and edges are seen, not stored."""
    refused = {label: refusal(registry.check_node, label, least(CHRONICLE[label])) for label in CHRONICLE}
    refused |= {str(key): refusal(registry.check_edge, *key, least(CHRONICLE_EDGES[key])) for key in CHRONICLE_EDGES}
    assert {key: one.reason for key, one in refused.items()} == dict.fromkeys(refused, "derived")
    assert [key for key, one in refused.items() if "cannot be written" not in str(one)] == []


@given(st.sampled_from(sorted({key[0] for key in EDGES})), st.sampled_from(sorted(ALL)), st.sampled_from(sorted(ALL)))
def test_only_the_specified_ends_are_taken(name: str, source: str, target: str) -> None:
    """A relationship between other labels is refused with the ends it has."""
    if (name, source, target) in EDGES:
        assert registry.relationship_of(name, source, target).key == (name, source, target)
        return
    refused = refusal(registry.check_edge, name, source, target, {}, derived=True)
    assert refused.reason == "wrong_ends"
    assert str(refused).startswith(f"{name}: it leads from ")
    assert str(refused).endswith(f"not from {source} to {target}")


def test_unknown_names_are_refused_with_those_there_are() -> None:
    """A label, a relationship, the label of an end."""
    assert "there are Memory, Concept" in str(refusal(registry.check_node, "Person", {}))
    assert refusal(registry.check_node, "memory", {}).reason == "unknown_label"
    unknown = refusal(registry.check_edge, "KNOWS", "Entity", "Entity", {})
    assert (unknown.reason, "RELATES_TO" in str(unknown)) == ("unknown_relationship", True)
    assert refusal(registry.check_edge, "FACT", "Entity", "Person", {}).reason == "unknown_label"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
NAMES_OF = st.sampled_from(sorted({name.removesuffix("*") for kinds in ALL.values() for name in kinds} | {"summary"}))


@given(st.sampled_from(sorted(ALL)), st.dictionaries(NAMES_OF | st.text(max_size=10), JSON, max_size=6))
def test_whatever_comes_is_checked_or_refused(label: str, properties: dict[str, Any]) -> None:
    """Nothing breaks the registry, and what it has checked it takes again as it is."""
    try:
        checked = node(label, properties)
    except Refused as refused:
        told = str(refused)
    else:
        told = ""
    assert not told or told.startswith(label)
    if told:
        return
    assert node(label, checked) == checked
    columns = registry.columns_of(label, checked)
    assert columns["props"].items() <= checked.items()
    assert registry.text_of(label, checked) or label in CHRONICLE


def test_defaults_of_a_memory() -> None:
    """Its summary is the beginning of its content, cut between words, and it is certain."""
    content = "Марія переїхала до Києва " * 20
    checked = node("Memory", {"content": content})
    assert checked["confidence"] == 1
    assert content.startswith(checked["summary"])
    assert SUMMARY - 12 < len(checked["summary"]) <= SUMMARY
    assert content[len(checked["summary"])] == " "
    assert node("Memory", {"content": "x" * 500})["summary"] == "x" * SUMMARY
    assert registry.check_edge("RELATES_TO", "Memory", "Memory", {}) == {"strength": 0.5}
    assert registry.check_edge("SUPPORTS", "Memory", "Goal", {}) == {"strength": 0.5}


def test_states_begin_open() -> None:
    """A goal is active, a question open, a contradiction unresolved, an entity of no known type a concept."""
    assert node("Goal", {"description": "a"})["status"] == "active"
    assert node("Question", {"text": "a"})["status"] == "open"
    assert node("Contradiction", {"description": "a"})["status"] == "unresolved"
    assert node("Entity", {"name": "a"})["type"] == "concept"


def test_times_without_a_zone_are_of_the_owners_zone() -> None:
    """A bare date is midnight there."""
    kyiv = ZoneInfo("Europe/Kyiv")
    checked = registry.check_node("Goal", {"description": "a", "targetDate": "2026-07-01"}, zone=kyiv)
    assert checked["targetDate"] == "2026-06-30T21:00:00+00:00"


def test_a_period_ends_after_it_begins() -> None:
    """The refusal names the end."""
    marker = {"type": "period", "description": "a", "startDate": "2026-02-02", "endDate": "2026-02-01"}
    refused = refusal(node, "TemporalMarker", marker)
    assert (refused.reason, str(refused).split(":")[0]) == ("out_of_range", "TemporalMarker.endDate")


def test_summary_and_description_of_an_entity_are_one() -> None:
    """What the knowledge graph calls summary is what the memory graph calls description."""
    assert node("Entity", {"name": "ACME", "summary": "A company"})["description"] == "A company"
    changed = registry.merged("Entity", {"name": "ACME", "description": "old"}, {"summary": "new"})
    assert (changed["description"], "summary" in changed) == ("new", False)


def test_a_changed_memory_keeps_a_summary_of_its_own_only() -> None:
    """A summary made from the content follows it; one that was given stays."""
    made = node("Memory", {"content": "one"})
    assert registry.merged("Memory", made, {"content": "two"})["summary"] == "two"
    given_one = node("Memory", {"content": "one", "summary": "number"})
    assert registry.merged("Memory", given_one, {"content": "two"})["summary"] == "number"
    assert "priority" not in registry.merged("Goal", {"description": "a", "priority": 2}, {"priority": None})


def test_columns_mirror_what_is_filtered_by() -> None:
    """Type, name, status and time have columns; counts of accesses have nothing else."""
    goal = registry.columns_of("Goal", node("Goal", {"description": "a", "targetDate": NOON}))
    assert (goal["status"], goal["at"], goal["subtype"]) == ("active", NOON, None)
    entity = registry.columns_of("Entity", node("Entity", {"name": "Ёлка Ltd", "type": "organization"}))
    assert (entity["subtype"], entity["name"], entity["name_key"]) == ("organization", "Ёлка Ltd", "елка ltd")
    memory = registry.columns_of("Memory", node("Memory", {"content": "a", "accessCount": 3, "lastAccessed": NOON}))
    assert (memory["access_count"], memory["last_accessed"]) == (3, NOON)
    assert not {"accessCount", "lastAccessed"} & set(memory["props"])
    assert "access_count" not in registry.columns_of("Memory", node("Memory", {"content": "a"}))


def test_a_node_is_shown_with_all_its_specified_properties() -> None:
    """What the store keeps stands beside what was written; a decision has no time of creation in its specification."""
    memory = Node(1, "m", "Memory", node("Memory", {"content": "a"}), NOON, access_count=2)
    shown = registry.specified_properties(memory)
    assert (shown["id"], shown["created"], shown["accessCount"], shown["lastAccessed"]) == (
        "m",
        NOON.isoformat(),
        2,
        None,
    )
    assert "created" not in registry.specified_properties(Node(1, "d", "Decision", {"description": "a"}, NOON))


def test_what_is_searched_is_said_once() -> None:
    """A short memory's summary is its content; an entity is found by name, aliases and description."""
    assert registry.text_of("Memory", node("Memory", {"content": "a b"})) == "a b"
    entity = node("Entity", {"name": "ACME", "aliases": ["АКМЕ", "Acme Ltd"], "description": "A company"})
    assert registry.text_of("Entity", entity) == "ACME\nАКМЕ, Acme Ltd\nA company"
