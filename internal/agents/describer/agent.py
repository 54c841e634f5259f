"""The describer: describes once what a picture shows, so that memory can store and find it."""

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
"""The limits, enough for some sentences and a model that thinks first."""

MOST: Final = 1_200
"""Most characters of a description, which is in every prompt with its message."""


class ModelDescriber:
    """The describer that asks a chat model for pictures."""

    def __init__(self, chat: ChatModel, config: AgentConfig) -> None:
        self._chat, self._config = chat, config

    async def describe(self, picture: str, beside: str, language: Language, user_id: int) -> str:
        """The description of a picture (a data URL) on one line, with the words in it after a |.

        Raises the errors of `ChatModel.complete`, ModelRefused if the model accepts no pictures.
        """
        said = block("question", [escape(beside)])
        messages = [
            ChatMessage("system", instructions(__package__, language=LANGUAGES[language])),
            ChatMessage("user", said, pictures=[picture]),
        ]
        request = chat_request("describer", self._config, LIMITS, messages, user_id)
        reply = await self._chat.complete(replace(request, needs_pictures=True))
        return " ".join(spoken(reply.text).split())[:MOST]
