"""Requests and replies of language models for all providers, the interfaces of models, and observers of calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from internal.errors import ModelError

Role = Literal["system", "user", "assistant", "tool"]
Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a model may call while it answers; `parameters` is the JSON schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's call of a tool; `arguments` are JSON as it wrote it.

    `echo` are values that the server wants back with the call, such as Gemini's signature of its thoughts.
    """

    id: str
    name: str
    arguments: str
    echo: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """`calls` are those of an assistant's message; a message of the role `tool` answers the one with `call_id`.

    `pictures` of a user's message are data URLs. `echo` are values that the server wants back with its own message.
    """

    role: Role
    content: str
    calls: Sequence[ToolCall] = ()
    call_id: str | None = None
    pictures: Sequence[str] = ()
    echo: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReplySchema:
    """A JSON schema the reply must follow; `name` is its name in the wire format."""

    name: str
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One model call. `agent` is the caller's name (metrics, cost); `timeout` is seconds for the whole reply,
    `first_token` seconds until a streamed one begins (thoughts count), None: `timeout`.

    `along` are the agents that share its answer. `reasoning_effort` limits a thinking model's thoughts ("low"),
    None: the model's default. `needs_pictures`: it is not sent to a model that refuses the pictures.
    """

    agent: str
    model: str
    messages: Sequence[ChatMessage]
    temperature: float = 0.0
    max_tokens: int = 4096
    timeout: float = 60.0
    first_token: float | None = None
    reply_schema: ReplySchema | None = None
    user_id: int | None = None
    along: tuple[str, ...] = ()
    reasoning_effort: str | None = None
    tools: Sequence[Tool] = ()
    needs_pictures: bool = False

    @property
    def shows_pictures(self) -> bool:
        return any(message.pictures for message in self.messages)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money of one call; `cost_usd` is what the provider reported, else 0.

    `cached_tokens` are the prompt's tokens from the provider's cache, which cost less. `estimated` if the call was
    cancelled before the provider reported them.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    estimated: bool = False
    cached_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cost_usd + other.cost_usd,
            self.estimated or other.estimated,
            self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A reply. `calls` are tools that the model wants to use before it answers, `echo` is sent back with them."""

    text: str
    model: str
    usage: Usage = field(default_factory=Usage)
    calls: Sequence[ToolCall] = ()
    echo: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChatDelta:
    """A piece of a streamed reply. The last one has the whole reply in `final` and an empty `text`."""

    text: str
    final: ChatReply | None = None


class ChatModel(Protocol):
    """A chat model.

    Both calls raise ModelUnavailable (outage: unreachable, timeout, 429, 5xx), ModelRefused (permanent),
    ModelReplyTruncated (finish_reason=length) or another ModelReplyInvalid (empty or unreadable reply).
    """

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Returns the whole reply at once."""

    def stream(self, request: ChatRequest) -> AsyncIterator[ChatDelta]:
        """Yields the reply piece by piece; the last delta carries `final`. Closing the iterator ends the request."""


class Embedder(Protocol):
    """Sentence embeddings.

    Both calls return float32 of shape (len(texts), dimensions), each row L2-normalised; an empty list gives (0, d).
    They raise ModelUnavailable or ModelRefused. Queries and documents have separate calls because some models (e5)
    prefix them differently.
    """

    @property
    def name(self) -> str:
        """The name that is stored with every vector; vectors with different names are never compared."""

    @property
    def dimensions(self) -> int: ...

    @property
    def people_threshold(self) -> float:
        """The least cosine in [-1, 1] of a found person, calibrated for this model."""

    async def embed_queries(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors: ...

    async def embed_documents(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors: ...


class StateEmbedder(Protocol):
    """Vectors of queries and passages, each with those of inner layers behind it where the engine has them.

    May raise what an `Embedder` raises.
    """

    async def query_states(self, texts: Sequence[str]) -> Vectors: ...

    async def passage_states(self, texts: Sequence[str]) -> Vectors: ...


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """One call for the vectors of at most 32 texts. `agent` is the name under which its cost is counted."""

    model: str
    dimensions: int
    texts: int
    user_id: int | None = None
    agent: str = "embedder"


@dataclass(frozen=True, slots=True)
class EmbeddingReply:
    model: str
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class AudioRequest:
    """One call that converts sound to text or text to sound; `messages` describe it in its receipt."""

    agent: str
    model: str
    timeout: float
    user_id: int | None = None
    messages: Sequence[ChatMessage] = ()
    along: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AudioReply:
    """The reply of an audio call; `text` is a transcript."""

    model: str
    usage: Usage = field(default_factory=Usage)
    text: str | None = None


Request = ChatRequest | EmbeddingRequest | AudioRequest
Reply = ChatReply | EmbeddingReply | AudioReply


class CallObserver(Protocol):
    def finished(self, request: Request, reply: Reply | None, error: ModelError | None, duration_s: float) -> None:
        """Observes the end of every call, on the event loop: must return at once and raise nothing.

        A failed call has an `error`, and also a `reply` if the provider reported its cost. A cancelled call (stop
        button) has no error. If either ended during the reply, it has the partial reply with estimated usage; if it
        ended before, no reply.
        """
