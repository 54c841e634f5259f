"""Finding JSON in replies."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, strategies as st

from internal.agents.json_reply import complete_items, read_id, read_object
from internal.errors import ModelReplyInvalid

ANSWER = {"people": [{"id": 42, "reason": "Коллега по «проекту {X}»"}]}
TEXT = json.dumps(ANSWER, ensure_ascii=False)


KEYS = ("people", "facts")


def read(text: str) -> dict[str, Any]:
    return read_object(text, KEYS, bare="people")


@pytest.mark.parametrize(
    "reply",
    [
        TEXT,
        f"```json\n{TEXT}\n```",
        f"```\n{TEXT}\n```\nНадеюсь, это поможет!",
        f"Here is the JSON you asked for [1]:\n\n{TEXT}\n\nLet me know {{if}} you need more.",
        f"\ufeff{TEXT}",
        f'First thought: {{"people": []}}. Better:\n{TEXT}',
        f"The form is {{people: [...]}}. An interval [0, 1) too. {TEXT}",
        json.dumps(ANSWER["people"]).join(["```json\n", "\n```"]),
        json.dumps(ANSWER, indent=2),
        TEXT[:-1] + ', "comment": "done"}',
        TEXT.replace("}]", ",}, ]"),
        TEXT.replace("[", "[ // the people, as asked\n").replace("}]", "} /* nobody else: }] */ , // done\n]"),
        json.dumps([ANSWER]),
        json.dumps([{"facts_": 1}, ANSWER, {"people": ANSWER["people"]}]),
        json.dumps({"result": ANSWER}),
        json.dumps({"status": "ok", "response": {"output": [ANSWER]}}),
        f"Here: {TEXT[:-1]},}} // that is all",
    ],
)
def test_an_answer_is_found_whatever_stands_around_it(reply: str) -> None:
    """Fences, preamble, footnotes, braces of prose, second thoughts and trailing words are passed over."""
    assert read(reply) == ANSWER


@pytest.mark.parametrize("reply", ["[]", "```json\n[]\n```", '{"people": []}', 'Nobody. {"people": []}'])
def test_an_empty_list_is_a_success(reply: str) -> None:
    """Nothing to tell is an answer."""
    assert read(reply) == {"people": []}


def test_a_bare_array_of_ids_is_an_answer_only_when_it_stands_alone() -> None:
    """In prose a number in brackets is a footnote."""
    assert read("[42, 18]") == {"people": [42, 18]}
    with pytest.raises(ModelReplyInvalid):
        read("As the source says [1], nobody is relevant.")


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   \n",
        "I could not find anybody.",
        "{}",
        "null",
        "42",
        '{"persons": []}',
        '{"people": null}',
        '{"a": {"people": []}, "b": {"people": [1]}}',
        '[{"id": 1, "type": "Added"}, {"facts": {}}, [',
        TEXT[:-1],
        TEXT[:-2],
        TEXT[:20],
        "```json\n" + TEXT[:30],
        '{"people": [], "facts": [{"a": 1}, ',
        '{"people": [{"id": 42,,}]}',
        "{" + "/*" * 400_000,
        "{" + '"' * 400_001,
        "{" + ", " * 400_000,
        '{"people": [{"id": ' + "9" * 5000 + "}]}",
        "[" * 100_000,
        '{"people":' * 100_000,
        '{"people": ' + "[" * 50_000 + "]" * 50_000 + "}",
        '{"a":"' + '\\"' * 100_000,
        "x" * 1_000_001,
    ],
)
def test_what_cannot_be_read_is_a_failed_attempt_and_never_an_empty_success(reply: str) -> None:
    """Cut, empty, foreign or broken replies raise, in linear time."""
    with pytest.raises(ModelReplyInvalid):
        read(reply)


def test_a_cut_reply_does_not_give_up_its_inner_arrays_as_an_answer() -> None:
    """A complete array inside an object that never ends is not the answer."""
    with pytest.raises(ModelReplyInvalid):
        read('{"people": [{"id": 1}], "facts": [{"source": "x", "evidence": [1, 2')


def test_what_looks_like_a_comment_inside_a_string_stays() -> None:
    """An address holds two slashes."""
    assert read('{"people": [{"url": "https://x.y/,]", }]}') == {"people": [{"url": "https://x.y/,]"}]}


def test_a_cut_reply_gives_its_complete_items() -> None:
    """An item that was being written may lack what matters most in it; so may an object."""
    cut = (
        '```json\n{"people": [{"id": 1, "names": ["a"]}, {"id": 2},], "facts": [{"n": [1]}, {"n": [2], "x": {"y": 1}, "'
    )
    assert complete_items(cut, KEYS) == {"people": [{"id": 1, "names": ["a"]}, {"id": 2}], "facts": [{"n": [1]}]}
    assert complete_items('{"result": {"people": [{"id": 1}, {"i', KEYS) == {"people": [{"id": 1}]}
    assert complete_items('{"facts": {"a": []}, "people": [{"b": [1]', KEYS) == {"facts": {"a": []}}
    for nothing in ("", "prose", '{"people": [{"id": [1]', '{"facts": {"a": [1], "b": [', "[" * 100_000, "{" * 100_000):
        assert complete_items(nothing, KEYS) == {}


def test_a_raw_line_break_inside_a_string_is_read() -> None:
    """Models forget to escape it."""
    assert read('{"people": [{"reason": "one\ntwo"}]}') == {"people": [{"reason": "one\ntwo"}]}


def test_characters_that_no_database_takes_are_dropped() -> None:
    """Half an emoji and NUL come as escapes and would break the write."""
    assert read('{"people": [{"reason": "a\\u0000b\\ud83d"}]}') == {"people": [{"reason": "ab"}]}


@pytest.mark.parametrize("raw", [42, 42.0, "42", " 42 ", "Person:42", "person: 42", "[Person:42]", "[42]"])
def test_an_id_is_read_in_every_form_that_models_write(raw: object) -> None:
    """Numbers, strings and the form shown in the prompt."""
    assert read_id(raw) == 42


@pytest.mark.parametrize(
    "raw", [None, True, 0, -1, 4.5, "", "Fact:42", "42a", "user", [42], 2**63, "9" * 40, float("inf")]
)
def test_what_is_no_id_is_none(raw: object) -> None:
    """Other kinds of ids, flags, fractions and numbers beyond the database's range."""
    assert read_id(raw) is None


