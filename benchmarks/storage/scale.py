"""Runs the benchmarks of docs/scale.md in turn on a PostgreSQL server of its own.

    make scale

The server comes from the wheel of the tests and is removed at the end. It does not sync its files (`fsync` off), so
this measures processors and round trips, not a disk.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from typing import Final

from support.stores import postgres_server

BENCHMARKS: Final = (
    ("messages.worker_throughput", "--messages", "120", "--users", "30"),
    ("search.context_engines", "--messages", "5000", "--rounds", "50"),
    ("search.pgvector_search", "--sizes", "1000", "10000"),
    ("storage.store_growth", "--owners", "100", "1000", "10000"),
)
"""In the sizes of docs/scale.md, without the 30,000 owners, who take longest to make."""

_AS_USUAL: Final = {"synchronous_commit": "on", "full_page_writes": "on"}


def main() -> None:
    """Runs those named on the command line, or all. Raises CalledProcessError with the first that fails."""
    asked = sys.argv[1:] or [name for name, *_ in BENCHMARKS]
    lifeline = postgres_server.Lifeline()
    with ExitStack() as stack:
        stack.callback(lifeline.cut)
        address = postgres_server.start(lifeline.folder, **_AS_USUAL)
        for name, *sizes in BENCHMARKS:
            if name in asked:
                print(f"\n==> {name} {' '.join(sizes)}", flush=True)
                subprocess.run([sys.executable, "-m", f"benchmarks.{name}", address, *sizes], check=True)


if __name__ == "__main__":
    main()
