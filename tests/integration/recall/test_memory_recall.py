"""Typed memories for a question: by words, meaning, names and kind, with associations, and never what is hidden."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection
from support.flows.fact_search_stage import Known
from support.flows.recall_stage import DIMENSIONS, NOON, OWNER, STRANGER

from bot.web.admin.recall import Recalled
from internal.agents.model import RecalledMemory
from internal.dialogue import repository as dialogue
from internal.flows.forgetting import requests
from internal.knowledge import episode_repository as episodes
from internal.knowledge.model import Episode, EpisodeSource, Segment
from internal.llm.tokens import count_tokens
from internal.memory import service
from internal.recall.messages.search import MessageSearch
from internal.recall.prompt.memories import MAX_MEMORIES, MAX_TOKENS, MIN_STRENGTH, MemoryRecall
from internal.recall.prompt.overview import Overview, OverviewSearch, PeopleFinder
from internal.recall.search.people import PeopleSearch
from internal.storage import search_items
from internal.storage.database import Database
from internal.storage.forgetting import hidings
from internal.testing.vectors import TrigramEmbedder


class Mind:
    """One owner's memories, and recall over them."""

    def __init__(self, database: Database, associations: int = 3) -> None:
        self.known = Known(database, TrigramEmbedder(DIMENSIONS))
        self.database = database
        self.search = self.known.search(embedder=self.known.embedder)
        self.recall = MemoryRecall(database, self.search, associations)
        self.messages = MessageSearch(database, self.known.clock, embedder=self.known.embedder, terms=None, names=None)

    async def put(self, label: str, user_id: int = OWNER, **properties: Any) -> str:
        now = self.known.clock.now()
        return (await self.database.write(lambda c: service.put_node(c, user_id, label, properties, now=now))).id

    async def memory(self, content: str, **properties: Any) -> str:
        return await self.put("Memory", content=content, **properties)

    async def link(self, type: str, source: str, target: str, **properties: Any) -> str:
        now = self.known.clock.now()
        edge = await self.database.write(
            lambda c: service.put_edge(c, OWNER, type, source, target, properties, now=now)
        )
        return edge.id

    async def asked(self, question: str, user_id: int = OWNER) -> list[RecalledMemory]:
        [embedding] = await self.known.embedder.embed_queries([question])
        return await self.recall.for_question(user_id, question, embedding)

    async def everything(self, question: str) -> Overview:
        people = PeopleFinder(self.database, PeopleSearch(self.database, self.known.embedder), self.search)
        return await OverviewSearch(self.database, people, self.search, self.recall, self.messages).recall(
            OWNER, question, 5
        )

    async def texts(self, question: str, user_id: int = OWNER) -> list[str]:
        return [one.text for one in await self.asked(question, user_id)]


@pytest.fixture
def mind(database: Database) -> Mind:
    return Mind(database)


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("Купили дачу под Тверью", "Что с дачей?"),
        ("Оля переїхала до Львова заради нової роботи", "Навіщо ми переїхали у Львів?"),
        ("The old bicycle was stolen from the cellar", "Where is my bicycle?"),
    ],
)
async def test_a_memory_is_found_by_its_words(mind: Mind, told: str, question: str) -> None:
    """Over declension, right after it was written, and nothing else comes with it."""
    await mind.memory("Zzzz yyyy")
    await mind.memory(told)
    assert await mind.texts(question) == [told]


async def test_each_kind_is_found_by_its_name(mind: Mind) -> None:
    """ "What are my goals?" shares no word with a goal; status, date and deadline come along."""
    goal = await mind.put("Goal", description="выучить испанский", targetDate="2026-12-31T00:00:00+00:00")
    await mind.put("Decision", description="продать машину", rationale="дорогой бензин")
    await mind.put("Preference", preference="созвоны по утрам", category="работа", strength=-0.9)
    await mind.put("Question", text="Стоит ли менять работу?")
    found = {
        question: await mind.asked(question) for question in ("Какие у меня цели?", "Що я вирішив?", "What do I like?")
    }
    assert found["Какие у меня цели?"] == [
        RecalledMemory(1, goal, "Goal", "выучить испанский", "active", NOON, datetime(2026, 12, 31, tzinfo=UTC))
    ]
    assert [one.text for one in found["Що я вирішив?"]] == ["продать машину; дорогой бензин"]
    assert [(one.text, one.status) for one in found["What do I like?"]] == [("работа: созвоны по утрам", "disliked")]


