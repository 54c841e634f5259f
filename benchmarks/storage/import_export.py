"""An import of a synthetic Telegram export: messages a second, megabytes a second, and the memory it takes.

    python -m benchmarks.storage.import_export [--messages 50000] [--large 500]

The export has 40 conversations in Russian, Ukrainian and English, with forwards, replies, edits, media, formatted text
and service messages. `laplaced import` runs in a process of its own, once on the data of a stopped bot and once through
a running one; both are repeated when nothing is new. A second export of `--large` megabytes (0 = none) is read with
--dry-run, to show the cost of a large file. Memory is the largest resident size of the process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import Connection

from benchmarks.shared.bot_process import circumstances, environment, running
from internal.access import service as access
from internal.access.model import Author
from internal.storage.database import Database
from internal.storage.engine.data_lock import HOLDER_FILE
from internal.storage.migration import migrate

OWNER = 77_001
CHATS = 40
BEGAN = datetime(2021, 3, 1, 8, tzinfo=UTC)
NAMES = ("Олена Коваль", "Петро Шевчук", "Иван Петров", "Мария Сидорова", "Anna Smith", "Tom Baker", "Софія Бойко")
WORDS = (
    "завтра релиз договорились встретимся вечером в офисе Петров сказал что сроки перенесли на март",
    "зустрілися з Оксаною у Львові вона переїхала минулого тижня і працює в новій компанії",
    "met Bob at the conference he moved to Berlin last May and plays chess on Sundays with his sister",
)
LAPLACED = (sys.executable, "-m", "bot")
LARGEST_RSS = "VmHWM"


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished `laplaced import`: wall seconds, seconds of processor, the peak of its memory in MiB, what it said."""

    seconds: float
    cpu: float
    memory: float
    said: str


def write_export(path: Path, messages: int, seed: int = 7) -> None:
    """Writes an all-chats export with so many messages, service messages not counted, in the form of the original."""
    dice = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        about = {"user_id": OWNER, "first_name": "Owner", "last_name": "", "username": "@owner"}
        file.write('{\n "about": "Here is the data you requested.",\n "personal_information": ')
        file.write(json.dumps(about) + ',\n "chats": {\n  "about": "This page lists all chats.",\n  "list": [\n')
        for chat in range(CHATS):
            count = messages // CHATS + (chat < messages % CHATS)
            file.write(",\n" * (chat > 0) + "   {")
            for key, value in _header(chat).items():
                file.write(f'"{key}": {json.dumps(value, ensure_ascii=False)}, ')
            file.write('"messages": [\n')
            for number, message in enumerate(_messages(dice, chat, count)):
                file.write(",\n" * (number > 0) + json.dumps(message, ensure_ascii=False, indent=1))
            file.write("\n   ]}")
        file.write("\n  ]\n }\n}\n")


def _header(chat: int) -> dict[str, Any]:
    if chat % 8 == 7:
        return {"name": f"Команда {chat}", "type": "private_supergroup", "id": 1_500_000_000 + chat}
    return {"name": f"{NAMES[chat % len(NAMES)]} {chat}", "type": "personal_chat", "id": 300_000 + chat}


def _messages(dice: random.Random, chat: int, count: int) -> Iterator[dict[str, Any]]:
    at, number, words = BEGAN + timedelta(hours=chat), 0, WORDS[chat % len(WORDS)].split()
    for said in range(count):
        number += 1
        if said % 200 == 0:
            yield {"id": number, "type": "service", **_times(at), "actor": "x", "action": "phone_call", "text": ""}
            number += 1
        at += timedelta(hours=dice.randint(8, 60)) if dice.random() < 0.03 else timedelta(seconds=dice.randint(5, 900))
        yield _message(dice, chat, number, at, words)


def _message(dice: random.Random, chat: int, number: int, at: datetime, words: Sequence[str]) -> dict[str, Any]:
    own = dice.random() < 0.45
    author = {"from": "Owner", "from_id": f"user{OWNER}"} if own else {
        "from": NAMES[chat % len(NAMES)], "from_id": f"user{300_000 + chat}"
    }  # fmt: skip
    text = " ".join(dice.choices(words, k=dice.randint(2, 30)))
    message: dict[str, Any] = {"id": number, "type": "message", **_times(at), **author}
    kind = dice.random()
    if kind < 0.04:
        message |= {"forwarded_from": dice.choice(NAMES)}
    elif kind < 0.14:
        message |= {"reply_to_message_id": max(1, number - 3)}
    elif kind < 0.18:
        message |= {"photo": "(File not included.)", "width": 1280, "height": 720}
    elif kind < 0.20:
        message |= {"edited": f"{at:%Y-%m-%dT%H:%M:%S}", "edited_unixtime": str(int(at.timestamp()) + 60)}
    plain = [{"type": "plain", "text": text}]
    if kind > 0.95:
        link = {"type": "text_link", "text": "тут", "href": "https://example.org/page"}
        return message | {"text": [text + " ", link], "text_entities": [*plain, link]}
    return message | {"text": text, "text_entities": plain}


def _times(at: datetime) -> dict[str, str]:
    return {"date": f"{at:%Y-%m-%dT%H:%M:%S}", "date_unixtime": str(int(at.timestamp()))}


