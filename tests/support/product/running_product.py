"""The real process between a local Telegram and a scripted model: started, killed, started again."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
from support.paths import ROOT
from support.patience import PATIENCE_S
from support.product.program import BOT, Process, local_telegram, started
from support.stores.store_hash import logical_hash

from bot.simulator.client import ControlClient
from bot.simulator.launch import LocalTelegram
from internal.storage.crash_points import CRASH_VARIABLE
from internal.storage.database import Database
from internal.testing import ScriptedModel, Step

ARCHIVIST, RESPONDER, RERANKER, ENRICHER = "test/archivist", "test/responder", "test/reranker", "test/enricher"
ANALYST = "test/analyst"
JUDGED = {"topic": "A talk", "responses": [], "session_summary": {"verdict": "correct", "summary": "They talked."}}
"""What the analyst says of any session that a test has no other word for."""

JUDGING = "You are the analyst of a personal assistant"
"""How its prompt begins."""

KEPT_IN_MIND = {"snapshot": {"who": [], "now": [], "threads": []}, "notifications": []}
"""What the context manager says of anything that a test has no other word for."""

KEEPING = "You keep in mind what matters in the life of one person"
"""How its prompt begins."""

NO_TASKS: Final[dict[str, Any]] = {"tasks": [], "settled": []}
"""What the task manager says of anything that a test has no other word for."""

MINDING = "You are the task manager of a personal assistant"
"""How its prompt begins."""

_KEPT_OPEN: ContextVar[dict[Path, sqlite3.Connection] | None] = ContextVar("kept_open", default=None)
"""What one `until` reads again and again: to open a store takes two hundred times as long as to ask it."""

SHORT_WAITS: Final = {"PYTHONPATH": f"{Path(__file__).with_name('short_waits')}{os.pathsep}{ROOT}"}
"""Settings of a product that soon sends again what may have been sent when it died."""

REST_S = 1.0  # longer than anything is written behind
__all__ = ["ROOT"]  # of those who are driven by it


@dataclass
class Product:
    """`start` runs `laplaced run` until its HTTP server answers; `kill` is SIGKILL; `stop` is SIGTERM.

    Its processes are forked from one that has imported the program, or `fresh` ones as from a shell.
    """

    data_dir: Path
    telegram: LocalTelegram | None
    model: ScriptedModel | None
    settings: dict[str, str] = field(default_factory=dict)
    fresh: bool = False
    process: Process | None = None
    url: str = ""
    chat_page: str = ""
    output: list[str] = field(default_factory=list)
    log: Path = Path()

    async def start(self, **extra: str) -> None:
        self.log = self.data_dir.parent / "bot.log"
        environment = self._environment() | extra
        with self.log.open("ab") as log:
            self.process = await started(BOT, ["run"], environment, self.data_dir.parent, stderr=log, fresh=self.fresh)
        await asyncio.wait_for(self._until_ready(self.process), PATIENCE_S)

    async def start_worker(self) -> Process:
        """`laplaced worker` beside it, once it works; whoever starts it ends it."""
        log = self.data_dir.parent / "worker.log"
        with log.open("ab") as written:
            worker = await started(
                BOT, ["worker"], self._environment(), self.data_dir.parent, stderr=written, fresh=self.fresh
            )
        assert worker.stdout is not None
        async with asyncio.timeout(PATIENCE_S):
            line = (await worker.stdout.readline()).decode()
        if not line.startswith("Worker "):
            raise ProcessEnded(f"the worker ended with {await worker.wait()}: {log.read_text()[-2000:]}")
        return worker

    async def command(self, *words: str, **environ: str) -> tuple[int, str, str]:
        """Exit code, stdout and stderr of `laplaced` with these words, beside the bot or without it."""
        environment = self._environment() | environ
        process = await started(BOT, words, environment, self.data_dir.parent, fresh=self.fresh)
        out, err = await asyncio.wait_for(process.communicate(), PATIENCE_S)
        return await process.wait(), out.decode(), err.decode()

    async def start_until_killed(self, crash_at: str) -> None:
        """Starts with a crash point armed; the process may die before it is ready."""
        try:
            await self.start(**{CRASH_VARIABLE: crash_at})
        except ProcessEnded:
            return

    async def ended(self, within: float = PATIENCE_S) -> int:
        assert self.process is not None
        return await asyncio.wait_for(self.process.wait(), within)

    async def kill(self) -> None:
        if self.process is not None and self.process.returncode is None:
            self.process.send_signal(signal.SIGKILL)
            await self.process.wait()

    async def stop(self) -> int:
        assert self.process is not None
        self.process.terminate()
        return await self.ended()

    async def get(self, path: str, **query: Any) -> Any:
        async with self._client() as client:
            answer = await client.get(path, params=query)
        answer.raise_for_status()
        return answer.json()

    async def post(self, path: str, body: dict[str, Any]) -> Any:
        async with self._client() as client:
            answer = await client.post(path, json=body)
        answer.raise_for_status()
        return answer.json()

    async def delete(self, path: str) -> None:
        async with self._client() as client:
            (await client.delete(path)).raise_for_status()

    def _client(self) -> httpx.AsyncClient:
        """Asks REST as the one who has its key."""
        key = (self.data_dir / "server_api_key").read_text().strip()
        return httpx.AsyncClient(base_url=self.url, headers={"Authorization": f"Bearer {key}"}, timeout=PATIENCE_S)

    async def metrics(self) -> str:
        async with httpx.AsyncClient(base_url=self.url, timeout=PATIENCE_S) as client:
            return (await client.get("/metrics")).text

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Reads the stopped or running bot's database from outside."""
        store, kept = self.data_dir / "laplaced.db", _KEPT_OPEN.get()
        if kept is None:
            with closing(_opened(store)) as connection:
                return connection.execute(query, values).fetchall()
        connection = kept.get(store) or kept.setdefault(store, _opened(store))
        return connection.execute(query, values).fetchall()

    def _environment(self) -> dict[str, str]:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("LAPLACED_")}
        environment |= {
            "PYTHONPATH": str(ROOT),
            "LAPLACED_DATA_DIR": str(self.data_dir),
            "LAPLACED_SERVER__PORT": "0",
            "LAPLACED_MCP__PORT": "0",
            "LAPLACED_SERVER__CONSOLE_PORT": "0",
            "LAPLACED_TELEGRAM__LOCAL__PORT": "0",
            "LAPLACED_TELEGRAM__GROUP_WINDOW": "0.1s",
            "LAPLACED_SCHEDULER__TICK": "0.2s",
            "LAPLACED_RUNS__RETRY_BASE": "0.2s",
            "LAPLACED_ACCESS__MESSAGES_PER_MINUTE": "0",
        }
        if self.telegram is not None:
            environment |= {
                "LAPLACED_TELEGRAM__TOKEN": self.telegram.token,
                "LAPLACED_TELEGRAM__API_BASE": self.telegram.url,
            }
        if self.model is not None:
            environment |= {
                "LAPLACED_LLM__BASE_URL": self.model.url,
                "LAPLACED_EMBEDDING__DIMENSIONS": "256",
                "LAPLACED_RAG__RETRIEVAL__PEOPLE_THRESHOLD": "0.1",
                "LAPLACED_AGENTS__ARCHIVIST__MODEL": ARCHIVIST,
                "LAPLACED_AGENTS__RESPONDER__MODEL": RESPONDER,
                "LAPLACED_AGENTS__RERANKER__MODEL": RERANKER,
                "LAPLACED_AGENTS__ENRICHER__MODEL": ENRICHER,
                "LAPLACED_AGENTS__ANALYST__MODEL": ANALYST,
            }
        return environment | self.settings

    async def _until_ready(self, process: Process) -> None:
        assert process.stdout is not None
        while line := (await process.stdout.readline()).decode():
            self.output.append(line.rstrip())
            if "Open http" in line:
                self.chat_page = line.split("Open ")[1].split()[0]
            if line.startswith("Health, metrics and REST: "):
                self.url = line.rsplit(" ", 1)[1].strip()
                return
        raise ProcessEnded(f"the bot ended with {await process.wait()}: {self.log.read_text()[-2000:]}")


