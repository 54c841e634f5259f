"""The running product among faults: virtual users, what they see, what it stored, and canaries for its secrets."""

from __future__ import annotations

import asyncio
import itertools
import re
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from support.patience import PATIENCE_S
from support.product.program import local_telegram
from support.product.running_product import (
    ANALYST,
    ARCHIVIST,
    ENRICHER,
    JUDGED,
    KEEPING,
    KEPT_IN_MIND,
    MINDING,
    NO_TASKS,
    RERANKER,
    RESPONDER,
    Product,
    until,
)

from bot.simulator.client import ControlClient
from bot.simulator.launch import LocalTelegram
from internal.testing import Answer, Asked, ScriptedModel, Step
from internal.testing.script import Reply

BOT_TOKEN = "7654321098:Canary-of-the-bot-token-0f3a9c"
MODEL_KEY = "Canary-of-the-model-key/81+b7&e2"
SERVER_KEY = "Canary-of-the-server-key-5d0c44"
WEBHOOK_SECRET = "Canary_of-the_webhook-secret_93aa"
CANARIES = {
    "bot token": BOT_TOKEN.split(":")[1],
    "model key": "Canary-of-the-model-key",
    "server key": SERVER_KEY,
    "webhook secret": WEBHOOK_SECRET,
}
"""The part of each secret by which it is known in any text, however it is quoted there."""

FIRST_USER = 5001
USERS = range(FIRST_USER, FIRST_USER + 1000)
EMBEDDER = "test/embedder"
OFFLINE = "The one who answers is well."


