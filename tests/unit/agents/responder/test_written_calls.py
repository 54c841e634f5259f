"""Calls of tools that models write as words, in the forms of their chat templates."""

import json

import pytest

from internal.agents.responder.output import Speech, spoken
from internal.agents.responder.written_calls import written_calls
from internal.errors import ModelReplyInvalid
from internal.flows.turn.tools.definitions import TOOLS

CALL = '{"name": "search_history", "arguments": {"query": "anna"}}'
FORMS = {
    "hermes": f"<tool_call>\n{CALL}\n</tool_call>",
    "behind words": f"Let me look.\n<tool_call>{CALL}</tool_call>",
    "arguments first": '<tool_call>{"arguments": {"query": "anna"}, "name": "search_history"}</tool_call>',
    "qwen coder": "<tool_call><function=search_history><parameter=query>\nanna\n</parameter></function></tool_call>",
    "llama": '<|python_tag|>{"name": "search_history", "parameters": {"query": "anna"}}',
    "llama function": '<function=search_history>{"query": "anna"}</function>',
    "mistral": f"[TOOL_CALLS][{CALL}]",
    "bare": CALL,
    "bare list": f"[{CALL}]",
    "as on the wire": f'{{"type": "function", "function": {CALL}}}',
    "encoded twice": '<tool_call>{"name": "search_history", "arguments": "{\\"query\\": \\"anna\\"}"}</tool_call>',
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_a_written_call_is_read_and_not_shown(text: str) -> None:
    """In each form that a chat template writes, with words around it or without."""
    [call] = written_calls(text, TOOLS)
    assert call.name == "search_history"
    assert json.loads(call.arguments) == {"query": "anna"}
    speech = Speech()
    shown = "".join(map(speech.feed, text)) + speech.finish() if text.startswith("Let") else ""
    assert shown.strip() in ("", "Let me look.")


def test_an_unknown_tool_is_a_call_too_where_its_mark_says_so() -> None:
    """The model is told that there is none, and the owner is not shown the call."""
    assert [one.name for one in written_calls('<tool_call>{"name": "weather", "arguments": {}}</tool_call>', TOOLS)]
    assert not written_calls('{"name": "weather", "arguments": {}}', TOOLS)


def test_a_call_that_no_tool_takes_is_no_answer() -> None:
    """A reply that is nothing but a call is refused where there are no tools."""
    with pytest.raises(ModelReplyInvalid):
        spoken(f"<tool_call>{CALL}</tool_call>")


def test_a_call_within_code_is_text() -> None:
    """An answer that explains how calls look stays whole."""
    text = f"Hermes writes it so: `<tool_call>{CALL}</tool_call>`"
    assert not written_calls(text, TOOLS)
    assert spoken(text) == text
