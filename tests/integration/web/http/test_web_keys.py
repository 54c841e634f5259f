"""Named keys: whose they are, what they allow, and that they end at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest
from support.interfaces.rest_graph_stage import ANNA, BORIS, KEY, Stage
from support.patience import PATIENCE_S

from bot.web.server.uvicorn import serving
from internal.access import repository as users
from internal.access.api_keys import FILE, ApiKeys
from internal.access.model import UserState
from internal.errors import NotFound, Refused

WORDS = {"user_id": ANNA, "label": "Memory", "properties": {"content": "Petrov likes tea"}}


def bearer(key: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"}


async def test_a_key_is_of_one_owner_or_of_all(known: Stage, keys: ApiKeys) -> None:
    """Without an owner it reaches what the server's own key does; with one, nobody else and no admin's call."""
    now = known.clock.now()
    everybodys, annas = (
        keys.add("all", None, read_only=False, now=now),
        keys.add("anna", ANNA, read_only=False, now=now),
    )
    for key, owner, status in (
        (everybodys, ANNA, 200),
        (everybodys, BORIS, 200),
        (annas, ANNA, 200),
        (annas, BORIS, 404),
        (f"{annas}x", ANNA, 401),
        (annas[:-1], ANNA, 401),
        ("lck_", ANNA, 401),
    ):
        answer = await known.client.get("/people", params={"user_id": owner}, headers=bearer(key))
        assert answer.status_code == status
    assert (await known.client.post("/admin/archive", json={}, headers=bearer(annas))).status_code == 404
    assert (await known.client.post("/memory/nodes", json=WORDS, headers=bearer(annas))).status_code == 201
    await known.database.write(lambda c: users.change(c, ANNA, state=UserState.REMOVED.value))
    assert (await known.client.get("/people", headers=bearer(annas))).status_code == 401


@pytest.mark.parametrize("owner", [None, ANNA])
async def test_a_read_only_key_changes_nothing(known: Stage, keys: ApiKeys, owner: int | None) -> None:
    """It reads and searches; whatever else is called is refused, whether or not it is there."""
    key = keys.add("reader", owner, read_only=True, now=known.clock.now())
    node = (await known.client.post("/memory/nodes", json=WORDS)).json()["id"]
    search = {"query": "tea", "search_type": "nodes", "group_ids": [str(ANNA)]}
    for method, path, body, status in (
        ("GET", f"/memory/nodes/{node}?user_id={ANNA}", None, 200),
        ("GET", f"/events?user_id={ANNA}", None, 200),
        ("POST", "/graph/search", search, 200),
        ("POST", "/memory/nodes", WORDS, 403),
        ("POST", "/memory/recall", {"user_id": ANNA, "query": "tea"}, 403),
        ("PATCH", f"/memory/nodes/{node}", {"properties": {"summary": "x"}}, 403),
        ("DELETE", f"/memory/nodes/{node}", None, 403),
        ("POST", "/admin/backup", {}, 403),
        ("PUT", "/nowhere", {}, 403),
        ("DELETE", "/console/sessions", None, 403),
    ):
        answer = await known.client.request(method, path, json=body, headers=bearer(key))
        assert (method, path, answer.status_code) == (method, path, status)
    kept = (await known.client.get(f"/memory/nodes/{node}?user_id={ANNA}")).json()
    assert kept["properties"]["summary"] == "Petrov likes tea"
    assert kept["properties"]["accessCount"] == 0


async def test_a_revoked_key_ends_at_once(known: Stage, keys: ApiKeys) -> None:
    """The next call is refused, and what is being streamed with it ends, although nothing happens in the store."""
    key = keys.add("stream", ANNA, read_only=True, now=known.clock.now())
    async with (
        serving(known.app, "127.0.0.1", 0) as server,
        httpx.AsyncClient(base_url=server.url, headers=bearer(key), timeout=10) as client,
        client.stream("GET", "/events/stream") as answer,
    ):
        assert (await client.get("/people")).status_code == 200
        lines = answer.aiter_lines()
        assert (await anext(lines)).startswith(":")
        keys.revoke("stream")
        assert (await client.get("/people")).status_code == 401
        async with asyncio.timeout(PATIENCE_S):
            assert {line async for line in lines} <= {""}
        known.stopping.set()


async def test_a_session_that_has_ended_streams_nothing_more(known: Stage) -> None:
    """Also when it ended in the very moment the stream began."""
    told = (await known.client.post("/console/login", json={"key": KEY})).json()
    session = {"Authorization": f"Bearer {told['token']}", "X-CSRF-Token": told["csrf"]}
    async with (
        serving(known.app, "127.0.0.1", 0) as server,
        httpx.AsyncClient(base_url=server.url, headers=session, timeout=10) as client,
        client.stream("GET", "/events/stream", params={"user_id": ANNA}) as answer,
    ):
        lines = answer.aiter_lines()
        assert (await anext(lines)).startswith(":")
        assert (await client.post("/console/logout")).status_code == 204
        async with asyncio.timeout(PATIENCE_S):
            assert {line async for line in lines} <= {""}
        known.stopping.set()


async def test_a_key_is_written_nowhere(
    known: Stage, keys: ApiKeys, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Only its hash, for its owner's eyes; nor is it logged, right or wrong. A name is used once."""
    caplog.set_level(logging.DEBUG)
    key = keys.add("mine", None, read_only=False, now=known.clock.now())
    for tried in (key, f"{key}x"):
        await known.client.get("/people", params={"user_id": ANNA}, headers=bearer(tried))
        await known.client.post("/console/login", json={"key": tried})
    assert key not in caplog.text
    file = tmp_path / "keys" / FILE
    assert key not in file.read_text(encoding="utf-8")
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    for name, reason in (("mine", "exists"), ("", "name"), ("a b", "name"), ("x" * 65, "name"), ("../x", "name")):
        with pytest.raises(Refused) as refused:
            keys.add(name, None, read_only=True, now=known.clock.now())
        assert refused.value.reason == reason
    with pytest.raises(NotFound):
        keys.revoke("other")
    assert [one.name for one in keys.all()] == ["mine"]
