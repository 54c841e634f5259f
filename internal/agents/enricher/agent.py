"""The enricher: makes a question stand alone ("а он что сказал?") so that memory can be searched for it."""

from datetime import timedelta
from typing import Final

from internal.agents.ask_model import Limits, ask_model
from internal.agents.enricher.output import REPLY_SCHEMA, parse
from internal.agents.model import EnricherRequest
from internal.agents.prompts import block, instructions, joined, owner_block, transcript_block
from internal.config_agents import AgentConfig
from internal.language.text.block_tags import escape
from internal.llm.model import ChatMessage, ChatModel

LIMITS: Final = Limits(max_tokens=256, timeout=timedelta(seconds=4))
"""One sentence, for which the owner waits; without it his question is searched for as it is written."""


class ModelEnricher:
    """The Enricher that asks a chat model."""

    def __init__(self, chat: ChatModel, config: AgentConfig) -> None:
        self._chat = chat
        self._config = config
        self._instructions = instructions(__package__)

    async def standalone(self, request: EnricherRequest) -> str:
        """As the port says; a question that leans on nothing before it is returned as it is, without a call.

        Raises the errors of `ChatModel.complete`.
        """
        if not (request.recent and request.leans):
            return request.question
        reply = await ask_model(
            self._chat, "enricher", self._config, LIMITS, self.messages(request), REPLY_SCHEMA, request.owner.user_id
        )
        return parse(reply.text)

    def messages(self, request: EnricherRequest) -> list[ChatMessage]:
        """The prompt exactly as it is sent."""
        context = joined(
            owner_block(request.owner),
            transcript_block("dialogue", request.recent),
            block("question", [escape(request.question)]),
        )
        return [ChatMessage("system", self._instructions), ChatMessage("user", context)]
