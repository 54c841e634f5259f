"""A finished model call, as those see it who count calls, tokens and money."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from internal.errors import ModelError
from internal.llm.model import ChatReply, ChatRequest, Usage


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """One call for vectors: at most 32 texts. `agent` is the name under which its cost is counted."""

    model: str
    dimensions: int
    texts: int
    user_id: int | None = None
    agent: str = "embedder"


@dataclass(frozen=True, slots=True)
class EmbeddingReply:
    model: str
    usage: Usage = field(default_factory=Usage)


Request = ChatRequest | EmbeddingRequest
Reply = ChatReply | EmbeddingReply


class CallObserver(Protocol):
    def finished(self, request: Request, reply: Reply | None, error: ModelError | None, duration_s: float) -> None:
        """Called once for every call, on the event loop: return at once and raise nothing.

        A failed call has an `error`, and a `reply` besides if the provider told what it cost. One that was cancelled,
        as by the stop button, has no error. Broken off while the reply came in, either has what came of it, and its
        usage is estimated; before that, neither has a reply.
        """
        ...
