"""The Cypher statements of the memory graph's specification, word for word, beside the service that does the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, Final

import pytest
from falkordb.asyncio.graph import AsyncGraph
from redis.asyncio import Redis
from sqlalchemy import Connection
from support.flows.flow_stage import OWNER
from support.flows.mirror_stage import MirrorStage

from internal.chronicle import service as chronicle
from internal.graph import registry, store
from internal.graph.mirror.falkordb_server import EmbeddedFalkor
from internal.graph.mirror.projection import cypher_properties
from internal.graph.model import Node
from internal.memory.plasticity import strength_changes
from internal.memory.queries import examples

BY_CONCEPT: Final = """
MATCH (m:Memory)-[:HAS_CONCEPT]->(c:Concept {name: $conceptName})
RETURN m
ORDER BY m.lastAccessed DESC
LIMIT 20
"""
OPEN_QUESTIONS: Final = """
MATCH (q:Question {status: 'open'})<-[:PARTIALLY_ANSWERS]-(m:Memory)
RETURN q, m
"""
CONTRADICTIONS: Final = """
MATCH (c:Contradiction {status: 'unresolved'})-[:CONFLICTS_WITH]->(m:Memory)
RETURN c, m
"""
PREFERENCES: Final = """
MATCH (p:Preference {category: $category})
RETURN p
ORDER BY p.strength DESC
"""
SHARED_CONCEPTS: Final = """
MATCH (m1:Memory {id: $memoryId})-[:HAS_CONCEPT]->(c:Concept)<-[:HAS_CONCEPT]-(m2:Memory)
WHERE m2.id <> $memoryId
RETURN DISTINCT m2
LIMIT 20
"""
ASSOCIATIONS: Final = """
MATCH (m:Memory {id: $memoryId})-[r:RELATES_TO]->(related:Memory)
WHERE r.strength >= $minStrength
RETURN related, r.strength AS strength
ORDER BY r.strength DESC
"""
STRENGTHEN: Final = """
MATCH (m1:Memory)-[r:RELATES_TO]->(m2:Memory)
WHERE m1.id = $id1 AND m2.id = $id2
SET r.strength = CASE
    WHEN r.strength + $amount > 1.0 THEN 1.0
    ELSE r.strength + $amount
END
"""
WEAKEN: Final = """
MATCH (m1:Memory)-[r:RELATES_TO]->(m2:Memory)
WHERE m1.id = $id1 AND m2.id = $id2
SET r.strength = CASE
    WHEN r.strength - $amount < 0.0 THEN 0.0
    ELSE r.strength - $amount
END
"""
DECAY: Final = """
MATCH ()-[r:RELATES_TO]->()
WHERE r.strength < $threshold AND r.strength > 0
SET r.strength = CASE
    WHEN r.strength - $decay < 0.0 THEN 0.0
    ELSE r.strength - $decay
