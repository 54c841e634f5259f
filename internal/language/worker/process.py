"""The child process of `LanguageWorker`: reads pickled calls from standard input and writes pickled answers.

Ends when its input ends, that is, with its parent. Started as `python -m internal.language.worker.process`; it reads
pickles only from the parent that started it.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import traceback
from typing import BinaryIO

from internal.language.worker.process_pool import LENGTH_BYTES


def main() -> None:
    """Answers calls until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Dictionaries and indexes live as long as the process: a full collection takes 170 ms and frees nothing.
    gc.set_threshold(100_000, 50, 1000)
    requests, answers = _pipes()
    while (frame := _read(requests)) is not None:
        answer = _call(frame)
        try:
            answers.write(len(answer).to_bytes(LENGTH_BYTES, "big") + answer)
            answers.flush()
        except BrokenPipeError:
            break
    # Native libraries hold threads and memory whose orderly shutdown would only take time.
    os._exit(0)


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes to the parent; anything a library prints goes to the log instead of between the frames."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return sys.stdin.buffer, answers


def _read(requests: BinaryIO) -> bytes | None:
    head = requests.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    frame = requests.read(int.from_bytes(head, "big"))
    return frame or None


def _call(frame: bytes) -> bytes:
    """(True, result) or (False, traceback), pickled. The border of the process: no call may end it."""
    try:
        function, args, kwargs = pickle.loads(frame)
        answer = (True, function(*args, **kwargs))
        return pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception:  # recorded: it goes back to the caller
        return pickle.dumps((False, traceback.format_exc()), protocol=pickle.HIGHEST_PROTOCOL)


if __name__ == "__main__":
    main()
