"""The child process of `LanguageWorker`: reads pickled calls from standard input and writes pickled answers.

Each call has a thread, so that a query of 2 ms ends within some 10 ms in any case. Functions must not
block the interpreter for long: a regular expression is not interrupted, the embedding of a passage lets others run.
Ends when its input ends, that is, with its parent. Started as `python -m internal.language.worker.process`; it reads
pickles only from the parent that started it.
"""

import gc
import os
import pickle
import signal
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO, Final

from internal.language.worker.process_pool import LENGTH_BYTES, NUMBER_BYTES, OWNERS_AT_ONCE

_SWITCH: Final = 0.002
"""Seconds after which another thread may run."""


def main() -> None:
    """Answers calls until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Dictionaries and indexes live as long as the process: a full collection takes 170 ms and frees nothing.
    gc.set_threshold(100_000, 50, 1000)
    sys.setswitchinterval(_SWITCH)
    requests, answers = _pipes()
    writing = threading.Lock()

    def serve(number: bytes, frame: bytes) -> None:
        answer = _call(frame)
        with writing:
            try:
                answers.write(len(answer).to_bytes(LENGTH_BYTES, "big") + number + answer)
                answers.flush()
            except BrokenPipeError:
                os._exit(0)

    threads = ThreadPoolExecutor(OWNERS_AT_ONCE + 1)
    while (asked := _read(requests)) is not None:
        threads.submit(serve, *asked)
    # Native libraries have threads and memory whose orderly shutdown would only take time.
    os._exit(0)


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes to the parent; anything a library prints goes to the log instead of between the frames."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return sys.stdin.buffer, answers


def _read(requests: BinaryIO) -> tuple[bytes, bytes] | None:
    """The number of the next call and the call; None at the end."""
    head = requests.read(LENGTH_BYTES + NUMBER_BYTES)
    if len(head) < LENGTH_BYTES + NUMBER_BYTES:
        return None
    frame = requests.read(int.from_bytes(head[:LENGTH_BYTES], "big"))
    return (head[LENGTH_BYTES:], frame) if frame else None


def _call(frame: bytes) -> bytes:
    """Makes a call and returns (True, result) or (False, traceback), pickled. No call may end the process."""
    try:
        function, args, kwargs = pickle.loads(frame)
        answer = (True, function(*args, **kwargs))
        return pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception:  # recorded: the caller gets it
        return pickle.dumps((False, traceback.format_exc()), protocol=pickle.HIGHEST_PROTOCOL)


if __name__ == "__main__":
    main()
