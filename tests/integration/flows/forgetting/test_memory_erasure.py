"""Forgetting reaches memories: no table and no file holds a word of what went, and nothing brings it back."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import insert, select
from support.flows.erase_stage import ErasingStage
from support.flows.flow_stage import OWNER, Talk

from internal.flows.forgetting import erase, requests
from internal.flows.merging import entities
from internal.flows.runs.rerun import again
from internal.graph import store
from internal.graph.model import Node, NodeFilter
from internal.memory import service as memory
from internal.storage.tables import graph_nodes, model_calls, observations, suggestions

CANARY = "канарейк"
BIRD = "Канарейка"


@pytest.fixture
def stage(talk: Talk) -> ErasingStage:
    return ErasingStage(talk)


def item(label: str, *links: dict[str, Any], lines: tuple[int, ...] = (1,), **properties: Any) -> dict[str, Any]:
    return {"label": label, "properties": properties, "links": list(links), "evidence": list(lines)}


def link(type: str, label: str, properties: dict[str, Any] | None = None, /, **other: Any) -> dict[str, Any]:
    return {"type": type, "to": {"label": label, "properties": other}, "properties": properties or {}}


def added(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "Added", "person": {"display_name": name, **fields}, "evidence": [1]}


ABOUT_BIRDS = [
    item(
        "Memory",
        link("HAS_CONCEPT", "Concept", name="канарейки", description="канарейки поют"),
        link("HAS_KEYWORD", "Keyword", term="канарейка"),
        link("BELONGS_TO", "Topic", name="Канарейки", description="всё о канарейках", aliases=["канарейководство"]),
        link("MENTIONS", "Entity", {"role": "дом канарейки"}, name="Канарейкин Дом"),
        link("INFORMED", "Decision", description="завести канарейку", rationale="канарейка поёт"),
        link("SUPPORTS", "Goal", description="вырастить канарейку"),
        link("REVEALS", "Preference", preference="любит канареек", category="канарейки"),
        link("PARTIALLY_ANSWERS", "Question", text="Чем кормить канарейку?"),
        link("IN_CONTEXT", "Context", name="Канарейкин проект", type="project"),
        content="У нас живёт канарейка",
        summary="канарейка дома",
    ),
    item("Memory", content="Канарейка улетела"),
    item(
        "Contradiction",
        link("CONFLICTS_WITH", "Memory", content="У нас живёт канарейка"),
        link("CONFLICTS_WITH", "Memory", content="Канарейка улетела"),
        description="где канарейка",
    ),
]


async def names(stage: ErasingStage, *labels: str) -> list[str]:
    found = await stage.talk.read(lambda c: store.nodes(c, OWNER, NodeFilter(labels=labels), limit=1_000))
    return sorted(node.name for node in found)


async def node(stage: ErasingStage, label: str, name: str) -> Node:
    found = await stage.talk.read(lambda c: store.nodes(c, OWNER, NodeFilter(labels=[label]), limit=1_000))
    return next(one for one in found if one.name == name)


async def called(stage: ErasingStage, text: str) -> None:
    """A prompt of a later turn that showed this."""
    row = {"id": "call", "user_id": OWNER, "agent": "responder", "model": "m", "at": stage.talk.clock.now()}
    figures = {"duration_s": 0.1, "prompt_tokens": 1, "completion_tokens": 1, "cost_usd": 0.0}
    await stage.talk.write(lambda c: c.execute(insert(model_calls).values(**row, **figures, prompt=[text], reply=text)))


async def read_again(stage: ErasingStage) -> None:
    await stage.talk.write(lambda c: again(c, OWNER, "archivist", stage.talk.clock.now()))
    await stage.archive()


async def test_no_table_or_file_holds_what_a_forgotten_episode_told(stage: ErasingStage) -> None:
    """Nodes of every label, links, quotes, suggestions, what they are found by, and prompts that showed them."""
    stage.reply("Постгрес", memories=[item("Memory", content="Берём Постгрес")])
    stage.reply("канарейк", memories=ABOUT_BIRDS)
    await stage.said("Берём Постгрес")
    episode = await stage.said("У нас жила канарейка, но улетела")
    await called(stage, "M1: У нас живёт канарейка")
    assert {"graph_nodes", "graph_edges", "observations", "evidence", "search_items", "name_keys", "model_calls"} <= (
        await stage.tables_with(CANARY)
    )
    erased = await stage.forget("episode", episode)
    assert await stage.tables_with(CANARY) == set()
    assert stage.files_with(BIRD) == []
    assert erased.erased["memories"] == 12
    assert await names(stage, "Memory") == ["Берём Постгрес"]


async def test_a_forgotten_message_takes_the_memories_that_only_it_told(stage: ErasingStage) -> None:
    """What another message of the fragment told stays."""
    stage.reply(
        "канарейк",
        memories=[*ABOUT_BIRDS, item("Memory", link("HAS_CONCEPT", "Concept", name="чай"), lines=(3,), content="Чай")],
    )
    await stage.said("У нас жила канарейка, но улетела", "Пью чай")
    [message] = [one for one in await stage.talk.messages() if CANARY in one.content]
    await stage.forget("message", message.id)
    assert await stage.tables_with(CANARY) == set()
    assert await names(stage, "Memory", "Concept") == ["Чай", "чай"]


async def test_what_was_merged_loses_only_the_words_of_what_is_forgotten(stage: ErasingStage) -> None:
    """A message that told one of two merged concepts, and one of two merged things, leaves the others as they were."""

    def told(concept: str, thing: str, fact: str) -> dict[str, Any]:
        memory_ = item("Memory", link("HAS_CONCEPT", "Concept", name=concept), content=fact)
        known = {"name": thing, "labels": ["Organization"], "summary": fact, "evidence": [1]}
        works = {"source": "user", "relation": "WORKS_FOR", "target": thing, "fact": fact, "evidence": [1]}
        return {"memories": [memory_], "entities": [known], "facts": [works]}

    stage.reply("Птичий", **told("птицы", "Птичий Двор", "Работал в Птичьем Дворе"))
    stage.reply("канарейк", **told("канарейки", "Канарейкин Дом", "Работаю в Канарейкином Доме"))
    await stage.said("Работал в компании Птичий Двор")
    await stage.said("Кормлю канарейку, работаю в Канарейкином Доме")
    now = stage.talk.clock.now()
    for label, source, target in (("Concept", "канарейки", "птицы"), ("Entity", "Канарейкин Дом", "Птичий Двор")):
        one, other = [await node(stage, label, name) for name in (source, target)]
        await stage.talk.write(lambda c, one=one, other=other: entities.merge(c, OWNER, one.id, other.id, now=now))  # type: ignore[misc]
    assert "node_merges" in await stage.tables_with(CANARY)
    [message] = [one for one in await stage.talk.messages() if "Кормлю" in one.content]
    await stage.forget("message", message.id)
    assert await stage.tables_with(CANARY) == set()
    assert stage.files_with(BIRD) == []
    assert await names(stage, "Concept", "Memory") == ["Работал в Птичьем Дворе", "птицы"]
    left = await node(stage, "Entity", "Птичий Двор")
    assert left.properties.get("aliases", []) == []
    assert [fact.fact for fact in await stage.facts()] == ["Работал в Птичьем Дворе"]


@pytest.mark.parametrize("kind", ["person", "entity"])
async def test_who_is_forgotten_takes_along_what_mentions_him(stage: ErasingStage, kind: Any) -> None:
    """Also what only names him; a second reading of the old lines brings nothing of it back."""
    person = kind == "person"
    stage.reply(
        "Канарейкин",
        people_operations=[added("Канарейкин", bio="Сосед.")] if person else [],
        entities=[] if person else [{"name": "Канарейкин", "labels": ["Organization"], "evidence": [1]}],
        memories=[
            item("Memory", link("MENTIONS", "Entity", name="Канарейкин"), content="Сосед принёс ключи"),
            item("Goal", description="навестить Канарейкина"),
            item("Memory", link("HAS_CONCEPT", "Concept", name="чай"), content="Пью чай"),
        ],
    )
    await stage.said("Канарейкин принёс ключи, пью чай, надо его навестить")
    ref = "1" if person else (await node(stage, "Entity", "Канарейкин")).id
    await stage.forget(kind, ref)
    for _ in range(2):
        assert await names(stage, "Memory", "Goal") == ["Пью чай"]
        assert await names(stage, "Concept") == ["чай"]
        assert await stage.tables_with(CANARY) <= {"messages", "runs", "model_calls", "chronicle", "sessions"} | {
            "evidence", "search_items", "vectors",  # the owner's own message, quoted for what stays
        }  # fmt: skip
        assert await stage.tables_with("принёс ключи") & {"graph_nodes", "observations"} == set()
        await read_again(stage)


async def test_a_forgotten_fact_is_not_told_on_by_a_memory(stage: ErasingStage) -> None:
    """A memory in the same words goes with it, another one of the same message stays."""
    said = "Петров работает в ACME"
    works = {"source": "Петров", "relation": "WORKS_FOR", "target": "ACME", "fact": said, "evidence": [1]}
    stage.reply(
        "Петров",
        people_operations=[added("Петров")],
        facts=[works],
        memories=[item("Memory", content=said), item("Memory", content="Обедали вместе")],
    )
    await stage.said("Петров работает в ACME, обедали вместе")
    (fact,) = await stage.facts()
    await stage.forget("fact", fact.id)
    for _ in range(2):
        assert await names(stage, "Memory") == ["Обедали вместе"]
        await read_again(stage)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("Memory", "канарейка дома"),
        ("Goal", "вырастить канарейку"),
        ("Concept", "канарейки"),
        ("Preference", "любит канареек"),
        ("Topic", "Канарейки"),
    ],
)
async def test_a_single_memory_can_be_forgotten(stage: ErasingStage, label: str, name: str) -> None:
    """Its message stays and does not bring it back; what it led to stays without it."""
    stage.reply("канарейк", memories=ABOUT_BIRDS)
    await stage.said("У нас жила канарейка, но улетела")
    found = await node(stage, label, name)
    left = len(await stage.talk.read(lambda c: c.execute(select(graph_nodes.c.id)).all()))
    await stage.forget("memory", found.id)
    for _ in range(2):
        assert name not in await names(stage, label)
        told = await stage.talk.read(lambda c: c.execute(select(observations.c.target)).scalars().all())
        assert found.id not in told
        await read_again(stage)
    now = len(await stage.talk.read(lambda c: c.execute(select(graph_nodes.c.id)).all()))
    assert left - now == (2 if label == "Memory" else 1)  # a contradiction needs both its sides


@pytest.mark.parametrize("kind", ["episode", "message", "memory", "person"])
async def test_what_waits_to_be_forgotten_is_out_of_sight_and_can_come_back(stage: ErasingStage, kind: Any) -> None:
    """Hidden with what it would take along; undone, everything is as before."""
    stage.reply(
        "канарейк",
        people_operations=[added("Канарейкин")],
        memories=[item("Memory", link("MENTIONS", "Entity", name="Канарейкин"), content="Канарейка поёт")],
    )
    episode = await stage.said("Моя канарейка от Канарейкина")
    (message,) = [one for one in await stage.talk.messages() if one.role == "user"]
    ref = {"episode": episode, "message": message.id, "person": "1"}.get(kind) or (
        await node(stage, "Memory", "Канарейка поёт")
    ).id
    now = stage.talk.clock.now()
    asked = await stage.talk.write(lambda c: requests.ask(c, OWNER, kind, ref, now=now))
    assert await names(stage, "Memory") == []
    await stage.talk.write(lambda c: requests.undo(c, OWNER, asked.id))
    assert await names(stage, "Memory") == ["Канарейка поёт"]


async def test_what_is_being_forgotten_is_not_told_meanwhile(stage: ErasingStage) -> None:
    """A reply that tells it once more is refused, and after an undo there is one node."""
    stage.reply("канарейк", memories=[item("Goal", description="завести канарейку")])
    await stage.said("Хочу канарейку")
    goal = await node(stage, "Goal", "завести канарейку")
    now = stage.talk.clock.now()
    asked = await stage.talk.write(lambda c: requests.ask(c, OWNER, "memory", goal.id, now=now))
    await stage.said("Всё ещё хочу канарейку")
    await stage.talk.write(lambda c: requests.undo(c, OWNER, asked.id))
    assert (await node(stage, "Goal", "завести канарейку")).id == goal.id
    assert await names(stage, "Goal") == ["завести канарейку"]


async def test_a_later_line_may_tell_it_anew(stage: ErasingStage) -> None:
    """What was forgotten is forgotten up to then: what the owner says afterwards is said."""
    stage.reply("канарейк", memories=[item("Goal", description="завести канарейку")])
    await stage.said("Хочу канарейку")
    await stage.forget("memory", (await node(stage, "Goal", "завести канарейку")).id)
    stage.talk.clock.advance(60)
    await stage.said("Передумал, всё-таки хочу канарейку")
    assert await names(stage, "Goal") == ["завести канарейку"]


async def test_a_suggestion_goes_with_the_line_that_made_it(stage: ErasingStage) -> None:
    """The owner is not asked in words that are forgotten."""
    now = stage.talk.clock.now()
    told = {"description": "взять птицу", "rationale": "поёт"}
    await stage.talk.write(lambda c: memory.put_node(c, OWNER, "Decision", told, now=now))
    stage.reply("канарейк", memories=[item("Decision", description="Взять птицу", rationale="это канарейка")])
    episode = await stage.said("Это будет канарейка")
    assert await stage.talk.read(lambda c: len(memory.suggestions(c, OWNER))) == 1
    await stage.forget("episode", episode)
    assert await stage.talk.read(lambda c: c.execute(select(suggestions)).all()) == []
    assert await stage.tables_with(CANARY) == set()


async def test_forgetting_everything_leaves_no_observation(stage: ErasingStage) -> None:
    """Nor any other row of the memory graph."""
    stage.reply("канарейк", memories=ABOUT_BIRDS)
    await stage.said("У нас жила канарейка, но улетела")
    await stage.forget("everything", None)
    assert await stage.tables_with(CANARY) == set()
    assert stage.files_with(BIRD) == []
    for table in (observations, graph_nodes):
        assert await stage.talk.read(lambda c, table=table: c.execute(select(table)).all()) == []  # type: ignore[misc] # defaults bind the loop's value


async def test_what_is_told_by_two_episodes_survives_the_loss_of_one(stage: ErasingStage) -> None:
    """In the words of the one that is left, in every place they are kept."""
    stage.reply("канарейк", memories=[item("Decision", description="взять птицу", rationale="из-за канарейки")])
    stage.reply("весело", memories=[item("Decision", description="Взять птицу!", rationale="веселее")])
    first = await stage.said("Возьму птицу, канарейку")
    await stage.said("С птицей весело")
    await stage.talk.write(lambda c: erase.erase_episode(c, OWNER, first, now=stage.talk.clock.now()))
    found = await node(stage, "Decision", "Взять птицу!")
    assert found.properties["rationale"] == "веселее"
    assert await stage.tables_with(CANARY) == set()
