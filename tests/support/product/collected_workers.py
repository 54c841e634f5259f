"""Workers of a run as copies of one process that has collected the tests.

Collecting takes seven seconds of the processor, ten where no test is compiled yet, and nearly all of them are imports.
So one process collects, and each worker is a copy of it, which finds every module there. xdist starts this file as the
interpreter of a worker; that process hands its streams to a copy and ends with it. If there is no process to copy, it
becomes the interpreter that xdist wanted.

`python collected_workers.py ADDRESS -u -c …` is what xdist starts, and
`python collected_workers.py DOOR ALIVE ARGUMENTS` what collects, with the arguments of pytest. DOOR is the descriptor
of a socket that listens at the address, ALIVE that of a pipe: when its other end is closed, the run is over.
"""

from __future__ import annotations

import os
import signal
import socket
import sys

TYPE_CHECKING = False  # typing would be half of what a process that only hands over imports
if TYPE_CHECKING:
    from typing import Any, NoReturn

    import pytest

_FROM_XDIST = "-u"
"""What xdist's command for an interpreter begins with."""
_WITHOUT_WORKERS = ("-n0", "--dist=no", "--collect-only", "-qq")
_ENDS_WITHIN_S = 20.0
_COPIES = "copy_of_what_collected"


def begin(config: pytest.Config, specs: list[Any]) -> None:
    """Starts the process that collects; the workers of these specs become its copies."""
    import atexit
    import shlex
    import subprocess

    from support.product.program import ONE_THREAD

    address = f"laplaced-tests/{os.getpid()}/workers"
    alive, ours = os.pipe()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
        door.bind("\0" + address)
        door.listen()
        process = subprocess.Popen(
            [
                sys.executable,
                __file__,
                str(door.fileno()),
                str(alive),
                *config.invocation_params.args,
                *_WITHOUT_WORKERS,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[door.fileno(), alive],
            env=os.environ | ONE_THREAD,
        )
    os.close(alive)
    for spec in specs:
        spec.python = shlex.join([sys.executable, "-S", "-E", __file__, address])

    def end() -> None:
        os.close(ours)
        try:
            process.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()

    atexit.register(end)


def is_copy() -> bool:
    """Whether this worker of a run is a copy of what collected."""
    return _COPIES in sys.modules


def _hand_over(address: str, command: list[str]) -> None:
    """Gives the streams of a worker to a copy and waits for its end; without a copy this process becomes the worker."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as copy:
        try:
            copy.connect("\0" + address)
            socket.send_fds(copy, [b"streams"], [0, 1, 2])
            begun = copy.recv(1)
        except OSError:
            begun = b""
        if begun:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the copy hears of it from xdist
            copy.recv(1)  # nothing comes but the end
            return
    os.execv(sys.executable, [sys.executable, *command])


def _collect_and_copy(door: socket.socket, alive: int, arguments: list[str]) -> None:
    """Returns when the run is over and all copies have ended."""
    import gc
    import select

    import pytest

    pytest.main(arguments)
    if (threads := len(os.listdir("/proc/self/task"))) != 1:
        raise SystemExit(f"{threads - 1} threads began while the tests were collected: copies would lose them")
    gc.freeze()  # or the first collection of every copy would touch, and so copy, all of it
    interrupted = signal.signal(signal.SIGINT, signal.SIG_IGN)
    watched: list[Any] = [door, alive]
    while alive not in select.select(watched, [], [])[0]:
        worker = door.accept()[0]
        streams = socket.recv_fds(worker, 16, 3)[1]
        if streams and os.fork() == 0:
            door.close()
            os.close(alive)
            signal.signal(signal.SIGINT, interrupted)
            _be_worker(worker, streams)
        worker.close()
        for stream in streams:
            os.close(stream)
    door.close()
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


def _be_worker(copied: socket.socket, streams: list[int]) -> NoReturn:
    """Does what xdist says on standard input, as its own interpreter would. The socket lives as long as the process."""
    import atexit
    import threading
    import types

    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - for the rest of this process
    sys.argv = ["-c"]
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    sys.modules[_COPIES] = types.ModuleType(_COPIES)
    copied.send(b"1")
    status = 0
    try:
        exec(eval(sys.stdin.readline()), vars(main))  # what `python -c` of xdist says
    except SystemExit as ended:
        status = int(ended.code is not None) if not isinstance(ended.code, int) else ended.code
    except Exception:
        sys.excepthook(*sys.exc_info())
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]  # what the interpreter does, in its order
    atexit._run_exitfuncs()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    place, *rest = sys.argv[1:]
    if rest[0] == _FROM_XDIST:
        _hand_over(place, rest)
    else:
        _collect_and_copy(socket.socket(fileno=int(place)), int(rest[0]), rest[1:])