@given(st.text(max_size=300) | st.text(alphabet='{}[]":,\\ pe12ople`', max_size=300))
def test_any_text_gives_known_keys_or_the_one_error(text: str) -> None:
    """The reader raises nothing but ModelReplyInvalid, and never returns an empty object."""
    try:
        found = read(text)
    except ModelReplyInvalid:
        return
    assert found
    assert set(found) <= {"people", "facts"}


STORABLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | STORABLE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(STORABLE, inner, max_size=4),
    max_leaves=12,
)


@given(JSON.filter(lambda value: value is not None), st.text(alphabet="абв xyz.,!?\n`", max_size=40), st.booleans())
def test_what_was_written_is_what_is_read(value: Any, prose: str, ascii_only: bool) -> None:
    """Any JSON under a known key survives prose on both sides, escaped or not."""
    text = f"{prose}{json.dumps({'people': value}, ensure_ascii=ascii_only)}{prose}"
    assert read(text)["people"] == value


@given(st.data())
def test_a_reply_cut_anywhere_is_refused(data: st.DataObject) -> None:
    """No prefix of an answer is taken for an answer."""
    cut = data.draw(st.integers(0, len(TEXT) - 1))
    with pytest.raises(ModelReplyInvalid):
        read(TEXT[:cut])


@given(st.lists(JSON.filter(lambda one: isinstance(one, dict)), max_size=4), st.data())
def test_the_complete_items_of_a_cut_reply_are_those_that_were_written(items: list[Any], data: st.DataObject) -> None:
    """Wherever the limit falls: never half an item, never one that is not there."""
    text = json.dumps({"people": items, "facts": []})
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    found = complete_items(cut, KEYS).get("people", [])
    assert found == items[: len(found)]
    assert all(json.dumps(item) in cut for item in found)
    assert len(found) == sum(len(json.dumps({"people": items[: n + 1]})) - 2 <= len(cut) for n in range(len(items)))


@given(JSON.filter(lambda value: value is not None), st.data())
def test_a_loose_reply_is_read_like_a_strict_one(value: Any, data: st.DataObject) -> None:
    """Commas behind last items and comments anywhere between the tokens change nothing."""
    tokens = re.findall(r'"(?:[^"\\]|\\.)*"|[^\s"\[\]{}:,]+|[\[\]{}:,]', json.dumps({"people": value}))
    loose = []
    for before, token in zip(["", *tokens], tokens, strict=False):
        if token in "]}" and before not in "[{":
            loose.append(data.draw(st.sampled_from(["", ",", ", // last, }\n", ", # last ]\n"])))
        loose += [token, data.draw(st.sampled_from(["", " ", "\n", '/* a \\" ] } */']))]
    assert read("".join(loose))["people"] == value
