"""The prompt cache of an OpenAI server: a prompt with the beginning of an earlier one costs less."""

import json
import re
from dataclasses import dataclass, field
from typing import Final

from internal.testing.script import Asked

BLOCK: Final = 128
LEAST: Final = 1024
"""Tokens that are cached together, and the fewest that are cached at all; source: OpenAI, "Prompt caching"."""

_TOKEN: Final = re.compile(r"\w{1,4}|[^\w\s]")


@dataclass(slots=True)
class PrefixCache:
    """Remembers every prompt by its blocks. A token is four letters or a sign, similar to real ones and fast."""

    _seen: set[int] = field(default_factory=set)

    def count(self, asked: Asked) -> tuple[int, int]:
        """The tokens of a prompt, tools included, and how many of them begin an earlier one of the same model."""
        parts = [f"{message['role']} {message['content']}" for message in asked.messages] or [asked.text]
        tools = json.dumps(asked.body["tools"]) if asked.body.get("tools") else ""
        tokens = _TOKEN.findall("\n".join([tools, *parts]))
        chain, cached, whole = hash(asked.model), 0, True
        for start in range(0, len(tokens) - BLOCK + 1, BLOCK):
            chain = hash((chain, *tokens[start : start + BLOCK]))
            whole = whole and chain in self._seen
            cached += BLOCK if whole else 0
            self._seen.add(chain)
        return len(tokens), cached if cached >= LEAST else 0
