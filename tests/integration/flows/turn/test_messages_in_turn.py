"""Earlier messages in a turn: which stand in the prompt, with what beside them, and what their citations show."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from support.flows.flow_stage import OTHER, OWNER, Talk

from internal.agents.model import RecalledPassage
from internal.agents.responder.agent import ModelResponder
from internal.config.agents import ResponderConfig
from internal.dialogue import reply_source_repository
from internal.dialogue.model import ForwardOrigin, ReplySource
from internal.flows.archival.ingestion import add_episode
from internal.flows.forgetting import requests
from internal.flows.forgetting.requests import ForgettingService
from internal.flows.turn import explain
from internal.graph import store
from internal.knowledge import service
from internal.knowledge.claims.changes import ClaimLine, NewClaim
from internal.knowledge.model import Segment
from internal.language.search import terms
from internal.language.search.terms import Word
from internal.llm.openai import OpenAIChat
from internal.llm.tokens import count_tokens
from internal.recall.messages.search import MessageSearch
from internal.recall.prompt.context import RecallLimits
from internal.recall.prompt.facts import FactRecall
from internal.recall.prompt.passages import FOUND_CHARACTERS, MAX_PASSAGES, PassageRecall
from internal.recall.search.knowledge import KnowledgeSearch
from internal.testing import ScriptedModel
from internal.testing.vectors import TrigramEmbedder

HOUR = 3600
DAY = 24 * HOUR
LONG = "ммм " * 150
LONG_STORY = "а ещё сегодня было много всего другого, о чём рассказывать долго и незачем"


class DirectTerms:
    """The term tools called in this process."""

    async def document_terms(self, texts: Sequence[str], *, urgent: bool = False) -> list[str]:
        return terms.document_terms(texts)

    async def query_terms(self, text: str) -> list[Word]:
        return terms.query_terms(text)

    async def in_cyrillic(self, text: str) -> str:
        return text


async def test_what_the_model_searches_for_can_be_cited(talk: Talk) -> None:
    """Under the number that it was given; the answer keeps its source."""
    past = Past(talk)
    await past.told("The tickets to Lviv are in the blue folder", LONG)
    async with ScriptedModel() as model:
        chat = OpenAIChat(model.url)
        talk.writer = ModelResponder(chat, ResponderConfig(model="talk"))
        search = {"name": "search_history", "arguments": {"query": "Where are the tickets to Lviv?"}}
        model.script("talk", {"tool_calls": [search]}, "In the blue folder [S1].")
        await talk.flow().answer(await talk.ask("Hm?"))
        await chat.aclose()
    assert "[S1]" in model.requests[-1].messages[-1]["content"]
    answer = (await talk.messages())[-1]
    assert answer.content == "In the blue folder."
    sources = await talk.read(lambda c: reply_source_repository.of_reply(c, OWNER, answer.id))
    found = await past.message_id("The tickets to Lviv are in the blue folder")
    assert [(one.kind, one.ref_id) for one in sources if one.cited] == [("message", found)]


class Past:
    """An owner's log, and recall over it. Only the question itself is in the prompt's dialogue."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        talk.history_tokens, self.between = 100, True
        embedder, found_by = TrigramEmbedder(), DirectTerms()
        search = KnowledgeSearch(talk.database, talk.clock, embedder=embedder, terms=found_by, names=None)
        talk.facts = FactRecall(talk.database, search)
        messages = MessageSearch(talk.database, talk.clock, embedder=embedder, terms=found_by, names=None)
        talk.passages = PassageRecall(messages, search)

    async def told(self, *texts: str, later: float = DAY) -> None:
        """Messages of one conversation that lies so long back."""
        for text in texts:
            await self.talk.say(text)
            self.talk.clock.advance(60)
        self.talk.clock.advance(later)

    async def asked(self, question: str) -> Sequence[RecalledPassage]:
        """The passages of the prompt for a question; something long in between fills the dialogue it shows."""
        if self.between:
            await self.told(LONG)
        await self.talk.flow().answer(await self.talk.ask(question))
        return self.talk.responder.asked[-1].passages

    async def texts(self, question: str) -> list[list[str]]:
        return [[line.text for line in passage.lines] for passage in await self.asked(question)]

    async def message_id(self, text: str) -> str:
        return next(one.id for one in await self.talk.messages() if one.content == text)

    async def node(self, name: str) -> str:
        given, now = {"name": name, "type": "concept"}, self.talk.clock.now()
        return (await self.talk.write(lambda c: store.add_node(c, OWNER, "Entity", given, now=now))).id

    async def sources(self) -> list[ReplySource]:
        reply = [message for message in await self.talk.messages() if message.role == "assistant"][-1]
        return await self.talk.read(lambda c: reply_source_repository.of_reply(c, OWNER, reply.id))


