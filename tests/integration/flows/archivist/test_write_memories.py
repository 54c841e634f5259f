"""From a reply's memories to the graph: what is known already in other words, by handles, and after a restart."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from support.flows.flow_stage import OWNER, Talk
from test_archivist_handler import Stage

from internal.agents.archivist.offline.agent import OfflineArchivist
from internal.agents.archivist.reply.memories import LINKS
from internal.flows.archivist.handler import ArchivistInput
from internal.flows.runs.handler import Prepared
from internal.graph import store
from internal.graph.labels import NODES
from internal.graph.model import Edge, EdgeFilter, Node, NodeFilter
from internal.language.worker.process_pool import LanguageWorker
from internal.memory import service as memory
from internal.memory.model import MEMORY_LABELS
from internal.scheduling import run_repository as runs
from internal.scheduling.run import Run
from internal.storage import vectors
from internal.testing import TrigramEmbedder
from internal.testing.vectors import trigram_vectors

EMBEDDER = TrigramEmbedder()


class Remembering(Stage):
    """One owner's fragments, one message each, and what is remembered of them."""

    def __init__(self, talk: Talk, worker: LanguageWorker) -> None:
        super().__init__(talk, worker)
        self.worker = worker

    async def read(self, said: str) -> tuple[Run, Prepared[ArchivistInput]]:
        await self.talk.exchange(said)
        await self.talk.publication().publish_now(OWNER)
        run = (await self.talk.read(lambda c: runs.of_agent(c, OWNER, "archivist")))[-1]
        return run, await self.handler.prepare(run)

    async def told(self, *memories: dict[str, Any], said: str = "Так и есть") -> list[str]:
        """Archives a message that tells these memories, and embeds them; the handles that were shown."""
        run, prepared = await self.read(said)
        await self.apply(run, prepared, reply(*memories))
        due = await self.talk.read(lambda c: vectors.due(c, EMBEDDER.name, EMBEDDER.dimensions, limit=500))
        found = trigram_vectors([one.text for one in due], EMBEDDER.dimensions)
        for one, vector in zip(due, found, strict=True):
            await self.talk.write(lambda c, one=one, vector=vector: vectors.save_vector(c, one, EMBEDDER.name, vector))  # type: ignore[misc] # defaults bind the loop's values
        return [f"{one.handle} {one.text}" for one in prepared.input.request.memories]

    async def nodes(self, label: str) -> list[Node]:
        return await self.talk.read(lambda c: store.nodes(c, OWNER, NodeFilter(labels=[label])))

    async def edges(self, node_id: str, type: str) -> list[Edge]:
        wanted, now = EdgeFilter(types=[type]), self.talk.clock.now()
        return await self.talk.read(lambda c: store.edges_of(c, OWNER, node_id, wanted, now=now))


def reply(*memories: dict[str, Any]) -> str:
    return json.dumps({"memories": [{"evidence": [1], **one} for one in memories]})


def item(label: str, *links: dict[str, Any], **properties: Any) -> dict[str, Any]:
    return {"label": label, "properties": properties, "links": list(links)}


@pytest.fixture
async def stage(talk: Talk) -> AsyncIterator[Remembering]:
    worker = LanguageWorker()
    yield Remembering(talk, worker)
    await worker.close()


async def test_what_is_told_again_in_another_form_is_one_node(stage: Remembering) -> None:
    """Across fragments and inside a reply; another goal of nearly the same words is another one."""
    await stage.told(item("Goal", description="Выучить испанский"), item("Concept", name="микросервисы"))
    concept = {"type": "HAS_CONCEPT", "to": {"label": "Concept", "properties": {"name": "микросервис"}}}
    await stage.told(
        item("Goal", description="хочу выучить испанский", priority=2),
        item("Goal", description="Выучить французский"),
        item("Memory", concept, content="Читал про микросервисы"),
        item("Question", text="Стоит ли менять работу?"),
        item("Question", text="Менять работу стоит ли?"),
    )
    goals = {node.properties["description"]: node.properties.get("priority") for node in await stage.nodes("Goal")}
    assert goals == {"Выучить испанский": 2, "Выучить французский": None}
    assert [node.properties["name"] for node in await stage.nodes("Concept")] == ["микросервисы"]
    assert len(await stage.nodes("Question")) == 1


