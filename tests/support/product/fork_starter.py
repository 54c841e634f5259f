"""One process that pays for the imports; each start is a copy of it that becomes `python -m MODULE ARGUMENTS`.

It is the same program. A start of the bot takes seconds of the processor, and nearly all of them are imports: reading
several hundred modules changes nothing outside the process, opens no file of the bot's and no socket. This process does
that part once, alone: no event loop, no connection, and no thread (a fork would copy its memory without it). The copy
takes an environment, a folder and streams of its own, like a process that a shell started, and then runs the module
from its beginning and ends as Python ends: configuration, lock, database, migration, recovery, Telegram, HTTP,
everything is done there. Its children (the language process) are started by itself, as always.

Standard input is a socket. An order is one message on it: the environment, the folder, the module and its arguments as
JSON, and with it four descriptors: stdin, stdout, stderr, and a pipe to which the process id is written at once, and
later how the process ended (its exit status, -9 for SIGKILL). When the socket's other end is closed, whatever runs is
killed. The arguments of this program are the modules to import.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import time
from dataclasses import dataclass, field
from typing import Any

LONGEST_ORDER = 200_000
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
        os.environ.clear()
        os.environ.update(self.environment)
        time.tzset()
        sys.path[0] = self.folder  # as `python -m` has it
        sys.argv = [self.module, *self.arguments]
        for name in READS_ENVIRONMENT:
            if name in sys.modules:
                importlib.reload(sys.modules[name])
        runpy.run_module(self.module, run_name="__main__", alter_sys=True)


@dataclass
class Starter:
    """Forks at each order until the driver is gone. `running` has the pipe of each process by its descriptor."""

    driver: socket.socket
    running: dict[int, tuple[int, int]] = field(default_factory=dict)

    def serve(self) -> Order | None:
        """In a copy: what it is to become. In the starter itself: None, when the driver is gone."""
        waiting = select.poll()
        waiting.register(self.driver, select.POLLIN)
        while True:
            for ready, _ in waiting.poll():
                if ready != self.driver.fileno():
                    waiting.unregister(ready)
                    self._ended(ready)
                    continue
                words, streams, _, _ = socket.recv_fds(self.driver, LONGEST_ORDER, STREAMS)
                if not words:
                    self._kill_all()
                    return None
                order = Order(**json.loads(words), streams=list(streams))
                if (watch := self._fork(order)) is None:
                    return order
                waiting.register(watch, select.POLLIN)

    def _fork(self, order: Order) -> int | None:
        """A descriptor that becomes readable when the copy ends; None in the copy itself."""
        pid = os.fork()
        if pid == 0:
            self.driver.detach()  # it is standard input, which the order replaces
            for watch, (_, report) in self.running.items():
                os.close(watch)
                os.close(report)
            return None
        *streams, report = order.streams
        for stream in streams:
            os.close(stream)
        _tell(report, {"pid": pid})
        watch = os.pidfd_open(pid)
        self.running[watch] = (pid, report)
        return watch

    def _ended(self, watch: int) -> None:
        pid, report = self.running.pop(watch)
        _, status = os.waitpid(pid, 0)
        _tell(report, {"ended": os.waitstatus_to_exitcode(status)})
        os.close(watch)
        os.close(report)

    def _kill_all(self) -> None:
        for watch, (pid, _) in self.running.items():
            signal.pidfd_send_signal(watch, signal.SIGKILL)
            os.waitpid(pid, 0)


def _tell(report: int, news: dict[str, Any]) -> None:
    try:
        os.write(report, json.dumps(news).encode() + b"\n")
    except BrokenPipeError:
        return  # nobody waits for this one any more


def main() -> Order | None:
    """Imports, says that it is ready, and serves."""
    for name in sys.argv[1:]:
        importlib.import_module(name)
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        raise SystemExit(f"a module started {threads - 1} threads when it was imported: a fork would lose them")
    gc.freeze()  # or the first collection of every copy would touch, and so copy, all of it
    driver = socket.socket(fileno=0)
    driver.send(b"ready")
    return Starter(driver).serve()


if __name__ == "__main__":
    if (order := main()) is not None:
        order.become()
