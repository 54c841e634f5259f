"""Sessions of the console: how they begin and end, and that an owner's sees that owner alone."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import Connection, insert
from support.interfaces.rest_graph_stage import ANNA, BORIS, CALLER_KEY, KEY, Stage

from bot.console.login import login_router
from bot.web.http.login_attempts import MOST_BY_ONE
from bot.web.http.sessions import Callers
from internal.access import repository as users
from internal.access.console import service as console
from internal.access.model import UserState
from internal.dialogue import repository as dialogue
from internal.events import repository as events
from internal.scheduling.clock import SystemClock
from internal.storage.tables import console_sessions
from internal.telemetry import call_repository

NOW = SystemClock().now()
HOUR = timedelta(hours=1)


async def link_of(known: Stage, user_id: int, lifetime: timedelta = HOUR) -> str:
    return await known.database.write(
        lambda c: console.issue_link(c, user_id, lifetime=lifetime, now=known.clock.now())
    )


async def logged_in(known: Stage, user_id: int) -> httpx.AsyncClient:
    """A client with a session of this owner."""
    told = (await known.client.post("/console/login", json={"link": await link_of(known, user_id)})).json()
    headers = {"Authorization": f"Bearer {told['token']}", "X-CSRF-Token": told["csrf"]}
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(known.app), base_url=str(known.client.base_url), headers=headers
    )


async def test_a_link_logs_in_once(known: Stage) -> None:
    """Its session is its owner's; used again it is refused."""
    link = await link_of(known, ANNA)
    del known.client.headers["Authorization"]
    told = await known.client.post("/console/login", json={"link": link})
    assert told.status_code == 200
    assert (told.json()["role"], told.json()["user_id"]) == ("owner", ANNA)
    for spent in (link, "guessed"):
        assert (await known.client.post("/console/login", json={"link": spent})).status_code == 401


async def test_an_old_link_is_refused(known: Stage) -> None:
    """A link lives as long as it was issued for."""
    link = await link_of(known, ANNA, -HOUR)
    assert (await known.client.post("/console/login", json={"link": link})).status_code == 401


async def test_the_key_opens_the_admins_session(known: Stage) -> None:
    """Which sees everybody, tells so on /console/me, and ends with logging out."""
    told = (await known.client.post("/console/login", json={"key": KEY})).json()
    known.client.headers["Authorization"] = f"Bearer {told['token']}"
    me = (await known.client.get("/console/me")).json()
    assert (me["role"], me["user_id"], me["csrf"]) == ("admin", None, told["csrf"])
    assert {user["user_id"] for user in (await known.client.get("/users")).json()["users"]} >= {ANNA, BORIS}
    left = await known.client.post("/console/logout", headers={"X-CSRF-Token": told["csrf"]})
    assert left.status_code == 204
    assert (await known.client.get("/console/me")).status_code == 401


async def test_another_server_key_ends_what_the_old_one_opened(known: Stage) -> None:
    """The admin's, also those from before sessions were bound to a key; an owner's came by a link and stay."""
    admins = (await known.client.post("/console/login", json={"key": KEY})).json()["token"]
    owners = (await known.client.post("/console/login", json={"link": await link_of(known, ANNA)})).json()["token"]
    row = {"token_hash": sha256(b"lcs_old").hexdigest(), "user_id": None, "csrf": "c", "expires_at": NOW + HOUR}
    await known.database.write(lambda c: c.execute(insert(console_sessions).values(**row, created_at=NOW, seen_at=NOW)))
    before, after = (Callers(known.database, known.clock, key, None) for key in (KEY, "a new one"))
    found = [(await before(token), await after(token)) for token in (admins, owners, "lcs_old")]
    assert [(one is not None, other is not None) for one, other in found] == [
        (True, False),
        (True, True),
        (False, False),
    ]


async def test_all_sessions_are_ended_at_once(known: Stage) -> None:
    """An owner ends his own in every browser, with the links he has not used; the admin everybody's, or one user's."""

    async def alive(client: httpx.AsyncClient) -> bool:
        return (await client.get("/users")).status_code == 200

    anna, annas, boris = [await logged_in(known, user_id) for user_id in (ANNA, ANNA, BORIS)]
    unused = await link_of(known, ANNA)
    assert (await anna.delete("/console/sessions", params={"user_id": BORIS})).status_code == 404
    assert (await anna.delete("/console/sessions")).json() == {"ended": 2}
    assert [await alive(client) for client in (anna, annas, boris)] == [False, False, True]
    assert (await known.client.post("/console/login", json={"link": unused})).status_code == 401
    anna = await logged_in(known, ANNA)
    assert (await known.client.delete("/console/sessions", params={"user_id": BORIS})).json() == {"ended": 1}
    assert [await alive(client) for client in (anna, boris)] == [True, False]
    await known.client.post("/console/login", json={"key": KEY})
    assert (await known.client.delete("/console/sessions")).json() == {"ended": 2}
    assert not await alive(anna)


