"""One process that pays for the imports; each start is a copy of it that becomes `python -m MODULE ARGUMENTS`.

It is the same program. A start of the bot takes seconds of the processor, and nearly all of them are imports: reading
several hundred modules changes nothing outside the process, opens no file of the bot's and no socket. This process does
that part once, alone: no event loop, no connection, and no thread (a fork would copy its memory without it). The copy
takes an environment, a folder and streams of its own, like a process that a shell started, and then runs the module
from its beginning and ends as Python ends: configuration, lock, database, migration, recovery, Telegram, HTTP,
everything is done there. Its children are started by itself; the language process is a copy, too, of another starter.

Standard input is a socket at which drivers of the same user connect: the workers of a run of tests share one starter.
An order is one message: the environment, the folder, the module and its arguments as JSON, and with it four
descriptors: stdin, stdout, stderr, and a pipe to which the process id is written at once, and later how the process
ended (its exit status, -9 for SIGKILL). When a driver's connection is closed, whatever runs for it is killed; with the
last one this process ends. The arguments of this program are the modules to import.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import struct
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

LONGEST_ORDER = 200_000
FIRST_DRIVER_WITHIN_S = 60
"""The one who started this process may be killed before it connects."""
TESTS = str(Path(__file__).parents[2])
"""Where the modules to import may lie, and those of a copy may not."""
STREAMS = 4
"""stdin, stdout, stderr, and where the end is told."""
READS_ENVIRONMENT = ("internal.storage.crash_points",)
"""What looks at the environment while it is imported, and so has to be executed again in the copy."""


@dataclass(frozen=True)
class Order:
    environment: dict[str, str]
    folder: str
    module: str
    arguments: list[str]
    streams: list[int]

    def become(self) -> None:
        """This process is that program from here on, and ends with it: SystemExit is left to Python itself."""
        for number, stream in enumerate(self.streams[:3]):
            os.dup2(stream, number)
        for stream in self.streams:
            os.close(stream)
        os.chdir(self.folder)
        python_path = os.environ["PYTHONPATH"]
        os.environ.clear()
        os.environ.update(self.environment)
        time.tzset()
        sys.path[0] = self.folder  # as `python -m` has it
        sys.path.remove(TESTS)
        if before := self.environment["PYTHONPATH"].removesuffix(python_path):
            _customize(before.rstrip(os.pathsep))
        sys.argv = [self.module, *self.arguments]
        for name in READS_ENVIRONMENT:
            if name in sys.modules:
                importlib.reload(sys.modules[name])
        runpy.run_module(self.module, run_name="__main__", alter_sys=True)


def _customize(folder: str) -> None:
    """As an interpreter does when it starts: what is first on PYTHONPATH holds a `sitecustomize`."""
    sys.path.insert(1, folder)
    sys.modules.pop("sitecustomize", None)
    importlib.import_module("sitecustomize")


@dataclass
class Running:
    """A copy, the pipe at whose other end its end is told, and who ordered it."""

    pid: int
    report: int
    driver: int


@dataclass
class Starter:
    """Forks at each order until the last driver is gone. What runs is known by the descriptor of its process."""

    door: socket.socket
    drivers: dict[int, socket.socket] = field(default_factory=dict)
    running: dict[int, Running] = field(default_factory=dict)

    def serve(self) -> Order | None:
        """In a copy: what it is to become. In the starter itself: None, when all drivers are gone."""
        waiting = select.poll()
        waiting.register(self.door, select.POLLIN)
        while True:
            happened = waiting.poll(None if self.drivers else FIRST_DRIVER_WITHIN_S * 1000)
            if not happened:
                return None
            ready = happened[0][0]  # the others later: what is done now may close and open descriptors
            if ready == self.door.fileno():
                if (came := self._admit()) is not None:
                    waiting.register(came, select.POLLIN)
            elif ready in self.running:
                waiting.unregister(ready)
                self._ended(ready)
            elif order := _order_from(self.drivers[ready]):
                if (watch := self._fork(order, ready)) is None:
                    return order
                waiting.register(watch, select.POLLIN)
            else:
                waiting.unregister(ready)
                for watch in self._leave(ready):
                    waiting.unregister(watch)
                if not self.drivers:
                    return None

    def _admit(self) -> int | None:
        """The descriptor of a driver that connected and is told our process id; None for a process of another user."""
        driver = self.door.accept()[0]
        _, user, _ = struct.unpack("3i", driver.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if user != os.getuid():
            driver.close()
            return None
        driver.send(str(os.getpid()).encode())
        self.drivers[driver.fileno()] = driver
        return driver.fileno()

    def _fork(self, order: Order, driver: int) -> int | None:
        """A descriptor that becomes readable when the copy ends; None in the copy itself."""
        pid = os.fork()
        if pid == 0:
            self.door.detach()  # it is standard input, which the order replaces
            for connection in self.drivers.values():
                connection.close()
            for watch, one in self.running.items():
                os.close(watch)
                os.close(one.report)
            return None
        *streams, report = order.streams
        for stream in streams:
            os.close(stream)
        _tell(report, {"pid": pid})
        watch = os.pidfd_open(pid)
        self.running[watch] = Running(pid, report, driver)
        return watch

    def _ended(self, watch: int) -> None:
        one = self.running.pop(watch)
        _, status = os.waitpid(one.pid, 0)
        _tell(one.report, {"ended": os.waitstatus_to_exitcode(status)})
        os.close(watch)
        os.close(one.report)

    def _leave(self, driver: int) -> list[int]:
        """Kills what runs for a driver that is gone; the descriptors that were theirs."""
        self.drivers.pop(driver).close()
        left = [watch for watch, one in self.running.items() if one.driver == driver]
        for watch in left:
            signal.pidfd_send_signal(watch, signal.SIGKILL)
            self._ended(watch)
        return left


def _order_from(driver: socket.socket) -> Order | None:
    """None when the driver is gone, however it went."""
    try:
        words, streams, _, _ = socket.recv_fds(driver, LONGEST_ORDER, STREAMS)
    except ConnectionError:
        return None
    return Order(**json.loads(words), streams=list(streams)) if words else None


def _tell(report: int, news: dict[str, Any]) -> None:
    try:
        os.write(report, json.dumps(news).encode() + b"\n")
    except BrokenPipeError:
        return  # nobody waits for this one any more


def main() -> Order | None:
    """Imports, then lets drivers in and serves them."""
    sys.path.append(TESTS)
    for name in sys.argv[1:]:
        importlib.import_module(name)
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        raise SystemExit(f"a module started {threads - 1} threads when it was imported: a fork would lose them")
    gc.freeze()  # or the first collection of every copy would touch, and so copy, all of it
    return Starter(socket.socket(fileno=0)).serve()


def end(order: Order) -> NoReturn:
    """Becomes that program and ends as Python ends, without the tenth of a second that freeing each module takes."""
    status = 0
    try:
        order.become()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if isinstance(ended.code, str):
            sys.stderr.write(f"{ended.code}\n")
    except Exception:
        sys.excepthook(*sys.exc_info())
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]  # what the interpreter does, in its order
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)


if __name__ == "__main__":
    if (order := main()) is not None:
        end(order)