async def test_what_is_shown_under_a_handle_changes_by_it(stage: Remembering) -> None:
    """A goal is reached, a question answered by a memory; times are counted from the line."""
    await stage.told(
        item("Goal", description="Сдать на права", targetDate="2026-05-31"), item("Question", text="Когда отпуск?")
    )
    answer = {"type": "PARTIALLY_ANSWERS", "to": {"id": "Q1"}, "properties": {"completeness": 1}}
    shown = await stage.told(
        {"id": "G1", "properties": {"status": "achieved"}}, item("Memory", answer, content="Отпуск в июле")
    )
    assert shown == ["Q1 Когда отпуск?", "G1 Сдать на права"]
    (goal,), (question,) = await stage.nodes("Goal"), await stage.nodes("Question")
    assert (goal.properties["status"], goal.properties["targetDate"][:10]) == ("achieved", "2026-05-31")
    assert (question.properties["status"], "answeredDate" in question.properties) == ("answered", True)
    assert await stage.told() == []


async def test_a_stored_reply_means_what_was_shown_when_it_was_asked_for(stage: Remembering) -> None:
    """Between the reply and its application the process ended, and the graph became another one."""
    await stage.told(item("Goal", description="Выучить испанский"))
    stage.talk.clock.advance(60)
    await stage.told(item("Goal", description="Купить дом"))
    run, prepared = await stage.read("Дом куплен")
    spanish, house = await stage.nodes("Goal")
    now = stage.talk.clock.now()
    await stage.talk.write(lambda c: memory.set_status(c, OWNER, spanish.id, "abandoned", now=now))
    restarted = replace(run, snapshot=prepared.snapshot)
    again = await stage.handler.prepare(restarted)
    assert [(one.handle, one.node_id) for one in again.input.request.memories] == [("G1", house.id)]
    await stage.apply(restarted, again, reply({"id": "G2", "properties": {"status": "achieved"}}))
    assert [node.properties["status"] for node in await stage.nodes("Goal")] == ["abandoned", "achieved"]


async def test_near_memories_are_linked_and_far_ones_are_not(stage: Remembering) -> None:
    """As strongly as they are near."""
    await stage.told(
        item("Memory", content="Купили дачу под Тверью с большим садом"), item("Memory", content="Got a new phone")
    )
    await stage.told(item("Memory", content="Продали дачу под Тверью вместе с большим садом"))
    old, phone, new = await stage.nodes("Memory")
    (edge,) = await stage.edges(new.id, "RELATES_TO")
    assert {edge.source, edge.target} == {old.id, new.id}
    assert 0 < edge.properties.get("strength", 0) < 1 or edge.strength
    assert await stage.edges(phone.id, "RELATES_TO") == []


async def test_entities_that_memories_mention_are_found_by_their_names(stage: Remembering) -> None:
    """Whoever of them is known already; the owner is himself."""
    names = [{"type": "MENTIONS", "to": {"label": "Entity", "properties": {"name": name}}} for name in ("ACME", "user")]
    await stage.told(item("Memory", *names, content="Работал с ACME"))
    await stage.told(item("Memory", names[0], content="ACME закрылась"))
    entities = [node for node in await stage.nodes("Entity") if node.name == "ACME"]
    assert len(entities) == 1
    assert len(await stage.edges(entities[0].id, "MENTIONS")) == 2


def link(type: str, label: str, /, properties: dict[str, Any] | None = None, **named: Any) -> dict[str, Any]:
    return {"type": type, "to": {"label": label, "properties": named}, "properties": properties or {}}