async def test_a_kind_about_something_leaves_out_the_others(mind: Mind) -> None:
    """ "What did I decide about the car?" is not answered by every decision."""
    await mind.put("Decision", description="продать машину")
    await mind.put("Decision", description="завести собаку")
    assert await mind.texts("Что я решил насчёт машины?") == ["продать машину"]


async def test_a_memory_is_found_by_whom_it_mentions(mind: Mind) -> None:
    """A name in the question finds what mentions that entity, though the text says it otherwise."""
    node = await mind.known.node("Олена Коваль", type="person")
    about = await mind.memory("Сестра обіцяла привезти ключі")
    await mind.link("MENTIONS", about, node)
    await mind.memory("Кіт знову втік")
    await mind.known.follow()
    assert await mind.texts("Коли приїде Олена?") == ["Сестра обіцяла привезти ключі"]


async def test_strong_neighbours_come_along(mind: Mind) -> None:
    """Whichever way the link leads, strongest first, at most as many as configured; weak ones stay away."""
    dacha = await mind.memory("Купили дачу под Тверью")
    strong, other, weak = [await mind.memory(text) for text in ("Крыша течёт", "Qqqq wwww", "Rrrr tttt")]
    await mind.link("RELATES_TO", dacha, other, strength=MIN_STRENGTH)
    await mind.link("RELATES_TO", strong, dacha, strength=0.9)
    await mind.link("RELATES_TO", dacha, weak, strength=MIN_STRENGTH - 0.01)
    found = await mind.asked("Что с дачей?")
    assert [(one.n, one.node_id, one.associated) for one in found] == [
        (1, dacha, False), (2, strong, True), (3, other, True),
    ]  # fmt: skip
    fewer = MemoryRecall(mind.database, mind.search, 1)
    asked = await mind.search.prepare_query(OWNER, "Что с дачей?")
    assert [hit.node.id for hit in await fewer.recall(OWNER, asked, 5)] == [dacha, strong]
    none = MemoryRecall(mind.database, mind.search, 0)
    assert [hit.node.id for hit in await none.recall(OWNER, asked, 5)] == [dacha]


async def test_what_lost_a_contradiction_is_not_recalled(mind: Mind) -> None:
    """Neither by itself nor over a link; a contradiction that is settled is not told either."""
    old, new = await mind.memory("Дача стоит под Тверью"), await mind.memory("Дача стоит под Рязанью")
    await mind.link("RELATES_TO", new, old, strength=0.9)
    conflict = await mind.put("Contradiction", description="где стоит дача")
    for side in (old, new):
        await mind.link("CONFLICTS_WITH", conflict, side)
    assert set(await mind.texts("Где стоит дача?")) == {
        "Дача стоит под Тверью", "Дача стоит под Рязанью", "где стоит дача",
    }  # fmt: skip
    later = NOON + timedelta(hours=1)
    sides = await mind.database.read(lambda c: service.contradiction_sides(c, OWNER, conflict))
    await mind.database.write(lambda c: service.resolve_contradiction(c, OWNER, conflict, "newer", now=later))
    assert await mind.texts("Где стоит дача?") == [sides[-1].properties["content"]]


async def test_what_is_hidden_is_not_recalled(mind: Mind) -> None:
    """From the moment somebody asks to forget everything; and again once he changes his mind."""
    dacha, roof = await mind.memory("Купили дачу"), await mind.memory("Крыша течёт")
    await mind.link("RELATES_TO", dacha, roof, strength=0.9)
    await mind.database.write(lambda c: hidings.hide(c, OWNER, "asked", "node", [roof]))
    assert await mind.texts("Что с дачей?") == ["Купили дачу"]
    asked = await mind.database.write(lambda c: requests.ask(c, OWNER, "everything", None, now=NOON))
    assert await mind.texts("Что с дачей?") == []
    await mind.database.write(lambda c: requests.undo(c, OWNER, asked.id))
    assert await mind.texts("Что с дачей?") == ["Купили дачу"]


