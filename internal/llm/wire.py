"""The OpenAI chat format: request bodies in the dialect that a server understands, and parsed replies."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from internal.errors import ModelError, ModelRefused, ModelReplyInvalid, ModelReplyTruncated, ModelUnavailable
from internal.llm.failures import from_error_object
from internal.llm.model import ChatMessage, ChatReply, ChatRequest, Tool, ToolCall, Usage
from internal.llm.strip_thoughts import ThoughtFilter, without_thoughts
from internal.llm.tokens import count_tokens

FORMATS = ("json_schema", "json_object", "text")
"""Response formats for JSON, strictest first; with the last only the prompt asks for JSON."""

_NEWER_KEY = "max_completion_tokens"
_PICTURE_WORDS = re.compile(r"image|vision|multi.?modal|picture", re.IGNORECASE)
_TOOL_WORDS = re.compile(r"\btools?\b|tool_|function", re.IGNORECASE)
_THINKING_WORDS = re.compile(r"reasoning|thinking", re.IGNORECASE)
_SYSTEM_WORDS = re.compile(
    r"\bsystem\b.{0,40}(?:role|message|prompt|support)|role.{0,40}\bsystem\b|roles must alternate", re.IGNORECASE
)
_TRUNCATED = frozenset({"length", "max_tokens", "max_output_tokens"})
_ECHOED = ("reasoning_content", "reasoning_details")
"""Keys of thoughts that a server wants back with the resulting calls: DeepSeek, Kimi, OpenRouter."""
_OF_CALL = frozenset({"index", "id", "type", "function"})
"""A call's keys in the format. Other keys are sent back unchanged, such as Gemini's `extra_content`."""
_BLOCKED = frozenset({"content_filter", "safety", "prohibited_content", "blocklist", "spii", "recitation", "refusal"})


@dataclass(frozen=True, slots=True)
class Dialect:
    """The parameters that one model on one server accepts. All are sent first, and fewer after each rejection."""

    reply_format: str = FORMATS[0]
    length_key: str = "max_tokens"
    temperature: bool = True
    reasoning: bool = True
    stream_usage: bool = True
    tools: bool = True
    pictures: bool = True
    system: bool = True

    def plainer(self, rejection: str, request: ChatRequest, *, streaming: bool) -> Dialect | None:
        """The dialect to try after a rejection with this message; None when nothing is left to leave out."""
        tools = self.tools and bool(request.tools)
        pictures = self.pictures and request.shows_pictures
        schema = request.reply_schema is not None and self.reply_format != FORMATS[-1]
        changes: Sequence[tuple[bool, dict[str, Any]]] = (
            (pictures and bool(_PICTURE_WORDS.search(rejection)), {"pictures": False}),
            (tools and bool(_TOOL_WORDS.search(rejection)), {"tools": False}),
            ("max_completion_tokens" in rejection and self.length_key == "max_tokens", {"length_key": _NEWER_KEY}),
            ("temperature" in rejection and self.temperature, {"temperature": False}),
            (bool(_THINKING_WORDS.search(rejection)) and self.reasoning, {"reasoning": False}),
            (bool(_SYSTEM_WORDS.search(rejection)) and self.system, {"system": False}),
            (pictures, {"pictures": False}),
            (schema, {"reply_format": (*FORMATS, FORMATS[-1])[FORMATS.index(self.reply_format) + 1]}),
            (streaming and self.stream_usage, {"stream_usage": False}),
            (tools, {"tools": False}),
        )
        change = next((change for fits, change in changes if fits), None)
        return None if change is None else replace(self, **change)


def tells_cost(host: str) -> bool:
    """Whether a server reports the cost of a call on request: only OpenRouter does, others reject the parameter."""
    return host == "openrouter.ai" or host.endswith(".openrouter.ai")


def chat_body(request: ChatRequest, dialect: Dialect, *, stream: bool, ask_cost: bool) -> dict[str, Any]:
    """The JSON body of one chat call."""
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [_message(one, pictures=dialect.pictures) for one in _messages(request, dialect)],
        dialect.length_key: request.max_tokens,
    }
    if dialect.temperature:
        body["temperature"] = request.temperature
    if dialect.reasoning and request.reasoning_effort:
        body["reasoning_effort"] = request.reasoning_effort
    if request.reply_schema is not None and dialect.reply_format != "text":
        body["response_format"] = {"type": dialect.reply_format}
        if dialect.reply_format == "json_schema":
            schema = {"name": request.reply_schema.name, "schema": request.reply_schema.schema, "strict": False}
            body["response_format"]["json_schema"] = schema
    if dialect.tools and request.tools:
        body["tools"] = [{"type": "function", "function": _tool(tool)} for tool in request.tools]
    if stream:
        body["stream"] = True
        if dialect.stream_usage:
            body["stream_options"] = {"include_usage": True}
    if ask_cost:
        body["usage"] = {"include": True}
    return body


def _messages(request: ChatRequest, dialect: Dialect) -> Sequence[ChatMessage]:
    """The messages; for a model without system messages, those words begin the user's first message."""
    first, *rest = request.messages or [ChatMessage("user", "")]
    if dialect.system or first.role != "system" or not rest or rest[0].role != "user":
        return request.messages
    return [replace(rest[0], content=f"{first.content}\n\n{rest[0].content}"), *rest[1:]]


