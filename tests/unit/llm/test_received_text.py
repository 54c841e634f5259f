"""What is pure in receiving a reply: events cut anywhere, thoughts cut anywhere, drafts of any content, tokens."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from internal.errors import ModelError, ModelReplyInvalid
from internal.llm.model import ChatMessage, ChatRequest
from internal.llm.sse import EventStream
from internal.llm.strip_thoughts import ThoughtFilter, without_thoughts
from internal.llm.tokens import count_tokens
from internal.llm.wire import Dialect, ReplyDraft, chat_body, read_json, read_reply, tells_cost

STREAM = (
    ': keep-alive\n\ndata: {"a": "при\u2028вет\u0085"}\r\n\r\nevent: x\ndata:one\ndata: two\n\n\ndata: [DONE]\r\r'
).encode()
EVENTS = ['{"a": "при\u2028вет\u0085"}', "one\ntwo", "[DONE]"]


def cut(data: Any, cuts: list[int]) -> list[Any]:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


@given(st.lists(st.integers(0, 1000), max_size=12))
def test_events_are_the_same_wherever_the_network_cuts_them(cuts: list[int]) -> None:
    """Also inside a letter, and between CR and LF; only real line ends count."""
    stream = EventStream()
    events = [event for chunk in cut(STREAM, cuts) for event in stream.feed(chunk)]
    assert events + stream.finish() == EVENTS


def test_thoughts_in_pieces_go_back_with_the_call_they_led_to() -> None:
    """Whole, and only with a call: a server that made none does not expect them."""
    call = {"index": 0, "id": "c1", "function": {"name": "look", "arguments": "{}"}}
    deltas = [
        {"reasoning_content": "Let me ", "reasoning_details": [{"type": "reasoning.text", "text": "Let me "}]},
        {"reasoning_content": "look.", "reasoning_details": [{"type": "reasoning.encrypted", "data": "x=="}]},
        {"reasoning_content": None, "reasoning_details": "nonsense"},
    ]
    draft, other = ReplyDraft("m"), ReplyDraft("m")
    for delta in [*deltas, {"tool_calls": [call]}]:
        draft.take({"choices": [{"delta": delta}]})
    for delta in [*deltas, {"content": "Nothing to look at."}]:
        other.take({"choices": [{"delta": delta}]})
    reply = draft.outcome().reply
    assert reply.echo == {
        "reasoning_content": "Let me look.",
        "reasoning_details": [*deltas[0]["reasoning_details"], *deltas[1]["reasoning_details"]],
    }
    assert other.outcome().reply.echo == {}
    request = ChatRequest("talk", "m", [ChatMessage("assistant", "", reply.calls, echo=reply.echo)])
    (message,) = chat_body(request, Dialect(), stream=False, ask_cost=False)["messages"]
    assert message["reasoning_content"] == "Let me look."


def test_an_event_without_its_empty_line_is_not_lost() -> None:
    """Some servers close the connection right after the last data."""
    stream = EventStream()
    assert stream.feed(b"data: x\n\ndata: last") == ["x"]
    assert stream.finish() == ["last"]
    assert stream.finish() == []


@given(st.binary(max_size=200))
def test_any_bytes_are_read_without_an_error(data: bytes) -> None:
    """Broken UTF-8 is marked, not raised."""
    stream = EventStream()
    assert all(isinstance(event, str) for event in stream.feed(data) + stream.finish())


THOUGHTS = [
    ("Привет", "Привет"),
    ("<think>a</think>\n\nПривет", "Привет"),
    ("<THINK>a < b</Think> Привет", "Привет"),
    ("<think>a</think><reasoning>b</reasoning>Привет", "Привет"),
    ("Привет <thinking>a <think> b</thinking>, мир", "Привет , мир"),
    ("1 < 2 и <b>жирный</b> <thin", "1 < 2 и <b>жирный</b> <thin"),
    ("Тег `<think>` открывает мысли", "Тег `<think>` открывает мысли"),
    ("```\n<think>\n</think>\n```", "```\n<think>\n</think>\n```"),
    ("<think>бюджет кончился", ""),
    ("Да<", "Да<"),
    ("<thoughtful>", "<thoughtful>"),
]


@pytest.mark.parametrize(("text", "words"), THOUGHTS)
@given(cuts=st.lists(st.integers(0, 100), max_size=8))
def test_thoughts_are_hidden_wherever_the_stream_is_cut(text: str, words: str, cuts: list[int]) -> None:
    """The pieces together are the words, and the whole text gives the same."""
    thoughts = ThoughtFilter()
    assert ("".join(thoughts.feed(piece) for piece in cut(text, cuts)) + thoughts.finish()).strip() == words
    assert without_thoughts(text) == words


def test_a_block_whose_opening_the_server_kept_is_dropped_from_the_whole_reply() -> None:
    """Some chat templates write the opening tag into the prompt; code inside such thoughts changes nothing."""
    assert without_thoughts("Use `x`, I think.\n</think>\nПривет") == "Привет"
    assert without_thoughts("Тег `</think>` закрывает мысли") == "Тег `</think>` закрывает мысли"


@given(st.lists(st.sampled_from(["<", "<think>", "</think>", "`", "a", "<thi", "nk>", " "]), max_size=12))
def test_whatever_the_tags_are_the_stream_never_shows_more_than_the_text_holds(pieces: list[str]) -> None:
    """Only taking away, never inventing or reordering."""
    thoughts = ThoughtFilter()
    shown = "".join(thoughts.feed(piece) for piece in pieces) + thoughts.finish()
    rest = iter("".join(pieces))
    assert all(letter in rest for letter in shown)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["stop", "length", "error", "текст", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "message",
                    "delta",
                    "content",
                    "error",
                    "code",
                    "index",
                    "usage",
                    "finish_reason",
                    "refusal",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(JSON)
def test_any_answer_gives_a_reply_or_one_of_our_errors(answer: Any) -> None:
    """A server may send anything; only ModelError comes of it, and a reply without fault has words."""
    try:
        outcome = read_reply(read_json(json.dumps(answer)), "m")
    except ModelReplyInvalid:
        return
    assert outcome.fault is None or isinstance(outcome.fault, ModelError)
    assert outcome.fault is not None or outcome.reply.text


@given(JSON.filter(lambda value: isinstance(value, dict)))
def test_any_event_is_taken_without_an_error(event: Any) -> None:
    """The same for pieces of a stream."""
    draft = ReplyDraft("m")
    assert isinstance(draft.take(event) + draft.end(complete=False), str)
    assert draft.outcome().reply.model == "m"


def test_an_emoji_cut_in_two_by_the_stream_is_whole_again() -> None:
    """Some servers cut between the halves of a surrogate pair."""
    draft = ReplyDraft("m")
    shown = [draft.take({"choices": [{"delta": {"content": half}}]}) for half in ("a\ud83d", "\ude00b")]
    assert shown == ["a", "😀b"]
    draft.end(complete=True)
    assert draft.outcome().reply.text == "a😀b"


def test_only_the_first_choice_is_the_reply() -> None:
    """Others were not asked for."""
    answer = {"choices": [{"index": 1, "message": {"content": "b"}}, {"index": 0, "message": {"content": "a"}}]}
    assert read_reply(answer, "m").reply.text == "a"


@pytest.mark.parametrize(
    ("host", "asked"),
    [("openrouter.ai", True), ("eu.openrouter.ai", True), ("api.openai.com", False), ("notopenrouter.ai", False)],
)
def test_only_openrouter_is_asked_for_the_price(host: str, asked: bool) -> None:
    """Other servers refuse a parameter they do not know."""
    request = ChatRequest("responder", "m", [ChatMessage("user", "Hi")])
    body = chat_body(request, Dialect(), stream=False, ask_cost=tells_cost(host))
    assert body.get("usage") == ({"include": True} if asked else None)


def test_tokens_are_really_counted() -> None:
    """Cyrillic costs more than its share of letters suggests to a rule of thumb, and markers are plain text."""
    assert count_tokens("") == 0
    assert count_tokens("hello world") == 2
    assert 5 <= count_tokens("Мы с Петровым обсуждали проект") <= 15
    assert count_tokens("<|endoftext|>") > 1
    assert count_tokens("я" * 100_000) > 10_000
    assert count_tokens("\ud83d") >= 1
