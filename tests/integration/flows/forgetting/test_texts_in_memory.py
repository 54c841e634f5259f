"""What was forgotten is nowhere in the memory of the process either."""

from __future__ import annotations

from support.flows.flow_stage import OWNER, Talk
from support.stores.texts_in_memory import holders_of

from internal.agents.responder.agent import ModelResponder
from internal.config.agents import ResponderConfig
from internal.flows.forgetting.requests import ForgettingService
from internal.language.search.smalltalk import knows_nothing
from internal.language.text.spelling import name_key
from internal.llm.openai import OpenAIChat
from internal.testing import ScriptedModel


async def _told(talk: Talk, *words: str) -> str:
    """Tells each in a message, with two questions in whose prompts they stand; the id of the first."""
    async with ScriptedModel() as model:
        chat = OpenAIChat(model.url)
        talk.writer = ModelResponder(chat, ResponderConfig(model="talk"))
        model.always("talk", "Good.")
        for text in (*(f"The code of the safe is {word}." for word in words), "Hello?", "Are you there?"):
            await talk.flow().answer(await talk.ask(text))
            knows_nothing(text)
        assert words[0] in model.requests[-1].text
        model.requests.clear()
        await chat.aclose()
    name_key(words[0])
    talk.embedder.questions.clear()
    return next(message.id for message in await talk.messages() if message.role == "user")


async def test_a_forgotten_message_is_held_by_no_cache(talk: Talk) -> None:
    """Neither as a message, nor as a line of a prompt, nor as a word: what keeps texts drops them all."""
    secret = "".join(reversed("euqinupenolyx"))
    said = await _told(talk, secret)
    assert holders_of(secret)

    await ForgettingService(talk.database, talk.clock, b"k" * 32, [talk.buffers]).erase_now(OWNER, "message", said)

    assert holders_of(secret) == []


async def test_a_process_drops_what_another_forgot(talk: Talk) -> None:
    """It learns of it from the change log."""
    secret = "".join(reversed("rehtonapenolyx"))
    said = await _told(talk, secret)
    here, there = (ForgettingService(talk.database, talk.clock, b"k" * 32, [talk.buffers]) for _ in range(2))
    await here.follow()
    await there.erase_now(OWNER, "message", said)
    name_key(secret)

    await here.follow()

    assert holders_of(secret) == []
