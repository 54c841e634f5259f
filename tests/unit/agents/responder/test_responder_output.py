"""What of a reply may be said: blocks of the prompt and raw JSON never, code that was asked for always."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given, strategies as st

from internal.agents.responder.output import BlockFilter, Speech, spoken
from internal.errors import ModelReplyInvalid
from internal.language.text.block_tags import BLOCK_TAGS

FENCED_BLOCK = "Так выглядит блок:\n```xml\n<owner>\n  <notes/>\n</owner>\n```\nПонятно?"

REPLIES = [
    ("Привет", "Привет"),
    ("<metadata>current_date: 2026-02-07</metadata>\nПривет", "Привет"),
    ("<inner_circle>\n[Person:1] X | Family | 1 mentions | y\n\nz\n</inner_circle>\nПривет", "Привет"),
    ("Привет\n<Relevant_People>\n[Person:1] X\n</relevant_people >", "Привет"),
    ("Привет\n- <notes>a</notes>", "Привет\n-"),
    ("Привет <metadata>a</metadata>, мир", "Привет , мир"),
    ("Вот: <people>\n[Person:1] X\n</people>\nвсё", "Вот: \nвсё"),
    ("Начало\n<known_facts>\n- a\nи без конца", "Начало"),
    ("Начало <people>", "Начало"),
    ("Элемент <owner> нужен для имени", "Элемент  нужен для имени"),
    ("Привет</inner_circle>", "Привет"),
    ("Привет<notes/> мир", "Привет мир"),
    ('<notes lang="ru">a</notes>Привет', "Привет"),
    ("<metadata>a <b> </owner> c</metadata>Привет", "Привет"),
    ("Тег `<metadata>` открывает блок", "Тег `<metadata>` открывает блок"),
    (FENCED_BLOCK, FENCED_BLOCK),
    ("м`ята\n<metadata>a</metadata>так", "м`ята\nтак"),
    (
        "1 < 2, <b>жирный</b>, <people_list>, <owner-name>, <own",
        "1 < 2, <b>жирный</b>, <people_list>, <owner-name>, <own",
    ),
    ("Да<", "Да<"),
    ("[Имя](https://example.org) и [1]", "[Имя](https://example.org) и [1]"),
    ('Вот пример: {"query": "x"}', 'Вот пример: {"query": "x"}'),
    ('{"people": []} — так выглядит пустой ответ', '{"people": []} — так выглядит пустой ответ'),
    ('```json\n{"query": "x"}\n```\nВот запрос.', '```json\n{"query": "x"}\n```\nВот запрос.'),
    ('```json\n{"port": 8080}\n```', '```json\n{"port": 8080}\n```'),
    ("```python\n{'query': 1}\n```", "```python\n{'query': 1}\n```"),
    ("[1, 2, 3]", "[1, 2, 3]"),
    ("{фигурные} скобки", "{фигурные} скобки"),
    ("42", "42"),
]

NO_REPLIES = [
    "",
    "  \n ",
    "<metadata>a</metadata>",
    "<inner_circle>\nи без конца",
    '{"people_operations": []}',
    '\n {"response": "Привет"} ',
    '[{"type": "Added", "person": {"display_name": "X"}}]',
    '```json\n{"people_operations": []}\n```',
    '```\n{"query":"x"}\n```',
    '```json {"people": [{"id": 1, "reason": "x"}]} ```',
    '```JSON\n[{"type": "Merged", "source_id": 1, "target_id": 2}]\n```',
    '{"people_operations": [{"type": "Added",}]}',
    '{{"name": "create_task", "arguments": {"text": "x"}}}}',
    '<tool_call>\n{"name": "create_task", "arguments": {"text": "x"}}\n</tool_call>',
    '<metadata>a</metadata>\n{"query": "x"}',
]


def cut(text: str, cuts: list[int]) -> list[str]:
    edges = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(edges)]


@pytest.mark.parametrize(("text", "words"), REPLIES)
@given(cuts=st.lists(st.integers(0, 200), max_size=8))
def test_a_reply_is_said_without_blocks_wherever_the_stream_is_cut(text: str, words: str, cuts: list[int]) -> None:
    """The pieces together are the words, and the whole reply gives the same."""
    speech = Speech()
    shown = "".join(speech.feed(piece) for piece in cut(text, cuts))
    assert (shown + speech.finish()).strip() == spoken(text) == words


@pytest.mark.parametrize("text", NO_REPLIES)
@given(cuts=st.lists(st.integers(0, 200), max_size=8))
def test_nothing_of_a_reply_that_is_none_is_ever_shown(text: str, cuts: list[int]) -> None:
    """Blocks alone and raw JSON are tried again, and no piece of them has been seen by then."""
    speech = Speech()
    assert "".join(speech.feed(piece) for piece in cut(text, cuts)) == ""
    with pytest.raises(ModelReplyInvalid):
        spoken(text)


def test_prose_is_shown_as_it_comes() -> None:
    """Only what could be a tag or raw JSON waits."""
    speech = Speech()
    assert [speech.feed(piece) for piece in ("При", "вет ", "<", "b>", "мир")] == ["При", "вет ", "", "<b>", "мир"]


def test_code_before_its_explanation_is_shown_before_the_end() -> None:
    """A fence that prose follows is no answer of another agent."""
    speech = Speech()
    assert speech.feed('```json\n{"query": "x"}\n```\n') == ""
    assert speech.feed("Вот") == '```json\n{"query": "x"}\n```\nВот'


PIECES = st.lists(
    st.sampled_from(["<", ">", "<owner>", "</owner>", "<notes", "`", "```\n", "a", "\n", " ", "<ow", "ner>", "/"]),
    max_size=14,
)


@given(PIECES)
def test_the_stream_never_shows_more_than_the_text_holds(pieces: list[str]) -> None:
    """Only taking away, never inventing or reordering; and the cuts change nothing."""
    blocks, whole = BlockFilter(), BlockFilter()
    shown = "".join(blocks.feed(piece) for piece in pieces) + blocks.finish()
    rest = iter("".join(pieces))
    assert all(letter in rest for letter in shown)
    assert shown == whole.feed("".join(pieces)) + whole.finish()


@given(st.sampled_from(BLOCK_TAGS), st.text(st.characters(exclude_characters="<>`", exclude_categories=("Cs",))))
def test_no_block_of_ours_is_said(tag: str, content: str) -> None:
    """Whatever it holds, of whichever agent's prompt."""
    assert spoken(f"Да.\n<{tag}>{content}</{tag}>\nНет.") == "Да.\n\nНет."


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3), st.booleans())
def test_an_object_alone_is_raw_but_in_a_sentence_it_is_an_example(value: dict[str, object], pretty: bool) -> None:
    """However it is written."""
    text = json.dumps(value, ensure_ascii=True, indent=2 if pretty else None)
    with pytest.raises(ModelReplyInvalid):
        spoken(text.replace("<", "(").replace("`", "'"))
    assert spoken("Пример: " + text.replace("<", "(").replace("`", "'")).startswith("Пример: {")
