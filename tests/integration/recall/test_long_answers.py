"""A chat about a dozen topics with a real model, whose long answers touch on everything: each topic is found again.

The answers in tests/data/long_answers.yaml are those of Qwen2.5-0.5B-Instruct, as llama.cpp gave them.
"""

from __future__ import annotations

from datetime import timedelta

import pytest
import yaml
from support.flows.message_stage import Talk
from support.flows.recall_stage import OWNER, DirectNames
from support.paths import DATA

from internal.recall.prompt.passages import FOUND_CHARACTERS, NEIGHBOUR_CHARACTERS, PassageRecall
from internal.recall.search.knowledge import KnowledgeSearch
from internal.storage.database import Database

TOPICS = yaml.safe_load((DATA / "long_answers.yaml").read_text(encoding="utf-8"))
TENTH_LAST = TOPICS[-10]


@pytest.fixture
async def talk(database: Database) -> Talk:
    """A topic a day; asked for more, the model says the end of its answer once again."""
    talk = Talk.of(database)
    for topic in TOPICS:
        await talk.say(topic["said"], after=timedelta(days=1))
        await talk.reply(topic["answer"])
        await talk.say("Thank you, that helps. What else should I think of?")
        await talk.reply(topic["answer"][-600:])
    return talk


def test_the_answers_are_long() -> None:
    """Long enough to have several passages, and to hold words of other topics."""
    assert len(TOPICS) >= 12
    assert min(len(topic["answer"]) for topic in TOPICS) > NEIGHBOUR_CHARACTERS
    assert sum(len(topic["answer"]) > FOUND_CHARACTERS for topic in TOPICS) >= 8


async def test_the_tenth_last_topic_is_found(talk: Talk) -> None:
    """First, with the owner's own words, and so in the prompt: the answer beside it is shortened."""
    query = await talk.ask(TENTH_LAST["asked"])
    knowledge = KnowledgeSearch(talk.database, talk.clock, embedder=None, terms=talk.terms, names=DirectNames())
    reader = await PassageRecall(talk.search, knowledge).likely(OWNER, "Ann", query)
    passages = await talk.database.read(lambda c: reader.passages(c, reader.found(c), []))
    best = passages[0]
    assert best.matching_line.shown.text == TENTH_LAST["said"]
    [answer] = [line.shown.text for line in best.neighbours if line.shown.kind == "assistant"]
    assert answer[:-1].strip() in TENTH_LAST["answer"]
    for passage in passages:
        assert len(passage.matching_line.shown.text) <= FOUND_CHARACTERS + 1
        assert all(len(line.shown.text) <= NEIGHBOUR_CHARACTERS for line in passage.neighbours)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic["asked"])
async def test_every_topic_is_found(talk: Talk, topic: dict[str, str]) -> None:
    """Whatever was talked of since, and in each language."""
    assert topic["said"] in await talk.found(topic["asked"], 2)


async def test_an_answer_is_found_when_it_is_asked_for(talk: Talk) -> None:
    """Asked what it said itself, the bot finds its own words about that topic."""
    found = await talk.hits("What did you tell me about the grinding noise of the Skoda?", 3)
    assert any(hit.message.role == "assistant" and hit.message.content == TENTH_LAST["answer"] for hit in found)
