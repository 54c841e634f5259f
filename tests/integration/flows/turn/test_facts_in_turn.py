"""Facts in a turn: what the prompt holds, what the owner sees, what is kept of it, and questions about another time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Connection
from support.flows.flow_stage import OTHER, OWNER, Talk

from internal.agents.model import RecalledFact
from internal.config.settings import PersonaConfig
from internal.dialogue import reply_source_repository
from internal.dialogue.model import Message, ReplySource
from internal.errors import ModelUnavailable
from internal.flows.turn import instructions as keep
from internal.flows.turn.as_of import AsOfQuestions
from internal.graph import store
from internal.knowledge import service
from internal.knowledge.claims.changes import ClaimLine, NewClaim
from internal.language.search import terms
from internal.language.search.terms import Word
from internal.llm.tokens import count_tokens
from internal.people import repository as people
from internal.people.model import Circle, Person
from internal.recall.prompt.facts import MAX_FACTS, MAX_TOKENS, FactRecall
from internal.recall.search.knowledge import KnowledgeSearch
from internal.testing.vectors import TrigramEmbedder


class DirectTerms:
    """The term tools called in this process."""

    async def document_terms(self, texts: Sequence[str], *, urgent: bool = False) -> list[str]:
        return terms.document_terms(texts)

    async def query_terms(self, text: str) -> list[Word]:
        return terms.query_terms(text)

    async def in_cyrillic(self, text: str) -> str:
        return text


class Told:
    """Facts of an owner, and recall over them."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.count = 0
        search = KnowledgeSearch(talk.database, talk.clock, embedder=TrigramEmbedder(), terms=DirectTerms(), names=None)
        self.recall = talk.facts = FactRecall(talk.database, search)

    async def node(self, name: str, user_id: int = OWNER) -> str:
        properties = {"name": name, "type": "concept"}
        node = await self.talk.write(
            lambda c: store.add_node(c, user_id, "Entity", properties, now=self.talk.clock.now())
        )
        return node.id

    async def fact(
        self, source: str, relation: str, target: str, text: str, valid_at: datetime | None = None, user_id: int = OWNER
    ) -> str:
        self.count += 1
        claim = NewClaim(
            source=source,
            relation=relation,
            target=target,
            fact=text,
            said_at=self.talk.clock.now(),
            valid_at=valid_at,
            valid_stated=valid_at is not None,
            episode_id=f"e{self.count}",
            lines=[ClaimLine(1, text)],
        )

        def record(connection: Connection) -> str:
            [fact_id] = service.record_claims(connection, user_id, [claim], now=self.talk.clock.now()).facts
            assert fact_id is not None
            return fact_id

        return await self.talk.write(record)


@pytest.fixture
async def told(talk: Talk) -> Told:
    await talk.user()
    return Told(talk)


async def two_facts(told: Told) -> tuple[str, str]:
    """Two facts about one person, beside others."""
    await told.fact(await told.node("Кот"), "IS", await told.node("рыжий"), "Кот рыжий")
    petrov, acme, nuts = await told.node("Петров"), await told.node("ACME"), await told.node("орехи")
    works = await told.fact(petrov, "WORKS_FOR", acme, "Петров работает в ACME")
    allergy = await told.fact(petrov, "ALLERGIC_TO", nuts, "У Петрова аллергия на орехи")
    return works, allergy


async def sources(talk: Talk) -> list[ReplySource]:
    reply = [message for message in await talk.messages() if message.role == "assistant"][-1]
    return await talk.read(lambda c: reply_source_repository.of_reply(c, OWNER, reply.id))


async def test_the_prompt_holds_the_facts_of_the_question(talk: Talk, told: Told) -> None:
    """Numbered, with what is known of them; facts of other owners and other things are not among them."""
    works, allergy = await two_facts(told)
    stranger, firm = await told.node("Петров", OTHER), await told.node("Завод", OTHER)
    await told.fact(stranger, "WORKS_FOR", firm, "Петров работает на заводе", user_id=OTHER)
    turn = await talk.ask("Где работает Петров?")
    await talk.flow().answer(turn)
    [request] = talk.responder.asked
    assert [(fact.n, fact.text) for fact in request.facts] == [
        (1, "Петров работает в ACME"),
        (2, "У Петрова аллергия на орехи"),
    ]
    first = request.facts[0]
    assert (first.fact_id, first.relation, first.source, first.target) == (works, "WORKS_FOR", "Петров", "ACME")
    assert first.said_at is not None
    assert request.facts[1].fact_id == allergy


async def test_citations_become_small_numbers_and_are_kept_beside_the_reply(talk: Talk, told: Told) -> None:
    """The owner sees ¹, the dialogue keeps the words alone, and the sources say what ¹ was and what else was shown."""
    works, allergy = await two_facts(told)
    await talk.write(lambda c: people.create(c, _mum(), by="owner", now=talk.clock.now()))
    turn = await talk.ask("Где работает Петров?")
    talk.responder.script.append(["У него аллергия", "[F2]", ", а работает он в ACME", "[F1]", "."])
    await talk.flow().answer(turn)
    assert await talk.owed() == ["У него аллергия¹, а работает он в ACME²."]
    assert talk.drafts.shown[-1] == "У него аллергия¹, а работает он в ACME²."
    assert (await talk.messages())[-1].content == "У него аллергия, а работает он в ACME."
    found = await sources(talk)
    assert found[:2] == [ReplySource(1, "fact", allergy, True), ReplySource(2, "fact", works, True)]
    assert [(one.n, one.kind, one.cited) for one in found[2:]] == [(3, "person", False)]


