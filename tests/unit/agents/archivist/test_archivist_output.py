"""The archivist's reply: every form the contract accepts, every rule it refuses by."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from internal.agents.archivist.output import MAX_ITEMS, REPLY_SCHEMA, ArchivistReply, parse
from internal.agents.model import TranscriptLine
from internal.errors import ModelReplyInvalid
from internal.knowledge.model import ProposedEntity, ProposedFact
from internal.memory.model import NodeRef, ProposedMemory
from internal.people.model import Circle
from internal.people.operations import Added, Merged, Updated

NOON = datetime(2026, 2, 7, 12, 0, tzinfo=UTC)
TRANSCRIPT = (
    TranscriptLine(1, "user", "Анна", NOON, "Мы с Петровым обсуждали проект X"),
    TranscriptLine(2, "assistant", "Laplaced", NOON, "Петров — это коллега, верно?"),
    TranscriptLine(3, "user", "Анна", NOON, "Да, вот его контакт: @petrov, t.me/petrov_x", telegram_ids=(555,)),
    TranscriptLine(4, "assistant", "Laplaced", NOON, "Я помню, что Петров любит шахматы"),
)
KNOWN = {18, 42}


def read(reply: Any) -> ArchivistReply:
    return parse(reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False), TRANSCRIPT, KNOWN)


def read_one(**operation: Any) -> ArchivistReply:
    return read({"people_operations": [operation]})


def added(**fields: Any) -> dict[str, Any]:
    return {"type": "Added", "person": {"display_name": "Петров", **fields}}


def reasons(reply: ArchivistReply) -> list[str]:
    return [refusal.reason for refusal in reply.refused]


CONTRACT_EXAMPLE = {
    "people_operations": [
        {
            "type": "Added",
            "person": {
                "display_name": "Петров",
                "aliases": ["Саша"],
                "username": "petrov",
                "telegram_id": None,
                "circle": "Work_Inner",
                "bio": "Коллега по проекту X",
            },
            "evidence": [1, 3],
        },
        {
            "type": "Updated",
            "person": {"id": 42, "aliases": ["Гелёй"], "bio": "...", "circle": "Friends"},
            "evidence": [2, 3],
        },
        {"type": "Merged", "source_id": 18, "target_id": 42, "reason": "одна и та же Мария"},
    ],
    "entities": [{"name": "ACME", "labels": ["Organization"], "summary": "...", "attributes": {}, "evidence": [1]}],
    "facts": [{"source": "Петров", "relation": "WORKS_FOR", "target": "ACME", "fact": "...", "evidence": [1]}],
    "memories": [{"label": "Memory", "properties": {"content": "..."}, "links": [], "evidence": [1]}],
}


def test_the_contract_example_becomes_typed_proposals() -> None:
    """Each kind arrives with its fields, its evidence and nothing refused."""
    reply = read(CONTRACT_EXAMPLE)
    assert reply.operations == (
        Added(
            display_name="Петров",
            aliases=("Саша",),
            username="petrov",
            circle=Circle.WORK_INNER,
            bio="Коллега по проекту X",
            evidence=(1, 3),
        ),
        Updated(person_id=42, aliases=("Гелёй",), bio="...", circle=Circle.FRIENDS, evidence=(2, 3)),
        Merged(source_id=18, target_id=42, reason="одна и та же Мария"),
    )
    assert reply.entities == (ProposedEntity("ACME", ("Organization",), "...", evidence=(1,)),)
    assert reply.facts == (ProposedFact("Петров", "WORKS_FOR", "ACME", "...", evidence=(1,)),)
    assert reply.memories[0].evidence == (1,)
    assert reply.refused == ()


def test_the_grouped_form_with_flat_items_means_the_same() -> None:
    """`people.added` and so on, ids as text and circles in any case."""
    reply = read(
        {
            "people": {
                "added": [{"display_name": "Петров", "circle": "work inner", "evidence": 1}],
                "updated": [{"id": "Person:42", "bio": "Врач"}],
                "merged": [{"source_id": "18", "target_id": "[Person:42]"}],
            }
        }
    )
    assert reply.operations == (
        Added("Петров", circle=Circle.WORK_INNER, evidence=(1,)),
        Updated(42, bio="Врач"),
        Merged(18, 42),
    )


@pytest.mark.parametrize("added_key", ["added", "Added", " ADDED "])
def test_groups_are_read_in_any_case(added_key: str) -> None:
    """As types are; and in the order of the contract, not in the reply's."""
    reply = read({"people": {"Merged": [{"source_id": 18, "target_id": 42}], added_key: [{"display_name": "Петров"}]}})
    assert reply.operations == (Added("Петров"), Merged(18, 42))


