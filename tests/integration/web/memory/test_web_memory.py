"""`/memory/nodes` and `/memory/edges`: every label, property and relationship of the memory graph over REST."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select
from support.interfaces.rest_graph_stage import EXPECTED
from support.interfaces.rest_memory_stage import Own, least, samples

from internal.graph.labels import NODES
from internal.graph.registry import expected
from internal.graph.relationships import FACT, RELATIONSHIPS
from internal.memory.model import MEMORY_LABELS, NAMING
from internal.storage.tables import metadata, search_items, vectors

pytestmark = pytest.mark.asyncio(loop_scope="module")

WRITTEN = [one for one in RELATIONSHIPS.values() if not one.derived and one.name != FACT]


@pytest.mark.parametrize("label", MEMORY_LABELS)
async def test_every_label_is_created_read_listed_changed_and_removed(owner: Own, label: str) -> None:
    """Under the specification's own names, with its defaults; nobody else's id finds it."""
    answer = await owner.post("nodes", label=label, properties=least(label))
    assert answer.status_code == 201
    node = answer.json()
    assert set(node) == {"id", "label", "properties"}
    assert node["label"] == label
    assert least(label).items() <= node["properties"].items()
    assert node["properties"]["id"] == node["id"]
    path = f"/memory/nodes/{node['id']}"
    assert (await owner.client.get(path)).json() == node
    assert (await owner.client.get(path, params={"user_id": owner.user_id})).json() == node
    listed = (await owner.get("nodes", label=label)).json()
    assert listed == {"nodes": [node], "count": 1}
    changed = await owner.client.patch(path, json={"properties": {NAMING[label]: "кава"}})
    assert (changed.status_code, changed.json()["properties"][NAMING[label]]) == (200, "кава")
    assert (await owner.client.get(path)).json() == changed.json()
    for method in ("GET", "PATCH", "DELETE"):
        stranger = await owner.client.request(
            method, path, params={"user_id": owner.stranger}, json={"properties": {}} if method == "PATCH" else None
        )
        assert (stranger.status_code, stranger.json()["detail"]) == (404, f"there is no node {node['id']}")
    assert (await owner.client.delete(path)).status_code == 204
    for method in ("GET", "DELETE"):
        assert (await owner.client.request(method, path)).status_code == 404
    assert (await owner.get("nodes", label=label)).json()["count"] == 0


@pytest.mark.parametrize("label", MEMORY_LABELS)
async def test_every_property_keeps_its_values_and_refuses_others(owner: Own, label: str) -> None:
    """Created with it, corrected to it, read back; a refusal names label, property and what is expected."""
    for name, field in NODES[label].model.model_fields.items():
        good, bad = samples(expected(field))
        path = f"/memory/nodes/{await owner.make(label)}"
        for value in good:
            answer = await owner.post("nodes", label=label, properties={**least(label), name: value})
            changed = await owner.client.patch(path, json={"properties": {name: value}})
            for told, status in ((answer, 201), (changed, 200)):
                assert told.status_code == status, told.text
                assert told.json()["properties"][name] == value
        for value in bad:
            answer = await owner.post("nodes", label=label, properties={**least(label), name: value})
            changed = await owner.client.patch(path, json={"properties": {name: value}})
            for told in (answer, changed):
                said = f"{label}.{name}: {expected(field)} is expected"
                assert (told.status_code, told.json().get("detail")) == (422, said)


@pytest.mark.parametrize("label", MEMORY_LABELS)
async def test_what_is_missing_or_unknown_is_named(owner: Own, label: str) -> None:
    """Required properties one by one; a property that the label does not have; what only the store gives."""
    for name in least(label):
        told = {other: value for other, value in least(label).items() if other != name}
        answer = await owner.post("nodes", label=label, properties=told)
        assert answer.status_code == 422
        assert answer.json()["detail"].startswith(f"{label}.{name}: ")
    unknown = await owner.post("nodes", label=label, properties={**least(label), "colour": "red"})
    assert unknown.status_code == 422
    assert unknown.json()["detail"].startswith(f"{label}.colour: there is no such attribute; there are ")
    for name in ("id", "created"):
        kept = await owner.post("nodes", label=label, properties={**least(label), name: "x"})
        assert kept.status_code == 422
        assert f"{label}.{name}" in kept.json()["detail"]


async def test_labels_that_cannot_be_written_are_refused(owner: Own) -> None:
    """Unknown ones with those there are; the chronicle's, which follow from messages."""
    unknown = await owner.post("nodes", label="Ship", properties={})
    assert unknown.status_code == 422
    assert unknown.json()["detail"].startswith("Ship: there is no such label; there are Memory, Concept")
    assert (await owner.post("nodes", label="Session", properties={})).status_code == 422
    for label in ("Ship", "Session"):
        listed = await owner.get("nodes", label=label)
        assert (listed.status_code, listed.json()["detail"][:6]) == (422, "label:")


