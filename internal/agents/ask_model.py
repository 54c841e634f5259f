"""How an agent asks its model: with its own settings, for a reply of its own shape."""

from __future__ import annotations

from internal.agents.model import AgentReply
from internal.config_agents import AgentConfig
from internal.llm.model import ChatMessage, ChatModel, ChatRequest, ReplySchema


async def ask_model(
    chat: ChatModel, agent: str, config: AgentConfig, messages: list[ChatMessage], schema: ReplySchema, user_id: int
) -> AgentReply:
    """The reply, with the prompt that it answers. Raises the errors of `ChatModel.complete`."""
    reply = await chat.complete(
        ChatRequest(
            agent=agent,
            model=config.model,
            messages=messages,
            temperature=config.temperature,
            max_tokens=config.max_tokens,
            timeout=config.timeout.total_seconds(),
            reply_schema=schema,
            user_id=user_id,
        )
    )
    return AgentReply(reply.text, reply.model, reply.usage, messages)