@pytest.fixture
async def past(talk: Talk) -> Past:
    await talk.user()
    return Past(talk)


async def test_a_message_comes_with_its_neighbours(past: Past) -> None:
    """One before and one after, in order; not what was said on another day, nor what another owner said."""
    await past.told("Погода наладилась")
    await past.told("Был сегодня на вокзале", "Поезд в Одессу уходит в шесть утра", "Билет стоил дорого", "Хочу спать")
    await past.told("Кот опять болеет")
    await past.talk.say("Поезд в Одессу уходит вечером", user_id=OTHER)
    [passage] = [one for one in await past.asked("Когда уходит поезд в Одессу?") if "вокзале" in one.text]
    assert [line.text for line in passage.lines][:3] == [
        "Был сегодня на вокзале",
        "Поезд в Одессу уходит в шесть утра",
        "Билет стоил дорого",
    ]
    assert passage.lines[1].found
    assert "Погода наладилась" not in passage.text
    assert "Кот опять болеет" not in passage.text
    assert (passage.n, passage.kind) == (1, "message")
    assert passage.ref_id == await past.message_id("Поезд в Одессу уходит в шесть утра")
    assert passage.lines[0].at < passage.lines[1].at < passage.lines[2].at


async def test_lines_that_stand_together_are_one_passage(past: Past) -> None:
    """Two hits beside each other bring no line twice."""
    await past.told("Поезд в Одессу уходит в шесть", "Поезд из Одессы приходит в полночь", later=DAY)
    passages = await past.asked("Когда уходит поезд в Одессу и приходит поезд из Одессы?")
    texts = [line.text for passage in passages for line in passage.lines]
    assert sorted(texts) == sorted(set(texts))
    assert texts == ["Поезд в Одессу уходит в шесть", "Поезд из Одессы приходит в полночь"]


async def test_what_the_dialogue_shows_is_not_shown_twice(past: Past) -> None:
    """Messages that stand in the prompt anyway are no passages, and neither is the question itself."""
    await past.told("Поезд в Одессу уходит в шесть", later=HOUR)
    past.between = False
    assert await past.asked("Когда уходит поезд в Одессу?") == []
    past.between = True
    passages = await past.asked("Во сколько уходит поезд в Одессу?")
    assert await past.message_id("Поезд в Одессу уходит в шесть") in [one.ref_id for one in passages]


async def test_of_a_page_the_passage_that_answers_is_shown(past: Past) -> None:
    """Not what stands around the first word of the question, and not the whole."""
    filler = "Проверьте погоду, соберите вещи и возьмите билеты заранее. "
    page = "Про дачу есть памятка. " + filler * 40 + "Счётчик на даче стоит в подвале за котлом. " + filler * 40
    await past.told(page)
    [passage] = await past.asked("Где на даче счётчик?")
    [line] = passage.lines
    assert "в подвале за котлом" in line.text
    assert len(line.text) <= FOUND_CHARACTERS + 1


