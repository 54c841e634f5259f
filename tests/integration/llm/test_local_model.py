"""`llm.local`: a model file from a path or a hub, served by a child process. The engine itself is a stand-in."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web
from support.paths import ROOT

from bot.application import local_model as serving
from bot.application.local_model import LocalModelFailed, local_model
from bot.application.models import open_models
from internal.config.settings import Config, load
from internal.errors import ConfigurationError, ModelAccessDenied, ModelUnavailable
from internal.language.worker.process_pool import LanguageWorker
from internal.llm.model import ChatMessage, ChatModel, ChatRequest
from internal.llm.model_file import DownloadFailed, model_file
from internal.llm.openai import OpenAIChat

NAME = "owner/repo/tiny-q4.gguf"
CONTENT = b"GGUF" + bytes(range(256)) * 2000
REQUEST = ChatRequest("responder", "tiny", [ChatMessage("user", "hello")])


@dataclass
class Hub:
    """Speaks the file URLs of a model hub: HEAD says size and checksum, GET redirects to where the bytes lie."""

    says: str = hashlib.sha256(CONTENT).hexdigest()
    breaks_after: int | None = None
    asked: list[tuple[str, str | None]] = field(default_factory=list)

    async def resolve(self, request: web.Request) -> web.StreamResponse:
        if request.path != "/owner/repo/resolve/main/tiny-q4.gguf":
            raise web.HTTPNotFound
        linked = {"X-Linked-Etag": f'"{self.says}"', "X-Linked-Size": str(len(CONTENT))}
        return web.Response(status=302, headers={"Location": "/lfs/1"} | linked)

    async def bytes(self, request: web.Request) -> web.StreamResponse:
        self.asked.append((request.method, request.headers.get("Range")))
        begin = request.http_range.start or 0
        response = web.StreamResponse(status=206 if begin else 200)
        response.content_length = len(CONTENT) - begin
        await response.prepare(request)
        if self.breaks_after is not None and not begin:
            await response.write(CONTENT[: self.breaks_after])
            await asyncio.sleep(0)
            assert request.transport is not None
            request.transport.close()
            return response
        await response.write(CONTENT[begin:])
        return response


@pytest_asyncio.fixture
async def hub(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Hub]:
    hub, app = Hub(), web.Application()
    app.router.add_get("/lfs/1", hub.bytes)
    app.router.add_get("/{path:.*}", hub.resolve)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{runner.addresses[0][1]}")
    yield hub
    await runner.cleanup()


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = ROOT / "tests/data/local_engine"
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{ROOT}")


def configured(folder: Path, content: bytes = CONTENT) -> Config:
    (folder / "tiny-q4.gguf").write_bytes(content)
    (folder / "config.yaml").write_text(
        f"llm: {{local: {folder}/tiny-q4.gguf}}\ndata_dir: {folder}\n", encoding="utf-8"
    )
    return load(folder / "config.yaml", {})


async def test_a_file_of_a_hub_is_downloaded_once(hub: Hub, tmp_path: Path) -> None:
    """It is where the hub redirects to; how far it is is told up to the end; afterwards nothing is asked any more."""
    told: list[tuple[int, int]] = []
    path = await model_file(NAME, tmp_path, lambda *size: told.append(size))
    assert (path, path.read_bytes()) == (tmp_path / NAME, CONTENT)
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert await model_file(NAME, tmp_path, lambda *_: None) == path
    assert hub.asked == [("GET", None)]


async def test_a_broken_download_goes_on_where_it_stopped(hub: Hub, tmp_path: Path) -> None:
    """What came stays; only the rest is asked for, and the checksum is that of the whole."""
    hub.breaks_after = 100_000
    path = await model_file(NAME, tmp_path, lambda *_: None)
    [_, (_, wanted)] = hub.asked
    assert wanted is not None
    assert 0 < int(wanted.removeprefix("bytes=").removesuffix("-")) <= 100_000
    assert path.read_bytes() == CONTENT


async def test_bytes_that_are_not_the_hubs_are_not_kept(hub: Hub, tmp_path: Path) -> None:
    """Another checksum than the hub says: a clear line, and the next attempt begins again."""
    hub.says = "0" * 64
    with pytest.raises(DownloadFailed, match="another checksum"):
        await model_file(NAME, tmp_path, lambda *_: None)
    assert os.listdir(tmp_path / "owner/repo") == []


@pytest.mark.parametrize(
    ("named", "error", "said"),
    [
        ("owner/repo/absent.gguf", DownloadFailed, "the hub answered 404"),
        ("absent.gguf", ConfigurationError, "there is no file absent.gguf"),
    ],
)
async def test_what_cannot_be_had_is_said(
    hub: Hub, tmp_path: Path, named: str, error: type[Exception], said: str
) -> None:
    """Neither a file of the hub nor one on this machine."""
    with pytest.raises(error, match=said):
        await model_file(named, tmp_path, lambda *_: None)
    assert hub.asked == []


async def test_the_model_answers_all_agents_and_ends_with_the_bot(engine: None, tmp_path: Path) -> None:
    """On loopback, only with its key, under the file's name; after its death it is there again at the same address."""
    config = configured(tmp_path)
    assert {agent.model for _, agent in config.agents.each()} == {"tiny-q4"}
    worker = LanguageWorker()
    async with open_models(config, worker, []) as models:
        assert models.chat is not None
        assert (models.reranker, models.enricher, models.offline) == (None, None, False)
        assert (await models.chat.complete(REQUEST)).text == "tiny of 2"
    async with local_model(config) as model:
        for key, answers in (("", False), (model.key, True)):
            chat = OpenAIChat(model.base_url, key)
            if answers:
                os.kill(model.pid or 0, signal.SIGKILL)
                assert await _answered(chat) == "tiny of 2"
            else:
                with pytest.raises(ModelAccessDenied):
                    await chat.complete(REQUEST)
            await chat.aclose()
        pid = model.pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid or 0, 0)
    await worker.close()


async def _answered(chat: ChatModel) -> str:
    while True:
        try:
            return (await chat.complete(REQUEST)).text
        except ModelUnavailable:
            await asyncio.sleep(0.05)


async def test_a_file_that_is_no_model_is_said(engine: None, tmp_path: Path) -> None:
    """The start ends with one line that names it."""
    with pytest.raises(LocalModelFailed, match=r"tiny-q4\.gguf cannot be loaded: is it a whole GGUF model"):
        async with local_model(configured(tmp_path, b"nonsense")):
            pass


async def test_without_the_extra_it_is_said_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is downloaded."""
    monkeypatch.setattr(serving, "find_spec", lambda _: None)
    with pytest.raises(ConfigurationError, match=r"pip install -e '\.\[local\]'"):
        async with local_model(configured(tmp_path)):
            pass