async def test_a_changed_memory_is_found_by_its_new_words_alone(mind: Mind) -> None:
    """The index follows a correction, and a removal."""
    node = await mind.memory("Купили дачу")
    assert await mind.texts("Что с дачей?") == ["Купили дачу"]
    changes = {"content": "Купили квартиру", "summary": None}
    await mind.database.write(lambda c: service.change_node(c, OWNER, node, changes, now=NOON))
    assert (await mind.texts("Что с дачей?"), await mind.texts("Где квартира?")) == ([], ["Купили квартиру"])
    await mind.database.write(lambda c: service.remove_node(c, OWNER, node, now=NOON))
    assert await mind.texts("Где квартира?") == []


async def test_owners_share_nothing(mind: Mind) -> None:
    """A stranger's memory is found by nobody else."""
    await mind.put("Goal", STRANGER, description="купить дачу")
    assert (await mind.texts("Какие у меня цели?"), await mind.texts("Какие у меня цели?", STRANGER)) == (
        [],
        ["купить дачу"],
    )


async def test_memories_of_a_prompt_keep_to_their_budget(mind: Mind) -> None:
    """However many and long they are, the prompt holds a bounded number of tokens of them."""
    for number in range(MAX_MEMORIES + 8):
        await mind.memory(f"дача номер {number} " + "очень длинные слова " * 30)
    found = await mind.asked("Что с дачей?")
    assert 1 < len(found) <= MAX_MEMORIES
    assert sum(count_tokens(one.text) for one in found) <= MAX_TOKENS


async def test_a_conversation_is_no_memory(mind: Mind) -> None:
    """A session's context says only that it was; a project's is told."""
    await mind.put("Context", name="дача", type="session")
    await mind.put("Context", name="дача: ремонт", type="project", description="до осени")
    assert await mind.texts("Что с дачей?") == ["дача: ремонт: до осени"]


async def test_everything_that_a_question_brings_to_mind_holds_memories(mind: Mind) -> None:
    """`laplaced recall` shows what was found and what came along, with the strength of the link."""
    dacha, roof = await mind.memory("Купили дачу"), await mind.memory("Крыша течёт")
    await mind.link("RELATES_TO", dacha, roof, strength=0.9)
    overview = await mind.everything("Что с дачей?")
    assert [(hit.node.id, hit.via, hit.strength) for hit in overview.memories] == [
        (dacha, None, None),
        (roof, dacha, 0.9),
    ]


async def test_recall_shows_the_line_that_answers(mind: Mind) -> None:
    """Of an import and of a conversation with the bot, with time and speaker; no question, nothing being forgotten."""
    now = mind.known.clock.now()

    def talk(connection: Connection) -> list[str]:
        said = [
            dialogue.add(connection, OWNER, role, text, now=now).id
            for role, text in (("user", "Дачу купили ещё весной"), ("assistant", "Запомнил."))
        ]
        chat = [
            Segment(1, now, "Что с дачей?", None, speaker="Оля", own=False),
            Segment(2, now + timedelta(minutes=1), "Дачу купили под Тверью", None, speaker="Пётр", own=False),
        ]
        own = [Segment(n, now, None, message_id) for n, message_id in enumerate(said, start=1)]
        sources: Sequence[tuple[EpisodeSource, list[Segment]]] = (("text", chat), ("message", own))
        for source, lines in sources:
            name = "Чат семьи" if source == "text" else "dialogue 2026-02-01 10:00"
            episode = Episode(OWNER, source, source, name, "", "", None, now, now)
            episodes.add_episode(connection, episode, lines)
            search_items.save_search_item(connection, OWNER, "episode", episode.id, "Дачу купили", 1)
        return said

    said = await mind.database.write(talk)
    shown = {one.id: one.text for one in Recalled.of(await mind.everything("Что с дачей?")).episodes}
    assert shown == {
        "text": f"{now + timedelta(minutes=1):%Y-%m-%d %H:%M} UTC | Пётр | Дачу купили под Тверью | Чат семьи",
        "message": f"{now:%Y-%m-%d %H:%M} UTC | user | Дачу купили ещё весной",
    }
    await mind.database.write(lambda c: requests.ask(c, OWNER, "message", said[0], now=now))
    after = {one.id: one.text for one in Recalled.of(await mind.everything("Что с дачей?")).episodes}
    assert "весной" not in after.get("message", "")
