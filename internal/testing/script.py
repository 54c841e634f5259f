"""Scripted answers and failures of a model."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

_CHAT = (
    "status", "error_body", "choice_error", "empty", "refusal", "content_filter", "truncated", "slow", "trickle",
)  # fmt: skip
_WIRE = ("cut", "stall", "hang", "malformed", "reset", "redirect", "oversized")
_EMBEDDINGS = ("wrong_count", "wrong_size", "not_a_number", "zero")
KINDS = frozenset((*_CHAT, *_WIRE, *_EMBEDDINGS))


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure instead of an answer.

    `kind` is one of: status (with `status`, `retry_after`, `body`: JSON, or a text), error_body (HTTP 200 holding
    an error of `status`), choice_error, empty (reasoning only), refusal, content_filter, truncated (`text`,
    finish_reason=length), cut (the connection ends in the middle of `text`), stall (as cut, but silence for
    `seconds` comes before the end), hang (silence for `seconds`), slow (`text` after `seconds`), trickle (`text`
    piece by piece over `seconds`), malformed, reset, redirect, oversized (`megabytes`), and for embeddings
    wrong_count, wrong_size, not_a_number, zero.
    """

    kind: str
    status: int = 503
    retry_after: str | None = None
    body: Any = None
    text: str = "half of a reply that never ends"
    seconds: float = 3600.0
    megabytes: int = 64

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"there is no fault called {self.kind!r}")


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it arrived, `at` seconds of a monotonic clock."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    number: int
    at: float = field(default_factory=time.monotonic)

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages with only their texts."""
        return [message | {"content": _words(message["content"])} for message in self.body.get("messages", [])]

    @property
    def system(self) -> str:
        return "\n".join(m["content"] for m in self.messages if m["role"] == "system")

    @property
    def pictures(self) -> list[str]:
        """The addresses of the pictures that were sent."""
        parts = [part for m in self.body.get("messages", []) if isinstance(m["content"], list) for part in m["content"]]
        return [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]

    @property
    def text(self) -> str:
        """All sent texts, for matching: the messages' contents, or the texts to embed."""
        other = self.body.get("input", self.body.get("file", {}).get("name", ""))
        texts = [m["content"] for m in self.messages] or other
        return "\n".join([texts] if isinstance(texts, str) else texts)


def _words(content: Any) -> Any:
    """The text of a message, which may consist of parts."""
    if not isinstance(content, list):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


Reply = str | dict[str, Any] | list[Any] | Fault
Answer = Reply | Callable[[Asked], Reply]


@dataclass(slots=True)
class Step:
    """An answer, given `times` times (None = always) to requests whose text matches `match` (None = any)."""

    reply: Answer
    match: str | None = None
    times: int | None = 1

    def fits(self, asked: Asked) -> bool:
        return self.times != 0 and (self.match is None or re.search(self.match, asked.text) is not None)

    def take(self, asked: Asked) -> Reply:
        if self.times is not None:
            self.times -= 1
        return self.reply(asked) if callable(self.reply) else self.reply


def step_from_json(raw: Any) -> Step:
    """A step of a script file: a reply, or `{"reply": ..., "match": regex, "times": n or null}`."""
    if isinstance(raw, dict) and "reply" in raw:
        return Step(_reply_from_json(raw["reply"]), raw.get("match"), raw.get("times", 1))
    return Step(_reply_from_json(raw))


def _reply_from_json(raw: Any) -> Reply:
    if isinstance(raw, dict) and "fault" in raw:
        return Fault(kind=raw["fault"], **{key: value for key, value in raw.items() if key != "fault"})
    if isinstance(raw, str | dict | list):
        return raw
    raise ValueError(f"a scripted reply is text, JSON or a fault, not {raw!r}")