def test_a_list_of_operations_under_people_is_read() -> None:
    """Some models take the shorter key; beside the right key an empty list says nothing."""
    assert read({"people": [added(), {"type": "Updated", "person": {"id": 42}}]}).operations == (
        Added("Петров"),
        Updated(42),
    )
    assert read({"people_operations": [added()], "people": []}).operations == (Added("Петров"),)


@pytest.mark.parametrize(
    "reply",
    [
        "[]",
        {"people_operations": []},
        {"people_operations": [], "people": []},
        {"people": {"added": []}},
        {"facts": [], "memories": None},
    ],
)
def test_empty_lists_are_a_success(reply: Any) -> None:
    """A conversation about nobody is archived with nothing."""
    assert read(reply) == ArchivistReply()


@pytest.mark.parametrize(
    "reply",
    [
        {},
        "",
        {"operations": []},
        {"people_operations": None},
        {"people_operations": {}},
        {"people_operations": "none"},
        {"people": {}},
        {"people": {"new": []}},
        {"people": {"added": {}}},
        {"people": {"added": None}},
        {"people": "Петров"},
        {"people": []},
        {"people": [{"id": 42, "reason": "Коллега"}]},
        {"people": ["Петров"]},
        {"people_operations": [], "people": [{"id": 42, "reason": "Коллега"}]},
        {"people_operations": [], "facts": "none"},
        [{"source": "user", "relation": "KNOWS", "target": "ACME"}],
        json.dumps(CONTRACT_EXAMPLE)[:-3],
    ],
)
def test_a_reply_of_the_wrong_form_is_a_failed_attempt(reply: Any) -> None:
    """Unknown keys and wrong types would otherwise pass for an empty success, and the words would be lost."""
    with pytest.raises(ModelReplyInvalid):
        read(reply)


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        ({"type": "Deleted", "person": {"id": 42}}, "unknown_type"),
        ({"type": ["Added"]}, "unknown_type"),
        (added(display_name=""), "no_name"),
        (added(display_name=None), "no_name"),
        (added(display_name="—?!"), "no_name"),
        ({"type": "Added"}, "no_name"),
        (added(display_name=7), "bad_shape"),
        (added(display_name="я" * 200), "bad_shape"),
        (added(bio=["a"]), "bad_shape"),
        (added(aliases={"a": 1}), "bad_shape"),
        ({"type": "Added", "person": "Петров"}, "bad_shape"),
        ({"type": "Updated", "person": {"bio": "Врач"}}, "no_id"),
        ({"type": "Updated", "person": {"id": 43}}, "unknown_id"),
        ({"type": "Updated", "person": {"id": "Fact:42"}}, "unknown_id"),
        ({"type": "Updated", "person": {"id": True}}, "unknown_id"),
        ({"type": "Merged", "source_id": 18}, "no_id"),
        ({"type": "Merged", "source_id": 18, "target_id": 99}, "unknown_id"),
        ({"type": "Merged", "source_id": 18, "target_id": "Person:18"}, "self_merge"),
        ({**added(), "evidence": [5]}, "evidence_out_of_range"),
        ({**added(), "evidence": [0]}, "evidence_out_of_range"),
        ({**added(), "evidence": [-1]}, "evidence_out_of_range"),
        ({**added(), "evidence": "5-9"}, "evidence_out_of_range"),
        ({**added(), "evidence": ["first"]}, "bad_evidence"),
        ({**added(), "evidence": ["Person:1"]}, "bad_evidence"),
        ({**added(), "evidence": [1.5]}, "bad_evidence"),
        ({**added(), "evidence": {"line": "first"}}, "bad_evidence"),
        ({**added(), "evidence": [2, 4]}, "assistant_only"),
    ],
)
def test_an_operation_that_breaks_a_rule_is_refused_alone(operation: dict[str, Any], reason: str) -> None:
    """Its neighbours are kept, and the refusal has a stable word and a sentence."""
    reply = read({"people_operations": [added(), operation, {"type": "Updated", "person": {"id": 42}}]})
    assert reply.operations == (Added("Петров"), Updated(42))
    assert reasons(reply) == [reason]
    assert reply.refused[0].detail


@pytest.mark.parametrize("item", ["Петров", 5, None, ["Added"]])
def test_an_item_that_is_no_object_is_refused(item: Any) -> None:
    """The list around it is still read."""
    assert reasons(read({"people_operations": [item]})) == ["bad_shape"]
    assert reasons(read({"people": {"updated": [item]}})) == ["bad_shape"]