async def test_the_next_prompt_holds_no_citation_of_the_last_reply(talk: Talk, told: Told) -> None:
    """A number of an earlier question cannot be read as one of the next."""
    await two_facts(told)
    await talk.exchange("Где работает Петров?", "В ACME[F1].")
    await talk.exchange("А что ему нельзя есть?", "Орехи[F1].")
    earlier = talk.responder.asked[-1].dialogue
    assert [line.text for line in earlier] == ["Где работает Петров?", "В ACME.", "А что ему нельзя есть?"]


async def test_a_reply_without_citations_still_tells_what_it_saw(talk: Talk, told: Told) -> None:
    """`/why` can show what was known, cited or not."""
    works, _ = await two_facts(told)
    await talk.exchange("Где работает Петров?", "Не знаю.")
    found = await sources(talk)
    assert found[0] == ReplySource(1, "fact", works)
    assert not any(source.cited for source in found)


async def test_facts_of_one_prompt_have_a_budget(talk: Talk, told: Told) -> None:
    """At most twenty of them, and long ones leave no more room than there is."""
    petrov = await told.node("Петров")
    for number in range(30):
        await told.fact(petrov, f"LIKES_{number}", await told.node(f"вещь {number}"), f"Петров любит вещь {number}")
    found = await told.recall.for_question(OWNER, "что любит Петров", None)
    short = await told.recall.with_people(OWNER, found, [petrov])
    assert len(short) == MAX_FACTS
    assert [fact.n for fact in short] == list(range(1, MAX_FACTS + 1))
    assert len({fact.fact_id for fact in short}) == MAX_FACTS
    for number in range(5):
        text = f"Петров любит список {number}: " + "слово " * 200
        await told.fact(petrov, f"LISTS_{number}", await told.node(f"список {number}"), text)
    found = await told.recall.for_question(OWNER, "какой список любит Петров", None)
    long = await told.recall.with_people(OWNER, found, [])
    assert 0 < sum(count_tokens(fact.text) for fact in long) <= MAX_TOKENS


async def test_people_who_are_picked_bring_their_facts(talk: Talk, told: Told) -> None:
    """What is known about them follows what answers the question, though nobody named them."""
    works, _ = await two_facts(told)
    katya, kyiv = await told.node("Катя"), await told.node("Київ")
    home = await told.fact(katya, "LIVES_IN", kyiv, "Катя живе у Києві")
    found = await told.recall.for_question(OWNER, "Где работает Петров?", None)
    assert home not in [one.id for one in found.relevant]
    given = await told.recall.with_people(OWNER, found, [katya])
    assert (given[0].fact_id, given[-1].fact_id) == (works, home)


async def test_a_question_about_another_time(talk: Talk, told: Told) -> None:
    """It is answered from what held then, as if it were asked then, and leaves no trace in the dialogue."""
    petrov, bank, acme = [await told.node(name) for name in ("Петров", "Аваль", "ACME")]
    year = datetime(2020, 1, 1, tzinfo=UTC)
    await told.fact(petrov, "WORKS_FOR", bank, "Петров работает в банке Аваль", year)
    await told.fact(petrov, "WORKS_FOR", acme, "Петров перешёл в ACME", year + timedelta(days=1500))
    instruction = Message(OWNER, 1, "m1", "user", "Всегда отвечай коротко", talk.clock.now())
    past = AsOfQuestions(talk.database, told.recall, talk.responder, PersonaConfig())
    then = year + timedelta(days=100)
    await talk.write(lambda c: keep.keep(c, instruction, talk.clock.now()))
    talk.responder.script.append(["Коротко [I1]: тогда в Авале[F1]."])
    answer = await past.answer(OWNER, "Где работает Петров?", then)
    assert answer.text == "Коротко: тогда в Авале¹."
    assert [fact.text for fact in answer.facts] == ["Петров работает в банке Аваль"]
    [request] = talk.responder.asked
    assert request.now == then
    assert [one.text for one in request.instructions] == ["Всегда отвечай коротко"]
    assert await talk.messages() == []
    talk.responder.script.append([ModelUnavailable("down")])
    failed = await past.answer(OWNER, "Где работает Петров?", then)
    assert (failed.text, [fact.n for fact in failed.facts]) == (None, [1])
    talk.responder.script.append(["В Авале[F1], потом в ACME[F2]."])
    period = await past.answer(OWNER, "Петров: Аваль или ACME?", then, until=year + timedelta(days=1600))
    assert sorted(fact.text for fact in period.facts) == ["Петров перешёл в ACME", "Петров работает в банке Аваль"]
    assert talk.responder.asked[-1].now == year + timedelta(days=1600, microseconds=-1)
    nothing = await past.answer(OWNER, "Где работает Петров?", year - timedelta(days=1))
    assert (nothing.text, list(nothing.facts)) == (None, [])
    assert isinstance(answer.facts[0], RecalledFact)


def _mum() -> Person:
    noon = datetime(2026, 2, 7, 12, tzinfo=UTC)
    return Person(0, OWNER, "mum", "Мама", Circle.FAMILY, "врач", noon, noon)