async def imported(variables: dict[str, str], *words: str) -> Ran:
    """Runs the command to its end. Raises SystemExit if it fails."""
    began, before = time.perf_counter(), _children_cpu()
    process = await asyncio.create_subprocess_exec(
        *LAPLACED, "import", "--user", str(OWNER), *words,
        env=variables, cwd=Path(variables["LAPLACED_DATA_DIR"]).parent,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    watching = asyncio.create_task(_peak(process.pid))
    out, err = await process.communicate()
    seconds = time.perf_counter() - began
    watching.cancel()
    peak = max(_seen.pop(process.pid, [0]))
    if process.returncode:
        raise SystemExit(err.decode())
    return Ran(seconds, _children_cpu() - before, peak / 1024, out.decode())


def _children_cpu() -> float:
    """Processor time of all processes that have ended; the bot's comes only when it ends."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


_seen: dict[int, list[int]] = {}


async def _peak(pid: int) -> None:
    """Notes the kernel's own high-water mark of a process every 20 ms, since it is gone with the process."""
    while True:
        _seen.setdefault(pid, []).append(_status(pid, LARGEST_RSS))
        await asyncio.sleep(0.02)


def _status(pid: int, key: str) -> int:
    """A line of the kernel's notes on a process, in KiB; 0 when it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(key)), 0)


async def prepare(folder: Path) -> dict[str, str]:
    """An installation with its owner admitted, whose archivist is off: what is measured is the import alone."""
    data = folder / "data"
    data.mkdir(mode=0o700, parents=True)
    async with Database.open(data / "laplaced.db") as database:
        await database.exclusive(migrate)
        await database.write(_admit)
    settings = {"ACCESS__ALLOWED_USER_IDS": json.dumps([OWNER]), "AGENTS__ARCHIVIST__ENABLED": "false"}
    return environment(data, settings=settings)


def _admit(connection: Connection) -> None:
    owner = Author(OWNER, "Owner", language_code="uk")
    access.admit(connection, owner, allowed=[OWNER], admit_all=False, now=datetime.now(UTC))


def stored(folder: Path) -> tuple[int, int, int]:
    """Episodes, segments and the database's size in bytes."""
    path = folder / "data/laplaced.db"
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        counts = (
            connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("episodes", "segments")
        )
        episodes, segments = counts
    finally:
        connection.close()
    return episodes, segments, path.stat().st_size


async def through_the_bot(variables: dict[str, str], export: Path) -> tuple[Ran, list[float]]:
    """The import through a running bot, and how long its health page took meanwhile, in milliseconds."""
    waits: list[float] = []
    async with running((*LAPLACED, "run"), variables):
        url = json.loads((Path(variables["LAPLACED_DATA_DIR"]) / HOLDER_FILE).read_text(encoding="utf-8"))["url"]
        async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
            asking = asyncio.create_task(_ask_health(http, waits))
            ran = await imported(variables, str(export))
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
    return ran, waits


async def _ask_health(http: httpx.AsyncClient, waits: list[float]) -> None:
    while True:
        began = time.perf_counter()
        await http.get("/healthz")
        waits.append((time.perf_counter() - began) * 1000)
        await asyncio.sleep(0.01)


async def main(messages: int, large: int) -> None:
    print(circumstances())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        export = folder / "result.json"
        write_export(export, messages)
        size = export.stat().st_size / 1e6
        print(f"{messages:,} messages, {size:.1f} MB")
        variables = await prepare(folder / "stopped")
        _row("dry run", await imported(variables, "--dry-run", str(export)), messages, size)
        _row("bot stopped", await imported(variables, str(export)), messages, size)
        episodes, segments, bytes_ = stored(folder / "stopped")
        print(f"  {episodes:,} episodes, {segments:,} segments, database {bytes_ / 1e6:.1f} MB")
        _row("the same again", await imported(variables, str(export)), messages, size)
        ran, waits = await through_the_bot(await prepare(folder / "running"), export)
        _row("bot running", ran, messages, size)
        waits.sort()
        print(
            f"  health page meanwhile: p50 {waits[len(waits) // 2]:.1f} ms, p99 {waits[len(waits) * 99 // 100]:.1f} ms"
        )
        if large:
            write_export(export, int(messages * large / size))
            size = export.stat().st_size / 1e6
            _row(f"dry run, {size:.0f} MB", await imported(variables, "--dry-run", str(export)), int(messages), size)


def _row(what: str, ran: Ran, messages: int, size: float) -> None:
    counted = int(ran.said.split(" ", 1)[0])
    rate = max(counted, messages if "there before" in ran.said else 0) / ran.seconds
    speed = f"{rate:,.0f} messages/s, {size / ran.seconds:.1f} MB/s"
    print(f"{what}: {ran.seconds:.1f} s (CPU {ran.cpu:.1f} s), {speed}, peak {ran.memory:.0f} MiB")
    for line in ran.said.splitlines():
        print(f"    {line}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--messages", type=int, default=50_000)
    parser.add_argument("--large", type=int, default=500, help="megabytes of the export that is only looked at")
    given = parser.parse_args()
    asyncio.run(main(given.messages, given.large))