@pytest.mark.parametrize("evidence", [None, []])
def test_absent_evidence_means_the_whole_slice(evidence: Any) -> None:
    """It is kept empty."""
    assert read_one(**added(), evidence=evidence).operations == (Added("Петров"),)


@pytest.mark.parametrize("evidence", [[3, 1, 1], ["1", "#3"], [1.0, "[3]"]])
def test_evidence_is_ordered_and_unique(evidence: Any) -> None:
    """However the numbers are written."""
    assert read_one(**added(), evidence=evidence).operations[0].evidence == (1, 3)


def test_a_slice_in_which_only_the_assistant_spoke_proves_nothing() -> None:
    """Absent evidence does not open a way round the rule."""
    reply = parse(json.dumps({"people_operations": [added()]}), TRANSCRIPT[1:2], KNOWN)
    assert reasons(reply) == ["assistant_only"]


def test_memories_must_cite_lines() -> None:
    """People may stand on the whole slice, memories may not; nor on the assistant's words."""
    items = [
        {"properties": {"content": "a"}},
        {"properties": {"content": "b"}, "evidence": []},
        {"properties": {"content": "c"}, "evidence": [4]},
        {"properties": {"content": "d"}, "evidence": [1, 4]},
    ]
    reply = read({"memories": items})
    assert reply.memories == (ProposedMemory(NodeRef("Memory", {"content": "d"}), (), (1,)),)
    assert reasons(reply) == ["no_evidence", "no_evidence", "assistant_only"]


@pytest.mark.parametrize(
    ("evidence", "telegram_id", "kept"),
    [([3], 555, 555), ([3], "555", 555), (None, 555, 555), ([1], 555, None), ([3], 556, None), ([3], "me", None)],
)
def test_a_telegram_id_counts_only_if_the_cited_lines_hold_it(
    evidence: Any, telegram_id: Any, kept: int | None
) -> None:
    """A model's word is never enough for an identity."""
    reply = read_one(**added(telegram_id=telegram_id), evidence=evidence)
    assert reply.operations[0].telegram_id == kept  # type: ignore[union-attr] # it is an Added
    assert set(reasons(reply)) <= {"username_not_in_evidence"}


def test_aliases_are_cleaned() -> None:
    """Nothing empty, nothing twice, never the name itself, never what is no text."""
    aliases = ["", "  ", "Саша", "саша", "ПЕТРОВ", "...", None, 5, "Александр\nПетрович", "x" * 500]
    reply = read_one(**added(aliases=aliases))
    assert reply.operations == (Added("Петров", aliases=("Саша", "Александр Петрович")),)


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        ("@petrov", "petrov"),
        ("https://t.me/petrov_x", "petrov_x"),
        ("", None),
        ("не имя", None),
        ("a b", None),
        (5, None),
    ],
)
def test_a_username_is_kept_without_its_sign_or_dropped(raw: Any, kept: str | None) -> None:
    """What could not be a username is no reason to lose the person."""
    assert read_one(**added(username=raw)).operations == (Added("Петров", username=kept),)


def test_absent_and_empty_fields_leave_a_profile_as_it_is() -> None:
    """None says so to whoever applies it."""
    reply = read_one(
        type="updated", person={"id": 42, "bio": " ", "circle": "", "display_name": None, "username": None}
    )
    assert reply.operations == (Updated(42),)


def test_a_namesake_can_be_kept_apart() -> None:
    """`distinct_from` keeps the known ids it names."""
    reply = read_one(**added(), distinct_from=["Person:42", 99, None])
    assert reply.operations == (Added("Петров", distinct_from=(42,)),)


def test_text_is_one_line_and_bounded() -> None:
    """A bio is a few sentences, not a page, and is cut between words."""
    bio = read_one(**added(bio="Друг\nдетства. " + "очень " * 1000)).operations[0].bio  # type: ignore[union-attr] # Added
    assert bio is not None
    assert bio.startswith("Друг детства. очень")
    assert bio.endswith("очень")
    assert len(bio) <= 1500


def test_what_the_prompt_escaped_comes_back_plain() -> None:
    """A model copies "&amp;" from the transcript; stored like that it would be escaped again and shown to the owner."""
    person = {"display_name": "Том &amp; Джерри", "aliases": ["T&amp;J"], "bio": "Пишет &lt;3 и &amp;lt;"}
    reply = read_one(type="Added", person=person)
    assert reply.operations == (Added("Том & Джерри", aliases=("T&J",), bio="Пишет <3 и &lt;"),)


