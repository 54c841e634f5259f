"""Events over REST: as a list behind an event, and live as server-sent events."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from support.interfaces.rest_graph_stage import ANNA, BORIS, EXPECTED, KEY, NOON, Stage
from support.patience import PATIENCE_S

from bot.web.http import live_stream
from bot.web.server.uvicorn import serving
from internal.events import repository as events


async def happens(stage: Stage, event_type: str, user_id: int | None = ANNA, **more: Any) -> str:
    source = more.pop("source", "system:test")
    return await stage.database.write(
        lambda c: events.append(c, event_type, source=source, now=NOON, user_id=user_id, **more)
    )


async def listed(stage: Stage, **query: Any) -> Any:
    answer = await stage.client.get("/events", params={"user_id": ANNA} | query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_events_are_listed_as_specified(known: Stage) -> None:
    """Oldest first, of the one owner, with payload and links; those of the instance and of others are not his."""
    first = await happens(known, "message_received", source="user:100", payload={"text": "Привіт\n"})
    await happens(known, "message_received", BORIS)
    await happens(known, "started", None)
    second = await happens(known, "agent_result", source="agent:Archivist", links={"run": "r1"})
    told = await listed(known)
    assert told["events"][0] == {
        "id": first,
        "timestamp": "2026-02-07T12:00:00Z",
        "event_type": "message_received",
        "source": "user:100",
        "payload": {"text": "Привіт\n"},
        "links": None,
    }
    assert [one["id"] for one in told["events"]] == [first, second]
    assert (told["events"][1]["links"], told["count"]) == ({"run": "r1"}, 2)


async def test_a_list_goes_on_behind_an_event(known: Stage) -> None:
    """`after` is exclusive; filters by type and source; `count` is of all that fit, wherever the page begins."""
    ids = [await happens(known, kind, source=source) for kind in "abab" for source in ("s:1", "s:2")]
    assert [one["id"] for one in (await listed(known, limit=3))["events"]] == ids[:3]
    assert [one["id"] for one in (await listed(known, after=ids[5]))["events"]] == ids[6:]
    assert (await listed(known, after=ids[7]))["events"] == []
    told = await listed(known, type="a", source="s:2", after=ids[1])
    assert ([one["id"] for one in told["events"]], told["count"]) == ([ids[5]], 2)


async def test_what_cannot_be_listed(known: Stage) -> None:
    """A stranger, another owner's event, a user who is not named, a page that is too long."""
    foreign = await happens(known, "a", BORIS)
    for query, status, detail in (
        ({"user_id": 7}, 404, "there is no user 7"),
        ({"after": foreign}, 404, f"after: there is no event {foreign}"),
        ({"after": "x"}, 404, "after: there is no event x"),
        ({"limit": 1001}, 422, "limit: "),
    ):
        for path in ("/events", "/events/stream"):
            if path == "/events/stream" and "limit" in query:
                continue
            answer = await known.client.get(path, params={"user_id": ANNA} | query)
            assert answer.status_code == status
            assert answer.json()["detail"].startswith(detail)
    assert (await known.client.get("/events")).json()["detail"].startswith("user_id: ")
    assert (await known.client.get(f"/events?user_id={EXPECTED}")).json() == {"events": [], "count": 0}


