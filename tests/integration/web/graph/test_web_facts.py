"""Facts and nodes over REST: as specified, with their receipts, corrected softly."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Connection
from support.interfaces.rest_graph_stage import ANNA, BORIS, NOON, Stage

from internal.flows.merging import people as merging_people
from internal.graph import store
from internal.graph.model import Edge
from internal.people import repository as people

URL = "https://example.org/a,b"


@pytest.fixture
async def fact(known: Stage) -> str:
    """Anna works for ACME, told in one episode with a URL."""
    anna, acme = await known.node("Anna"), await known.node("ACME", labels=["Organization"], description="A firm")
    return (await known.tell(anna, "WORKS_FOR", acme, "Anna works for ACME", "2020-05-01", url=URL))[0]


async def read(stage: Stage, path: str) -> Any:
    answer = await stage.client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def correct(stage: Stage, uuid: str, **changes: Any) -> Any:
    return await stage.client.patch(f"/graph/facts/{uuid}", json={"fact": "Anna runs ACME"} | changes)


async def test_a_fact_is_an_edge_with_its_receipts(known: Stage, fact: str) -> None:
    """Every specified field, the citations, and the very line that supports it."""
    told = await read(known, f"/graph/facts/{fact}")
    [episode] = told["episodes"]
    assert told == {
        "uuid": fact,
        "source_node_uuid": told["source_node_uuid"],
        "target_node_uuid": told["target_node_uuid"],
        "name": "WORKS_FOR",
        "fact": "Anna works for ACME",
        "created_at": "2026-02-07T12:00:00Z",
        "valid_at": "2020-05-01T00:00:00Z",
        "invalid_at": None,
        "expired_at": None,
        "episodes": [episode],
        "citations": [
            {
                "episode_uuid": episode,
                "episode_name": "note of Anna works for ACME",
                "source": "text",
                "source_description": f"notes, source_url: {URL}",
                "created_at": "2026-02-07T12:00:00Z",
                "source_url": URL,
            }
        ],
        "updated_at": None,
        "original_fact": None,
        "update_reason": None,
        "attributes": {},
        "audience": "private",
        "audience_chosen": False,
        "evidence": [
            {
                "episode_uuid": episode,
                "segment": 1,
                "at": "2026-02-07T12:00:00Z",
                "quote": "Anna works for ACME",
                "speaker": None,
                "message_id": None,
                "forwarded_from": None,
                "url": None,
                "telegram_link": None,
            }
        ],
        "valid_at_precision": "day",
        "invalid_at_precision": None,
    }


async def test_a_correction_makes_a_new_version(known: Stage, fact: str) -> None:
    """The old one expires, the new one inherits episodes and times and keeps the text before and the reason."""
    before = await read(known, f"/graph/facts/{fact}")
    answer = await correct(known, fact, reason="She was promoted", attributes={"role": "director"})
    assert answer.status_code == 200
    told = answer.json()
    new = told["new_edge"]
    assert (told["status"], told["old_uuid"], told["new_uuid"]) == ("updated", fact, new["uuid"])
    assert new["uuid"] != fact
    assert new == before | {
        "uuid": new["uuid"],
        "fact": "Anna runs ACME",
        "created_at": "2026-02-07T12:01:00Z",
        "original_fact": "Anna works for ACME",
        "update_reason": "She was promoted",
        "updated_at": "2026-02-07T12:01:00Z",
        "attributes": {"role": "director"},
    }
    assert (await read(known, f"/graph/facts/{fact}"))["expired_at"] == "2026-02-07T12:01:00Z"
    assert await read(known, f"/graph/facts/{new['uuid']}") == new


async def test_every_version_knows_the_whole_history(known: Stage, fact: str) -> None:
    """Oldest first, whichever is asked for."""
    second = (await correct(known, fact)).json()["new_uuid"]
    known.clock.advance(60)
    third = (await correct(known, second, fact="Anna owns ACME")).json()["new_uuid"]
    for one in (fact, second, third):
        told = await read(known, f"/graph/facts/{one}/history")
        assert [version["uuid"] for version in told["history"]] == [fact, second, third]
        assert told["count"] == 3
    assert [version["original_fact"] for version in told["history"]] == [None, "Anna works for ACME", "Anna runs ACME"]


async def test_an_expired_version_cannot_be_corrected(known: Stage, fact: str) -> None:
    """409: the newer one is to be corrected."""
    await correct(known, fact)
    answer = await correct(known, fact)
    assert answer.status_code == 409
    assert fact in answer.json()["detail"]


async def test_a_fact_can_be_moved_to_other_ends(known: Stage, fact: str) -> None:
    """To nodes of the same owner only."""
    globex, foreign = await known.node("Globex"), await known.node("Initech", BORIS)
    moved = (await correct(known, fact, fact="Anna works for Globex", target_node_uuid=globex)).json()["new_edge"]
    assert moved["target_node_uuid"] == globex
    for other in (foreign, "nothing"):
        answer = await correct(known, moved["uuid"], target_node_uuid=other)
        assert (answer.status_code, other in answer.json()["detail"]) == (404, True)
    loop = await correct(known, moved["uuid"], source_node_uuid=globex)
    assert (loop.status_code, loop.json()["detail"][:17]) == (422, "target_node_uuid:")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"fact": ""}, "fact"),
        ({"fact": "..."}, "fact"),
        ({"fact": "x" * 2_001}, "fact"),
        ({"attributes": []}, "attributes"),
        ({"attributes": {"a": "x" * 9_000}}, "attributes"),
        ({"text": "x"}, "text"),
    ],
)
async def test_what_cannot_be_a_correction(known: Stage, fact: str, changes: dict[str, Any], field: str) -> None:
    """422, by its field; the fact stays as it was."""
    answer = await correct(known, fact, **changes)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(f"{field}: ")
    assert (await read(known, f"/graph/facts/{fact}"))["expired_at"] is None


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e999", '"\\ud800"', "[" * 400 + "]" * 400])
async def test_attributes_are_json_that_everybody_reads(known: Stage, fact: str, value: str) -> None:
    """What JSON does not know, or nobody can store, is refused."""
    body = f'{{"fact": "Anna runs ACME", "attributes": {{"a": {value}}}}}'
    headers = {"Content-Type": "application/json"}
    answer = await known.client.patch(f"/graph/facts/{fact}", content=body, headers=headers)
    assert answer.status_code in {400, 422}
    assert isinstance(answer.json()["detail"], str)


async def test_attributes_are_merged(known: Stage, fact: str) -> None:
    """What is told is added, null takes away, NUL is left out."""
    first = (await correct(known, fact, attributes={"role": "a\0b", "since": 1, "deep": {"x": [1, None]}})).json()
    assert first["new_edge"]["attributes"] == {"role": "ab", "since": 1, "deep": {"x": [1, None]}}
    second = (await correct(known, first["new_uuid"], attributes={"since": None, "deep": 2})).json()
    assert second["new_edge"]["attributes"] == {"role": "ab", "deep": 2}


async def test_another_owners_things_are_not_found(known: Stage, fact: str) -> None:
    """Fact, history, correction, node and chain: with another's user_id 404, with the owner's own 200."""
    node = (await read(known, f"/graph/facts/{fact}"))["target_node_uuid"]
    for path in (
        f"/graph/facts/{fact}",
        f"/graph/facts/{fact}/history",
        f"/graph/nodes/{node}",
        f"/graph/nodes/{node}/citations",
    ):
        assert (await known.client.get(f"{path}?user_id={BORIS}")).status_code == 404
        assert (await known.client.get(f"{path}?user_id={ANNA}")).status_code == 200
        assert (await known.client.get(path.replace(fact, "x").replace(node, "x"))).status_code == 404
    stolen = await known.client.patch(f"/graph/facts/{fact}?user_id={BORIS}", json={"fact": "x"})
    assert stolen.status_code == 404


async def test_an_edge_that_is_no_fact_is_none(known: Stage, fact: str) -> None:
    """Other edges of the graph have no versions and cannot be corrected here."""

    def link(connection: Connection) -> Edge:
        one, other = (
            store.add_node(connection, ANNA, "Memory", {"content": text, "summary": text, "confidence": 1.0}, now=NOON)
            for text in ("one", "other")
        )
        return store.add_edge(connection, ANNA, "RELATES_TO", one.id, other.id, {"strength": 0.5}, now=NOON)

    edge = await known.database.write(link)
    for path in (f"/graph/facts/{edge.id}", f"/graph/facts/{edge.id}/history"):
        assert (await known.client.get(path)).status_code == 404


async def test_a_node_is_an_entity_as_specified(known: Stage, fact: str) -> None:
    """Labels are its knowledge types; attributes hold no vector."""
    uuid = (await read(known, f"/graph/facts/{fact}"))["target_node_uuid"]
    assert await read(known, f"/graph/nodes/{uuid}") == {
        "uuid": uuid,
        "name": "ACME",
        "summary": "A firm",
        "created_at": "2026-02-07T12:00:00Z",
        "labels": ["Organization"],
        "attributes": {"type": "concept"},
        "group_id": str(ANNA),
    }
    preference = await known.node("tea", attributes={"embedding": [1.0], "strength": "much"})
    assert (await read(known, f"/graph/nodes/{preference}"))["attributes"] == {"type": "concept", "strength": "much"}


async def test_a_chain_tells_what_each_episode_did(known: Stage, fact: str) -> None:
    """Created, updated and referenced, in the order of the episodes; a person's profile counts as his entity."""
    person = await known.person("Olena")
    acme = (await read(known, f"/graph/facts/{fact}"))["target_node_uuid"]
    _, first = await known.tell(person.entity_id, "WORKS_FOR", acme, "Olena works for ACME")
    _, second = await known.tell(person.entity_id, "LIKES", acme, "Olena likes ACME")
    for episode, operation in ((first, "Added"), (second, "Updated")):
        await known.database.write(
            lambda c, episode=episode, operation=operation: people.add_evidence(
                c, ANNA, person.id, episode, {1: None}, operation=operation, run_id=None
            )
        )
    told = await read(known, f"/graph/nodes/{person.entity_id}/citations")
    assert [(one["episode_uuid"], one["operation"]) for one in told["citations"]] == [
        (first, "created"),
        (second, "updated"),
    ]
    assert told["count"] == 2
    chain = (await read(known, f"/graph/nodes/{acme}/citations"))["citations"]
    assert [(one["operation"], one["source_url"]) for one in chain] == [
        ("referenced", URL),
        ("referenced", None),
        ("referenced", None),
    ]


