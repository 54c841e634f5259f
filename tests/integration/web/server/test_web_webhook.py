"""What the command line and Telegram send to the server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Protocol

import httpx
import pytest
from fastapi import FastAPI

from internal.errors import ConfigurationError

Build = Callable[[str, str], FastAPI]

HOOK = "/telegram/webhook"
SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"
SECRET = {SECRET_HEADER: "webhook-secret-of-the-tests"}


class Ports(Protocol):
    updates: list[bytes]
    archived: list[tuple[int | None, str | None]]


@pytest.mark.parametrize(
    ("body", "asked"),
    [({}, (None, None)), ({"user_id": 500}, (500, None)), ({"backfill": "archivist"}, (None, "archivist"))],
)
async def test_archive_is_asked_for(
    caller: httpx.AsyncClient, ports: Ports, body: dict[str, object], asked: tuple[int | None, str | None]
) -> None:
    """The order reaches the bot as it was given, and the report comes back."""
    answer = await caller.post("/admin/archive", json=body)
    assert answer.json() == {"fragments": 2, "applied": 1, "waiting": 1, "dead": 0}
    assert ports.archived == [asked]


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"user_id": 501}, 404, "there is no user 501"),
        ({"backfill": "poet"}, 422, "no agent is called poet"),
        ({"user_id": "me"}, 422, "user_id: "),
        ({"user": 500}, 422, "user: "),
        ([], 422, "body: "),
    ],
)
async def test_wrong_orders_are_refused_in_words(
    caller: httpx.AsyncClient, ports: Ports, body: object, status: int, said: str
) -> None:
    """What cannot be done is told with the field or the reason, and nothing is archived."""
    answer = await caller.post("/admin/archive", json=body)
    assert answer.status_code == status
    assert answer.json()["detail"].startswith(said)
    assert ports.archived == []


async def test_update_is_accepted_raw(caller: httpx.AsyncClient, ports: Ports) -> None:
    """An update arrives byte for byte, so that one nobody can parse is stored too; Telegram needs no server key."""
    del caller.headers["Authorization"]
    raw = '{"update_id": 1, "message": "Привіт'.encode()
    answer = await caller.post(HOOK, content=raw, headers=SECRET | {"Host": "public.example"})
    assert (answer.status_code, answer.content) == (200, b"")
    assert ports.updates == [raw]


@pytest.mark.parametrize(
    "headers", [{}, {SECRET_HEADER: ""}, {SECRET_HEADER: "wrong"}, {SECRET_HEADER: "ключ".encode()}]
)
async def test_update_without_the_secret_is_refused(
    caller: httpx.AsyncClient, ports: Ports, headers: dict[str, str]
) -> None:
    """Nobody but Telegram can feed the bot; the server's key does not help."""
    answer = await caller.post(HOOK, content=b"{}", headers=headers)
    assert answer.status_code == 401
    assert ports.updates == []


async def test_webhook_reads_no_body_without_end(caller: httpx.AsyncClient, ports: Ports) -> None:
    """Nothing that is longer than any update is kept in memory, whether or not its length is told beforehand."""

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b" " * 100_000

    for content in (b" " * 10_000_000, endless()):
        answer = await caller.post(HOOK, content=content, headers=SECRET)
        assert (answer.status_code, ports.updates) == (413, [])


async def test_webhook_keeps_to_its_host(caller: httpx.AsyncClient, ports: Ports) -> None:
    """The secret does not open the server under a foreign name."""
    answer = await caller.post(HOOK, content=b"{}", headers=SECRET | {"Host": "evil.example"})
    assert (answer.status_code, ports.updates) == (403, [])


@pytest.mark.parametrize("path", ["/people", "/people/7", "/admin/archive", "/metrics", "/healthz"])
async def test_webhook_takes_no_place_of_the_servers_own(build: Build, path: str) -> None:
    """A path without the server's key would open what stands there to everybody."""
    with pytest.raises(ConfigurationError, match=r"telegram\.webhook\.path"):
        build(path, "secret")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
async def test_webhook_path_answers_calls_of_telegram_only(
    caller: httpx.AsyncClient, ports: Ports, method: str
) -> None:
    """Without the key it is open to POST alone."""
    del caller.headers["Authorization"]
    answer = await caller.request(method, HOOK, headers=SECRET)
    assert (answer.status_code, ports.updates) == (405, [])


async def test_webhook_without_a_secret_takes_nothing(build: Build, ports: Ports) -> None:
    """An empty secret is no secret, whatever the caller sends."""
    transport = httpx.ASGITransport(build(HOOK, ""), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:9081") as caller:
        for headers in ({}, {SECRET_HEADER: ""}):
            answer = await caller.post(HOOK, content=b"{}", headers=headers)
            assert (answer.status_code, ports.updates) == (401, [])