def _tool(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def _message(message: ChatMessage, *, pictures: bool) -> dict[str, Any]:
    body: dict[str, Any] = {**message.echo, "role": message.role, "content": message.content}
    if pictures and message.pictures:
        shown = [{"type": "image_url", "image_url": {"url": address}} for address in message.pictures]
        body["content"] = [{"type": "text", "text": message.content}, *shown]
    if message.calls:
        body["tool_calls"] = [
            {**one.echo, "id": one.id, "type": "function", "function": {"name": one.name, "arguments": one.arguments}}
            for one in message.calls
        ]
    if message.call_id is not None:
        body["tool_call_id"] = message.call_id
    return body


@dataclass(frozen=True, slots=True)
class ReplyOutcome:
    """The received part of a reply, its usage, and its error, if any."""

    reply: ChatReply
    fault: ModelError | None


def read_json(data: bytes | str) -> dict[str, Any]:
    """The JSON object of a body or an event. Raises ModelReplyInvalid if it is not one."""
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise ModelReplyInvalid("the model server's answer is no JSON object")
    return answer


def read_reply(answer: dict[str, Any], model: str) -> ReplyOutcome:
    """The outcome of a complete chat answer; an error in it is in `fault`."""
    draft = ReplyDraft(model)
    draft.take(answer, part="message")
    draft.end(complete=True)
    return draft.outcome()


class ReplyDraft:
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
        self._half_pair = ""
        self.heard = False
        """Whether the model has begun: words, thoughts or a call. An empty first event does not count."""
        self._calls: list[dict[str, Any]] = []
        self._echo: dict[str, Any] = {}

    @property
    def begun(self) -> bool:
        return any(self._words)

    @property
    def failed(self) -> bool:
        return self._fault is not None

    def take(self, answer: dict[str, Any], part: str = "delta") -> str:
        """Adds one event (or, with `part="message"`, the whole answer) and returns the words that may be shown now."""
        self._model = answer["model"] if isinstance(answer.get("model"), str) and answer["model"] else self._model
        if isinstance(answer.get("usage"), dict):
            self._usage = read_usage(answer["usage"])
        if answer.get("error"):
            self._fault = from_error_object(answer["error"], self._model)
        choices = answer.get("choices")
        visible = ""
        for choice in choices if isinstance(choices, list) else []:
            if isinstance(choice, dict):
                visible += self._choice(choice, part)
        return visible

    def end(self, *, complete: bool) -> str:
        """Ends the reply and returns the words that were held back; `complete` if the provider ended it itself."""
        self._ended = complete
        return self._thoughts.finish()

    def outcome(self) -> ReplyOutcome:
        words = without_thoughts(_storable_text("".join(self._words)))
        calls = [
            ToolCall(one["id"] or f"call_{position}", one["name"], one["arguments"], one["echo"])
            for position, one in enumerate(self._calls)
            if one["name"]
        ]
        reply = ChatReply(words, self._model, self._usage, tuple(calls), self._echo if calls else {})
        return ReplyOutcome(reply, self._fault or self._fault_of(words or "".join(one.name for one in calls)))

    def broken_off(self, request: ChatRequest) -> ChatReply:
        """The reply of a cancelled call. Missing usage is estimated, because it was paid for."""
        words = without_thoughts(_storable_text("".join(self._words)))
        return ChatReply(words, self._model, self._usage if self._usage != Usage() else self._estimate(request))

    def _estimate(self, request: ChatRequest) -> Usage:
        prompt_tokens = sum(count_tokens(message.content) for message in request.messages)
        return Usage(prompt_tokens, count_tokens(_storable_text("".join(self._words))), estimated=True)

    def _choice(self, choice: dict[str, Any], part: str) -> str:
        if choice.get("error"):
            self._fault = from_error_object(choice["error"], self._model)
        self._finish |= _finish_reasons(choice)
        message = choice.get(part)
        if choice.get("index") not in (0, None) or not isinstance(message, dict):
            return ""
        self.heard |= any(value for key, value in message.items() if key != "role")
        if isinstance(message.get("refusal"), str):
            self._refusal += message["refusal"]
        for key in _ECHOED:
            piece, before = message.get(key), self._echo.get(key)
            if isinstance(piece, str | list) and (before is None or isinstance(piece, type(before))):
                self._echo[key] = piece if before is None else before + piece
        self._take_calls(message.get("tool_calls"))
        if isinstance(message.get("function_call"), dict):  # the form of servers before 2024
            self._take_calls([{"function": message["function_call"]}])
        text = _content(message.get("content"))
        self._words.append(text)
        return self._thoughts.feed(self._without_half_pair(text))

    def _take_calls(self, calls: object) -> None:
        """Adds calls, or pieces of them."""
        for entry in calls if isinstance(calls, list) else []:
            if not isinstance(entry, dict):
                continue
            function = entry.get("function")
            said = function if isinstance(function, dict) else {}
            name, arguments, index = str(said.get("name") or ""), said.get("arguments"), str(entry.get("index", ""))
            one = self._open_call(str(entry.get("id") or ""), name, index)
            one["arguments"] += json.dumps(arguments) if isinstance(arguments, dict) else str(arguments or "")
            one["echo"] |= {key: value for key, value in entry.items() if key not in _OF_CALL and value is not None}

    def _open_call(self, id_: str, name: str, index: str) -> dict[str, Any]:
        """The call to which a piece belongs; a new one if its index, its id or another whole call begins one.

        Some servers leave out the index, and Gemini's numbers all calls 0.
        """
        index = index if index.isdecimal() else ""
        one = next((one for one in reversed(self._calls) if index in ("", one["index"])), None)
        other = one is not None and name and ((id_ and one["id"] not in ("", id_)) or _whole(one["arguments"]))
        if one is None or other:
            one = {"id": id_, "name": name, "arguments": "", "index": index, "echo": {}}
            self._calls.append(one)
        one["id"], one["name"] = one["id"] or id_, one["name"] or name
        return one

    def _without_half_pair(self, text: str) -> str:
        """The text without half a surrogate pair at its end, whose other half comes with the next piece."""
        text, self._half_pair = self._half_pair + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half_pair = text[:-1], text[-1]
        return _storable_text(text)

    def _fault_of(self, words: str) -> ModelError | None:
        """The error of a reply without an error object, or None."""
        if self._finish & _BLOCKED or (self._refusal and not words):
            return ModelRefused(f"the model refuses to answer{': ' + self._refusal[:300] if self._refusal else ''}")
        if self._finish & _TRUNCATED:
            return ModelReplyTruncated(text=words)
        if "error" in self._finish:
            return ModelUnavailable("the model failed while it wrote")
        if not (self._ended or self._finish):
            return ModelUnavailable("the reply was cut off")
        return None if words else ModelReplyInvalid("the reply is empty")


def _whole(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except ValueError:
        return False


def read_usage(raw: dict[str, Any]) -> Usage:
    """Tokens and money as reported, 0 where missing or invalid."""
    details = raw.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else raw.get("prompt_cache_hit_tokens")
    return Usage(
        prompt_tokens=int(_amount(raw.get("prompt_tokens"))),
        completion_tokens=int(_amount(raw.get("completion_tokens"))),
        cost_usd=_amount(raw.get("cost")),
        cached_tokens=int(_amount(cached)),
    )


def _amount(raw: object) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return 0.0
    return float(raw) if math.isfinite(raw) and raw > 0 else 0.0


def _finish_reasons(choice: dict[str, Any]) -> set[str]:
    """The reasons a choice ended, in the general words and in the provider's own."""
    reasons = (choice.get("finish_reason"), choice.get("native_finish_reason"))
    return {reason.casefold() for reason in reasons if isinstance(reason, str) and reason}


def _content(content: object) -> str:
    """The text of a message, which some providers send in parts; thoughts are parts of another type."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text")
    return "".join(text for text in texts if isinstance(text, str))


def _storable_text(text: str) -> str:
    """Text that every database accepts: surrogate pairs joined, lone halves replaced, no NUL."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\x00", "")
