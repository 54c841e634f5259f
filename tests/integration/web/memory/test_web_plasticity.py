"""`/memory/plasticity`, associations, queries, recall and maintenance over REST."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from support.interfaces.rest_memory_stage import Own, least
from support.long import LONG

from internal.graph.labels import NODES
from internal.memory.model import MEMORY_LABELS
from internal.storage.types import new_id

JSON = {"Content-Type": "application/json"}

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def linked(owner: Own, strength: float) -> tuple[str, str]:
    source, target = await owner.make("Memory"), await owner.make("Memory")
    assert (await owner.link("RELATES_TO", source, target, strength=strength)).status_code == 201
    return source, target


async def strengths(owner: Own, source: str, **query: Any) -> list[tuple[str, float]]:
    told = (await owner.get(f"nodes/{source}/associations", **query)).json()
    assert told["count"] == len(told["associations"])
    return [(one["node"]["id"], one["strength"]) for one in told["associations"]]


@pytest.mark.parametrize(
    ("operation", "before", "amount", "after"),
    [
        ("strengthen", 0.5, 0.2, 0.7),
        ("strengthen", 0.9, 0.2, 1.0),
        ("strengthen", 0.5, 0, 0.5),
        ("weaken", 0.5, 0.2, 0.3),
        ("weaken", 0.1, 0.2, 0.0),
        ("weaken", 1, 1, 0.0),
    ],
)
async def test_a_link_grows_and_shrinks_within_its_bounds(
    owner: Own, operation: str, before: float, amount: float, after: float
) -> None:
    """The answer is the strength then, and associations tell the same."""
    source, target = await linked(owner, before)
    ends = {"source_id": source, "target_id": target}
    answer = await owner.post(f"plasticity/{operation}", **ends, amount=amount)
    assert (answer.status_code, answer.json()) == (200, {"strength": pytest.approx(after)})
    assert await strengths(owner, source) == [(target, pytest.approx(after))]
    assert await strengths(owner, target) == []


@pytest.mark.parametrize("operation", ["strengthen", "weaken"])
async def test_links_that_are_not_there_and_amounts_out_of_range(owner: Own, operation: str) -> None:
    """404 for the direction without a link and for another owner; 422 names the amount."""
    source, target = await linked(owner, 0.5)
    ends = {"source_id": source, "target_id": target}
    turned = {"source_id": target, "target_id": source}
    for told in (turned, {**ends, "target_id": "nothing"}, {**ends, "user_id": owner.stranger}):
        answer = await owner.post(f"plasticity/{operation}", **{**told, "amount": 0.1})
        assert answer.status_code == 404
        assert answer.json()["detail"].startswith("target_id: no RELATES_TO leads from ")
    for amount in (-0.1, 1.1, "0.5", True, None):
        answer = await owner.post(f"plasticity/{operation}", **ends, amount=amount)
        assert (answer.status_code, answer.json()["detail"].split(":")[0]) == (422, "amount")
    assert (await owner.post(f"plasticity/{operation}", **ends)).json() == {"detail": "amount: Field required"}
    assert await strengths(owner, source) == [(target, 0.5)]


async def test_decay_and_prune_tell_how_many(owner: Own) -> None:
    """Weak links lose some, dead ones go; what is out of range is named; another owner's stay."""
    pairs = [await linked(owner, strength) for strength in (0.05, 0.2, 0.9)]
    assert (await owner.post("plasticity/decay", threshold=0.3, decay=0.1)).json() == {"changed": 2}
    assert [strength for pair in pairs for _, strength in await strengths(owner, pair[0])] == [
        0.0,
        pytest.approx(0.1),
        0.9,
    ]
    assert (await owner.post("plasticity/prune", user_id=owner.stranger, min_strength=1)).json() == {"removed": 0}
    assert (await owner.post("plasticity/prune", min_strength=0.5)).json() == {"removed": 2}
    assert [len(await strengths(owner, pair[0])) for pair in pairs] == [0, 0, 1]
    for path, body, field in (
        ("decay", {"threshold": 2, "decay": 0.1}, "threshold"),
        ("decay", {"threshold": 0.1, "decay": -1}, "decay"),
        ("prune", {"min_strength": 1.01}, "min_strength"),
        ("prune", {}, "min_strength"),
        ("decay", {"threshold": 0.1, "decay": 0.1, "amount": 1}, "amount"),
    ):
        answer = await owner.post(f"plasticity/{path}", **body)
        assert (answer.status_code, answer.json()["detail"].split(":")[0]) == (422, field)