END
"""
PRUNE: Final = """
MATCH ()-[r:RELATES_TO]->()
WHERE r.strength < $minStrength
DELETE r
"""

Rows = list[dict[str, Any]]


class Remembered:
    """Memories A to E: A, B and C are about tea, B and C about the sea too, and all are linked."""

    def __init__(self, mirror: MirrorStage) -> None:
        self.mirror = mirror
        self.nodes: dict[str, Node] = {}

    async def made(self) -> Remembered:
        mirror = self.mirror
        for name in "ABCDE":
            self.nodes[name] = await mirror.node("Memory", content=f"memory {name}", confidence=0.8)
        for name in ("tea", "sea"):
            self.nodes[name] = await mirror.node("Concept", name=name)
        self.nodes["open"] = await mirror.node("Question", text="Where is the key?")
        self.nodes["answered"] = await mirror.node("Question", text="Who has it?", status="answered")
        for status in ("unresolved", "accepted"):
            self.nodes[status] = await mirror.node("Contradiction", description=f"{status}: lives in two places")
            await mirror.write(lambda c, status=status: self._change(c, status, status=status))
        for strength in (0.9, -0.4, 0.2):
            await mirror.node("Preference", category="drinks", preference=f"tea {strength}", strength=strength)
        await mirror.node("Preference", category="work", preference="silence", strength=1.0)
        for memory, concept in (("A", "tea"), ("B", "tea"), ("C", "tea"), ("B", "sea"), ("C", "sea"), ("D", "sea")):
            await self._link("HAS_CONCEPT", memory, concept, relevance=0.7)
        await self._link("PARTIALLY_ANSWERS", "A", "open", completeness=0.5)
        await self._link("PARTIALLY_ANSWERS", "B", "answered", completeness=1.0)
        for source, target in (("unresolved", "A"), ("unresolved", "B"), ("accepted", "C")):
            await self._link("CONFLICTS_WITH", source, target)
        for target, strength in (("B", 0.95), ("C", 0.5), ("D", 0.05), ("E", 0.0)):
            await self._link("RELATES_TO", "A", target, strength=strength)
        await self._link("RELATES_TO", "B", "A", strength=0.3)
        for name in "CA":
            mirror.talk.clock.advance(3600)
            await mirror.write(lambda c, name=name: store.touch_nodes(c, OWNER, [self[name]], mirror.now))
        await mirror.mirroring.follow(OWNER)
        return self

    def __getitem__(self, name: str) -> str:
        return self.nodes[name].id

    def _change(self, connection: Connection, name: str, **told: Any) -> None:
        store.update_node(connection, OWNER, self[name], told, now=self.mirror.now)

    async def _link(self, type: str, source: str, target: str, **told: Any) -> None:
        await self.mirror.edge(type, self.nodes[source], self.nodes[target], **told)

    async def service(self, work: Callable[[Connection], Any]) -> Any:
        return await self.mirror.database.read(work)


@pytest.fixture
async def told(mirror: MirrorStage) -> Remembered:
    return await Remembered(mirror).made()


def shown(node: Node) -> dict[str, Any]:
    """A node of the service as the mirror has it."""
    return {"id": node.id, "label": node.label, "properties": cypher_properties(registry.specified_properties(node))}


def in_any_order(rows: Iterable[Any]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


async def test_memories_of_a_concept(told: Remembered) -> None:
    """The statement gives the service's memories in its order: never accessed ones first, then the latest accessed."""
    rows = await told.mirror.ask(BY_CONCEPT, conceptName="tea")
    assert [row["m"]["properties"]["content"][-1] for row in rows] == ["B", "A", "C"]
    assert [row["m"] for row in rows] == [
        shown(one) for one in await told.service(lambda c: examples.by_concept(c, OWNER, "tea"))
    ]


async def test_memories_that_might_answer_an_open_question(told: Remembered) -> None:
    """Only the open question's memory, in the statement as by the service."""
    rows = await told.mirror.ask(OPEN_QUESTIONS)
    found = await told.service(lambda c: examples.open_questions(c, OWNER))
    assert rows == [{"q": shown(one.question), "m": shown(one.memory)} for one in found]
    assert [row["m"]["id"] for row in rows] == [told["A"]]


async def test_unresolved_contradictions(told: Remembered) -> None:
    """Both memories of the one that is not resolved."""
    rows = await told.mirror.ask(CONTRADICTIONS)
    found = await told.service(lambda c: examples.contradictions(c, OWNER))
    assert in_any_order(rows) == in_any_order({"c": shown(one.contradiction), "m": shown(one.memory)} for one in found)
    assert {row["m"]["id"] for row in rows} == {told["A"], told["B"]}


async def test_preferences_of_a_category(told: Remembered) -> None:
    """The strongest liking first, and none of another category."""
    rows = await told.mirror.ask(PREFERENCES, category="drinks")
    assert [row["p"]["properties"]["strength"] for row in rows] == [0.9, 0.2, -0.4]
    assert [row["p"] for row in rows] == [
        shown(one) for one in await told.service(lambda c: examples.preferences(c, OWNER, "drinks"))
    ]


async def test_memories_through_shared_concepts(told: Remembered) -> None:
    """Each other memory once, however many concepts it shares."""
    rows = await told.mirror.ask(SHARED_CONCEPTS, memoryId=told["B"])
    found = await told.service(lambda c: examples.shared_concepts(c, OWNER, told["B"]))
    assert in_any_order(row["m2"] for row in rows) == in_any_order(map(shown, found))
    assert {row["m2"]["id"] for row in rows} == {told["A"], told["C"], told["D"]}


async def test_strong_associations(told: Remembered) -> None:
    """The strongest first, none below the asked strength, and only those that lead from the memory."""
    rows = await told.mirror.ask(ASSOCIATIONS, memoryId=told["A"], minStrength=0.5)
    found = await told.service(lambda c: strength_changes.associations(c, OWNER, told["A"], min_strength=0.5))
    nodes = await told.service(lambda c: store.nodes_by_ids(c, OWNER, [one.node_id for one in found]))
    assert rows == [{"related": shown(nodes[one.node_id]), "strength": one.strength} for one in found]
    assert [row["strength"] for row in rows] == [0.95, 0.5]


