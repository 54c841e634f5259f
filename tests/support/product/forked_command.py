"""A program by fork where somebody else starts the process, as a client of MCP does.

`python forked_command.py ADDRESS MODULE ARGUMENTS` hands its streams, environment and folder to a copy of the starter
at the address (fork_starter.py), passes SIGTERM on to it and ends as it ended.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from types import FrameType


def main(address: str, module: str, *arguments: str) -> int:
    starter = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    starter.connect("\0" + address)
    starter.recv(16)
    news, told = os.pipe()
    order = {"environment": dict(os.environ), "folder": str(os.getcwd()), "module": module, "arguments": arguments}
    socket.send_fds(starter, [json.dumps(order).encode()], [0, 1, 2, told])
    os.close(told)
    with os.fdopen(news) as lines:
        pid = int(json.loads(next(lines))["pid"])

        def pass_on(number: int, _: FrameType | None) -> None:
            os.kill(pid, number)

        signal.signal(signal.SIGTERM, pass_on)
        ended = int(json.loads(next(lines))["ended"])
    return ended if ended >= 0 else 128 - ended


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
