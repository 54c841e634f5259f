"""From a reply to the memory graph and back: sources, sessions, people, second readings, merges, an export."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Row, select
from support.flows.erase_stage import ErasingStage
from support.flows.flow_stage import OWNER, Talk
from support.stores.store_hash import owner_hashes
from support.stores.stores import where

from internal.flows.archivist.write_memories import source_of
from internal.flows.merging import people
from internal.flows.runs.rerun import again
from internal.flows.transfer.export import export_owner
from internal.flows.transfer.restore_export import read_back
from internal.graph import store
from internal.graph.model import Edge, EdgeFilter, Node, NodeFilter
from internal.knowledge.model import Episode
from internal.memory import service as memory
from internal.memory.model import MEMORY_LABELS
from internal.storage import evidence
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.tables import event_mentions, events, observations, search_items
from internal.testing import FIRST_MOMENT


@pytest.fixture
def stage(talk: Talk) -> ErasingStage:
    return ErasingStage(talk)


@pytest.fixture
async def elsewhere(tmp_path: Path) -> AsyncIterator[Database]:
    """Another instance's store, in which nobody is known."""
    async with Database.open(where(tmp_path / "elsewhere")) as database:
        await database.exclusive(migrate)
        yield database


def item(label: str, *links: dict[str, Any], lines: tuple[int, ...] = (1,), **properties: Any) -> dict[str, Any]:
    return {"label": label, "properties": properties, "links": list(links), "evidence": list(lines)}


def link(type: str, label: str, properties: dict[str, Any] | None = None, **other: Any) -> dict[str, Any]:
    return {"type": type, "to": {"label": label, "properties": other}, "properties": properties or {}}


def added(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "Added", "person": {"display_name": name, **fields}, "evidence": [1]}


async def nodes(stage: ErasingStage, label: str) -> list[Node]:
    return await stage.talk.read(lambda c: store.nodes(c, OWNER, NodeFilter(labels=[label]), limit=1_000))


async def node(stage: ErasingStage, label: str) -> Node:
    (found,) = await nodes(stage, label)
    return found


async def edges(stage: ErasingStage, type: str, at: str) -> list[Edge]:
    now = stage.talk.clock.now()
    return await stage.talk.read(lambda c: store.edges_of(c, OWNER, at, EdgeFilter(types=[type]), now=now))


def lines(connection: Connection, node_id: str) -> dict[str, list[Row[Any]]]:
    """By observation, the lines that support a node."""
    observations = memory.observations_of(connection, OWNER, node_id)
    return evidence.rows(connection, OWNER, "observation", [one.id for one in observations])


async def test_what_was_said_in_a_conversation_cites_it_and_its_session(stage: ErasingStage) -> None:
    """The owner's own words; the conversation is the source, and the session it was said in the context."""
    stage.reply("Постгрес", memories=[item("Memory", content="Мы выбрали Постгрес", confidence=0.9)])
    episode = await stage.said("Мы выбрали Постгрес, он бесплатный")
    told, source = await node(stage, "Memory"), await node(stage, "Source")
    assert source.properties | {"title": ""} == {
        "type": "conversation", "reference": f"episode:{episode}", "title": "", "reliability": 0.9,
    }  # fmt: skip
    (cited,) = await edges(stage, "FROM_SOURCE", told.id)
    assert cited.properties == {"excerpt": "Мы выбрали Постгрес, он бесплатный"}
    [(line,)] = (await stage.talk.read(lambda c: lines(c, told.id))).values()
    assert (line.episode_id, line.quote) == (episode, "Мы выбрали Постгрес, он бесплатный")
    (within,) = await edges(stage, "IN_CONTEXT", told.id)
    context = await node(stage, "Context")
    assert (within.target, context.subtype) == (context.id, "session")


async def test_what_a_text_told_has_no_session_and_is_trusted_less(stage: ErasingStage) -> None:
    """A document that came by REST or import."""
    stage.reply("Постгрес", memories=[item("Memory", content="Мы выбрали Постгрес")])
    await stage.told("Мы выбрали Постгрес")
    assert (await node(stage, "Source")).properties["reliability"] == 0.6
    assert await nodes(stage, "Context") == []