async def test_changes_need_the_sessions_csrf_token(known: Stage) -> None:
    """Reading does not; the server's own key needs none."""
    client = await logged_in(known, ANNA)
    client.headers["X-CSRF-Token"] = "another"
    assert (await client.get("/users")).status_code == 200
    refused = await client.post("/graph/search", json={"query": "x"})
    assert refused.status_code == 403
    assert "X-CSRF-Token" in refused.json()["detail"]
    assert (await known.client.post("/graph/search", json={"query": "x", "group_ids": [str(ANNA)]})).status_code == 200


async def test_guessing_is_slowed_down_and_what_is_right_is_not(known: Stage) -> None:
    """After ten wrong attempts of one address its next wrong one waits; the right key and a good link never do."""
    link = await link_of(known, ANNA)
    for _ in range(MOST_BY_ONE):
        assert (await known.client.post("/console/login", json={"key": "wrong"})).status_code == 401
    for wrong in ({"key": f"{KEY}x"}, {"link": "guessed"}):
        late = await known.client.post("/console/login", json=wrong, headers={"X-Forwarded-For": "203.0.113.9"})
        assert late.status_code == 429
        assert 0 < int(late.headers["Retry-After"]) <= 60
    for right in ({"key": KEY}, {"link": link}):
        assert (await known.client.post("/console/login", json=right)).status_code == 200


async def test_visitors_of_the_console_are_told_apart(known: Stage) -> None:
    """Each is counted under his own address, which the server believes nobody but the console."""

    def visitor(caller_key: str, address: str) -> httpx.AsyncClient:
        rest = httpx.AsyncClient(transport=httpx.ASGITransport(known.app), base_url=str(known.client.base_url))
        pages = FastAPI()
        pages.include_router(login_router(rest, secure=False, caller_key=caller_key))
        transport = httpx.ASGITransport(pages, client=(address, 1))
        return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:9082")

    async def waits(caller_key: str, address: str) -> bool:
        answer = await visitor(caller_key, address).post("/login", data={"key": "wrong"})
        return "Wait" in answer.text

    for _ in range(MOST_BY_ONE):
        assert not await waits(CALLER_KEY, "203.0.113.7")
    assert await waits(CALLER_KEY, "203.0.113.7")
    assert not await waits(CALLER_KEY, "203.0.113.8")
    assert [await waits("guessed", f"203.0.113.{n}") for n in range(100, 111)] == [False] * MOST_BY_ONE + [True]


@pytest.mark.parametrize("body", [{}, {"key": KEY, "link": "x"}, {"key": ""}, {"key": KEY, "user_id": 1}])
async def test_a_login_names_one_secret(known: Stage, body: dict[str, object]) -> None:
    """Neither none nor two, and nothing else."""
    assert (await known.client.post("/console/login", json=body)).status_code == 422


async def test_an_owners_session_is_kept_to_its_owner(known: Stage) -> None:
    """Named in the query, in a body or by an id, another owner is not found, and the admin's calls are not there."""
    client = await logged_in(known, ANNA)
    told = {"user_id": BORIS, "label": "Memory", "properties": {"content": "x"}}
    theirs = (await known.client.post("/memory/nodes", json=told)).json()["id"]
    for path in (
        f"/people?user_id={BORIS}", f"/people?user_id={ANNA}&user_id={BORIS}", f"/graph/episodes?group_id={BORIS}",
        f"/memory/nodes/{theirs}", f"/memory/nodes/{theirs}?user_id={BORIS}", f"/timeline?user_id={BORIS}",
        f"/messages?user_id={BORIS}", f"/model-calls?user_id={BORIS}", "/admin/quarantine", "/nowhere",
    ):  # fmt: skip
        assert (await client.get(path)).status_code == 404, path
    for path, body in (
        ("/memory/nodes", told), ("/graph/search", {"query": "x", "group_ids": [str(BORIS)]}),
        ("/graph/episodes", {"group_id": str(BORIS), "name": "x", "content": "x"}),
        ("/memory/maintenance", {"user_id": BORIS}), ("/chronicle/repair", {"user_id": BORIS}),
        ("/memory/recall", {"user_id": BORIS, "query": "x"}), ("/admin/archive", {}),
    ):  # fmt: skip
        assert (await client.post(path, json=body)).status_code == 404, path
    assert (await client.get("/people")).status_code == 200
    assert [user["user_id"] for user in (await client.get("/users")).json()["users"]] == [ANNA]
    # What is his own he finds without naming himself, although the store has more than one owner.
    assert (await client.post("/graph/search", json={"query": "x"})).status_code == 200


