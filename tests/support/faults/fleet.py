"""One store, one Telegram, and several processes of the product on it, any of which may die at any moment.

So may the connections to the database, and the database itself. The processes reach it through a pooler that gives a
server's connection to each transaction, so that nothing rests on what a session remembers.
"""

from __future__ import annotations

import asyncio
import os
import pwd
import random
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from support.faults.killed_bot import END_S, STOP_S, UNFINISHED, BotFailed, KilledBot, free_port
from support.product.program import BOT, Process, started
from support.stores import postgres_server

WORKERS = 4
"""`laplaced run` and three times `laplaced worker`."""

ROLE = "laplaced"
MAY_BE_LOST = {"fsync": "off", "synchronous_commit": "on", "full_page_writes": "on"}
"""What was committed outlives the server's processes; the machine itself goes on, so nothing has to reach the disk."""

POOLER_IN_S = 10.0
QUIET_S = 240.0
SECONDS_BETWEEN = (0.3, 3.0)
"""From one blow to the next."""

_POOLER = """\
[databases]
* = host=127.0.0.1 port={server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users.txt
pool_mode = transaction
default_pool_size = 40
max_client_conn = 300
server_login_retry = 0.2
query_wait_timeout = 60
ignore_startup_parameters = extra_float_digits
"""


@dataclass(slots=True)
class Blows:
    """What befell the fleet: processes killed, connections cut, servers restarted without a word."""

    kills: int = 0
    cuts: int = 0
    restarts: int = 0


@dataclass(slots=True)
class Server:
    """A PostgreSQL of its own, and a pooler before it."""

    folder: Path
    address: str
    """Of the superuser, past the pooler."""
    direct: str
    pooled: str

    def cut_connections(self, rng: random.Random) -> None:
        """Ends each connection of the product with even chances, in the midst of whatever it does."""
        with psycopg.connect(self.address, autocommit=True) as admin:
            found = admin.execute("SELECT pid FROM pg_stat_activity WHERE usename = %s", (ROLE,)).fetchall()
            for (pid,) in found:
                if rng.random() < 0.5:
                    admin.execute("SELECT pg_terminate_backend(%s)", (pid,))

    async def restart(self) -> None:
        """Stops at once, as a crash would, and comes again."""
        await asyncio.to_thread(postgres_server.restart, self.folder)

    def counts(self) -> dict[str, int]:
        """What is unfinished, as the superuser sees it: past the walls between owners."""
        with psycopg.connect(self.address, autocommit=True) as admin:
            return {name: int(admin.execute(query.encode()).fetchone()[0]) for name, query in UNFINISHED.items()}  # type: ignore[index]


@contextmanager
def server(folder: Path) -> Iterator[Server]:
    """Both, until the end of the block; `folder` is for the pooler's files."""
    lifeline = postgres_server.Lifeline()
    try:
        address = postgres_server.start(lifeline.folder, **MAY_BE_LOST)
        with psycopg.connect(address, autocommit=True) as admin:
            admin.execute(f"CREATE ROLE {ROLE} LOGIN".encode())
            admin.execute(f"CREATE DATABASE {ROLE} OWNER {ROLE}".encode())
        address = address.removesuffix("/postgres") + f"/{ROLE}"
        with pooler(folder, address) as pooled:
            yield Server(lifeline.folder, address, address.replace("postgres@", f"{ROLE}@", 1), pooled)
    finally:
        lifeline.cut()


@contextmanager
def pooler(folder: Path, address: str) -> Iterator[str]:
    """pgbouncer in transaction mode before the server. Raises FileNotFoundError where it is not installed."""
    folder.mkdir(parents=True)
    port, before = free_port(), address.rsplit(":", 1)[1].split("/", maxsplit=1)[0]
    (folder / "users.txt").write_text(f'"{ROLE}" ""\n')
    settings = folder / "pgbouncer.ini"
    settings.write_text(_POOLER.format(server=before, port=port, folder=folder))
    as_user: dict[str, Any] = {}
    if os.geteuid() == 0:  # it refuses root
        nobody = pwd.getpwnam(postgres_server.NOBODY)
        as_user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        for path in (folder, *folder.parents):
            with suppress(PermissionError):
                path.chmod(path.stat().st_mode | 0o011)
        for path in (settings, folder / "users.txt"):
            path.chmod(0o644)
    with (folder / "pgbouncer.log").open("wb") as told:
        pooler = subprocess.Popen(["pgbouncer", "-q", settings], stdout=told, stderr=told, cwd="/", **as_user)
    try:
        yield f"postgresql://{ROLE}@127.0.0.1:{port}/{ROLE}"
    finally:
        pooler.kill()
        pooler.wait()


