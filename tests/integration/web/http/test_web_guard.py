"""Who may call the server."""

from __future__ import annotations

import re

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from bot.runtime.http import metrics_open
from bot.web.http.guard import Guard
from internal.config.settings import load

PEOPLE = "/people?user_id=500"
in_one_loop = pytest.mark.asyncio(loop_scope="module")


@in_one_loop
@pytest.mark.parametrize(
    "value", [None, "", "Bearer", "Bearer ", "Bearer wrong", "Basic {key}", "{key}", "Bearer {key}x"]
)
async def test_without_the_key_nothing_is_told(visitor: httpx.AsyncClient, value: str | None) -> None:
    """A missing or wrong key is 401, whatever the path, even for paths that do not exist."""
    key = visitor.headers["Authorization"].removeprefix("Bearer ")
    del visitor.headers["Authorization"]
    headers = {} if value is None else {"Authorization": value.format(key=key)}
    for path in (PEOPLE, "/people/1", "/nowhere"):
        answer = await visitor.get(path, headers=headers)
        assert answer.status_code == 401
        assert "server.api_key" in answer.json()["detail"]
        assert key not in answer.text
    assert (await visitor.post("/admin/archive", content="not json", headers=headers)).status_code == 401


@in_one_loop
async def test_the_index_leads_on_without_a_key(visitor: httpx.AsyncClient) -> None:
    """Its paths exist, the chat page is there; a page that rebinds its name to loopback does not get to see it."""
    del visitor.headers["Authorization"]
    index = await visitor.get("/")
    assert index.status_code == 200
    told = index.json()
    assert told["chat"] == "http://127.0.0.1:8090"
    for name, status in (("health", 200), ("readiness", 200), ("metrics", 200), ("people", 401)):
        assert (await visitor.get(told[name])).status_code == status
    assert (await visitor.get("/", headers={"Host": "evil.example"})).status_code == 403


@in_one_loop
@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
async def test_key_is_accepted_in_any_case_of_its_scheme(visitor: httpx.AsyncClient, scheme: str) -> None:
    """The scheme's name is case-insensitive, the key is not."""
    key = visitor.headers["Authorization"].removeprefix("Bearer ")
    assert (await visitor.get(PEOPLE, headers={"Authorization": f"{scheme} {key}"})).status_code == 200


@in_one_loop
@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:9081",
        "127.0.0.1",
        "127.8.9.1:80",
        "[::1]:9081",
        "[::1]",
        "bot.example",
        "Bot.Example:443",
        "bot.example.",
        "public.example",
    ],
)
async def test_loopback_and_allowed_hosts_are_served(visitor: httpx.AsyncClient, host: str) -> None:
    """Loopback under any of its names, allowed hosts on any port, and the webhook's own public name."""
    assert (await visitor.get(PEOPLE, headers={"Host": host})).status_code == 200


@in_one_loop
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "bot.example.evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "10.0.0.1",
        "",
        "[::1",
        "evil.example:127.0.0.1",
        "user@evil.example",
        "evil.example#localhost",
    ],
)
async def test_foreign_hosts_are_refused(visitor: httpx.AsyncClient, host: str) -> None:
    """A page that rebinds its name to loopback still says its own name, key or no key."""
    answer = await visitor.get(PEOPLE, headers={"Host": host})
    assert answer.status_code == 403
    assert "allowed_hosts" in answer.json()["detail"]


@in_one_loop
@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
async def test_probes_need_neither_key_nor_host(visitor: httpx.AsyncClient, path: str) -> None:
    """Health and metrics answer to everybody."""
    del visitor.headers["Authorization"]
    assert (await visitor.get(path, headers={"Host": "anything.example"})).status_code == 200


async def test_metrics_that_name_users_need_a_key() -> None:
    """Where they can be reached from elsewhere, under any host name; health does not."""

    async def told(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("told")(scope, receive, send)

    guarded = Guard(told, api_key="the-key", allowed_hosts=[], own_secret=[], metrics_open=False)
    base = "http://bot.example:9081"
    async with httpx.AsyncClient(transport=httpx.ASGITransport(guarded), base_url=base) as scraper:
        for path, key, status in (
            ("/metrics", "", 401),
            ("/metrics", "wrong", 401),
            ("/metrics", "the-key", 200),
            ("/healthz", "", 200),
            ("/people", "the-key", 403),
        ):
            answer = await scraper.get(path, headers={"Authorization": f"Bearer {key}"})
            assert (path, key, answer.status_code) == (path, key, status)


@pytest.mark.parametrize(
    ("host", "identity", "keyless"),
    [
        ("127.0.0.1", "raw", True),
        ("localhost", "raw", True),
        ("::1", "raw", True),
        ("0.0.0.0", "raw", False),
        ("bot.example", "raw", False),
        ("0.0.0.0", "hashed", True),
        ("::", "off", True),
    ],
)
def test_where_metrics_are_open(host: str, identity: str, keyless: bool) -> None:
    """On this machine alone, or where they name nobody."""
    assert metrics_open(load(None, {"LAPLACED_SERVER__HOST": host, "LAPLACED_METRICS__IDENTITY": identity})) is keyless


@in_one_loop
@pytest.mark.parametrize("path", ["/healthz/", "/metrics/x", "http://127.0.0.1:9081//metrics", "/healthz/../people"])
async def test_only_the_exact_paths_are_open(visitor: httpx.AsyncClient, path: str) -> None:
    """A path that only begins like an open one is guarded."""
    del visitor.headers["Authorization"]
    assert (await visitor.get(path)).status_code == 401


@in_one_loop
async def test_the_description_opens_in_a_browser(visitor: httpx.AsyncClient) -> None:
    """Without the key, which no browser sends, with all that it loads, from here alone; not for a foreign Host."""
    del visitor.headers["Authorization"]
    page = await visitor.get("/docs")
    assert (page.status_code, "url: '/openapi.json'" in page.text) == (200, True)
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(loaded) == 3
    for path in [*loaded, "/openapi.json"]:
        assert (await visitor.get(path)).status_code == 200
    for path in ["/docs", *loaded]:
        assert (await visitor.get(path, headers={"Host": "evil.example"})).status_code == 403


@in_one_loop
@pytest.mark.parametrize("path", ["/nowhere", "/docs/nothing", "/redoc"])
async def test_unknown_paths_are_json_too(visitor: httpx.AsyncClient, path: str) -> None:
    """With the key, a path that does not exist is 404 in the form of every other refusal."""
    answer = await visitor.get(path)
    assert (answer.status_code, answer.json()) == (404, {"detail": "Not Found"})


def test_a_guard_without_a_key_is_a_mistake_of_the_program() -> None:
    """An empty key would let everybody in."""
    with pytest.raises(ValueError, match="without a key"):
        Guard(httpx.ASGITransport, api_key="", allowed_hosts=[], own_secret=[])  # type: ignore[arg-type]  # never called