@dataclass
class Stage:
    """A product, the people who write to it, and the model it asks. `start` it first."""

    bot: Product
    people: ControlClient
    model: ScriptedModel
    telegram: LocalTelegram
    page: str = ""
    _ids: Iterator[int] = field(default_factory=lambda: iter(USERS))

    async def newcomer(self, name: str = "Olena", language: str = "en") -> int:
        """Somebody who is let in and wrote nothing yet."""
        return await self.people.add_user(name, id=next(self._ids), language_code=language, started=True)

    async def heard(self, user: int, text: str, *, after: int = 0, within: float = PATIENCE_S) -> dict[str, Any]:
        """The bot's message with exactly this text."""
        return await self.people.wait_for_message(user, lambda m: m.get("text") == text, after=after, within=within)

    async def next_answer(self, user: int, after: int, within: float = PATIENCE_S) -> dict[str, Any]:
        """The bot's first message with an id above `after`."""
        return await self.people.wait_for_message(user, lambda m: True, after=after, within=within)

    async def ask(self, user: int, text: str, **more: Any) -> str:
        """Says it, and gives the words of the bot's next message."""
        said = await self.people.say(user, text, **more)
        return str((await self.next_answer(user, said["message_id"])).get("text"))

    async def seen(self, user: int) -> list[str]:
        return [str(message.get("text")) for message in await self.people.bot_messages(user)]

    async def until_rows(self, query: str, *values: Any, within: float = PATIENCE_S) -> list[tuple[Any, ...]]:
        """The rows of a query once there are any."""
        rows: list[tuple[Any, ...]] = await until(lambda: self.bot.rows(query, *values), within=within)
        return rows

    async def settled(self, user: int) -> None:
        """All he said has arrived, and nothing of his waits: neither an answer, nor a message to be sent, nor a run."""
        said = [m["message_id"] for m in await self.people.messages(user) if not m["from"]["is_bot"]]
        await self.until_rows("SELECT 1 FROM messages WHERE user_id = ? AND tg_id = ?", user, max(said))
        busy = (
            "SELECT 1 FROM turns WHERE user_id = :u AND state NOT IN ('closed', 'failed', 'cancelled') UNION ALL "
            "SELECT 1 FROM outbox WHERE user_id = :u AND state IN ('pending', 'sending', 'unknown') UNION ALL "
            "SELECT 1 FROM messages WHERE user_id = :u AND episode_id IS NULL UNION ALL "
            "SELECT 1 FROM runs WHERE user_id = :u AND state NOT IN ('applied', 'dead')"
        ).replace(":u", str(int(user)))
        await until(lambda: not self.bot.rows(busy), within=PATIENCE_S)

    def script(self, model: str, marker: str, *answers: Answer) -> None:
        """What the model says to prompts that hold the marker: each answer once, the last one for ever."""
        *first, last = answers
        self.model.script(model, *(Step(answer, re.escape(marker)) for answer in first))
        self.model.script(model, Step(last, re.escape(marker), times=None))

    def asked(self, model: str, marker: str) -> list[Asked]:
        return [one for one in self.model.asked(model) if marker in one.text]

    async def metric(self, series: str) -> float:
        """The value of a series as it is written on the page, labels included; 0 if it is not there."""
        found = re.search(rf"^{re.escape(series)} (\S+)$", await self.bot.metrics(), re.MULTILINE)
        return float(found[1]) if found else 0.0

    async def call(self, verb: str, path: str, **more: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {SERVER_KEY}"} | more.pop("headers", {})
        async with httpx.AsyncClient(base_url=self.bot.url, timeout=30, trust_env=False) as client:
            return await client.request(verb, path, headers=headers, **more)

    async def laplaced(self, *words: str, **environ: str) -> tuple[int, str, str]:
        """Exit code, stdout and stderr of a command beside the bot; none of them may tell a secret."""
        code, out, err = await self.bot.command(*words, **environ)
        assert told_secrets(out + err) == []
        return code, out, err

    async def end(self) -> None:
        """Kills the bot, having taken down what it shows the world."""
        process = self.bot.process
        if process is not None and process.returncode is None:
            try:
                self.page = await self.bot.metrics()
            except httpx.HTTPError:
                self.page = ""
        await self.bot.kill()
        if process is not None and process.stdout is not None:
            self.bot.output.append((await process.stdout.read()).decode())

    def leaks(self) -> list[str]:
        """Which secret stands where, in all that the bot wrote: log, terminal, metrics, and the whole database."""
        log = self.bot.log.read_text(encoding="utf-8", errors="replace") if self.bot.log.is_file() else ""
        places = {"log": log, "terminal": "\n".join(self.bot.output), "metrics": self.page}
        for path in (self.bot.data_dir / "laplaced.db", *self.bot.data_dir.glob("backups/*.db")):
            places[path.name] = database_text(path)
        return [f"{secret} in {place}" for place, text in places.items() for secret in told_secrets(text)]


def told_secrets(text: str) -> list[str]:
    """The secrets that a text tells."""
    return [name for name, canary in CANARIES.items() if canary in text]


def database_text(path: Path) -> str:
    """Everything a database says; nothing if it cannot be read."""
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            return "\n".join(connection.iterdump())
    except sqlite3.Error:
        return ""


@asynccontextmanager
async def under_faults(folder: Path, **settings: str) -> AsyncIterator[Stage]:
    """A product that is not started yet, with short pauses, and a Telegram and a model that outlive it.

    At the end nothing it ever wrote may hold one of its secrets.
    """
    async with (
        ScriptedModel() as model,
        local_telegram(folder / "telegram", BOT_TOKEN) as telegram,
        ControlClient(telegram.url) as people,
    ):
        stage = Stage(Product(folder / "data", telegram, model, _settings() | settings), people, model, telegram)
        try:
            yield stage
        finally:
            await stage.end()
        assert stage.leaks() == []


def _settings() -> dict[str, str]:
    """Everybody is let in; what the product waits for is short, so that many faults fit into a minute.

    A reply that recall gives up on is not asked for again: a busy machine gets more time for it.
    """
    patience = {"RESPONDER": "5s", "ARCHIVIST": "5s", "RERANKER": "15s", "ENRICHER": "15s"}
    return {
        "LAPLACED_ACCESS__ALLOWED_USER_IDS": ",".join(map(str, USERS)),
        "LAPLACED_LLM__API_KEY": MODEL_KEY,
        "LAPLACED_SERVER__API_KEY": SERVER_KEY,
        "LAPLACED_TELEGRAM__WEBHOOK__SECRET": WEBHOOK_SECRET,
        "LAPLACED_EMBEDDING__MODEL": EMBEDDER,
        "LAPLACED_DIALOGUE__IDLE_TIMEOUT": "0.5s",
        "LAPLACED_RUNS__RETRY_MAX": "1.5s",
        "LAPLACED_RUNS__MAX_ATTEMPTS": "4",
        **{f"LAPLACED_AGENTS__{agent}__TIMEOUT": given for agent, given in patience.items()},
    }


def quiet(model: ScriptedModel) -> None:
    """What the models say to whoever is no case of its own."""
    by_model: dict[str, Reply] = {
        RESPONDER: OFFLINE,
        ENRICHER: {"query": "somebody"},
        RERANKER: {"people": []},
        ARCHIVIST: {"people_operations": []},
        ANALYST: JUDGED,
    }
    model.always("*", KEPT_IN_MIND, match=KEEPING)
    model.always("*", NO_TASKS, match=MINDING)
    model.always("*", lambda asked: by_model.get(asked.model, ""))


def added(*names: str, circle: str = "Friends") -> dict[str, Any]:
    """An archivist's reply that tells of new people."""
    people = [{"display_name": name, "circle": circle, "bio": f"{name} plays chess."} for name in names]
    return {"people_operations": [{"type": "Added", "person": person, "evidence": [1]} for person in people]}


def shown(asked: Asked) -> dict[str, int]:
    """The ids of the people that a prompt shows, by their names."""
    return {name: int(number) for number, name in re.findall(r"\[Person:(\d+)\] (\w+) \|", asked.text)}


class Played:
    """Cases that are played side by side, each by a user of its own: a test waits for its case and judges it."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[Any]] = {}

    def begin(self, name: str, case: Callable[[], Any]) -> None:
        self._tasks[name] = asyncio.create_task(case(), name=name)

    async def outcome(self, name: str) -> Any:
        return await self._tasks[name]

    async def all(self) -> None:
        """Waits for the end of every case, good or bad: what comes now is alone with the product."""
        if self._tasks:
            await asyncio.wait(self._tasks.values())

    async def stop(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


def gaps(moments: Sequence[float]) -> list[float]:
    """The pauses between moments, in seconds."""
    return [after - before for before, after in itertools.pairwise(moments)]