class Reader:
    """A client of the stream; `next` is the next event as (id, type, data)."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer
        self._lines = answer.aiter_lines()

    async def line(self) -> str:
        async with asyncio.timeout(PATIENCE_S):
            return await anext(self._lines)

    async def next(self) -> tuple[str, str, Any]:
        fields: dict[str, str] = {}
        while True:
            line = await self.line()
            if line.startswith(":"):
                continue
            if not line and fields:
                return fields["id"], fields["event"], json.loads(fields["data"])
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value


@asynccontextmanager
async def reading(url: str, headers: dict[str, str] | None = None, **query: Any) -> AsyncIterator[Reader]:
    known = {"Authorization": f"Bearer {KEY}"} | (headers or {})
    async with (
        httpx.AsyncClient(base_url=url, headers=known, timeout=10) as client,
        client.stream("GET", "/events/stream", params={"user_id": ANNA} | query) as answer,
    ):
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        yield Reader(answer)


@pytest.fixture
async def url(known: Stage) -> AsyncIterator[str]:
    async with serving(known.app, "127.0.0.1", 0) as server:
        yield server.url
        known.stopping.set()


async def test_events_are_told_as_they_are_committed(known: Stage, url: str) -> None:
    """At once, in order, only the owner's; what was before the stream began is not told."""
    await happens(known, "before")
    async with reading(url) as reader:
        assert (await reader.line()).startswith(":")
        began = time.perf_counter()
        await happens(known, "stranger", BORIS)
        first = await happens(known, "first", payload={"text": "рядок\nрядок"})
        told = await reader.next()
        assert told[:2] == (first, "first")
        assert told[2]["payload"] == {"text": "рядок\nрядок"}
        assert time.perf_counter() - began < live_stream.KEEP_ALIVE_S
        ids = [await happens(known, f"e{n}") for n in range(5)]
        assert [(await reader.next())[0] for _ in ids] == ids


async def test_a_reader_goes_on_where_it_was(known: Stage, url: str) -> None:
    """Behind `after`, or behind the Last-Event-ID of a browser that connects again; filters apply."""
    ids = [await happens(known, "a" if n % 2 else "b") for n in range(4)]
    async with reading(url, after=ids[0]) as reader:
        assert [(await reader.next())[0] for _ in range(3)] == ids[1:]
    async with reading(url, {"Last-Event-ID": ids[1]}, after=ids[0]) as reader:
        assert (await reader.next())[0] == ids[2]
    async with reading(url, after=ids[0], type="b") as reader:
        assert (await reader.next())[0] == ids[2]


async def test_a_silent_stream_stays_open(known: Stage, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comment now and then keeps whoever stands between from cutting it."""
    monkeypatch.setattr(live_stream, "KEEP_ALIVE_S", 0.05)
    async with reading(url) as reader:
        for _ in range(3):
            while (line := await reader.line()) != ": nothing new":
                assert line in {"", ": events follow"}


async def test_a_stop_ends_every_stream(known: Stage) -> None:
    """At once and regularly: the server need not wait for readers that would stay for ever."""
    async with serving(known.app, "127.0.0.1", 0) as server, reading(server.url) as reader:
        await reader.line()
        known.stopping.set()
        began = time.perf_counter()
        async with asyncio.timeout(PATIENCE_S):
            assert all([line in {"", ": nothing new"} async for line in reader._lines])
        assert time.perf_counter() - began < live_stream.KEEP_ALIVE_S


@pytest.mark.parametrize("path", ["/events/stream", "/timeline/stream"])
async def test_a_stream_ends_with_its_session(
    known: Stage, url: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who logged out is told nothing more, while the server's own key reads on."""
    monkeypatch.setattr(live_stream, "KEEP_ALIVE_S", 0.05)
    told = (await known.client.post("/console/login", json={"key": KEY})).json()
    session = {"Authorization": f"Bearer {told['token']}", "X-CSRF-Token": told["csrf"]}
    async with (
        reading(url) as other,
        httpx.AsyncClient(base_url=url, headers=session, timeout=10) as client,
        client.stream("GET", path, params={"user_id": ANNA}) as answer,
    ):
        lines = answer.aiter_lines()
        while await anext(lines) != ": nothing new":
            pass
        assert (await known.client.post("/console/logout", headers=session)).status_code == 204
        async with asyncio.timeout(PATIENCE_S):
            assert {line async for line in lines} <= {"", ": nothing new"}
        await happens(known, "later")
        assert (await other.next())[1] == "later"


async def test_a_reader_who_leaves_is_not_followed(known: Stage, url: str) -> None:
    """Nothing of his stream is left behind."""

    def streams() -> int:
        return sum("committed" in repr(task.get_coro()) for task in asyncio.all_tasks())

    async def until(wanted: int) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while streams() != wanted:  # noqa: ASYNC110 - tasks of the server have no event to wait for
                await asyncio.sleep(0.01)

    async with reading(url) as reader:
        await reader.line()
        await until(1)
    await until(0)
