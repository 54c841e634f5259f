"""Episodes over REST: stored before they are acknowledged, once however often they are sent, and erased whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import select
from support.interfaces.rest_graph_stage import ANNA, BORIS, EXPECTED, NOON, Stage

from internal.access import repository as users
from internal.access.model import Role
from internal.flows.forgetting.requests import ask
from internal.knowledge import episode_repository as episodes
from internal.storage import tables

SAID: dict[str, Any] = {
    "name": "slack_msg_123",
    "content": "Проєкт іде за планом.",
    "source": "message",
    "source_description": "Slack",
    "source_url": "https://example.slack.com/archives/C123/p456,7",
    "reference_time": "2025-11-25T14:30:00+02:00",
}


async def post(stage: Stage, **changes: Any) -> Any:
    told = {name: value for name, value in (SAID | changes).items() if value is not ...}
    return await stage.client.post("/graph/episodes", json=told)


async def test_an_episode_is_stored_when_the_call_is_answered(sole: Stage) -> None:
    """202 with its uuid; the row, its segments and a run of each agent are there, and the agents are woken."""
    answer = await post(sole)
    assert answer.status_code == 202
    told = answer.json()
    assert told == {
        "status": "accepted",
        "message": "episode 'slack_msg_123' is stored",
        "episode_name": "slack_msg_123",
        "group_id": str(ANNA),
        "uuid": told["uuid"],
    }
    stored = await sole.database.read(lambda c: episodes.episode(c, ANNA, told["uuid"]))
    assert stored is not None
    assert (stored.content, stored.source_url) == (SAID["content"], SAID["source_url"])
    runs = select(tables.runs.c.agent, tables.runs.c.state).where(tables.runs.c.episode_id == told["uuid"])
    rows = await sole.database.read(lambda c: [tuple(row) for row in c.execute(runs)])
    assert rows == [("archivist", "due")]
    assert sole.woken == [1]


async def test_the_url_is_embedded_in_the_description_on_the_wire(sole: Stage) -> None:
    """As specified, whatever is in it; where there is no description the URL stands alone."""
    first = (await post(sole)).json()["uuid"]
    second = (await post(sole, source_description=..., name="two")).json()["uuid"]
    third = (await post(sole, source_url="", name="three")).json()["uuid"]
    described = [
        (await sole.client.get(f"/graph/episodes/{one}")).json()["source_description"] for one in (first, second, third)
    ]
    assert described == [f"Slack, source_url: {SAID['source_url']}", f"source_url: {SAID['source_url']}", "Slack"]


async def test_an_episode_is_read_back_as_specified(sole: Stage) -> None:
    """Its fields in UTC; the time it happened apart from the time it came; not processed yet."""
    uuid = (await post(sole, uuid="my-own:1")).json()["uuid"]
    assert uuid == "my-own:1"
    assert (await sole.client.get(f"/graph/episodes/{uuid}")).json() == {
        "uuid": "my-own:1",
        "name": "slack_msg_123",
        "content": "Проєкт іде за планом.",
        "source": "message",
        "source_description": f"Slack, source_url: {SAID['source_url']}",
        "group_id": str(ANNA),
        "created_at": "2026-02-07T12:00:00Z",
        "reference_time": "2025-11-25T12:30:00Z",
        "processed_at": None,
    }
    await sole.database.write(lambda c: c.execute(tables.runs.update().values(state="applied")))
    await sole.database.write(lambda c: episodes.mark_processed(c, ANNA, uuid, NOON))
    assert (await sole.client.get(f"/graph/episodes/{uuid}")).json()["processed_at"] == "2026-02-07T12:00:00Z"


@pytest.mark.parametrize("uuid", [..., "0b0f1d9c-7a3e-4a8e-9f0e-0a1b2c3d4e5f"])
async def test_the_same_episode_again_changes_nothing(sole: Stage, uuid: Any) -> None:
    """With or without a uuid of its own it is stored once, and the agents are not asked twice."""
    first, second = await post(sole, uuid=uuid), await post(sole, uuid=uuid)
    assert (second.status_code, second.json()["uuid"]) == (202, first.json()["uuid"])
    assert second.json()["message"] == "episode 'slack_msg_123' was stored before"
    assert (await sole.client.get("/graph/episodes")).json()["count"] == 1
    assert sole.woken == [1]


async def test_whoever_sends_it_again_need_not_tell_the_time_again(sole: Stage) -> None:
    """Without a reference_time it happened when it first came, also when it is sent once more later."""
    first = await post(sole, reference_time=..., uuid="one")
    sole.clock.advance(3600)
    again = await post(sole, reference_time=..., uuid="one")
    assert again.json()["uuid"] == first.json()["uuid"] == "one"
    told = (await sole.client.get("/graph/episodes/one")).json()
    assert told["reference_time"] == told["created_at"] == "2026-02-07T12:00:00Z"
    assert (await post(sole, reference_time=...)).json()["uuid"] == (await post(sole, reference_time=...)).json()[
        "uuid"
    ]


@pytest.mark.parametrize(
    "changes", [{"content": "Іншe."}, {"name": "x"}, {"source": "text"}, {"reference_time": "2025-11-26T00:00:00Z"}]
)
async def test_one_uuid_cannot_say_two_things(sole: Stage, changes: dict[str, str]) -> None:
    """The second is a conflict, told by the field; what was stored first stays."""
    await post(sole, uuid="one")
    answer = await post(sole, uuid="one", **changes)
    assert answer.status_code == 409
    assert answer.json()["detail"].startswith("uuid: ")
    assert (await sole.client.get("/graph/episodes/one")).json()["content"] == SAID["content"]


async def test_another_owners_uuid_is_taken(known: Stage) -> None:
    """Ids are unique across the store, and whose it is is not told."""
    await post(known, uuid="one", group_id=str(ANNA))
    answer = await post(known, uuid="one", group_id=str(BORIS))
    assert (answer.status_code, answer.json()) == (422, {"detail": "uuid: it is taken"})


async def test_a_group_must_be_named_among_several_users(known: Stage) -> None:
    """Absent it would be everybody's: 422. Named, each has its own."""
    answer = await post(known)
    assert (answer.status_code, answer.json()) == (422, {"detail": "group_id: there are 2 users, so one must be named"})
    assert (await known.client.get("/graph/episodes")).status_code == 422
    await post(known, group_id=str(BORIS))
    counts = [(await known.client.get(f"/graph/episodes?group_id={one}")).json()["count"] for one in (ANNA, BORIS)]
    assert counts == [0, 1]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("group", ["anna", "1.5", "", " 100", "٣", "99999999999999999999"])
