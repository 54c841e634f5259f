"""The reranker: picks the people who matter for the question among those found by vectors."""

from datetime import timedelta
from typing import Final

from internal.agents.ask_model import Limits, ask_model
from internal.agents.model import PersonPick, RerankerRequest
from internal.agents.prompts import block, instructions, joined
from internal.agents.reranker.output import REPLY_SCHEMA, parse
from internal.config.agents import RerankerConfig
from internal.language.text.block_tags import escape
from internal.llm.model import ChatMessage, ChatModel
from internal.people.model import people_block

LIMITS: Final = Limits(timeout=timedelta(seconds=4))
"""The limits, short because the owner waits; after the timeout the nearest people are taken."""


class ModelReranker:
    """The Reranker that asks a chat model."""

    def __init__(self, chat: ChatModel, config: RerankerConfig) -> None:
        self._chat = chat
        self._config = config

    async def pick(self, request: RerankerRequest) -> list[PersonPick]:
        """Picks people, without a call if there are no candidates. Raises what `complete` raises."""
        if not request.candidates or request.max_people < 1:
            return []
        reply = await ask_model(
            self._chat, "reranker", self._config, LIMITS, self.messages(request), REPLY_SCHEMA, request.owner.user_id
        )
        return parse(reply.text, {person.id for person in request.candidates}, request.max_people)

    def messages(self, request: RerankerRequest) -> list[ChatMessage]:
        """The prompt as it is sent."""
        context = joined(block("query", [escape(request.query)]), people_block("candidates", request.candidates))
        system = instructions(__package__, max_people=str(request.max_people))
        return [ChatMessage("system", system), ChatMessage("user", context)]