async def test_who_said_it_is_told(past: Past) -> None:
    """A forward is its author's, an answer the assistant's own."""
    forward = ForwardOrigin("hidden_user", "Маша Иванова")
    await past.talk.say("Поезд в Одессу уходит в шесть", forward=forward)
    past.talk.clock.advance(DAY)
    await past.talk.exchange("Спроси меня про рояль", "Рояль в Одессе стоит у тёти Вали")
    past.talk.clock.advance(DAY)
    lines = [line for one in await past.asked("Когда уходит поезд в Одессу?") for line in one.lines if line.found]
    assert ("Маша Иванова", "other") in [(line.speaker, line.kind) for line in lines]
    lines = [line for one in await past.asked("Где стоит рояль?") for line in one.lines]
    assert "assistant" in [line.kind for line in lines if "тёти" in line.text]


async def test_citations_of_messages_are_told_as_sources(past: Past) -> None:
    """The owner sees ¹; /why shows the words; once the message is forgotten the answer names it no more."""
    talk = past.talk
    await talk.exchange("Поезд в Одессу уходит в шесть")
    talk.clock.advance(DAY)
    said = await past.message_id("Поезд в Одессу уходит в шесть")
    talk.responder.script.append(["Ты писал, что в шесть", "[S1]", "."])
    await past.asked("Когда уходит поезд в Одессу?")
    assert await talk.owed() == ["Ты писал, что в шесть¹."]
    assert (await past.sources())[0] == ReplySource(1, "message", said, True)
    reply = [message for message in await talk.messages() if message.role == "assistant"][-1]
    now = talk.clock.now()
    shown = await talk.read(lambda c: explain.explain(c, OWNER, reply.id, now=now))
    assert [one.content for one in shown.cited if one is not None] == ["Поезд в Одессу уходит в шесть"]  # type: ignore[union-attr]
    await talk.write(lambda c: requests.ask(c, OWNER, "message", said, now=now))
    hidden = await talk.read(lambda c: explain.explain(c, OWNER, reply.id, now=now))
    assert hidden.cited == [None]
    await ForgettingService(talk.database, talk.clock, b"key").erase_now(OWNER, "message", said)
    assert not [one for one in await past.sources() if one.ref_id == said]


async def test_what_is_about_to_be_forgotten_stands_nowhere(past: Past) -> None:
    """Neither as what was found nor beside it."""
    await past.told("Поезд в Одессу уходит в шесть", "Мой тайный шифр от сейфа")
    shy, now = await past.message_id("Мой тайный шифр от сейфа"), past.talk.clock.now()
    await past.talk.write(lambda c: requests.ask(c, OWNER, "message", shy, now=now))
    assert ["Поезд в Одессу уходит в шесть"] in (texts := await past.texts("Когда уходит поезд в Одессу?"))
    assert "Мой тайный шифр от сейфа" not in str(texts)


async def test_the_fact_stands_for_its_message(past: Past) -> None:
    """What was drawn from a message says the same in fewer words: it counts once, as the fact."""
    talk = past.talk
    await past.told("Петров теперь работает в ACME")
    said = await past.message_id("Петров теперь работает в ACME")
    now = talk.clock.now()
    petrov, acme = await past.node("Петров"), await past.node("ACME")
    line = ClaimLine(1, "Петров теперь работает в ACME", said)
    claim = NewClaim(petrov, "WORKS_FOR", acme, "Петров работает в ACME", said_at=now, episode_id="e1", lines=[line])
    await talk.write(lambda c: service.record_claims(c, OWNER, [claim], now=now))
    await past.told("Видел Петрова возле ACME, он передавал привет")
    passages = await past.asked("Где работает Петров?")
    assert [fact.text for fact in talk.responder.asked[-1].facts] == ["Петров работает в ACME"]
    found = [line.text for passage in passages for line in passage.lines if line.found]
    assert "Петров теперь работает в ACME" not in found


async def test_a_prompt_has_one_budget(past: Past) -> None:
    """However much was said of it, and never more than a dozen passages."""
    for number in range(20):
        await past.told(f"Поезд номер {number} уходит " + "очень рано " * (number * 5))
    passages = await past.asked("Какой поезд уходит рано?")
    assert 0 < len(passages) <= MAX_PASSAGES
    assert sum(count_tokens(passage.text) for passage in passages) <= RecallLimits().tokens


