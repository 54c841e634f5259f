"""Starts the bot by fork: one process pays for the imports, each start is a copy of it that runs `laplaced run`.

It is the same program. A start of `laplaced run` takes seconds, and nearly all of them are imports: reading several
hundred modules changes nothing outside the process, opens no file of the bot's and no socket. This process does that
part once, alone: no event loop, no connection, and no thread (a fork would copy its memory without it). The copy then
enters the command line at `main(["run"])` with an environment and streams of its own, like a process that a shell
started: configuration, lock, database, migration, recovery, Telegram, HTTP, everything is done there, in the process
that is killed. Its children (the language process) are started by itself, as always.

Speaks lines of JSON on its standard input and output. {"environment", "output", "log"} starts a bot; {"pid"} tells
which process it is, {"ended"} how it ended: its exit status, -9 for SIGKILL. When the input ends, so does a bot that
runs.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from typing import Any, NoReturn

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # numpy would start a thread for each processor when it is imported


def main() -> None:
    """Serves starts, one after another, until the input ends."""
    import bot.app  # noqa: F401 - this is the part that takes seconds

    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        raise SystemExit(f"a module started {threads - 1} threads when it was imported: a fork would lose them")
    _tell({"ready": True})
    for line in iter(sys.stdin.readline, ""):
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _become_the_bot(order)
        _tell({"pid": pid})
        if not _outlive(pid):
            return


def _become_the_bot(order: dict[str, Any]) -> NoReturn:
    """The copy takes an environment and streams of its own, and is the bot from here on."""
    from bot.cli import main as command_line

    os.environ.clear()
    os.environ.update(order["environment"])
    _open_as(0, os.devnull, os.O_RDONLY)
    _open_as(1, order["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    _open_as(2, order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    status = 70
    try:
        command_line(["run"], prog_name="laplaced")
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 1
    finally:
        sys.stderr.flush()
        os._exit(status)  # what stands behind this frame belongs to the process that was copied


def _open_as(descriptor: int, path: str, flags: int) -> None:
    opened = os.open(path, flags, 0o600)
    os.dup2(opened, descriptor)
    os.close(opened)


def _outlive(pid: int) -> bool:
    """Waits for the bot's end and tells it. False if the driver's end came first: the bot goes with it."""
    watch = os.pidfd_open(pid)
    readable, _, _ = select.select([watch, sys.stdin], [], [])
    driver_gone = watch not in readable
    if driver_gone:
        signal.pidfd_send_signal(watch, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    os.close(watch)
    if not driver_gone:
        _tell({"ended": os.waitstatus_to_exitcode(status)})
    return not driver_gone


def _tell(news: dict[str, Any]) -> None:
    print(json.dumps(news), flush=True)


if __name__ == "__main__":
    main()
