"""Requests, and an observer that remembers, for the tests of the model client."""

from __future__ import annotations

from internal.errors import ModelError
from internal.llm.model import ChatMessage, ChatRequest, Reply, ReplySchema, Request

SCHEMA = ReplySchema("picks", {"type": "object", "properties": {"people": {"type": "array"}}})


class Ledger:
    """A CallObserver that keeps what it is told."""

    def __init__(self) -> None:
        self.calls: list[tuple[Request, Reply | None, ModelError | None, float]] = []

    def finished(self, request: Request, reply: Reply | None, error: ModelError | None, duration_s: float) -> None:
        self.calls.append((request, reply, error, duration_s))


def ask(
    text: str = "Привет!",
    *,
    schema: ReplySchema | None = None,
    timeout: float = 5.0,
    first_token: float | None = None,
    model: str = "m",
) -> ChatRequest:
    return ChatRequest(
        agent="responder",
        model=model,
        messages=[ChatMessage("system", "Be kind."), ChatMessage("user", text)],
        temperature=0.5,
        max_tokens=77,
        timeout=timeout,
        first_token=first_token,
        reply_schema=schema,
    )
