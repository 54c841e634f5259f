"""The OpenAI chat format: what is sent, in the dialect a server understands, and what comes back."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import Any

from internal.errors import ModelError, ModelRefused, ModelReplyInvalid, ModelReplyTruncated, ModelUnavailable
from internal.llm.failures import from_error_object
from internal.llm.model import ChatReply, ChatRequest, Usage
from internal.llm.thoughts import ThoughtFilter, without_thoughts
from internal.llm.tokens import count_tokens

FORMATS = ("json_schema", "json_object", "text")
"""From the strictest to the plainest; in the plainest the prompt alone asks for JSON."""

_CUT = frozenset({"length", "max_tokens", "max_output_tokens"})
_BLOCKED = frozenset({"content_filter", "safety", "prohibited_content", "blocklist", "spii", "recitation", "refusal"})


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one model on one server accepts. Everyone is spoken to in full first, and more plainly when he refuses."""

    reply_format: str = FORMATS[0]
    length_key: str = "max_tokens"
    temperature: bool = True
    stream_usage: bool = True

    def plainer(self, rejection: str, request: ChatRequest, *, streaming: bool) -> Dialect | None:
        """The dialect to try after a refusal in these words; None when there is nothing left to leave out."""
        if "max_completion_tokens" in rejection and self.length_key == "max_tokens":
            return replace(self, length_key="max_completion_tokens")
        if "temperature" in rejection and self.temperature:
            return replace(self, temperature=False)
        if request.reply_schema is not None and self.reply_format != FORMATS[-1]:
            return replace(self, reply_format=FORMATS[FORMATS.index(self.reply_format) + 1])
        if streaming and self.stream_usage:
            return replace(self, stream_usage=False)
        return None


def tells_cost(host: str) -> bool:
    """Whether a server may be asked what a call cost: only OpenRouter knows the question, others refuse it."""
    return host == "openrouter.ai" or host.endswith(".openrouter.ai")


def chat_body(request: ChatRequest, dialect: Dialect, *, stream: bool, ask_cost: bool) -> dict[str, Any]:
    """The JSON body of one chat call."""
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        dialect.length_key: request.max_tokens,
    }
    if dialect.temperature:
        body["temperature"] = request.temperature
    if request.reply_schema is not None and dialect.reply_format != "text":
        body["response_format"] = {"type": dialect.reply_format}
        if dialect.reply_format == "json_schema":
            schema = {"name": request.reply_schema.name, "schema": request.reply_schema.schema, "strict": False}
            body["response_format"]["json_schema"] = schema
    if stream:
        body["stream"] = True
        if dialect.stream_usage:
            body["stream_options"] = {"include_usage": True}
    if ask_cost:
        body["usage"] = {"include": True}
    return body


@dataclass(frozen=True, slots=True)
class Outcome:
    """A reply as far as it goes, with what it cost, and what is wrong with it, if anything is."""

    reply: ChatReply
    fault: ModelError | None


def read_json(data: bytes | str) -> dict[str, Any]:
    """The JSON object of a body or an event. ModelReplyInvalid if it is none."""
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise ModelReplyInvalid("the model server's answer is no JSON object")
    return answer


def read_reply(answer: dict[str, Any], model: str) -> Outcome:
    """A complete chat answer; the error of an answer that is one is in `fault`."""
    draft = Draft(model)
    draft.take(answer, part="message")
    draft.end(told=True)
    return draft.outcome()


class Draft:
    """A reply that is being received, whole or in pieces."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._usage = Usage()
        self._words: list[str] = []
        self._refusal = ""
        self._finish: set[str] = set()
        self._fault: ModelError | None = None
        self._ended = False
        self._thoughts = ThoughtFilter()
        self._half = ""

    @property
    def begun(self) -> bool:
        return any(self._words)

    @property
    def failed(self) -> bool:
        return self._fault is not None

    def take(self, answer: dict[str, Any], part: str = "delta") -> str:
        """Add one event (or, with `part="message"`, the whole answer); the words that may be shown now."""
        self._model = answer["model"] if isinstance(answer.get("model"), str) and answer["model"] else self._model
        if isinstance(answer.get("usage"), dict):
            self._usage = read_usage(answer["usage"])
        if answer.get("error"):
            self._fault = from_error_object(answer["error"])
        choices = answer.get("choices")
        shown = ""
        for choice in choices if isinstance(choices, list) else []:
            if isinstance(choice, dict):
                shown += self._choice(choice, part)
        return shown

    def end(self, *, told: bool) -> str:
        """Nothing more comes, and whether the provider said so itself; the words that were held back."""
        self._ended = told
        return self._thoughts.finish()

    def outcome(self) -> Outcome:
        words = without_thoughts(_joined("".join(self._words)))
        return Outcome(ChatReply(words, self._model, self._usage), self._fault or self._judged(words))

    def broken_off(self, request: ChatRequest) -> ChatReply:
        """What came of a reply that nobody waits for any more. It was paid for: what it took is estimated."""
        words = without_thoughts(_joined("".join(self._words)))
        return ChatReply(words, self._model, self._usage if self._usage != Usage() else self._estimate(request))

    def _estimate(self, request: ChatRequest) -> Usage:
        asked = sum(count_tokens(message.content) for message in request.messages)
        return Usage(asked, count_tokens(_joined("".join(self._words))), estimated=True)

    def _choice(self, choice: dict[str, Any], part: str) -> str:
        if choice.get("error"):
            self._fault = from_error_object(choice["error"])
        self._finish |= _finish_reasons(choice)
        message = choice.get(part)
        if choice.get("index") not in (0, None) or not isinstance(message, dict):
            return ""
        if isinstance(message.get("refusal"), str):
            self._refusal += message["refusal"]
        text = _content(message.get("content"))
        self._words.append(text)
        return self._thoughts.feed(self._whole(text))

    def _whole(self, text: str) -> str:
        """Text up to half a surrogate pair, whose other half comes with the next piece."""
        text, self._half = self._half + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return _joined(text)

    def _judged(self, words: str) -> ModelError | None:
        """What is wrong with a reply that no error object speaks of."""
        if self._finish & _BLOCKED or (self._refusal and not words):
            return ModelRefused(f"the model refuses to answer{': ' + self._refusal[:300] if self._refusal else ''}")
        if self._finish & _CUT:
            return ModelReplyTruncated()
        if "error" in self._finish:
            return ModelUnavailable("the model failed while it wrote")
        if not (self._ended or self._finish):
            return ModelUnavailable("the reply was cut off")
        return None if words else ModelReplyInvalid("the reply is empty")


def read_usage(raw: dict[str, Any]) -> Usage:
    """Tokens and money as told, 0 where they are not or make no sense."""
    return Usage(
        prompt_tokens=int(_amount(raw.get("prompt_tokens"))),
        completion_tokens=int(_amount(raw.get("completion_tokens"))),
        cost_usd=_amount(raw.get("cost")),
    )


def _amount(raw: object) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return 0.0
    return float(raw) if math.isfinite(raw) and raw > 0 else 0.0


def _finish_reasons(choice: dict[str, Any]) -> set[str]:
    """The reason a choice ended, in the general and in the provider's own words."""
    reasons = (choice.get("finish_reason"), choice.get("native_finish_reason"))
    return {reason.casefold() for reason in reasons if isinstance(reason, str) and reason}


def _content(content: object) -> str:
    """The text of a message, which some providers send in parts; thoughts have parts of their own type."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text")
    return "".join(text for text in texts if isinstance(text, str))


def _joined(text: str) -> str:
    """Text that any database takes: surrogate pairs joined, lone halves marked, no NUL."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\x00", "")