async def test_associations_come_strongest_first(owner: Own) -> None:
    """With whole nodes, from a bound on, at most so many; 404 for another owner, 422 for what is no memory."""
    hub, *others = [await owner.make("Memory", content=f"memory {n}") for n in range(4)]
    for other, strength in zip(others, (0.3, 0.9, 0.5), strict=True):
        await owner.link("RELATES_TO", hub, other, strength=strength)
    assert await strengths(owner, hub) == [(others[1], 0.9), (others[2], 0.5), (others[0], 0.3)]
    assert await strengths(owner, hub, min_strength=0.5) == [(others[1], 0.9), (others[2], 0.5)]
    assert await strengths(owner, hub, limit=1) == [(others[1], 0.9)]
    first = (await owner.get(f"nodes/{hub}/associations")).json()["associations"][0]
    assert first["node"] == (await owner.get(f"nodes/{others[1]}")).json()
    assert (await owner.get(f"nodes/{hub}/associations", user_id=owner.stranger)).status_code == 404
    assert (await owner.get(f"nodes/{hub}/associations", min_strength=1.5)).status_code == 422
    goal = await owner.get(f"nodes/{await owner.make('Goal')}/associations")
    assert (goal.status_code, goal.json()["detail"]) == (422, "id: RELATES_TO leads from a Memory, not from a Goal")


async def test_the_specified_queries(owner: Own) -> None:
    """Each as the specification asks it; concepts and memories of others are not among them."""
    first, second, third = [await owner.make("Memory", content=f"memory {n}") for n in range(3)]
    tea = await owner.make("Concept", name="tea")
    for memory in (first, second):
        assert (await owner.link("HAS_CONCEPT", memory, tea)).status_code == 201
    question, answered = await owner.make("Question", text="When?"), await owner.make("Question", status="answered")
    conflict, settled = await owner.make("Contradiction"), await owner.make("Contradiction", status="resolved")
    for one in (question, answered):
        await owner.link("PARTIALLY_ANSWERS", first, one, completeness=0.4)
    for one in (conflict, settled):
        for memory in (first, third):
            await owner.link("CONFLICTS_WITH", one, memory)
    likes = {"tea": 0.9, "beer": -0.5, "coffee": 0.1}
    for name, strength in likes.items():
        await owner.make("Preference", preference=name, category="drinks", strength=strength)
    await owner.make("Preference", preference="tabs", category="coding style", strength=1)

    found = (await owner.get("queries/by-concept", concept="tea")).json()
    assert ({node["id"] for node in found["nodes"]}, found["count"]) == ({first, second}, 2)
    assert (await owner.get("queries/by-concept", concept="tea", limit=1)).json()["count"] == 1
    open_ones = (await owner.get("queries/open-questions")).json()["pairs"]
    assert [(one["question"]["id"], one["memory"]["id"]) for one in open_ones] == [(question, first)]
    conflicts = (await owner.get("queries/contradictions")).json()["pairs"]
    assert {(one["contradiction"]["id"], one["memory"]["id"]) for one in conflicts} == {
        (conflict, first),
        (conflict, third),
    }
    drinks = (await owner.get("queries/preferences", category="drinks")).json()["nodes"]
    assert [node["properties"]["preference"] for node in drinks] == ["tea", "coffee", "beer"]
    assert (await owner.get("queries/preferences")).json()["count"] == 4
    assert (await owner.get(f"nodes/{question}")).json()["properties"]["status"] == "open"
    shared = (await owner.get("queries/shared-concepts", memory_id=first)).json()["nodes"]
    assert [node["id"] for node in shared] == [second]
    assert (await owner.get("queries/shared-concepts", memory_id=first, user_id=owner.stranger)).status_code == 404
    assert (await owner.get("queries/shared-concepts", memory_id=tea)).status_code == 422
    assert (await owner.get("queries/by-concept")).json() == {"detail": "concept: Field required"}
    for path in ("queries/open-questions", "queries/contradictions", "queries/preferences"):
        assert (await owner.get(path, user_id=owner.stranger)).json()["count"] == 0


