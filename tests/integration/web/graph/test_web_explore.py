"""Looking around over HTTP: what is one step away from a node of any label, and where a person is told of."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection
from support.interfaces.rest_graph_stage import ANNA, BORIS, NOON, Stage, stage, user

from internal.chronicle import mention_repository, repository as chronicle
from internal.graph import store
from internal.people import repository as people, service as people_service
from internal.storage.database import Database
from internal.telemetry.metrics import Metrics


@pytest.fixture
async def told(database: Database, metrics: Metrics) -> AsyncIterator[Stage]:
    async with stage(database, metrics, user(ANNA), user(BORIS)) as running:
        yield running


async def around(told: Stage, node: str, **query: Any) -> dict[str, Any]:
    answer = await told.client.get(f"/graph/around/{node}", params={"user_id": ANNA, **query})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def names(found: dict[str, Any]) -> set[str]:
    return {one["name"] for one in found["nodes"]}


async def test_a_fact_leads_to_its_other_end(told: Stage) -> None:
    """With its relation and sentence; as of a day before it held it leads nowhere."""
    maria, rubin = await told.node("Maria", type="person"), await told.node("Rubin", type="organization")
    await told.tell(maria, "WORKS_FOR", rubin, "Maria works for Rubin.", "2025-05-01")
    found = await around(told, maria)
    assert (found["node"]["name"], names(found), found["count"]) == ("Maria", {"Rubin"}, 1)
    [edge] = found["edges"]
    told_of_it = {name: edge[name] for name in ("kind", "name", "text", "source", "target")}
    assert told_of_it == {
        "kind": "fact",
        "name": "WORKS_FOR",
        "text": "Maria works for Rubin.",
        "source": maria,
        "target": rubin,
    }
    assert names(await around(told, maria, as_of="2025-04-30")) == set()
    assert names(await around(told, maria, as_of="2025-05-02")) == {"Rubin"}
    assert names(await around(told, maria, kind="memory")) == set()


async def test_a_memory_leads_to_what_it_mentions(told: Stage) -> None:
    """From when it was stored; of many no more than the limit is told, and how many there are."""
    maria = await told.node("Maria", type="person")

    def remember(connection: Connection) -> None:
        for n in range(3):
            now = NOON + timedelta(days=n)
            memory = store.add_node(connection, ANNA, "Memory", {"content": f"Tea with Maria {n}"}, now=now)
            store.add_edge(connection, ANNA, "MENTIONS", memory.id, maria, {}, now=now)

    await told.database.write(remember)
    found = await around(told, maria, limit=2)
    assert (names(found), found["count"]) == ({"Tea with Maria 1", "Tea with Maria 2"}, 3)
    assert names(await around(told, maria, as_of=(NOON + timedelta(hours=1)).isoformat())) == {"Tea with Maria 0"}


async def test_a_conversation_leads_on_to_its_words_its_day_and_whom_it_is_about(told: Stage) -> None:
    """From the entity to the session, from there to its events and its day, and from the day to the year."""
    maria, session = await told.node("Maria"), await told.talked(("I met Maria", "Nice."))

    def mention(connection: Connection) -> None:
        [first, *_] = chronicle.events_of_session(connection, ANNA, session)
        mention_repository.replace(connection, ANNA, {first.id: {maria: 5}}, run_id=None)

    await told.database.write(mention)
    found = await around(told, maria)
    assert [(one["id"], one["label"], one["kind"]) for one in found["nodes"]] == [(session, "Session", "chronicle")]
    inside = await around(told, session)
    assert {one["label"] for one in inside["nodes"]} >= {"Request", "Response", "Day", "Entity"}
    [request] = [one for one in inside["nodes"] if one["label"] == "Request"]
    assert request["text"] == "I met Maria"
    assert {one["type"] for one in inside["edges"]} >= {"PART_OF", "RESPONDS_TO", "INVOLVES", "HAPPENED_AT"}
    assert "Maria" in names(await around(told, request["id"]))
    [day] = [one["id"] for one in inside["nodes"] if one["label"] == "Day"]
    [year] = [one for one in (await around(told, day))["nodes"] if one["label"] == "Year"]
    assert year["name"] == "2026"
    assert {one["id"] for one in (await around(told, year["id"]))["nodes"]} == {day}


async def test_what_is_shown_already_is_linked_too(told: Stage) -> None:
    """An edge between a new neighbour and a node that stands there comes along."""
    first, second, third = [await told.node(name) for name in ("First", "Second", "Third")]
    for source, target in ((first, second), (second, third), (third, first)):
        await told.tell(source, "KNOWS", target, f"{source} knows {target}")
    assert len((await around(told, first, beside=[third]))["edges"]) == 3
    other = await told.client.get(f"/graph/around/{first}", params={"user_id": BORIS})
    assert other.status_code == 404


async def test_one_begins_with_oneself(told: Stage) -> None:
    """Then with what has the most links; somebody of whom nothing is known gets nothing."""

    def himself(connection: Connection) -> str:
        return store.ensure_owner_node(connection, ANNA, "Anna", NOON).id

    anna, tea, milk = await told.database.write(himself), await told.node("Tea"), await told.node("Milk")
    await told.tell(tea, "NEEDS", milk, "Tea needs milk.")
    await told.tell(tea, "MADE_IN", anna, "Tea is made.")
    found = (await told.client.get("/graph/beginnings", params={"user_id": ANNA})).json()["nodes"]
    assert [(one["name"], one["owner"]) for one in found] == [("Anna", True), ("Tea", False), ("Milk", False)]
    nothing = await told.client.get("/graph/beginnings", params={"user_id": BORIS})
    assert nothing.json() == {"nodes": []}


async def test_the_owner_is_linked_with_the_people_of_his_circles(told: Stage) -> None:
    """Also before anything was stored about himself; from him to them and from them to him, since they are known."""
    maria, petro = await told.person("Maria"), await told.person("Petro", mention_count=3)
    [anna] = (await told.client.get("/graph/beginnings", params={"user_id": ANNA, "limit": 1})).json()["nodes"]
    assert (anna["owner"], anna["type"]) == (True, "person")
    found = await around(told, anna["id"], limit=1)
    assert (names(found), found["count"]) == ({"Petro"}, 2)
    [edge] = found["edges"]
    assert (edge["source"], edge["target"]) == (anna["id"], petro.entity_id)
    assert (edge["type"], edge["kind"], edge["name"]) == ("IN_CIRCLE", "fact", "Work_Outer")
    back = await around(told, maria.entity_id, beside=[petro.entity_id])
    assert ([one["owner"] for one in back["nodes"]], back["count"]) == ([True], 1)
    assert {one["target"] for one in back["edges"]} == {maria.entity_id, petro.entity_id}
    before = (NOON - timedelta(days=1)).isoformat()
    for node in (anna["id"], maria.entity_id):
        earlier = await around(told, node, as_of=before)
        assert (earlier["nodes"], earlier["edges"], earlier["count"]) == ([], [], 0)
    assert names(await around(told, anna["id"], kind="memory")) == set()
    assert (await told.client.get(f"/graph/around/{anna['id']}", params={"user_id": BORIS})).status_code == 404


async def test_facts_at_a_node_come_with_their_lines(told: Stage) -> None:
    """What has ended only if it is asked for."""
    maria, first, second = [await told.node(name) for name in ("Maria", "Rubin", "Vector")]
    await told.tell(maria, "WORKS_FOR", first, "Maria works for Rubin.", "2025-01-01")
    await told.tell(maria, "WORKS_FOR", second, "Maria works for Vector.", "2025-06-01")
    now = (await told.client.get(f"/graph/nodes/{maria}/facts", params={"user_id": ANNA})).json()
    assert ([one["fact"] for one in now["facts"]], now["count"]) == (["Maria works for Vector."], 1)
    assert now["facts"][0]["evidence"][0]["quote"] == "Maria works for Vector."
    every = await told.client.get(f"/graph/nodes/{maria}/facts", params={"user_id": ANNA, "include_invalid": True})
    assert every.json()["count"] == 2


async def test_a_person_is_told_of_down_to_the_line(told: Stage) -> None:
    """Mentions by month and with their lines; who was merged stays known by name."""
    person, other = await told.person("Maria"), await told.person("Mary")
    _, episode = await told.tell(person.entity_id, "KNOWS", other.entity_id, "Maria knows Mary.")

    def note(connection: Connection) -> None:
        people_service.note_mentions(connection, ANNA, episode, {person.id: [NOON]}, now=NOON)
        lines = {1: None}
        people.add_evidence(connection, ANNA, person.id, episode, lines, operation="created", run_id=None)

    await told.database.write(note)
    found = (await told.client.get(f"/people/{person.id}/mentions", params={"user_id": ANNA})).json()
    assert (found["count"], found["months"]) == (1, [{"month": "2026-02", "count": 1}])
    assert [line["quote"] for line in found["mentions"][0]["lines"]] == ["Maria knows Mary."]
    await told.client.post("/people/merge", json={"source_id": other.id, "target_id": person.id})
    await told.client.patch(f"/people/{person.id}", json={"bio": "A friend."})
    known = (await told.client.get(f"/people/{person.id}/known", params={"user_id": ANNA})).json()
    assert [one["display_name"] for one in known["merged"]] == ["Mary"]
    assert known["node_id"] == person.entity_id
    assert "bio" in known["set_by_owner"]
    assert (await told.client.get(f"/people/{person.id}/known", params={"user_id": BORIS})).status_code == 404
