"""Messages per second with one, two and four workers on PostgreSQL and with SQLite; and the time of a takeover.

    python -m benchmarks.messages.worker_throughput postgresql://postgres@127.0.0.1:5432/postgres [--messages 400]
        [--users 50]

The path is that of `throughput.py`: update, inbox, turn, people recalled, four calls of a model that answers at once,
outbox, sent; Telegram's budgets are lifted. The address is a superuser's: every case makes a database of its own and
drops it. Then, with four workers and users who pause between messages, one worker after another is killed; the takeover
is the longest wait of a user after that. The last figure is the time from the start of `laplaced run` on this database
until it says that it is ready.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import psycopg

from benchmarks.messages.throughput import ANSWERS, BOT, FIRST_USER, SETTINGS, WARM_UP, acquaint
from benchmarks.shared.bot_process import circumstances, cpu_seconds, environment, running
from benchmarks.shared.fake_telegram import InstantTelegram
from internal.testing import ScriptedModel

ROLE = "laplaced_benchmark"
KNOWN = 20
PAUSE_S, KILLS = 2.0, 3
AFTER_KILL_S = 12.0


@contextmanager
def database_on(server: str) -> Iterator[str]:
    """A new database, by the address of a role that is no superuser; dropped in the end."""
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {ROLE} WITH (FORCE)".encode())
        if not admin.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,)).fetchone():
            admin.execute(f"CREATE ROLE {ROLE} LOGIN".encode())
        admin.execute(f"CREATE DATABASE {ROLE} OWNER {ROLE}".encode())
        host = server.rsplit("@", maxsplit=1)[1].split("/", maxsplit=1)[0]
        yield f"postgresql://{ROLE}@{host}/{ROLE}"
        admin.execute(f"DROP DATABASE {ROLE} WITH (FORCE)".encode())


@asynccontextmanager
async def stage(store: Path | str, users: Sequence[int]) -> AsyncIterator[tuple[InstantTelegram, dict[str, str], Path]]:
    """Telegram, the variables of every process, and the folder they share; nothing runs yet."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) if isinstance(store, str) else store.parent.parent
        await acquaint(store, users, KNOWN)
        async with ScriptedModel(piece=1000) as model, InstantTelegram() as telegram:
            for agent, answer in ANSWERS.items():
                model.always(f"instant/{agent}", answer)
            given = {"TELEGRAM__API_BASE": telegram.url, "LLM__BASE_URL": model.url}
            given |= {"ACCESS__ALLOWED_USER_IDS": json.dumps(list(users))}
            given |= {"STORAGE__URL": store} if isinstance(store, str) else {}
            yield telegram, environment(folder / "data", settings=SETTINGS | given), folder


async def worker(variables: dict[str, str], folder: Path, number: int) -> asyncio.subprocess.Process:
    """One more process, once it says that it works."""
    output = folder / f"worker-{number}.out"
    with output.open("wb") as out, (folder / "bot.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            *BOT, "worker", env=variables, cwd=folder, stdout=out, stderr=log
        )
    async with asyncio.timeout(120):
        while b"works" not in output.read_bytes():  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.1)
    return process


async def rate(store: Path | str, workers: int, users: Sequence[int], messages: int) -> str:
    """One line of the first table: messages a second, waits, and the processor's time of all the processes."""
    async with AsyncExitStack() as stack:
        telegram, variables, folder = await stack.enter_async_context(stage(store, users))
        bot = await stack.enter_async_context(running(BOT, variables))
        others = [await worker(variables, folder, number) for number in range(1, workers)]
        pids = [bot.pid, *(one.pid for one in others)]
        await asyncio.sleep(6 if others else 0)  # until the chats are divided among them
        await telegram.converse(users, WARM_UP)
        before = [cpu_seconds(pid) for pid in pids]
        took = await telegram.converse(users, messages // len(users))
        spent = sum(cpu_seconds(pid) for pid in pids) - sum(before)
        waits = [wait for one in telegram.waits.values() for wait in one]
        await ended(others)
    count = messages // len(users) * len(users)
    engine = "PostgreSQL" if isinstance(store, str) else "SQLite"
    return (
        f"| {engine} | {workers} | {count / took:.1f} | {statistics.median(waits):.2f} s | {max(waits):.2f} s |"
        f" {spent / count * 1000:.0f} ms |"
    )


async def takeover(store: str, users: Sequence[int]) -> str:
    """Kills workers while people write; the longest wait that follows each kill."""
    async with AsyncExitStack() as stack:
        telegram, variables, folder = await stack.enter_async_context(stage(store, users))
        others = []
        async with running(BOT, variables):
            others = [await worker(variables, folder, number) for number in range(1, 4)]
            await asyncio.sleep(6)
            talking = asyncio.create_task(telegram.converse(users, 1_000, PAUSE_S))
            await asyncio.sleep(5)
            normal = statistics.median(wait for one in telegram.waits.values() for wait in one)
            longest = []
            for victim in others[:KILLS]:
                counted = {user: len(waits) for user, waits in telegram.waits.items()}
                victim.kill()
                await victim.wait()
                await asyncio.sleep(AFTER_KILL_S)
                longest.append(max(max(w[counted.get(user, 0) :], default=0.0) for user, w in telegram.waits.items()))
            talking.cancel()
        async with running(BOT, variables) as again:
            started = again.ready_after
        await ended(others)
    waited = ", ".join(f"{one:.1f}" for one in longest)
    return (
        f"Takeover: without a kill half of the answers came within {normal:.2f} s; after each of {KILLS} kills the"
        f" longest wait was {waited} s. A start on that store: {started:.1f} s."
    )


async def ended(processes: Sequence[asyncio.subprocess.Process]) -> None:
    for process in processes:
        if process.returncode is None:
            process.terminate()
    for process in processes:
        await process.wait()


async def measure(server: str, messages: int, users: Sequence[int]) -> None:
    print(circumstances(), f"load {os.getloadavg()[0]:.1f}")
    print("| store | workers | messages/s | half within | longest | processor a message |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "data/laplaced.db"
        path.parent.mkdir(mode=0o700)
        print(await rate(path, 1, users, messages), flush=True)
    for workers in (1, 2, 4):
        with database_on(server) as store:
            print(await rate(store, workers, users, messages), flush=True)
    with database_on(server) as store:
        print(await takeover(store, users), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("server", help="address of a PostgreSQL as its superuser")
    parser.add_argument("--messages", type=int, default=400)
    parser.add_argument("--users", type=int, default=50)
    asked = parser.parse_args()
    asyncio.run(measure(asked.server, asked.messages, range(FIRST_USER, FIRST_USER + asked.users)))


if __name__ == "__main__":
    sys.exit(main())