@dataclass(slots=True)
class Fleet:
    """The processes, and the people who write to them. `bot` is the world they are in."""

    bot: KilledBot
    server: Server
    processes: dict[int, Process] = field(default_factory=dict)
    blows: Blows = field(default_factory=Blows)

    @classmethod
    @asynccontextmanager
    async def world(cls, folder: Path, seed: str) -> AsyncIterator[Fleet]:
        """A new world in an empty folder, in which nothing runs yet."""
        async with KilledBot.world(folder, seed) as bot:
            with server(folder / "pooler") as store:
                fleet = cls(bot, store)
                try:
                    yield fleet
                finally:
                    for process in fleet.processes.values():
                        with suppress(ProcessLookupError):
                            process.kill()

    @property
    def database(self) -> Path:
        """Where `moved` leaves what is stored."""
        return self.bot.folder / "moved.db"

    async def live(self, rng: random.Random, kills: int) -> None:
        """All of them work and people write, until so many were killed. BotFailed if one ends without that."""
        for number in range(WORKERS):
            await self._start(number)
        await self.go_on(rng, kills)

    async def go_on(self, rng: random.Random, kills: int) -> None:
        """People go on to write, until so many were killed in all."""
        while self.blows.kills < kills:
            for _ in range(rng.choice((0, 1, 1, 2, 3))):
                await self.bot.somebody_acts(rng)
            await asyncio.sleep(rng.uniform(*SECONDS_BETWEEN))
            await self._blow(rng)
            self._all_live()
            self.bot.model.requests.clear()

    async def _blow(self, rng: random.Random) -> None:
        chance = rng.random()
        if chance < 0.1:
            self.blows.restarts += 1
            await self.server.restart()
        elif chance < 0.25:
            self.blows.cuts += 1
            self.server.cut_connections(rng)
        else:
            self.blows.kills += 1
            number = rng.choice(list(self.processes))
            self.processes[number].kill()
            await self._ended(number, -signal.SIGKILL, within=END_S)
            await asyncio.sleep(rng.choice((0.0, 0.0, 2.0)))
            await self._start(number)

    def _all_live(self) -> None:
        for number, process in self.processes.items():
            if process.returncode is not None:
                raise BotFailed(f"process {number} ended by itself with {process.returncode}: {self._words(number)}")

    async def come_to_rest(self) -> None:
        """Lets them work off all they owe, and stops them in order. BotFailed if they do not get there."""
        left: dict[str, int] = {}
        try:
            async with asyncio.timeout(QUIET_S):
                while left := await self._unfinished():
                    await asyncio.sleep(0.3)
                    self._all_live()
        except TimeoutError:
            raise BotFailed(f"after {QUIET_S:.0f} s there is still unfinished: {left}") from None
        for process in self.processes.values():
            process.terminate()
        for number in list(self.processes):
            await self._ended(number, 0, within=STOP_S)

    async def moved(self) -> Path:
        """All that is stored, in a file, by the product's own command. BotFailed if it does not come out the same."""
        words = ["migrate-store", self.server.direct, f"sqlite:///{self.database}"]
        moving = await started(BOT, words, self._environment(), self.bot.folder)
        out, err = await moving.communicate()
        if await moving.wait():
            raise BotFailed(f"the store was not moved: {out.decode()[-500:]} {err.decode()[-500:]}")
        return self.database

    async def _unfinished(self) -> dict[str, int]:
        waiting = (await self.bot.people.request("GET", "/state"))["pending_updates"]
        try:
            counts = await asyncio.to_thread(self.server.counts)
        except psycopg.errors.UndefinedTable:
            counts = {"start": 1}
        return {name: count for name, count in (counts | {"in Telegram": waiting}).items() if count}

    async def _start(self, number: int) -> None:
        words = ["worker"] if number else ["run"]
        with self._log(number).open("ab") as log:
            self.processes[number] = await started(
                BOT, words, self._environment(), self.bot.folder, stdout=log, stderr=log
            )

    async def _ended(self, number: int, way: int, *, within: float) -> None:
        try:
            async with asyncio.timeout(within):
                ended = await self.processes[number].wait()
        except TimeoutError:
            raise BotFailed(f"process {number} does not end: {self._words(number)}") from None
        if ended != way:
            raise BotFailed(f"process {number} ended with {ended}: {self._words(number)}")

    def _environment(self) -> dict[str, str]:
        return self.bot.environment() | {"LAPLACED_STORAGE__URL": self.server.pooled}

    def _log(self, number: int) -> Path:
        return self.bot.folder / f"process-{number}.log"

    def _words(self, number: int) -> str:
        return self._log(number).read_text(encoding="utf-8")[-1500:]
