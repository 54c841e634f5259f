"""Finds calls of tools that a model writes as text, in the forms of chat templates and small models."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import regex

from internal.agents.json_reply import values_in
from internal.llm.model import Tool, ToolCall

MARK: Final = regex.compile(
    r"<tool_call>|<function=|<\|python_tag\|>|\[TOOL_CALLS\]|<\|?tool_calls?\|>", regex.IGNORECASE
)
"""Marks that begin a call anywhere: the forms of Hermes and Qwen, of Llama, of Mistral."""
LONGEST_MARK: Final = 16
_FUNCTION: Final = re.compile(r"<function=([\w.-]+)>(.*?)(?:</function>|\Z)", re.DOTALL | re.IGNORECASE)
_PARAMETER: Final = re.compile(r"<parameter=([\w.-]+)>\s*(.*?)\s*</parameter>", re.DOTALL | re.IGNORECASE)
_DOUBLED: Final = re.compile(r'\{\s*\{(?=\s*"name")')
"""Doubled braces, which small models copy from a template."""
_ALONE: Final = re.compile(r"\s*(?:```\s*(?:json\w*)?\s*)?[{\[]")
_ARGUMENTS: Final = ("arguments", "parameters", "args", "input")


def first_mark(text: str) -> int | None:
    """The index at which a call outside of code begins; None if there is none."""
    return next((one.start() for one in MARK.finditer(text) if text.count("`", 0, one.start()) % 2 == 0), None)


def written_calls(text: str, tools: Sequence[Tool]) -> list[ToolCall]:
    """The calls in a reply: all after a mark, also of unknown tools; without a mark only JSON at the beginning."""
    begin, known = first_mark(text), {tool.name for tool in tools}
    if not tools or (begin is None and not _ALONE.match(text)):
        return []
    found = list(_calls(text[begin or 0 :]))
    found = [one for one in found if begin is not None or one[0] in known]
    return [ToolCall(f"written_{n}", name, arguments) for n, (name, arguments) in enumerate(found)]


def _calls(text: str) -> Iterator[tuple[str, str]]:
    for name, body in _FUNCTION.findall(text):
        parameters = dict(_PARAMETER.findall(body))
        yield name, json.dumps(parameters, ensure_ascii=False) if parameters else body.strip()
    if not _FUNCTION.search(text):
        for value in values_in(_DOUBLED.sub("{", text)):
            for item in value if isinstance(value, list) else [value]:
                yield from _call(item)


def _call(item: Any) -> Iterator[tuple[str, str]]:
    """Reads an object as a call, with its name under `name`, `tool` or within `function`."""
    inner = item.get("function") if isinstance(item, dict) else None
    item = inner if isinstance(inner, dict) else item
    name = (item.get("name") or item.get("tool") or inner) if isinstance(item, dict) else None
    if isinstance(name, str):
        given: Any = next((item[key] for key in _ARGUMENTS if item.get(key)), {})
        yield name, given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