async def test_a_memory_has_the_contracts_defaults(owner: Own) -> None:
    """The summary is the content's beginning, between words; confidence 1; nothing accessed; a link of 0.5."""
    content = "Olena " + "drinks green tea " * 20
    first = (await owner.post("nodes", label="Memory", properties={"content": content})).json()
    told = first["properties"]
    assert content.startswith(told["summary"])
    assert 100 < len(told["summary"]) <= 120
    assert (told["confidence"], told["accessCount"], told["lastAccessed"]) == (1.0, 0, None)
    assert told["created"] == owner.stage.clock.now().isoformat()
    edge = await owner.link("RELATES_TO", first["id"], await owner.make("Memory"))
    assert edge.status_code == 201
    assert edge.json()["properties"]["strength"] == 0.5
    goal = await owner.link("SUPPORTS", first["id"], await owner.make("Goal"))
    assert goal.json()["properties"]["strength"] == 0.5


async def test_every_creation_makes_a_node_of_its_own(owner: Own) -> None:
    """Also of the same words: whoever means what is there links to its id, or says it by its name in `links`."""
    for label in ("Memory", "Concept", "Entity"):
        assert await owner.make(label) != await owner.make(label)


@pytest.mark.parametrize("relationship", [one.key for one in WRITTEN], ids="-".join)
async def test_every_relationship_is_created_and_removed(owner: Own, relationship: tuple[str, str, str]) -> None:
    """Between its own ends only; the same again is the same edge; its ends stay when it goes."""
    type, source_label, target_label = relationship
    source, target = await owner.make(source_label), await owner.make(target_label)
    answer = await owner.link(type, source, target)
    assert answer.status_code == 201, answer.text
    edge = answer.json()
    assert [edge[name] for name in ("type", "source_id", "target_id")] == [type, source, target]
    assert (await owner.link(type, source, target)).json()["id"] == edge["id"]
    path = f"/memory/edges/{edge['id']}"
    assert (await owner.client.get(path)).json()["type"] == type
    for end in (source, target):
        at_end = (await owner.client.get(f"/memory/nodes/{end}/edges")).json()
        assert [one["id"] for one in at_end["edges"]] == [edge["id"]]
    assert (await owner.client.get(path, params={"user_id": owner.stranger})).status_code == 404
    assert (await owner.client.delete(path)).status_code == 204
    assert (await owner.client.get(path)).status_code == 404
    assert (await owner.client.get(f"/memory/nodes/{source}")).status_code == 200
    if source_label != target_label:
        turned = await owner.link(type, target, source)
        assert turned.status_code == 422
        assert turned.json()["detail"].startswith(f"{type}: it leads from ")
    itself = await owner.link(type, source, source)
    assert itself.status_code == 422


@pytest.mark.parametrize("relationship", [one.key for one in WRITTEN if one.attributes.model_fields], ids="-".join)
async def test_every_attribute_keeps_its_values_and_refuses_others(
    owner: Own, relationship: tuple[str, str, str]
) -> None:
    """A refusal names the relationship, the attribute and what is expected."""
    type, *labels = relationship
    ends = [await owner.make(label) for label in labels]
    for name, field in RELATIONSHIPS[relationship].attributes.model_fields.items():
        good, bad = samples(expected(field))
        for value in good:
            answer = await owner.link(type, *ends, **{name: value})
            assert answer.status_code == 201, answer.text
            assert answer.json()["properties"][name] == value
        for value in bad:
            refused = await owner.link(type, *ends, **{name: value})
            said = f"{type}.{name}: {expected(field)} is expected"
            assert (refused.status_code, refused.json().get("detail")) == (422, said)
    unknown = await owner.link(type, *ends, colour="red")
    assert unknown.status_code == 422
    assert unknown.json()["detail"].startswith(f"{type}.colour: there is no such attribute")