@pytest.mark.parametrize(
    ("description", "url", "first", "type", "reference"),
    [
        ("Telegram dialogue", None, 1, "conversation", "episode:e"),
        ("Slack", "https://example.org/a", None, "url", "https://example.org/a"),
        ("a page, source_url: https://example.org/b", None, None, "url", "https://example.org/b"),
        ("notes/plan.md", None, None, "file", "notes/plan.md"),
        ("C:\\notes\\plan.docx", None, None, "file", "C:\\notes\\plan.docx"),
        ("Transcript of a Zoom meeting", None, None, "document", "episode:e"),
        ("", None, None, "document", "episode:e"),
    ],
)
def test_a_source_is_known_by_its_address_its_file_or_its_episode(
    description: str, url: str | None, first: int | None, type: str, reference: str
) -> None:
    """So that two notes from one page are of one source."""
    episode = Episode(OWNER, "e", "text", "name", "", description, url, FIRST_MOMENT, FIRST_MOMENT, first, first)
    assert source_of(episode).properties == {"type": type, "reference": reference, "title": "name"}


async def test_a_memory_mentions_people_and_things_by_any_form_of_their_names(stage: ErasingStage) -> None:
    """As facts do: the reply writes a declined form, or an id."""
    stage.reply("знакомый", people_operations=[added("Петров")])
    await stage.said("Петров мой знакомый")
    stage.reply(
        "Grafana",
        memories=[
            item(
                "Memory", link("MENTIONS", "Entity", {"role": "subject"}, name="Петровым"), content="Говорил с Петровым"
            ),
            item("Memory", link("MENTIONS", "Entity", {"role": "tool"}, name="Grafana"), content="Ставлю Grafana"),
            item("Memory", link("MENTIONS", "Entity", name="user"), content="Я сам"),
        ],
    )
    await stage.said("Видел Петрова, ставлю Grafana")
    (petrov,) = await stage.people()
    assert [edge.properties for edge in await edges(stage, "MENTIONS", petrov.entity_id)] == [{"role": "subject"}]
    things = {one.name: one.id for one in await nodes(stage, "Entity")}
    assert [edge.properties for edge in await edges(stage, "MENTIONS", things["Grafana"])] == [{"role": "tool"}]
    assert len(await edges(stage, "MENTIONS", store.owner_node_id(OWNER))) == 1


async def test_a_merge_of_people_keeps_both_their_memories(stage: ErasingStage) -> None:
    """And a split gives each his own back, also what both had been told of."""
    mentions = [link("MENTIONS", "Entity", name=name) for name in ("Петров", "Саша")]
    stage.reply(
        "Петров",
        people_operations=[added("Петров"), added("Саша")],
        memories=[
            item("Memory", *mentions, content="Петров и Саша спорят"),
            item("Memory", mentions[1], content="Саша уехал"),
        ],
    )
    await stage.said("Петров и Саша спорят")
    petrov, sasha = await stage.people()
    before = await stage.talk.read(_graph)
    now = stage.talk.clock.now()
    await stage.talk.write(lambda c: people.merge(c, OWNER, sasha.id, petrov.id, now=now))
    assert len(await edges(stage, "MENTIONS", petrov.entity_id)) == 2
    await stage.talk.write(lambda c: people.split(c, OWNER, sasha.id, now=now))
    assert await stage.talk.read(_graph) == before
    assert len(await edges(stage, "MENTIONS", sasha.entity_id)) == 2


def _graph(connection: Connection) -> list[str]:
    """Every node and edge of memory with its id, without when it was written."""
    found = store.nodes(connection, OWNER, NodeFilter(labels=MEMORY_LABELS), limit=1_000)
    told = [str((one.id, one.label, sorted(one.properties.items(), key=str))) for one in found]
    for one in found:
        for edge in store.edges_of(connection, OWNER, one.id, now=FIRST_MOMENT):
            told.append(str((edge.id, edge.type, edge.source, edge.target, sorted(edge.properties.items()))))
    return sorted(set(told))


async def test_a_preference_counts_as_thing_and_as_memory_once_an_episode(stage: ErasingStage) -> None:
    """Whether the reply names it among the entities, among the memories, or in both."""
    thing = {"name": "чай", "labels": ["Preference"], "evidence": [1]}
    stage.reply("первый", entities=[thing])
    stage.reply("второй", memories=[item("Preference", preference="чай", strength=1.0)])
    stage.reply("третий", entities=[thing], memories=[item("Preference", preference="Чай", strength=0.0)])
    await stage.said("Это первый чай")
    assert (await node(stage, "Preference")).properties | {"aliases": [], "attributes": {}} == {
        "preference": "чай", "observations": 1, "aliases": [], "attributes": {}, "strength": 0.5,
    }  # fmt: skip
    await stage.said("А это второй чай")
    third = await stage.said("Вот и третий чай")
    told = (await node(stage, "Preference")).properties
    assert (told["observations"], told["strength"]) == (3, 0.5)
    await stage.forget("episode", third)
    told = (await node(stage, "Preference")).properties
    assert (told["observations"], told["strength"]) == (2, 1.0)