async def test_recall_finds_counts_and_strengthens(owner: Own) -> None:
    """By what is asked, with associations; what was recalled together is linked more strongly, nothing else is."""
    green = await owner.make("Memory", content="Olena drinks green tea every morning")
    awake = await owner.make("Memory", content="Green tea keeps Olena awake")
    garden = await owner.make("Memory", content="The fence needs paint")
    await owner.link("RELATES_TO", green, awake, strength=0.4)
    await owner.link("RELATES_TO", green, garden, strength=0.6)
    await owner.stage.follow()
    told = (await owner.post("recall", query="green tea of Olena", limit=2)).json()
    assert {one["node"]["id"] for one in told["memories"]} == {green, awake}
    assert told["count"] == 2
    [near] = [one["associations"] for one in told["memories"] if one["node"]["id"] == green]
    assert [(one["node"]["id"], one["strength"]) for one in near] == [(garden, 0.6), (awake, pytest.approx(0.5))]
    counted = {one: (await owner.get(f"nodes/{one}")).json()["properties"] for one in (green, awake, garden)}
    assert [counted[one]["accessCount"] for one in (green, awake, garden)] == [1, 1, 0]
    assert counted[green]["lastAccessed"] == owner.stage.clock.now().isoformat()
    strong = (await owner.post("recall", query="green tea of Olena", limit=2, min_strength=0.59)).json()
    associated = [one["node"]["id"] for memory in strong["memories"] for one in memory["associations"]]
    assert set(associated) == {garden, awake}
    conflict = await owner.make("Contradiction", status="resolved")
    for type, memory in (("CONFLICTS_WITH", green), ("CONFLICTS_WITH", awake), ("SUPERSEDES", awake)):
        assert (await owner.link(type, conflict, memory)).status_code == 201
    left = (await owner.post("recall", query="green tea of Olena", limit=2)).json()
    assert [one["node"]["id"] for one in left["memories"]] == [green]
    for body, field in (
        ({"query": ""}, "query"),
        ({"query": "x", "limit": 0}, "limit"),
        ({"query": "x", "labels": ["Entity"]}, "labels"),
        ({"query": "x", "labels": ["Ship"]}, "labels"),
        ({"query": "x", "min_strength": 2}, "min_strength"),
    ):
        answer = await owner.post("recall", **body)
        assert (answer.status_code, answer.json()["detail"].split(":")[0]) == (422, field)
    assert (await owner.post("recall", query="tea", user_id=owner.stranger)).json() == {"memories": [], "count": 0}


async def test_other_labels_are_recalled_when_they_are_asked_for(owner: Own) -> None:
    """Goals, questions and so on, also after a change; what was removed is not found."""
    goal = await owner.make("Goal", description="Learn to paint fences")
    await owner.stage.follow()
    for labels, found in ((["Memory"], []), (["Goal", "Question"], [goal])):
        told = (await owner.post("recall", query="fences", labels=labels)).json()
        assert [one["node"]["id"] for one in told["memories"]] == found
    await owner.client.patch(f"/memory/nodes/{goal}", json={"properties": {"description": "Play the violin"}})
    await owner.stage.follow()
    for query, found in (("fences", []), ("violin", [goal])):
        told = (await owner.post("recall", query=query, labels=["Goal"])).json()
        assert [one["node"]["id"] for one in told["memories"]] == found
    await owner.client.delete(f"/memory/nodes/{goal}")
    assert (await owner.post("recall", query="violin", labels=["Goal"])).json()["memories"] == []


async def test_maintenance_is_told_and_done(owner: Own) -> None:
    """Dry, it changes nothing; done, links have decayed by the time that passed; faded memories are listed only."""
    source, target = await linked(owner, 0.8)
    weak, _ = await linked(owner, 0.06)
    before = owner.stage.clock.now()
    owner.stage.clock.advance(timedelta(days=90))
    try:
        dry = (await owner.post("maintenance", dry_run=True)).json()
        assert await strengths(owner, source) == [(target, 0.8)]
        done = (await owner.post("maintenance")).json()
        assert await strengths(owner, source) == [(target, pytest.approx(0.4))]
        assert await strengths(owner, weak) == []
        for report, dry_run in ((dry, True), (done, False)):
            assert [report[name] for name in ("links", "decayed", "pruned", "memories")] == [2, 2, 1, 4]
            assert (report["dry_run"], report["user_id"], report["offered"]) == (dry_run, owner.user_id, [])
        events = await owner.client.get("/events", params={"user_id": owner.user_id, "type": "maintenance_done"})
        [event] = events.json()["events"]
        assert event["payload"] == {name: done[name] for name in event["payload"]}
        assert {"links", "decayed", "pruned", "memories", "faded", "kept"} == set(event["payload"])
    finally:
        owner.stage.clock.set(before)