async def _on_a_copy(server: EmbeddedFalkor, statement: str, **params: Any) -> dict[tuple[str, str], float]:
    """The strengths that a writing statement leaves in a copy of the owner's mirror."""
    async with Redis.from_url(server.url, decode_responses=True) as redis:
        await redis.delete("copy")
        await AsyncGraph(redis, f"laplaced:{OWNER}").copy("copy")
        copy = AsyncGraph(redis, "copy")
        await copy.query(statement, params)
        found = await copy.ro_query("MATCH (a)-[r:RELATES_TO]->(b) RETURN a.id, b.id, r.strength")
        await redis.delete("copy")
    return {(source, target): strength for source, target, strength in found.result_set}


Change = Callable[[Connection, Remembered], Any]


def _strengthen(amount: float) -> Change:
    return lambda c, told: strength_changes.strengthen(c, OWNER, told["A"], told["C"], amount, now=told.mirror.now)


def _weaken(amount: float) -> Change:
    return lambda c, told: strength_changes.weaken(c, OWNER, told["A"], told["C"], amount, now=told.mirror.now)


@pytest.mark.parametrize(
    ("statement", "change", "params"),
    [
        (STRENGTHEN, _strengthen(0.25), {"amount": 0.25}),
        (STRENGTHEN, _strengthen(0.75), {"amount": 0.75}),
        (WEAKEN, _weaken(0.25), {"amount": 0.25}),
        (WEAKEN, _weaken(0.75), {"amount": 0.75}),
        (
            DECAY,
            lambda c, t: strength_changes.decay(c, OWNER, 0.5, 0.1, now=t.mirror.now),
            {"threshold": 0.5, "decay": 0.1},
        ),
        (PRUNE, lambda c, t: strength_changes.prune(c, OWNER, 0.3), {"minStrength": 0.3}),
    ],
    ids=["strengthen", "strengthen to 1", "weaken", "weaken to 0", "decay", "prune"],
)
async def test_plasticity_by_statement_and_by_service(
    told: Remembered, falkordb: EmbeddedFalkor, statement: str, change: Change, params: dict[str, float]
) -> None:
    """A writing statement leaves the edges in a copy of the mirror that the service leaves in the mirror itself."""
    ends = {"id1": told["A"], "id2": told["C"]} if "$id1" in statement else {}
    before = await _strengths(told)
    written = await _on_a_copy(falkordb, statement, **ends, **params)
    await told.mirror.write(lambda c: change(c, told))
    await told.mirror.mirroring.follow(OWNER)
    served = await _strengths(told)
    assert served == pytest.approx(written)
    assert served != before


async def _strengths(told: Remembered) -> dict[tuple[str, str], float]:
    rows = await told.mirror.ask("MATCH (a)-[r:RELATES_TO]->(b) RETURN a.id AS a, b.id AS b, r.strength AS s")
    return {(row["a"], row["b"]): row["s"] for row in rows}


async def test_the_chronicle_in_order(mirror: MirrorStage) -> None:
    """NEXT, walked from the first event to the last, is the order in which all was said, over all sessions."""
    for said in ("first", "second"):
        await mirror.talk.exchange(f"{said} question", f"{said} answer")
    await mirror.write(lambda c: chronicle.close(c, OWNER, mirror.now))
    await mirror.talk.exchange("third question", "third answer")
    await mirror.mirroring.follow(OWNER)
    rows = await mirror.ask(
        "MATCH p = (first)-[:NEXT*]->(last) WHERE NOT ()-[:NEXT]->(first) AND NOT (last)-[:NEXT]->() "
        "RETURN [e IN nodes(p) | coalesce(e.text, e.full_text)] AS told, [e IN nodes(p) | labels(e)[0]] AS labels"
    )
    assert [row["told"] for row in rows] == [
        [f"{n} {what}" for n in ("first", "second", "third") for what in ("question", "answer")]
    ]
    assert rows[0]["labels"] == ["Request", "Response", "Feedback", "Response", "Request", "Response"]
    days = await mirror.ask(
        "MATCH (y:Year)-[m:MONTH]->(d:Day)<-[h:HAPPENED_AT]-(e:Request) "
        "RETURN y.value AS y, m.number AS m, d.date AS d, h.time AS t ORDER BY t LIMIT 1"
    )
    assert days == [{"y": 2026, "m": 2, "d": "2026-02-07", "t": "12:00:00"}]