async def test_a_group_is_a_number(untouched: Stage, group: str) -> None:
    """Anything else is 422, named, in a body and in a query."""
    for answer in (
        await post(untouched, group_id=group),
        await untouched.client.get("/graph/episodes", params={"group_id": group}),
    ):
        assert answer.status_code == 422
        assert answer.json()["detail"].startswith("group_id: ")


async def test_a_stranger_has_no_memory(sole: Stage) -> None:
    """A number that is nobody's is 404, and nothing is kept."""
    for answer in (await post(sole, group_id="7"), await sole.client.get("/graph/episodes?group_id=7")):
        assert (answer.status_code, answer.json()) == (404, {"detail": "there is no user 7"})
    assert [one.user_id for one in await sole.database.read(users.everybody)] == [ANNA]


async def test_who_is_let_in_may_be_told_about_before_he_writes(sole: Stage) -> None:
    """His memory is empty and valid; with the first episode he is stored, his language to be learnt when he writes."""
    assert (await sole.client.get(f"/graph/episodes?group_id={EXPECTED}")).json() == {"episodes": [], "count": 0}
    assert (await post(sole, group_id=str(EXPECTED))).status_code == 202
    stored = await sole.database.read(lambda c: users.get(c, EXPECTED))
    assert stored.role is Role.OWNER  # nobody was it, and the door is open
    assert stored.settings == {"invited": True}


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ...}, "name"),
        ({"name": " "}, "name"),
        ({"name": "x" * 501}, "name"),
        ({"content": ...}, "content"),
        ({"content": ""}, "content"),
        ({"content": "\0\n"}, "content"),
        ({"content": 5}, "content"),
        ({"content": "x" * 500_001}, "content"),
        ({"source": "json"}, "content"),
        ({"source": "json", "content": "{}"}, "content"),
        ({"source": "json", "content": "[" * 100_000}, "content"),
        ({"source": "pdf"}, "source"),
        ({"source_url": "https://a b"}, "source_url"),
        ({"uuid": "a/b"}, "uuid"),
        ({"uuid": "."}, "uuid"),
        ({"uuid": "x" * 101}, "uuid"),
        ({"reference_time": "yesterday"}, "reference_time"),
        ({"reference_time": 1764081000}, "reference_time"),
        ({"reference_time": "0001-01-01T00:00:00+14:00"}, "reference_time"),
        ({"reference_time": "0999-12-31"}, "reference_time"),
        ({"reference_time": "9999-12-31T23:59:59Z"}, "reference_time"),
        ({"episode_body": "x"}, "episode_body"),
    ],
)
async def test_what_cannot_be_stored_is_refused_by_its_field(
    untouched: Stage, changes: dict[str, Any], field: str
) -> None:
    """422, in words that begin with the field's name; nothing is stored."""
    answer = await post(untouched, **changes)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(f"{field}: ")
    assert (await untouched.client.get("/graph/episodes")).json()["count"] == 0


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[1]", b'"x"', b"[" * 200_000, b'{"name": "\\ud800"}'])
async def test_bodies_that_cannot_be_read(untouched: Stage, content: bytes) -> None:
    """Whatever is sent instead of a JSON object is a 4xx with a sentence."""
    answer = await untouched.client.post(
        "/graph/episodes", content=content, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code in {400, 422}
    assert isinstance(answer.json()["detail"], str)
    assert not answer.json()["detail"][0].isdigit(), "the place where JSON broke off is no field"


async def test_words_that_no_database_takes_are_cleaned(sole: Stage) -> None:
    """NUL, and half a surrogate pair inside of JSON, are no failure."""
    assert (await post(sole, content="a\0b", uuid="one")).status_code == 202
    assert (await post(sole, content=json.dumps({"a": "\ud800b\0"}), source="json", uuid="two")).status_code == 202
    assert (await sole.client.get("/graph/episodes/one")).json()["content"] == "ab"
    parts = await sole.database.read(lambda c: episodes.episode_segments(c, ANNA, "two", 1, 9))
    assert [part.text for part in parts] == ["a: ?b"]


async def test_a_bare_date_is_midnight_where_the_owner_lives(known: Stage) -> None:
    """A time without a zone is UTC."""
    for moment, stored in (
        ("2025-07-01", "2025-06-30T21:00:00Z"),
        ("2025-07-01T10:00", "2025-07-01T10:00:00Z"),
        ("2025-07-01T10:00:00.5-01:00", "2025-07-01T11:00:00.500000Z"),
    ):
        uuid = (await post(known, reference_time=moment, group_id=str(BORIS))).json()["uuid"]
        assert (await known.client.get(f"/graph/episodes/{uuid}")).json()["reference_time"] == stored


async def test_episodes_are_listed_newest_first_in_pages(sole: Stage) -> None:
    """By when they happened, whenever they came; `count` is all of them."""
    for day in (3, 1, 2):
        await post(sole, name=f"day {day}", reference_time=f"2025-11-0{day}")
    page = (await sole.client.get("/graph/episodes?limit=2")).json()
    assert ([one["name"] for one in page["episodes"]], page["count"]) == (["day 3", "day 2"], 3)
    rest = (await sole.client.get("/graph/episodes?limit=2&offset=2")).json()
    assert [one["name"] for one in rest["episodes"]] == ["day 1"]
    assert "processed_at" not in rest["episodes"][0]


async def test_another_owners_episode_is_not_found(known: Stage) -> None:
    """By id, with another's user_id, it can be neither read nor deleted; with its owner's or none it can."""
    uuid = (await post(known, group_id=str(ANNA))).json()["uuid"]
    for path in (
        f"/graph/episodes/{uuid}?user_id={BORIS}",
        "/graph/episodes/nothing",
        f"/graph/episodes/{uuid}?user_id=7",
    ):
        for answer in (await known.client.get(path), await known.client.delete(path)):
            assert answer.status_code == 404
    assert (await known.client.get(f"/graph/episodes/{uuid}?user_id={ANNA}")).status_code == 200
    assert (await known.client.get(f"/graph/episodes/{uuid}")).status_code == 200


async def test_a_deleted_episode_takes_along_what_only_it_supports(sole: Stage) -> None:
    """204; its fact and what only it knew are gone, and the fact that it had ended holds again."""
    anna, kyiv, lviv = await sole.node("Anna"), await sole.node("Kyiv"), await sole.node("Lviv")
    older, _ = await sole.tell(anna, "LIVES_IN", kyiv, "Anna lives in Kyiv", "2020-01-01")
    newer, told = await sole.tell(anna, "LIVES_IN", lviv, "Anna lives in Lviv", "2024-01-01")
    assert (await sole.client.get(f"/graph/facts/{older}")).json()["invalid_at"] == "2024-01-01T00:00:00Z"
    answer = await sole.client.delete(f"/graph/episodes/{told}?user_id={ANNA}")
    assert (answer.status_code, answer.content) == (204, b"")
    assert (await sole.client.get(f"/graph/facts/{newer}")).status_code == 404
    assert (await sole.client.get(f"/graph/nodes/{lviv}")).status_code == 404
    assert (await sole.client.get(f"/graph/facts/{older}")).json()["invalid_at"] is None
    assert (await sole.client.get(f"/graph/episodes/{told}")).status_code == 404
    assert (await sole.client.delete(f"/graph/episodes/{told}")).status_code == 404


async def test_what_is_being_forgotten_is_shown_to_nobody(sole: Stage) -> None:
    """An episode that waits to be erased is in no list and no answer; while everything waits, none is."""
    uuids = [(await post(sole, name=name)).json()["uuid"] for name in ("one", "two")]
    await sole.database.write(lambda c: ask(c, ANNA, "episode", uuids[0], now=NOON))
    listed = (await sole.client.get("/graph/episodes")).json()
    assert ([one["uuid"] for one in listed["episodes"]], listed["count"]) == (uuids[1:], 1)
    assert (await sole.client.get(f"/graph/episodes/{uuids[0]}")).status_code == 404
    await sole.database.write(lambda c: ask(c, ANNA, "everything", None, now=NOON))
    assert (await sole.client.get("/graph/episodes")).json() == {"episodes": [], "count": 0}
    assert (await post(sole, name="three")).status_code == 422