async def test_a_removed_users_session_ends(known: Stage) -> None:
    """With the admission its sessions go, too."""
    client = await logged_in(known, ANNA)
    await known.database.write(lambda c: users.change(c, ANNA, state=UserState.REMOVED.value))
    assert (await client.get("/users")).status_code == 401


async def test_the_timeline_is_walked_in_pages(known: Stage) -> None:
    """Newest page first, each oldest first; hidden sources are left out; events of messages show their words."""

    def work(connection: Connection) -> list[str]:
        said = dialogue.add(connection, ANNA, "user", "Привіт", now=NOW)
        told = [("message_received", f"user:{ANNA}", {"message": said.id}), ("agent_result", "agent:Archivist", {})]
        told += [("agent_result", "agent:Responder", {}), ("message_sent", "system:delivery", {})]
        return [
            events.append(connection, kind, source=source, now=NOW, user_id=ANNA, payload=payload)
            for kind, source, payload in told
        ]

    ids = await known.database.write(work)
    client = await logged_in(known, ANNA)
    newest = (await client.get("/timeline", params={"limit": 2, "counted": True})).json()
    assert [event["id"] for event in newest["events"]] == ids[2:]
    earlier = (await client.get("/timeline", params={"limit": 2, "before": newest["events"][0]["place"]})).json()
    assert [event["id"] for event in earlier["events"]] == ids[:2]
    assert earlier["events"][0]["text"] == "Привіт"
    assert newest["count"] >= 4
    shown = (await client.get("/timeline", params={"hide": ["agent:Archivist", "system"], "limit": 3})).json()
    assert {event["source"] for event in shown["events"]} <= {f"user:{ANNA}", "agent:Responder"}
    behind = (await client.get("/timeline", params={"after": earlier["events"][1]["place"]})).json()
    assert [event["id"] for event in behind["events"]] == ids[2:]
    one = await client.get(f"/timeline/{ids[0]}")
    assert one.json() == earlier["events"][0]
    stranger = await logged_in(known, BORIS)
    assert (await stranger.get(f"/timeline/{ids[0]}")).status_code == 404


async def test_model_calls_are_found_by_their_cause(known: Stage) -> None:
    """The list is without the words; one call has them exactly; another owner's is not found."""
    row = {
        "id": "call-1", "user_id": ANNA, "agent": "responder", "model": "m", "at": NOW, "duration_s": 1.5,
        "prompt_tokens": 10, "completion_tokens": 5, "cost_usd": 0.01, "prompt": [{"role": "user", "content": "Hi"}],
        "reply": "Hello", "error": None, "links": {"turn": "turn-1"},
    }  # fmt: skip
    others = [{**row, "id": "call-2", "links": {"turn": "turn-10"}}, {**row, "id": "call-3", "user_id": BORIS}]
    await known.database.write(lambda c: call_repository.add(c, [row, *others]))
    client = await logged_in(known, ANNA)
    listed = (await client.get("/model-calls", params={"cause": "turn-1"})).json()
    assert [call["id"] for call in listed["calls"]] == ["call-1"]
    assert "prompt" not in listed["calls"][0]
    assert [call["id"] for call in (await client.get("/model-calls?before=call-2")).json()["calls"]] == ["call-1"]
    whole = (await client.get("/model-calls/call-1")).json()
    assert (whole["prompt"], whole["reply"]) == (row["prompt"], "Hello")
    assert (await client.get("/model-calls/call-3")).status_code == 404


async def test_users_tell_what_went_both_ways(known: Stage) -> None:
    """Counted and paged, newest messages first."""

    def work(connection: Connection) -> None:
        for n in range(3):
            dialogue.add(connection, ANNA, "user", f"said {n}", now=NOW)
            dialogue.add(connection, ANNA, "assistant", f"answered {n}", now=NOW)

    await known.database.write(work)
    client = await logged_in(known, ANNA)
    [anna] = (await client.get("/users")).json()["users"]
    assert (anna["sent"], anna["received"], anna["paused"]) == (3, 3, False)
    page = (await client.get("/messages", params={"limit": 2})).json()
    assert [message["content"] for message in page["messages"]] == ["said 2", "answered 2"]
    before = (await client.get("/messages", params={"limit": 9, "before": page["earlier"]})).json()
    assert len(before["messages"]) == 4
    assert before["earlier"] is None
