"""The process of a local model: `python -m internal.llm.gguf_server --model FILE.gguf`.

It prints the line `READY http://127.0.0.1:PORT` once it answers in the OpenAI wire format, and ends on SIGTERM, on
SIGINT, and when its parent dies. If it cannot read the file, it exits with code 1 and one line on stderr.
"""

import argparse
import os
import signal
import sys
import time
from typing import Final

KEY: Final = "LAPLACED_MODEL_PROCESS_KEY"
"""The variable with the key that callers must send: other users of the machine can reach loopback too."""

_PARENT_CHECK: Final = 0.5


def main() -> int:
    options = _parse()
    try:
        import xllamacpp
    except ImportError as error:  # for a library of the system that is not in the wheel
        print(f"llama.cpp cannot be loaded: {error}; Debian has libgomp.so.1 in libgomp1", file=sys.stderr)
        return 1
    stopped: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.append(1))
    parameters = xllamacpp.CommonParams()
    parameters.model.path = options.model
    parameters.port = options.port
    parameters.api_keys = [os.environ[KEY]]
    parameters.n_parallel = options.parallel
    parameters.n_ctx = options.context * options.parallel
    parameters.ui, parameters.endpoint_slots = False, False
    parameters.verbosity = 0
    try:
        server = xllamacpp.Server(parameters)
    except RuntimeError:  # its words only say that it failed
        print(
            f"{options.model} cannot be loaded: is it a whole GGUF model, and is there memory for it?", file=sys.stderr
        )
        return 1
    print(f"READY {server.listening_address}", flush=True)
    while not stopped and os.getppid() == options.parent:
        time.sleep(_PARENT_CHECK)  # a signal ends it at once
    os._exit(0)  # a request that is being worked on is not waited for


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m internal.llm.gguf_server", description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--context", type=int, default=16_384, help="tokens of each conversation")
    parser.add_argument("--parallel", type=int, default=2, help="so that an answer does not wait for the archivist")
    parser.add_argument("--parent", type=int, default=os.getppid(), help="process whose end ends this one")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
