"""Typed memories in a turn: what the prompt holds, what the owner sees, what the use of a memory leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from support.flows.flow_stage import OWNER, Talk

from internal.dialogue import reply_source_repository
from internal.dialogue.model import ReplySource
from internal.errors import ModelUnavailable
from internal.graph import store
from internal.graph.model import Node
from internal.language.search import terms
from internal.language.search.terms import Word
from internal.memory import service
from internal.recall.prompt.memories import MemoryRecall
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


class Kept:
    """Memories of an owner, and recall over them."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        search = KnowledgeSearch(talk.database, talk.clock, embedder=TrigramEmbedder(), terms=DirectTerms(), names=None)
        talk.memories = MemoryRecall(talk.database, search)

    async def put(self, label: str, **properties: Any) -> str:
        now = self.talk.clock.now()
        return (await self.talk.write(lambda c: service.put_node(c, OWNER, label, properties, now=now))).id

    async def link(self, source: str, target: str, strength: float) -> str:
        given = (OWNER, "RELATES_TO", source, target, {"strength": strength})
        return (await self.talk.write(lambda c: service.put_edge(c, *given, now=self.talk.clock.now()))).id

    async def node(self, node_id: str) -> Node:
        node = await self.talk.read(lambda c: store.get_node(c, OWNER, node_id))
        assert node is not None
        return node

    async def accesses(self, *node_ids: str) -> list[int]:
        return [(await self.node(node_id)).access_count for node_id in node_ids]

    async def strength(self, edge_id: str) -> float:
        edge = await self.talk.read(lambda c: store.get_edge(c, OWNER, edge_id))
        assert edge is not None
        return float(edge.properties["strength"])


@pytest.fixture
async def kept(talk: Talk) -> Kept:
    return Kept(talk)


async def two_memories(kept: Kept) -> tuple[str, str, str]:
    """Two memories of the dacha, and the link between them."""
    bought = await kept.put("Memory", content="Дачу купили под Тверью")
    roof = await kept.put("Memory", content="На даче течёт крыша")
    return bought, roof, await kept.link(bought, roof, 0.5)


async def sources(talk: Talk) -> list[ReplySource]:
    reply = [message for message in await talk.messages() if message.role == "assistant"][-1]
    return await talk.read(lambda c: reply_source_repository.of_reply(c, OWNER, reply.id))


async def test_a_cited_memory_becomes_a_small_number_and_a_source(talk: Talk, kept: Kept) -> None:
    """The dialogue keeps the words alone, `/why` knows what was cited and what else was given."""
    bought, roof, _ = await two_memories(kept)
    turn = await talk.ask("Что с дачей?")
    talk.responder.script.append(["Там течёт крыша", "[M1]" if await _first(talk, kept) == roof else "[M2]", "."])
    await talk.flow().answer(turn)
    assert await talk.owed() == ["Там течёт крыша¹."]
    assert (await talk.messages())[-1].content == "Там течёт крыша."
    assert await sources(talk) == [ReplySource(1, "memory", roof, True), ReplySource(2, "memory", bought)]


async def test_cited_memories_are_used_and_the_link_between_them_grows(talk: Talk, kept: Kept) -> None:
    """Each access is counted, the pair is strengthened; answering the same turn again changes nothing."""
    bought, roof, link = await two_memories(kept)
    turn = await talk.ask("Что с дачей?")
    talk.responder.script.append(["Купили[M1], крыша течёт[M2]."])
    await talk.flow().answer(turn)
    await talk.flow().answer(turn)
    assert await kept.accesses(bought, roof) == [1, 1]
    assert await kept.strength(link) == pytest.approx(0.6, abs=1e-3)
    assert (await kept.node(bought)).last_accessed == talk.clock.now()


async def test_only_what_is_cited_counts_where_anything_is(talk: Talk, kept: Kept) -> None:
    """A memory that stood in the prompt and was not used is not used."""
    bought, roof, link = await two_memories(kept)
    first = await _first(talk, kept)
    await talk.exchange("Что с дачей?", "Вот что[M1].")
    assert await kept.accesses(first) == [1]
    assert sum(await kept.accesses(bought, roof)) == 1
    assert await kept.strength(link) == 0.5


async def test_without_a_citation_what_was_found_counts_and_what_came_along_does_not(talk: Talk, kept: Kept) -> None:
    """A link that brings a memory along does not strengthen itself by that."""
    bought = await kept.put("Memory", content="Дачу купили под Тверью")
    beside = await kept.put("Memory", content="Qqqq wwww")
    link = await kept.link(bought, beside, 0.5)
    await talk.exchange("Что с дачей?", "Купили.")
    assert await kept.accesses(bought, beside) == [1, 0]
    assert await kept.strength(link) == 0.5
    await talk.exchange("Что с дачей?", "Купили[M1], и вот ещё[M2].")
    assert await kept.accesses(bought, beside) == [2, 1]
    assert await kept.strength(link) == pytest.approx(0.6, abs=1e-3)


async def test_a_turn_that_failed_used_nothing(talk: Talk, kept: Kept) -> None:
    """Nothing is touched before the answer is kept."""
    bought, roof, _ = await two_memories(kept)
    turn = await talk.ask("Что с дачей?")
    talk.responder.always = (ModelUnavailable("down"),)
    await talk.flow().answer(turn)
    assert await kept.accesses(bought, roof) == [0, 0]


async def _first(talk: Talk, kept: Kept) -> str:
    """Which memory the prompt will show first."""
    assert talk.memories is not None
    [embedding] = await TrigramEmbedder().embed_queries(["Что с дачей?"])
    return (await talk.memories.for_question(OWNER, "Что с дачей?", embedding))[0].node_id