async def test_an_import_is_told_by_the_line_that_fits(past: Past) -> None:
    """What came by REST or from a file was never a message: its own lines stand in the prompt."""
    talk = past.talk
    day = datetime(2025, 5, 3, tzinfo=UTC)
    told = ["Утром шёл дождь.", "Поезд в Одессу ушёл без меня.", "Потом я спал."]
    segments = [Segment(n=n, at=day, text=text, message_id=None) for n, text in enumerate(told, start=1)]
    await talk.write(
        lambda c: add_episode(
            c,
            OWNER,
            source="text",
            name="дневник",
            segments=segments,
            source_description="",
            source_url=None,
            reference_time=day,
            dedupe=None,
            agents=(),
            now=talk.clock.now(),
        )
    )
    passages = await past.asked("Почему поезд в Одессу ушёл без меня?")
    [diary] = [one for one in passages if one.kind == "episode"]
    assert [line.text for line in diary.lines] == told
    assert [line.text for line in diary.lines if line.found] == ["Поезд в Одессу ушёл без меня."]


async def test_what_is_outdated_stands_behind_what_took_its_place(past: Past) -> None:
    """A message whose fact has ended says since when, and never comes before the fact or message that replaced it."""
    talk = past.talk
    old, new = "Живу в Киеве, на Подоле, " + LONG_STORY, "Живу теперь в Одессе, у моря, " + LONG_STORY
    await past.told(old)
    await past.told(new)
    olya, kyiv, odesa = await past.node("Оля"), await past.node("Киев"), await past.node("Одесса")
    claims = []
    for text, city, words in ((old, kyiv, "Оля живёт в Киеве"), (new, odesa, "Оля живёт в Одессе")):
        message = next(one for one in await talk.messages() if one.content == text)
        at, line = message.timestamp, ClaimLine(1, text, message.id)
        told = NewClaim(olya, "LIVES_IN", city, words, said_at=at, valid_at=at, episode_id=message.id, lines=[line])
        claims.append(told)
    await talk.write(lambda c: service.record_claims(c, OWNER, claims, now=talk.clock.now()))
    passages = await past.asked("Живу в Киеве, на Подоле, или теперь у моря?")
    found = [line for passage in passages for line in passage.lines if line.found]
    ended = next(one for one in await talk.messages() if one.content == new).timestamp
    assert [(line.text[:13], line.outdated) for line in found if line.text in (old, new)] == [
        ("Живу теперь в", None),
        ("Живу в Киеве,", ended),
    ]


async def test_a_fact_brings_the_message_that_says_more(past: Past) -> None:
    """Though no word of the question stands in it; not one that says no more, nor one about to be forgotten."""
    talk = past.talk
    long, short = "Встретил его у входа, он теперь в охране, и собака с ним, " + LONG_STORY, "Да, он там"
    shy = "И ещё он по секрету показал мне склад, про это никому, " + LONG_STORY
    await past.told(long, short, shy)
    petrov, acme, rex = [await past.node(name) for name in ("Петров", "ACME", "Рекс")]
    told = ((long, "WORKS_FOR", acme, "Петров работает в ACME"), (short, "GUARDS", acme, "Петров охраняет ACME"))
    claims = []
    for text, relation, target, words in (*told, (shy, "OWNS", rex, "Петров держит пса Рекса")):
        line = ClaimLine(1, text, await past.message_id(text))
        claims.append(
            NewClaim(petrov, relation, target, words, said_at=talk.clock.now(), episode_id="e1", lines=[line])
        )
    await talk.write(lambda c: service.record_claims(c, OWNER, claims, now=talk.clock.now()))
    secret = await past.message_id(shy)
    await talk.write(lambda c: requests.ask(c, OWNER, "message", secret, now=talk.clock.now()))
    for number in range(30):
        await past.told(f"Опять смотрел кино номер {number}, так себе")
    passages = await past.asked("Где работает Петров?")
    found = [line.text for passage in passages for line in passage.lines if line.found]
    assert long in found
    assert not {short, shy} & set(found)
