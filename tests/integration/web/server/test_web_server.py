"""The HTTP server inside the bot's event loop."""

from __future__ import annotations

import asyncio
import signal

import httpx
import pytest
from fastapi import FastAPI, Request
from support.patience import PATIENCE_S

from bot.web.server.uvicorn import listening, serving, serving_on
from internal.config.settings import load
from internal.errors import ConfigurationError


@pytest.fixture
def app() -> FastAPI:
    built = FastAPI()
    built.state.entered = asyncio.Event()

    @built.get("/slow")
    async def slow() -> str:
        built.state.entered.set()
        await asyncio.sleep(0.2)
        return "done"

    return built


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0"])
async def test_port_zero_takes_a_free_one(app: FastAPI, host: str) -> None:
    """The address that is told is one that answers on this machine."""
    async with serving(app, host, 0) as server, httpx.AsyncClient(timeout=PATIENCE_S) as client:
        assert server.port > 0
        assert (await client.get(f"{server.url}/slow")).json() == "done"


async def test_two_servers_live_side_by_side(app: FastAPI) -> None:
    """Port 0 gives each its own."""
    async with serving(app, "127.0.0.1", 0) as one, serving(app, "127.0.0.1", 0) as other:
        assert one.port != other.port


async def test_taken_port_is_told(app: FastAPI) -> None:
    """A second server on the same port is a nameable failure, and the first goes on."""
    async with serving(app, "127.0.0.1", 0) as first:
        with pytest.raises(ConfigurationError, match=rf"cannot listen on 127\.0\.0\.1:{first.port} .*in use"):
            async with serving(app, "127.0.0.1", first.port):
                pass
        async with httpx.AsyncClient(timeout=PATIENCE_S) as client:
            assert (await client.get(f"{first.url}/slow")).status_code == 200


@pytest.mark.parametrize("host", ["no.such.host.invalid", "203.0.113.7"])
async def test_host_that_is_not_ours_is_told(app: FastAPI, host: str) -> None:
    """An unknown name and another machine's address are nameable failures."""
    with pytest.raises(ConfigurationError, match=r"server\.host"):
        async with serving(app, host, 0):
            pass


async def test_signals_stay_the_bots_own(app: FastAPI) -> None:
    """Starting and stopping a server changes no signal handler."""
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    async with serving(app, "127.0.0.1", 0):
        during = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    assert before == during == [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]


async def test_open_request_is_finished_on_stop(app: FastAPI) -> None:
    """Who was being served when the stop came still gets his answer; the port is free afterwards."""
    async with httpx.AsyncClient(timeout=PATIENCE_S) as client:
        async with serving(app, "127.0.0.1", 0) as server:
            pending = asyncio.create_task(client.get(f"{server.url}/slow"))
            await app.state.entered.wait()
        assert (await pending).json() == "done"
        assert server.ended.done()
    async with serving(app, "127.0.0.1", server.port) as next_server:
        assert next_server.port == server.port


@pytest.mark.parametrize(
    ("trusted", "told", "caller"),
    [
        ([], "203.0.113.7", "127.0.0.1"),
        (["192.0.2.1"], "203.0.113.7", "127.0.0.1"),
        (["127.0.0.1"], "203.0.113.7", "203.0.113.7"),
        (["127.0.0.0/8"], "198.51.100.1, 203.0.113.7", "203.0.113.7"),
        (["127.0.0.1", "10.0.0.0/8"], "198.51.100.1, 203.0.113.7, 10.1.2.3", "203.0.113.7"),
        (["127.0.0.1"], "2001:db8::7", "2001:db8::7"),
        (["127.0.0.1"], "", "127.0.0.1"),
    ],
)
async def test_a_caller_is_who_trusted_proxies_say(app: FastAPI, trusted: list[str], told: str, caller: str) -> None:
    """The last of those they name that is no proxy itself; what others say is not believed, also not from here."""

    @app.get("/caller")
    async def called(request: Request) -> str:
        return request.client.host if request.client else ""

    async with (
        serving_on(listening("127.0.0.1", 0), app, trusted_proxies=trusted) as server,
        httpx.AsyncClient(timeout=PATIENCE_S) as client,
    ):
        assert (await client.get(f"{server.url}/caller", headers={"X-Forwarded-For": told})).json() == caller


def test_proxies_are_addresses() -> None:
    """A name would have to be looked up, and looks alike for everybody who can answer for it."""
    config = load(None, {"LAPLACED_SERVER__TRUSTED_PROXIES": "10.0.0.1, 172.16.0.0/12"})
    assert config.server.trusted_proxies == ["10.0.0.1/32", "172.16.0.0/12"]
    with pytest.raises(ConfigurationError, match=r"server\.trusted_proxies\.0: an IP address or a network"):
        load(None, {"LAPLACED_SERVER__TRUSTED_PROXIES": "proxy.example"})