async def test_a_merged_node_answers_with_its_target(known: Stage) -> None:
    """An id that somebody kept from before a merge still works."""
    source, target = await known.person("Olya"), await known.person("Olena")
    await known.database.write(lambda c: merging_people.merge(c, ANNA, source.id, target.id, now=NOON))
    assert (await read(known, f"/graph/nodes/{source.entity_id}"))["uuid"] == target.entity_id
    assert (await read(known, f"/graph/nodes/{source.entity_id}/citations"))["count"] == 0


async def test_the_status_counts(known: Stage, fact: str) -> None:
    """Episodes, facts that hold, people, and what is still to be read; of the one owner asked for."""
    told = {"name": "n", "content": "Anna likes tea.", "group_id": str(ANNA)}
    await known.client.post("/graph/episodes", json=told)
    await known.person("Olena")
    status = await read(known, f"/graph/status?group_id={ANNA}")
    assert status == {
        "status": "ok",
        "message": "1 runs of agents are waiting",
        "group_id": str(ANNA),
        "episodes": 2,
        "facts": 1,
        "people": 1,
        "waiting": 1,
        "dead": 0,
    }
    assert (await read(known, f"/graph/status?group_id={BORIS}"))["episodes"] == 0
    assert (await read(known, "/graph/status?group_id=500"))["message"] == "everything has been read"
