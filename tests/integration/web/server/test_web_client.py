"""A command asks the process that holds the data folder."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, PlainTextResponse

from bot.application.rest import rest_of
from bot.web.admin.operations import ARCHIVE_PATH, ArchiveReport, archive_router
from bot.web.client import CallRefused, ServerUnreachable
from bot.web.http.guard import Guard
from bot.web.server.uvicorn import serving
from internal.config.settings import Config, load
from internal.errors import NotFound
from internal.storage.engine.data_lock import Holder, hold_folder, holder
from internal.storage.files.keys import ensure_key


async def archive(user_id: int | None, backfill: str | None, again: bool) -> ArchiveReport:
    if user_id == 404:
        raise NotFound("there is no user 404")
    return ArchiveReport(fragments=user_id or 0, applied=len(backfill or ""), waiting=int(again))


async def ask_archive(
    config: Config, server: Holder, user_id: int | None, backfill: str | None, again: bool = False
) -> ArchiveReport:
    """As `laplaced archive` calls the server."""
    async with aclosing(rest_of(server, config)) as rest:
        return await rest.post(ARCHIVE_PATH, {"user_id": user_id, "backfill": backfill, "again": again}, ArchiveReport)


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return load(None, {"LAPLACED_DATA_DIR": str(tmp_path / "data")})


@pytest.fixture
async def server(config: Config) -> AsyncIterator[Holder]:
    """A server that owns the data folder, has made its key there and tells where it is."""
    app = FastAPI()
    app.include_router(archive_router(archive))
    app.add_exception_handler(NotFound, lambda _, error: JSONResponse({"detail": str(error)}, 404))

    @app.post("/elsewhere/admin/archive")
    async def other(_: Request) -> PlainTextResponse:
        return PlainTextResponse("hello")

    with hold_folder(config.data_dir) as lock:
        guarded = Guard(app, api_key=ensure_key(config.data_dir, "server_api_key"), allowed_hosts=[], own_secret=[])
        async with serving(guarded, "0.0.0.0", 0) as running:
            lock.announce(running.url)
            found = holder(config.data_dir)
            assert found is not None
            yield found


async def test_report_comes_back(config: Config, server: Holder) -> None:
    """The order and the report pass through the real server, with the key it generated."""
    assert await ask_archive(config, server, 7, "archivist") == ArchiveReport(fragments=7, applied=9)
    assert await ask_archive(config, server, None, None) == ArchiveReport(fragments=0)
    assert await ask_archive(config, server, None, None, again=True) == ArchiveReport(fragments=0, waiting=1)


async def test_refusal_is_told_in_the_servers_words(config: Config, server: Holder) -> None:
    """What the server refuses, the command says."""
    with pytest.raises(CallRefused, match=r"^there is no user 404$"):
        await ask_archive(config, server, 404, None)


async def test_other_key_is_told(config: Config, server: Holder) -> None:
    """A command with another configuration than the server's learns which key is wrong."""
    other = load(None, {"LAPLACED_DATA_DIR": str(config.data_dir), "LAPLACED_SERVER__API_KEY": "other"})
    with pytest.raises(CallRefused, match=r"server\.api_key"):
        await ask_archive(other, server, None, None)


async def test_environments_proxy_is_not_asked(config: Config, server: Holder, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy set for the outside world does not come between two processes of one machine."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert await ask_archive(config, server, None, None) == ArchiveReport(fragments=0)
    assert await ask_archive(config, server, None, None, again=True) == ArchiveReport(fragments=0, waiting=1)


async def test_silence_is_told(config: Config) -> None:
    """A holder that hangs or is about to end is named with its process id."""
    with pytest.raises(ServerUnreachable, match=rf"process {os.getpid()} holds .* does not answer .*: ConnectError"):
        await ask_archive(config, Holder(os.getpid(), "http://127.0.0.1:9"), None, None)


async def test_stranger_on_the_port_is_told(config: Config, server: Holder) -> None:
    """Something else that answers there is not mistaken for a report."""
    with pytest.raises(ServerUnreachable, match="is no Laplaced"):
        await ask_archive(config, Holder(server.pid, f"{server.url}/elsewhere"), None, None)


async def test_plain_refusal_is_told_by_its_code(config: Config) -> None:
    """A proxy's error page has no detail; its code is told."""
    app = FastAPI()
    async with serving(app, "127.0.0.1", 0) as running:
        app.add_route("/admin/archive", lambda _: PlainTextResponse("bad gateway", 502), methods=["POST"])
        with pytest.raises(CallRefused, match="the server answered 502"):
            await ask_archive(config, Holder(1, running.url), None, None)
