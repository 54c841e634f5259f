"""Asks an agent's model within the agent's limits, for a reply of its schema."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from internal.agents.model import AgentReply
from internal.config_agents import AgentConfig
from internal.llm.model import ChatMessage, ChatModel, ChatRequest, ReplySchema


@dataclass(frozen=True, slots=True)
class Limits:
    """What an agent asks of its model: they stand beside its prompt, and `agents.<name>` may override each.

    `temperature` 0 gives the same reply to the same prompt; `max_tokens` bounds a reply, `timeout` the wait for it.
    """

    temperature: float = 0.0
    max_tokens: int = 2048
    timeout: timedelta = timedelta(seconds=60)

    def overridden_by(self, config: AgentConfig) -> Limits:
        return Limits(
            self.temperature if config.temperature is None else config.temperature,
            config.max_tokens or self.max_tokens,
            config.timeout or self.timeout,
        )


def chat_request(
    agent: str,
    config: AgentConfig,
    limits: Limits,
    messages: list[ChatMessage],
    user_id: int,
    schema: ReplySchema | None = None,
) -> ChatRequest:
    limits = limits.overridden_by(config)
    return ChatRequest(
        agent=agent,
        model=config.model,
        messages=messages,
        temperature=limits.temperature,
        max_tokens=limits.max_tokens,
        timeout=limits.timeout.total_seconds(),
        reply_schema=schema,
        user_id=user_id,
    )


async def ask_model(
    chat: ChatModel,
    agent: str,
    config: AgentConfig,
    limits: Limits,
    messages: list[ChatMessage],
    schema: ReplySchema,
    user_id: int,
) -> AgentReply:
    """The reply, with the prompt that it answers. Raises the errors of `ChatModel.complete`."""
    reply = await chat.complete(chat_request(agent, config, limits, messages, user_id, schema))
    return AgentReply(reply.text, reply.model, reply.usage, messages)