async def test_ends_that_are_not_there_are_named(owner: Own) -> None:
    """Also another owner's, whichever end it is; a fact is told otherwise; unknown types with those there are."""
    mine, also, foreign = (
        await owner.make("Memory"),
        await owner.make("Memory"),
        await owner.make("Memory", owner.stranger),
    )
    for source, target, field in ((foreign, mine, "source_id"), (mine, foreign, "target_id"), (mine, "x", "target_id")):
        answer = await owner.link("RELATES_TO", source, target)
        assert answer.status_code == 404
        assert answer.json()["detail"].startswith(f"{field}: there is no node ")
    assert (await owner.link("KNOWS", mine, also)).json()["detail"].startswith("KNOWS: there is no such relationship")
    told = await owner.link(FACT, await owner.make("Entity"), await owner.make("Topic"), name="n", fact="f")
    assert told.status_code == 422
    _, acme = await owner.make("Memory"), await owner.stage.node("ACME", owner.user_id)
    fact, _ = await owner.stage.tell(
        acme, "LIKES", await owner.stage.node("tea", owner.user_id), "ACME likes tea", user_id=owner.user_id
    )
    for method in ("GET", "DELETE"):
        assert (await owner.client.request(method, f"/memory/edges/{fact}")).status_code == 404


async def test_whose_memory_it_is(owner: Own) -> None:
    """Unknown users are 404; one who is let in has an empty memory, and his first node makes room for him."""
    for path in ("nodes", "queries/open-questions", "queries/contradictions", "queries/preferences"):
        for user_id, status in ((404, 404), (EXPECTED, 200)):
            answer = await owner.client.get(f"/memory/{path}", params={"user_id": user_id})
            assert answer.status_code == status, path
        assert (await owner.client.get(f"/memory/{path}")).status_code == 422
    for path, body in (
        ("nodes", {"label": "Memory", "properties": {"content": "x"}}),
        ("edges", {"type": "RELATES_TO", "source_id": "a", "target_id": "b"}),
        ("plasticity/decay", {"threshold": 0.5, "decay": 0.1}),
        ("plasticity/prune", {"min_strength": 0.5}),
        ("plasticity/strengthen", {"source_id": "a", "target_id": "b", "amount": 0.1}),
        ("maintenance", {}),
    ):
        assert (await owner.post(path, user_id=404, **body)).json() == {"detail": "there is no user 404"}
    assert (await owner.post("plasticity/decay", user_id=EXPECTED, threshold=1, decay=1)).json() == {"changed": 0}
    assert (await owner.post("plasticity/prune", user_id=EXPECTED, min_strength=1)).json() == {"removed": 0}
    made = await owner.make("Memory", EXPECTED)
    assert (await owner.client.get(f"/memory/nodes/{made}", params={"user_id": EXPECTED})).status_code == 200


async def test_lists_come_in_pages_and_by_status(owner: Own) -> None:
    """Oldest first; `count` is of all; without a label all 13 labels are listed."""
    goals = []
    for n in range(5):
        goals.append(await owner.make("Goal", description=f"goal {n}", status="achieved" if n == 4 else "active"))
        owner.stage.clock.advance(timedelta(minutes=1))
    await owner.make("Memory")

    async def listed(**params: Any) -> tuple[list[str], int]:
        told = (await owner.client.get("/memory/nodes", params={"user_id": owner.user_id, **params})).json()
        return [node["id"] for node in told["nodes"]], told["count"]

    assert await listed(label="Goal", limit=2, offset=1) == (goals[1:3], 5)
    assert await listed(label="Goal", status="achieved") == ([goals[4]], 1)
    assert (await listed())[1] == 6
    for params in ({"limit": 0}, {"limit": 1001}, {"offset": -1}):
        answer = await owner.client.get("/memory/nodes", params={"user_id": owner.user_id, **params})
        assert (answer.status_code, answer.json()["detail"].split(":")[0]) == (422, next(iter(params)))


