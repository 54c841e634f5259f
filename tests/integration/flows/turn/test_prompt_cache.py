"""A talk on a server that charges less for what it read before: each prompt begins as the one before it did."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

import pytest_asyncio
from sqlalchemy import Connection
from support.flows.flow_stage import OWNER, Talk

from internal.agents.responder.agent import ModelResponder
from internal.config.agents import ResponderConfig
from internal.llm.openai import OpenAIChat
from internal.people import repository, service
from internal.people.service import TelegramAccount
from internal.testing import FIRST_MOMENT, ScriptedModel

TURNS = 10
SAID = "Today we looked at another flat near the river, and Petrov said that its roof will have to be mended, number"
ANSWER = "That sounds like a place to think about. What did the others say about the price, and when do you look again?"


@pytest_asyncio.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel() as server:
        yield server


def _add_family(connection: Connection) -> None:
    for number, name in enumerate(("Maria Petrova", "Ivan Petrov"), start=31):
        sender = TelegramAccount(number, name)
        known = service.from_metadata(connection, OWNER, sender, seen_at=FIRST_MOMENT, now=FIRST_MOMENT)
        service.edit(connection, OWNER, known.id, {"circle": "Family"}, now=FIRST_MOMENT)


def _mention_one(connection: Connection, n: int) -> None:
    """What the archivist does between two questions; sometimes one is mentioned more often, sometimes the other."""
    known = repository.listing(connection, OWNER)
    person = known[n // 2 % 2]
    service.note_mentions(connection, OWNER, f"fragment {n}", {person.id: [FIRST_MOMENT]}, now=FIRST_MOMENT)


async def test_most_of_ten_turns_was_read_before(talk: Talk, model: ScriptedModel) -> None:
    """Only what is new since the last question is read anew: it, the answer before it, and what was recalled."""
    chat = OpenAIChat(model.url)
    talk.writer = ModelResponder(chat, ResponderConfig(model="talk"))
    model.always("talk", ANSWER)
    await talk.write(_add_family)
    for n in range(TURNS):
        await talk.write(partial(_mention_one, n=n))
        await talk.exchange(f"{SAID} {n}.")
    await chat.aclose()
    cached = sum(usage["prompt_tokens_details"]["cached_tokens"] for usage in model.usages)
    share = cached / sum(usage["prompt_tokens"] for usage in model.usages)
    systems = [asked.system for asked in model.requests]
    assert len(set(systems)) == 1
    assert "<inner_circle>" in systems[0]
    assert share > 0.8