def test_a_model_that_repeats_itself_is_stopped() -> None:
    """What goes beyond the bound is counted as refused."""
    reply = read({"people_operations": [added()] * (MAX_ITEMS + 2)})
    assert len(reply.operations) == MAX_ITEMS
    assert reasons(reply) == ["too_many", "too_many"]


def test_the_schema_sent_to_the_model_describes_what_is_read() -> None:
    """Its fields and circles are those of the operations."""
    item = REPLY_SCHEMA.schema["properties"]["people_operations"]["items"]["properties"]
    assert set(item["person"]["properties"]["circle"]["enum"]) == set(Circle)
    assert set(item["person"]["properties"]) - {"id"} <= set(Added.__slots__)
    assert set(item) - {"type", "person"} <= {*Added.__slots__, *Merged.__slots__}


FIELDS = (
    *("type", "person", "id", "source_id", "target_id", "display_name", "aliases", "username", "telegram_id"),
    *("circle", "bio", "evidence", "distinct_from", "reason", "people", "people_operations", "facts", "memories"),
    *("entities", "added", "updated", "merged"),
)

ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 50)
    | st.floats()
    | st.sampled_from(["Added", "Merged", "Петров", "Person:42", "Friends", "", "1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(FIELDS),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(ANYTHING)
def test_whatever_a_model_writes_only_sound_operations_come_out(value: Any) -> None:
    """Nothing but ModelReplyInvalid is raised; evidence, ids, names and aliases that come out keep the rules."""
    try:
        reply = read(json.dumps(value))
    except ModelReplyInvalid:
        return
    for kept in (*reply.operations, *reply.entities, *reply.facts, *reply.memories):
        assert set(kept.evidence) <= {1, 2, 3, 4}
        assert not kept.evidence or set(kept.evidence) & {1, 3}
    for operation in reply.operations:
        match operation:
            case Added():
                assert operation.display_name.strip()
                assert "" not in operation.aliases
                assert set(operation.distinct_from) <= KNOWN
            case Updated():
                assert operation.person_id in KNOWN
            case Merged():
                assert {operation.source_id, operation.target_id} == KNOWN


@given(st.lists(st.fixed_dictionaries({"type": st.just("Added")}, optional={"person": ANYTHING, "evidence": ANYTHING})))
def test_every_item_is_either_kept_or_refused(items: list[dict[str, Any]]) -> None:
    """Nothing disappears without a word."""
    reply = read({"people_operations": items})
    refused = [one for one in reply.refused if one.reason != "username_not_in_evidence"]  # the rest of it stays
    assert len(reply.operations) + len(refused) == len(items)


def test_operations_are_read_in_the_words_of_weaker_models() -> None:
    """Other words for the types, a name under `name`, no type at all; what is no circle is Other, or nothing new."""
    reply = read(
        {
            "people_operations": [
                {"type": "Add", "person": {"name": "Петров", "circle": "Enemies"}, "evidence": [1]},
                {"type": "update", "person": {"id": 42, "circle": "Enemies", "bio": "Врач"}, "evidence": [1]},
                {"person": {"id": 42, "bio": "Врач"}, "evidence": [1]},
                {"type": "MERGE", "source_id": 18, "target_id": 42, "evidence": [1]},
            ]
        }
    )
    updated = Updated(42, bio="Врач", evidence=(1,))
    assert reply.operations == (
        Added("Петров", circle=Circle.OTHER, evidence=(1,)), updated, updated, Merged(18, 42, "", (1,)),
    )  # fmt: skip
    assert reply.refused == ()


@pytest.mark.parametrize(
    ("evidence", "lines"),
    [
        ("1-3", (1, 2, 3)),
        ("[1]–[3]", (1, 2, 3)),
        ([[1, 3]], (1, 3)),
        ("1, 3", (1, 3)),
        (["lines 1 and 3"], (1, 3)),
        ([{"line": 3}, 1], (1, 3)),
        ("1-999999999", (1, 2, 3, 4)),
        ([1, 77], (1,)),
        ([1, -1, "first", None, 2.5], (1,)),
    ],
)
def test_evidence_is_read_in_every_form_and_one_bad_number_costs_itself_alone(evidence: Any, lines: Any) -> None:
    """Ranges, lists of lists and words around the numbers; what is no line is passed over."""
    assert read_one(**added(), evidence=evidence).operations[0].evidence == lines


def test_a_username_that_nobody_wrote_is_dropped_and_its_operation_stays() -> None:
    """Models make them up of names; counted with telegram ids that no line vouches for."""
    reply = read_one(**added(username="ivan_petrov", telegram_id=777), evidence=[3])
    assert reply.operations == (Added("Петров", evidence=(3,)),)
    assert reasons(reply) == ["username_not_in_evidence"] * 2