EVERYTHING: tuple[dict[str, Any], ...] = (
    item(
        "Memory",
        link("HAS_CONCEPT", "Concept", {"relevance": 0.8}, name="язык", description="средство общения"),
        link("HAS_KEYWORD", "Keyword", term="DELE"),
        link("BELONGS_TO", "Topic", {"isPrimary": True}, name="учёба", description="курсы и экзамены"),
        link("MENTIONS", "Entity", {"role": "organizer"}, name="Институт Сервантеса", description="школа"),
        link("FROM_SOURCE", "Source", {"excerpt": "экзамен в мае"}, reference="https://dele.example", title="DELE",
             reliability=0.8),
        link("IN_CONTEXT", "Context", name="Экзамен", type="task", description="подготовка"),
        link("OCCURRED_DURING", "TemporalMarker", description="май 2026", type="period"),
        link("INFORMED", "Decision", description="Записаться на курсы"),
        link("PARTIALLY_ANSWERS", "Question", {"completeness": 0.4}, text="Когда экзамен?"),
        link("SUPPORTS", "Goal", {"strength": 0.9}, description="Выучить испанский"),
        link("REVEALS", "Preference", preference="занятия по утрам"),
        link("RELATES_TO", "Memory", {"strength": 0.6, "relType": "cause"}, content="Занятия идут по вторникам"),
        content="Экзамен DELE будет в мае", summary="Экзамен в мае", confidence=0.9,
    ),
    item("Concept", link("CONCEPT_RELATED_TO", "Concept", {"relType": "part"}, name="грамматика"), name="язык"),
    item("Decision", link("LED_TO", "Decision", description="Продать гитару"), description="Записаться на курсы",
         rationale="скоро экзамен", date="вчера", outcome="записалась", reversible=True),
    item("Goal", link("DEPENDS_ON", "Goal", description="Найти время"), description="Выучить испанский",
         status="active", priority=1, targetDate="до конца года"),
    item("Context", link("PART_OF", "Context", name="Переезд", type="project"), name="Экзамен", type="task",
         status="active"),
    item("Preference", preference="занятия по утрам", category="учёба", strength=0.7, description="голова свежая"),
    item("Preference", preference="отвечай коротко", category="instruction", description="о занятиях"),
    item("TemporalMarker", description="май 2026", type="period", startDate="2026-05-01", endDate="2026-05-31"),
    item("Contradiction", link("CONFLICTS_WITH", "Memory", content="Экзамен в мае"),
         link("CONFLICTS_WITH", "Memory", content="Экзамен в июне"),
         link("SUPERSEDES", "Memory", content="Экзамен в июне"),
         description="Когда экзамен", resolution="в мае", status="resolved"),
)  # fmt: skip
"""Every label with every property that a model may tell, and every relationship with every attribute."""


async def test_every_label_and_relationship_goes_from_a_reply_into_the_graph(stage: Remembering) -> None:
    """With all that was told of it; what the store counts or finds out itself is there too."""
    await stage.told(*EVERYTHING)
    assert stage.counted.refused == []
    nodes = [node for label in MEMORY_LABELS for node in await stage.nodes(label)]
    edges = {edge.id: edge for node in nodes for type in LINKS for edge in await stage.edges(node.id, type)}
    assert {edge.type for edge in edges.values()} == set(LINKS)
    for one in {edge.type: edge for edge in edges.values()}.values():
        told = [edge for edge in edges.values() if edge.type == one.type]
        wanted = set(LINKS[one.type].attributes.model_fields)
        assert any(wanted <= set(edge.properties) for edge in told), (one.type, [edge.properties for edge in told])
    for label in MEMORY_LABELS:
        wanted = set(NODES[label].model.model_fields) - ELSEWHERE
        shown = [set(node.properties) for node in nodes if node.label == label]
        assert any(wanted <= properties for properties in shown), (label, shown)


ELSEWHERE = {"lastAccessed", "accessCount", "facts", "answeredDate"}
"""Counted at use, set by contradictions of facts, and found when a question is answered (above)."""


async def test_without_a_model_goals_are_set_and_reached_and_questions_answered(stage: Remembering) -> None:
    """By rules, over three conversations; what was open is shown again and closes."""
    archivist = OfflineArchivist(stage.worker)

    async def said(text: str) -> None:
        run, prepared = await stage.read(text)
        await stage.apply(run, prepared, (await archivist.ask(prepared.input.request)).text)

    await said("Хочу выучить испанский до конца года. Не знаю, стоит ли брать репетитора.")
    (goal,), (question,) = await stage.nodes("Goal"), await stage.nodes("Question")
    assert (goal.properties["description"], goal.properties["status"]) == ("Выучить испанский", "active")
    assert goal.properties["targetDate"].startswith("2026-12-3")
    assert (question.properties["text"], question.properties["status"]) == ("Стоит ли брать репетитора?", "open")
    await said("Решила брать репетитора, потому что самой скучно. Обожаю живые уроки!")
    (decision,), (question,) = await stage.nodes("Decision"), await stage.nodes("Question")
    assert decision.properties["rationale"] == "самой скучно"
    assert question.properties["status"] == "answered"
    (liked,) = await stage.nodes("Preference")
    assert liked.properties["strength"] == 0.9
    await said("Наконец-то я выучила испанский!")
    (goal,) = await stage.nodes("Goal")
    assert goal.properties["status"] == "achieved"
    assert stage.counted.refused == []
