"""The describer: says once what a picture shows, so that memory can hold it and find it."""

from dataclasses import replace
from datetime import timedelta
from typing import Final

from internal.agents.ask_model import Limits, chat_request
from internal.agents.model import Language
from internal.agents.prompts import LANGUAGES, block, instructions
from internal.agents.responder.output import spoken
from internal.config.agents import AgentConfig
from internal.language.text.block_tags import escape
from internal.llm.model import ChatMessage, ChatModel

LIMITS: Final = Limits(max_tokens=1024, timeout=timedelta(seconds=40))
"""Some sentences, and room for a model that thinks first."""

MOST: Final = 1_200
"""Characters of a description: it stands in every prompt that shows its message."""


class ModelDescriber:
    """Asks a chat model that sees."""

    def __init__(self, chat: ChatModel, config: AgentConfig) -> None:
        self._chat, self._config = chat, config

    async def describe(self, picture: str, beside: str, language: Language, user_id: int) -> str:
        """What the picture (a data URL) shows, on one line, with the words in it behind a |.

        Raises the errors of `ChatModel.complete`, ModelRefused where the model takes no pictures.
        """
        said = block("question", [escape(beside)])
        messages = [
            ChatMessage("system", instructions(__package__, language=LANGUAGES[language])),
            ChatMessage("user", said, pictures=[picture]),
        ]
        request = chat_request("describer", self._config, LIMITS, messages, user_id)
        reply = await self._chat.complete(replace(request, needs_pictures=True))
        return " ".join(spoken(reply.text).split())[:MOST]