class ProcessEnded(Exception):
    pass


@asynccontextmanager
async def product(
    tmp_path: Path, *, scripted: bool, own_telegram: bool = True, fresh: bool = False, **settings: str
) -> AsyncIterator[tuple[Product, ControlClient | None]]:
    """A product that is not started yet; with a Telegram of its own that outlives the bot, and a scripted model."""
    data_dir = tmp_path / "data"
    model = ScriptedModel() if scripted else None
    if model is not None:
        model.script("*", Step(JUDGED, match=JUDGING, times=None))
        model.script("*", Step(KEPT_IN_MIND, match=KEEPING, times=None))
        model.script("*", Step(NO_TASKS, match=MINDING, times=None))
        await model.__aenter__()
    bot = Product(data_dir, None, model, settings, fresh)
    try:
        if not own_telegram:
            yield bot, None
            return
        async with local_telegram(tmp_path / "telegram") as telegram, ControlClient(telegram.url) as people:
            bot.telegram = telegram
            yield bot, people
            await bot.kill()
    finally:
        await bot.kill()
        if model is not None:
            await model.__aexit__(None, None, None)


async def until(condition: Callable[[], Any], within: float = PATIENCE_S) -> Any:
    """The first true result of the condition (a coroutine function is awaited)."""
    kept: dict[Path, sqlite3.Connection] = {}
    before = _KEPT_OPEN.set(kept)
    try:
        async with asyncio.timeout(within):
            while True:
                found = condition()
                if asyncio.iscoroutine(found):
                    found = await found
                if found:
                    return found
                await asyncio.sleep(0.05)
    finally:
        _KEPT_OPEN.reset(before)
        for connection in kept.values():
            connection.close()


def _opened(store: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{store}?mode=ro", uri=True)


async def content(data_dir: Path) -> str:
    """All that the product's database says, as one number."""
    async with Database.open(data_dir / "laplaced.db") as database:
        return await database.read(logical_hash)


async def at_rest(data_dir: Path, within: float = PATIENCE_S) -> None:
    """Nothing more is being written: what calls cost, vectors and words follow their cause at a distance."""
    before = ""

    async def unchanged() -> bool:
        nonlocal before
        await asyncio.sleep(REST_S)
        before, last = await content(data_dir), before
        return before == last

    await until(unchanged, within=within)
