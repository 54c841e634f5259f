"""Finished model calls as they are reported to observers of calls, tokens and money."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from internal.errors import ModelError
from internal.llm.model import ChatMessage, ChatReply, ChatRequest, Usage


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
    """One call that turns sound into text or text into sound; `messages` say so in its receipt."""

    agent: str
    model: str
    timeout: float
    user_id: int | None = None
    messages: Sequence[ChatMessage] = ()
    along: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AudioReply:
    """`text` is a transcript."""

    model: str
    usage: Usage = field(default_factory=Usage)
    text: str | None = None


Request = ChatRequest | EmbeddingRequest | AudioRequest
Reply = ChatReply | EmbeddingReply | AudioReply


class CallObserver(Protocol):
    def finished(self, request: Request, reply: Reply | None, error: ModelError | None, duration_s: float) -> None:
        """Called once for every call, on the event loop: must return at once and raise nothing.

        A failed call has an `error`, and also a `reply` if the provider reported its cost. A cancelled call (stop
        button) has no error. If either broke off while the reply came in, it has the partial reply with estimated
        usage; before that, no reply.
        """