async def test_a_node_is_stored_with_its_links_or_not_at_all(owner: Own) -> None:
    """Ends are found by id or by name, else made; one that is refused takes everything back."""
    tea = await owner.make("Concept", name="Чай")
    links = [
        {"type": "HAS_CONCEPT", "to": {"id": tea}, "properties": {"relevance": 0.9}},
        {"type": "HAS_CONCEPT", "to": {"label": "Concept", "properties": {"name": "сон"}}},
        {"type": "BELONGS_TO", "to": {"label": "Topic", "properties": {"name": "Здоров'я"}}},
    ]
    made = await owner.post("nodes", label="Memory", properties={"content": "a"}, links=links)
    assert made.status_code == 201
    again = await owner.post("nodes", label="Memory", properties={"content": "b"}, links=links[1:])
    edges = [(await owner.get(f"nodes/{one.json()['id']}/edges")).json()["edges"] for one in (made, again)]
    assert [edge["type"] for edge in edges[0]] == ["HAS_CONCEPT", "HAS_CONCEPT", "BELONGS_TO"]
    assert [edge["target_id"] for edge in edges[1]] == [edge["target_id"] for edge in edges[0][1:]]
    assert (await owner.get("nodes", label="Concept")).json()["count"] == 2
    for link, status, said in (
        ({"type": "HAS_CONCEPT", "to": {"id": new_id()}}, 404, "links: there is no node"),
        ({"type": "HAS_CONCEPT", "to": {"id": tea, "label": "Concept"}}, 422, "links.0.to: either id, or label"),
        ({"type": "HAS_CONCEPT", "to": {}}, 422, "links.0.to: either id, or label"),
        ({"type": "LIKES", "to": {"id": tea}}, 422, "LIKES: there is no such relationship"),
        ({"type": "HAS_CONCEPT", "to": {"label": "Concept", "properties": {}}}, 422, "Concept.name: "),
        ({"type": "HAS_CONCEPT", "to": {"label": "Session", "properties": {}}}, 422, "Session: "),
    ):
        answer = await owner.post("nodes", label="Memory", properties={"content": "c"}, links=[link])
        assert answer.status_code == status, answer.text
        assert answer.json()["detail"].startswith(said)
    assert (await owner.get("nodes", label="Memory")).json()["count"] == 2


NASTY: list[Any] = [
    *(None, "", " ", "\x00", "\ud800", "x" * 100_001, "12", "NaN", "'; DROP TABLE graph_nodes; --", True),
    *(2**70, -(2**70), 1e308, -0.0, 1.5, [], [[]], [None], {}, {"": {}}, {"a": "\ud800"}),
    *("9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "2026-02-30"),
]


@pytest.mark.parametrize("label", MEMORY_LABELS)
async def test_whatever_is_sent_is_stored_or_refused(owner: Own, label: str) -> None:
    """Never more than 4xx, for any value of any property (a third of them in turn); what was taken can be read."""
    for n, name in enumerate([*NODES[label].model.model_fields, "\x00", "embedding"]):
        for value in NASTY if LONG else NASTY[n % 3 :: 3]:
            told = {"user_id": owner.user_id, "label": label, "properties": {**least(label), name: value}}
            # As ASCII: the client's own JSON cannot write half a surrogate pair.
            answer = await owner.client.post("/memory/nodes", content=json.dumps(told), headers=JSON)
            assert answer.status_code in {201, 422}, (name, value, answer.text)
            if answer.status_code == 201:
                read = await owner.get(f"nodes/{answer.json()['id']}")
                assert read.json() == answer.json()
                assert "embedding" not in read.json()["properties"]
