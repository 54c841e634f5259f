"""The enricher: makes a question stand alone ("а он что сказал?") so that memory can be searched for it."""

from datetime import timedelta
from typing import Final

from internal.agents.ask_model import Limits, ask_model
from internal.agents.json_reply import read_object
from internal.agents.model import EnricherRequest
from internal.agents.prompts import block, instructions, joined, owner_block, transcript_block, unescaped
from internal.agents.reply_schema import TEXT, object_of
from internal.config.agents import AgentConfig
from internal.errors import ModelReplyInvalid
from internal.language.text.block_tags import escape
from internal.llm.model import ChatMessage, ChatModel, ReplySchema

MAX_QUERY = 1000
"""Most characters of a question. A longer one is a summary of the dialogue and would blur the search."""

REPLY_SCHEMA = ReplySchema("enricher_reply", object_of({"query": TEXT}))


def parse(text: str) -> str:
    """The question that stands alone, on one line. Raises ModelReplyInvalid if there is none."""
    query = read_object(text, ("query",), bare="queries").get("query")
    if not isinstance(query, str) or not query.strip():
        raise ModelReplyInvalid("the reply holds no query")
    return " ".join(unescaped(query).split())[:MAX_QUERY]


LIMITS: Final = Limits(max_tokens=256, timeout=timedelta(seconds=4))
"""The limits of one sentence, for which the owner waits; without it the search uses his words."""


class ModelEnricher:
    """The Enricher that asks a chat model."""

    def __init__(self, chat: ChatModel, config: AgentConfig) -> None:
        self._chat = chat
        self._config = config
        self._instructions = instructions(__package__)

    async def standalone(self, request: EnricherRequest) -> str:
        """Rewrites a question; one that does not depend on earlier lines is returned unchanged, without a call.

        Raises the errors of `ChatModel.complete`.
        """
        if not (request.recent and request.leans):
            return request.question
        reply = await ask_model(
            self._chat, "enricher", self._config, LIMITS, self.messages(request), REPLY_SCHEMA, request.owner.user_id
        )
        return parse(reply.text)

    def messages(self, request: EnricherRequest) -> list[ChatMessage]:
        """The prompt as it is sent."""
        context = joined(
            owner_block(request.owner),
            transcript_block("dialogue", request.recent),
            block("question", [escape(request.question)]),
        )
        return [ChatMessage("system", self._instructions), ChatMessage("user", context)]
