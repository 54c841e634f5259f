"""The analyst: judges the assistant's answers in a closed session, and proposes lessons from it."""

from datetime import timedelta
from functools import partial
from typing import Final

from internal.agents.analyst.output import KEYS, REPLY_SCHEMA, parse
from internal.agents.ask_model import Limits, ReplyForm, ask_model
from internal.agents.model import AgentReply, AnalystRequest
from internal.agents.prompts import block, instructions, joined, owner_block, transcript_block
from internal.config.agents import AgentConfig
from internal.language.text.block_tags import escape
from internal.llm.model import ChatMessage, ChatModel

LIMITS: Final = Limits(max_tokens=4096, timeout=timedelta(seconds=120))
"""The limits, enough for some 58 judgements: the answers of a long session."""


class ModelAnalyst:
    """The Analyst that asks a chat model."""

    def __init__(self, chat: ChatModel, config: AgentConfig) -> None:
        self._chat = chat
        self._config = config
        self._instructions = instructions(__package__, short=config.short_prompt)

    async def ask(self, request: AnalystRequest) -> AgentReply:
        form = ReplyForm(partial(parse, transcript=request.transcript), KEYS)
        user_id = request.owner.user_id
        return await ask_model(
            self._chat, "analyst", self._config, LIMITS, self.messages(request), REPLY_SCHEMA, user_id, form
        )

    def messages(self, request: AnalystRequest) -> list[ChatMessage]:
        """The prompt as it is sent. The instructions never change, so that a provider can cache them."""
        context = joined(
            owner_block(request.owner),
            block("rules", [f"R{number}. {escape(rule)}" for number, rule in enumerate(request.rules, start=1)]),
            block("topic", [escape(request.topic)] if request.topic else []),
            transcript_block("transcript", request.transcript),
            block("responses", [", ".join(map(str, sorted(request.to_judge)))] if request.to_judge else []),
        )
        return [ChatMessage("system", self._instructions), ChatMessage("user", context)]
