"""Pictures in the OpenAI wire format, and servers whose models do not see."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from support.agents.model_servers import ask

from internal.errors import ModelRefused
from internal.llm import openai
from internal.llm.model import ChatMessage, ChatRequest
from internal.llm.openai import OpenAIChat
from internal.testing import Fault, ScriptedModel

PICTURE = "data:image/jpeg;base64,/9j/"
LOOK = replace(ask(), messages=[ChatMessage("user", "Що це?", pictures=[PICTURE])])


@pytest.fixture
async def server() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel() as model:
        model.always("m", "Кіт.")
        yield model


@pytest.fixture
async def chat(server: ScriptedModel) -> AsyncIterator[OpenAIChat]:
    chat = OpenAIChat(server.url)
    yield chat
    await chat.aclose()


async def streamed(chat: OpenAIChat, request: ChatRequest) -> str:
    return "".join([delta.text async for delta in chat.stream(request)])


async def test_pictures_stand_in_the_users_message(server: ScriptedModel, chat: OpenAIChat) -> None:
    """They follow the words as image_url parts, streamed or not."""
    assert await streamed(chat, LOOK) == (await chat.complete(LOOK)).text == "Кіт."
    for asked in server.requests:
        picture = {"type": "image_url", "image_url": {"url": PICTURE}}
        assert asked.body["messages"] == [{"role": "user", "content": [{"type": "text", "text": "Що це?"}, picture]}]


@pytest.mark.parametrize("fault", [Fault("status", 400), Fault("status", 413)])
async def test_a_refusal_is_remembered_for_an_hour(
    server: ScriptedModel, chat: OpenAIChat, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that takes none is asked without, at once the next time, and offered them again later."""
    server.forget()
    server.script("m", fault)
    server.always("m", "Не бачу.")
    assert await streamed(chat, LOOK) == await streamed(chat, LOOK) == "Не бачу."
    assert [len(asked.pictures) for asked in server.requests] == [1, 0, 0]
    monkeypatch.setattr(openai, "REFUSED_S", 0.0)
    server.refused_formats = {"pictures"}
    other = replace(LOOK, model="n")
    server.always("n", "Не бачу.")
    for _ in range(2):
        await chat.complete(other)
    assert [len(asked.pictures) for asked in server.asked("n")] == [1, 0, 1, 0]


async def test_who_needs_to_see_is_not_asked_blind(server: ScriptedModel, chat: OpenAIChat) -> None:
    """A description is not asked of a model that takes no pictures: it would make one up."""
    server.refused_formats = {"pictures"}
    for _ in range(2):
        with pytest.raises(ModelRefused):
            await chat.complete(replace(LOOK, needs_pictures=True))
    assert [len(asked.pictures) for asked in server.requests] == [1]