async def test_an_edited_message_takes_back_what_its_old_words_told(stage: ErasingStage) -> None:
    """And keeps the ids, and what was counted, of what is told again."""
    shared = link("HAS_CONCEPT", "Concept", name="базы")
    stage.reply("Постгрес", memories=[item("Memory", shared, content="Берём базу"), item("Goal", description="купить")])
    stage.reply("Оракл", memories=[item("Memory", shared, content="Берём базу"), item("Goal", description="продать")])
    await stage.said("Берём Постгрес")
    before = await node(stage, "Memory")
    await stage.talk.write(lambda c: store.touch_nodes(c, OWNER, [before.id], FIRST_MOMENT))
    [message] = [one for one in await stage.talk.messages() if one.content == "Берём Постгрес"]
    await stage.talk.edit(message, "Берём Оракл")
    await stage.archive()
    after = await node(stage, "Memory")
    assert (after.id, after.access_count) == (before.id, 1)
    assert [one.name for one in await nodes(stage, "Goal")] == ["продать"]
    assert await stage.tables_with("купить") == {"runs"}  # the record of the first reading


async def test_reading_everything_again_changes_nothing(stage: ErasingStage) -> None:
    """The same replies give the same graph under the same ids."""
    memories = [
        item("Memory", link("BELONGS_TO", "Topic", name="Работа"), content="Работаю дома"),
        item("Memory", link("REVEALS", "Preference", preference="удалёнка"), content="Люблю дом"),
        item("Question", text="Куда едем?"),
    ]
    stage.reply("дома", memories=memories)
    await stage.said("Работаю дома и люблю дом")
    before = await stage.talk.read(_graph)
    for _ in range(2):
        await stage.talk.write(lambda c: again(c, OWNER, "archivist", stage.talk.clock.now()))
        await stage.archive()
        assert await stage.talk.read(_graph) == before


async def test_what_becomes_of_memories_is_told_in_an_event(stage: ErasingStage) -> None:
    """With ids only, and with counts in the result of the run."""
    stage.reply("тайна", memories=[item("Memory", content="большая тайна"), item("Goal", status="x", description="z")])
    await stage.said("тайна")
    told = await stage.talk.read(lambda c: c.execute(select(events.c.event_type, events.c.payload)).all())
    payloads = [payload for kind, payload in told if kind == "memory_created"]
    assert payloads
    assert all(set(payload) == {"ids"} for payload in payloads)
    (result,) = [payload for kind, payload in told if kind == "agent_result" and payload.get("memories")]
    assert result["memories"] == {"created": 3, "linked": 2}
    assert result["refused"] == 1


async def test_an_export_brings_memories_back(stage: ErasingStage, elsewhere: Database) -> None:
    """Observations, sessions, events and the graph are equal row by row, and memories are found by their words."""
    stage.reply(
        "Постгрес",
        memories=[
            item(
                "Memory",
                link("HAS_CONCEPT", "Concept", {"relevance": 0.5}, name="базы"),
                link("INFORMED", "Decision", description="берём"),
                link("MENTIONS", "Entity", name="Grafana"),
                content="Мы выбрали Постгрес",
            )
        ],
    )
    await stage.said("Мы выбрали Постгрес")
    mention = {"user_id": OWNER, "event_id": "x", "entity_origin": "y", "entity_id": "y", "relevance": 4}
    await stage.talk.write(lambda c: c.execute(event_mentions.insert().values(**mention)))
    document = await stage.talk.read(lambda c: export_owner(c, OWNER, now=FIRST_MOMENT))
    assert {"observations", "sessions", "chronicle", "event_mentions"} <= document["tables"].keys()
    back = await elsewhere.write(lambda c: read_back(c, document, user_id=OWNER))
    assert back.rows["observations"] > 8
    assert await elsewhere.read(lambda c: owner_hashes(c, OWNER)) == await stage.talk.read(
        lambda c: owner_hashes(c, OWNER)
    )
    found = select(search_items.c.item, search_items.c.text).where(search_items.c.kind == "node")
    assert sorted(await elsewhere.read(lambda c: c.execute(found).all())) == sorted(
        await stage.talk.read(lambda c: c.execute(found).all())
    )
    told = await node(stage, "Memory")
    now = stage.talk.clock.now()
    await elsewhere.write(lambda c: memory.remove_node(c, OWNER, told.id, now=now))
    left = await elsewhere.read(lambda c: c.execute(select(observations.c.target)).scalars().all())
    assert told.id not in left
