"""The real bot between a local Telegram and a scripted model, started by fork and killed at any moment."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.faults.chronicle_check import broken_line
from support.faults.ledger import Ledger, Said
from support.faults.torture_conversation import (
    ARCHIVIST,
    COMMANDS,
    ENRICHER,
    LANGUAGES,
    RERANKER,
    RESPONDER,
    ScriptedAgents,
    sentence,
)
from support.paths import ROOT
from support.product.program import BOT, Process, local_telegram, started, starter

from bot.simulator.client import ControlClient
from bot.simulator.launch import LocalTelegram
from internal.testing import ScriptedModel

PEOPLE = 12
FIRST_USER = 1_001
READY = "Health, metrics and REST: "

SETTINGS = {
    "LAPLACED_SERVER__PORT": "0",
    "LAPLACED_MCP__PORT": "0",
    "LAPLACED_SERVER__CONSOLE_PORT": "0",
    "LAPLACED_TELEGRAM__GROUP_WINDOW": "0.1s",
    "LAPLACED_SCHEDULER__TICK": "0.2s",
    "LAPLACED_RUNS__RETRY_BASE": "0.2s",
    "LAPLACED_RUNS__MAX_ATTEMPTS": "1000",
    "LAPLACED_DIALOGUE__IDLE_TIMEOUT": "0.8s",
    "LAPLACED_DIALOGUE__MAX_MESSAGES": "10",
    "LAPLACED_ACCESS__MESSAGES_PER_MINUTE": "0",
    "LAPLACED_ACCESS__DAILY_COST_USD": "0",
    "LAPLACED_EMBEDDING__DIMENSIONS": "64",
    "LAPLACED_RAG__RETRIEVAL__PEOPLE_THRESHOLD": "0.1",
    "LAPLACED_AGENTS__ARCHIVIST__MODEL": ARCHIVIST,
    "LAPLACED_AGENTS__RESPONDER__MODEL": RESPONDER,
    "LAPLACED_AGENTS__RERANKER__MODEL": RERANKER,
    "LAPLACED_AGENTS__ENRICHER__MODEL": ENRICHER,
}
"""Pauses are shortened, so that a life of seconds holds all that a bot does in an hour; and a run may be interrupted as
often as it happens: eight crashes in the middle of it mean another thing where there is a crash every two seconds."""

UNFINISHED = {
    "updates": "SELECT count(*) FROM inbox WHERE state = 'received'",
    "turns": "SELECT count(*) FROM turns WHERE state IN ('collecting', 'running', 'answered')",
    "replies": "SELECT count(*) FROM outbox WHERE state IN ('pending', 'sending', 'unknown', 'held')",
    "messages": "SELECT count(*) FROM messages WHERE episode_id IS NULL",
    "runs": "SELECT count(*) FROM runs WHERE state IN ('due', 'claimed', 'replied')",
    "notifications": "SELECT count(*) FROM notifications WHERE state = 'waiting'",
    "vectors": "SELECT count(*) FROM search_items s LEFT JOIN vectors v USING (user_id, item)"
    " WHERE v.text_hash IS DISTINCT FROM s.text_hash",
}
"""What a bot that has come to rest has none of."""

STOPPED_FIRST, LONGEST_STOP_S = 0.1, 0.6
"""The share of lives that are told to stop, and how long after that the kill comes at the latest."""

END_S, QUIET_S, STOP_S = 30.0, 150.0, 30.0


class BotFailed(Exception):
    """The bot did what no kill explains: it ended by itself, or does not come to rest."""


@dataclass(slots=True)
class Life:
    """One start of the bot, and in which part of its life the kill found it. `killed` is False if it stopped before."""

    killed: bool
    was_ready: bool
    stopping: bool


@dataclass(slots=True)
class KilledBot:
    """One data folder, one Telegram, one model and twelve people, through any number of kills."""

    folder: Path
    telegram: LocalTelegram
    people: ControlClient
    model: ScriptedModel
    ledger: Ledger
    webhook_port: int | None = None
    start_s: float = 0.5
    users: dict[int, str] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    """In what ways the chronicle was no whole line when a kill had just struck."""
    looked: int = 0

    @classmethod
    @asynccontextmanager
    async def world(cls, folder: Path, seed: str, *, webhook: bool = False) -> AsyncIterator[KilledBot]:
        """A new world in an empty folder; Telegram calls the bot by `webhook`, or is polled."""
        starter(BOT)  # what is imported once is no part of the first life
        ledger = Ledger()
        async with (
            ScriptedModel() as model,
            local_telegram(folder / "telegram") as telegram,
            ControlClient(telegram.url) as people,
        ):
            ScriptedAgents(ledger, seed).configure(model)
            bot = cls(folder, telegram, people, model, ledger, free_port() if webhook else None)
            for n in range(PEOPLE):
                language = LANGUAGES[n % len(LANGUAGES)]
                user = await people.add_user(f"Person {n}", id=FIRST_USER + n, language_code=language)
                bot.users[user] = language
            yield bot

    @property
    def database(self) -> Path:
        return self.folder / "data" / "laplaced.db"

    # Lives

    async def live(self, rng: random.Random, seconds: float) -> Life:
        """Starts the bot, lets people write, and kills it `seconds` after the start; now and then while it stops.

        Keeps in `start_s` how long starts take of late, from the order to the bot's word that it is ready.
        """
        born, at = time.monotonic(), time.time()
        bot = await self._start()
        for moment in sorted(rng.uniform(0, seconds) for _ in range(rng.choice((0, 1, 1, 2, 2, 3)))):
            await asyncio.sleep(max(0.0, born + moment - time.monotonic()))
            await self.somebody_acts(rng)
        await asyncio.sleep(max(0.0, born + seconds - time.monotonic()))
        stopping = rng.random() < STOPPED_FIRST
        if stopping:
            bot.terminate()
            await asyncio.sleep(rng.uniform(0, LONGEST_STOP_S))
        with suppress(ProcessLookupError):  # one that is gone has stopped in time
            bot.kill()
        # Told to stop before it was able to listen, it is ended by that signal itself.
        ended = await self._ends(bot, -signal.SIGKILL, *((0, -signal.SIGTERM) if stopping else ()))
        self.model.requests.clear()
        self.look_at_line()
        if self._ready:
            self.start_s += (self._output.stat().st_mtime - at - self.start_s) / 4
        return Life(ended == -signal.SIGKILL, self._ready, stopping)

    def look_at_line(self) -> None:
        """Notes in what ways the chronicle is not whole as it lies on the disk; a first life may not have made it."""
        if not self.database.is_file():
            return
        with outside(self.database) as database:
            made = "SELECT count(*) FROM sqlite_master WHERE name IN ('chronicle', 'sessions', 'messages')"
            if database.execute(made).fetchone()[0] == 3:
                self.looked += 1
                self.broken += [fault for user in self.users for fault in broken_line(database, user)]

    async def _ends(self, bot: Process, *ways: int, within: float = END_S) -> int:
        async with asyncio.timeout(within):
            ended = await bot.wait()
        if ended not in ways:
            raise BotFailed(f"the bot ended by itself with {ended}: {self._last_words()}")
        return ended

    async def come_to_rest(self) -> None:
        """Lets the bot work off all it owes, and stops it in order. BotFailed if it does not get there."""
        bot = await self._start()
        try:
            async with asyncio.timeout(QUIET_S):
                while await self._unfinished():  # noqa: ASYNC110 - another process comes to rest
                    await asyncio.sleep(0.2)
        except TimeoutError:
            left = await self._unfinished()
            bot.kill()
            await self._ends(bot, -signal.SIGKILL)
            raise BotFailed(f"after {QUIET_S:.0f} s there is still unfinished: {left}") from None
        bot.terminate()
        await self._ends(bot, 0, within=STOP_S)

    async def _unfinished(self) -> dict[str, int]:
        if not self._ready:
            return {"start": 1}
        waiting = (await self.people.request("GET", "/state"))["pending_updates"]
        return {name: count for name, count in (self._counts() | {"in Telegram": waiting}).items() if count}

    def _counts(self) -> dict[str, int]:
        with outside(self.database) as connection:
            return {name: connection.execute(query).fetchone()[0] for name, query in UNFINISHED.items()}

    async def _start(self) -> Process:
        with self._output.open("wb") as output, self._log.open("ab") as log:
            return await started(BOT, ["run"], self.environment(), self.folder, stdout=output, stderr=log)

    @property
    def _ready(self) -> bool:
        return READY in self._output.read_text(encoding="utf-8")

    @property
    def _output(self) -> Path:
        return self.folder / "bot.out"

    @property
    def _log(self) -> Path:
        return self.folder / "bot.log"

    def _last_words(self) -> str:
        return self._log.read_text(encoding="utf-8")[-1500:] if self._log.exists() else ""

    def environment(self) -> dict[str, str]:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("LAPLACED_")}
        return (
            environment
            | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
            | SETTINGS
            | {
                "LAPLACED_DATA_DIR": str(self.folder / "data"),
                "LAPLACED_TELEGRAM__TOKEN": self.telegram.token,
                "LAPLACED_TELEGRAM__API_BASE": self.telegram.url,
                "LAPLACED_LLM__BASE_URL": self.model.url,
                "LAPLACED_ACCESS__ALLOWED_USER_IDS": ",".join(map(str, self.users)),
            }
            | self._webhook()
        )

    def _webhook(self) -> dict[str, str]:
        if self.webhook_port is None:
            return {}
        return {
            "LAPLACED_SERVER__PORT": str(self.webhook_port),
            "LAPLACED_TELEGRAM__MODE": "webhook",
            "LAPLACED_TELEGRAM__WEBHOOK__URL": f"http://127.0.0.1:{self.webhook_port}",
        }

    # What people do

    async def somebody_acts(self, rng: random.Random) -> None:
        user = rng.choice(list(self.users))
        chance = rng.random()
        if chance < 0.12:
            await self.people.say(user, rng.choice(COMMANDS))
            self.ledger.note_command(user)
        elif chance < 0.24 and (said := self.ledger.of_user(user)):
            await self._edit(rng.choice(said[-3:]))
        elif chance < 0.32:
            await self._album(rng, user)
        else:
            for _ in range(rng.choice((1, 1, 1, 2, 3))):
                await self._say(rng, user)

    async def _say(self, rng: random.Random, user: int, **more: Any) -> None:
        number = self.ledger.next_number()
        told = sentence(rng, self.users[user], number)
        text = {"caption": told.text} if "media" in more else {"text": told.text}
        message = await self.people.say(user, **text, **more)
        self.ledger.note_said(Said(user, message["message_id"], number, told.text, told.names_friend))

    async def _album(self, rng: random.Random, user: int) -> None:
        album = str(rng.getrandbits(48))
        for _ in range(2):
            await self._say(rng, user, media="photo", media_group_id=album)

    async def _edit(self, said: Said) -> None:
        text = f"{said.text.split(' – ')[0]} – changed {said.edits + 1}"
        await self.people.edit(said.user_id, said.tg_id, text)
        self.ledger.note_edited(said, text)


@contextmanager
def outside(path: Path) -> Iterator[sqlite3.Connection]:
    """The bot's database as another program sees it: read only, closed at the end of the block."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        yield connection
    finally:
        connection.close()


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