async def test_what_was_read_may_be_written_back(owner: Own) -> None:
    """A client that changes one property of what it read sends the rest as it was; null takes one away."""
    node = (await owner.post("nodes", label="Goal", properties={"description": "run", "priority": 1})).json()
    path = f"/memory/nodes/{node['id']}"
    back = {**node["properties"], "status": "achieved"}
    changed = (await owner.client.patch(path, json={"properties": back})).json()
    assert changed["properties"] == back
    without = (await owner.client.patch(path, json={"properties": {"priority": None}, "user_id": owner.user_id})).json()
    assert "priority" not in without["properties"]
    other = await owner.client.patch(path, json={"properties": {"created": "2020-01-01T00:00:00+00:00"}})
    assert other.status_code == 422
    assert (await owner.client.patch(path, json={"properties": {}, "user_id": owner.stranger})).status_code == 404


async def test_a_person_is_changed_as_a_profile(owner: Own) -> None:
    """His entity follows it; PATCH says where; DELETE takes the whole person."""
    person = await owner.stage.person("Петров", owner.user_id)
    path = f"/memory/nodes/{person.entity_id}"
    assert (await owner.client.get(path)).json()["properties"]["name"] == "Петров"
    refused = await owner.client.patch(path, json={"properties": {"name": "Сидоров"}})
    assert (refused.status_code, f"PATCH /people/{person.id}" in refused.json()["detail"]) == (422, True)
    assert (await owner.client.delete(path)).status_code == 204
    assert (await owner.client.get(f"/people/{person.id}")).status_code == 404


async def test_a_removed_node_leaves_no_trace(owner: Own) -> None:
    """Its edges, vectors, search items and every word of it are gone from every column that holds words."""
    word = "Mirabelle"
    doomed = await owner.make("Memory", content=f"{word} in the garden", summary=word)
    kept = await owner.make("Memory", content="other")
    edge = (await owner.link("RELATES_TO", doomed, kept, relType=word)).json()
    concept = await owner.make("Concept", name="fruit")
    await owner.link("HAS_CONCEPT", doomed, concept)
    await owner.stage.follow()
    item = f"node:{doomed}"
    embedded = select(vectors.c.item).where(vectors.c.item == item)
    assert await owner.stage.database.read(lambda c: c.execute(embedded).all())
    assert (await owner.client.delete(f"/memory/nodes/{doomed}")).status_code == 204
    found = select(search_items.c.item).where(search_items.c.item == item)
    assert await owner.stage.database.read(lambda c: [c.execute(query).all() for query in (embedded, found)]) == [
        [],
        [],
    ]
    assert (await owner.client.get(f"/memory/edges/{edge['id']}")).status_code == 404
    assert (await owner.client.get(f"/memory/nodes/{kept}/associations")).json()["count"] == 0
    assert (await owner.client.get(f"/memory/nodes/{concept}")).status_code == 200
    for table in metadata.sorted_tables:
        rows = await owner.stage.database.read(lambda c, table=table: c.execute(select(table)).all())
        assert word not in str(rows), table.name


async def test_nodes_that_are_one_are_merged_and_split(owner: Own) -> None:
    """Either id answers with the one that stays, until they are two again; what cannot be one is refused by name."""
    one, other, goal = await owner.make("Concept"), await owner.make("Concept"), await owner.make("Goal")
    path = f"/memory/nodes/{other}"
    refused = await owner.client.post(f"{path}/merge", json={"target_id": goal})
    assert (refused.status_code, refused.json()["detail"][:11]) == (422, "target_id: ")
    assert (await owner.client.post(f"{path}/merge", json={"target_id": "nothing"})).status_code == 404
    stranger = {"user_id": owner.stranger}
    assert (await owner.client.post(f"{path}/merge", json={"target_id": one}, params=stranger)).status_code == 404
    merged = await owner.client.post(f"{path}/merge", json={"target_id": one})
    assert (merged.status_code, merged.json()["id"]) == (200, one)
    assert (await owner.client.get(path)).json()["id"] == one
    assert (await owner.client.post(f"{path}/split", params=stranger)).status_code == 404
    both = await owner.client.post(f"{path}/split")
    assert [both.json()[side]["id"] for side in ("source", "target")] == [other, one]
    assert (await owner.client.get(path)).json()["id"] == other
    assert (await owner.client.post(f"{path}/split")).status_code == 404
