"""The process of the console: `python -m bot.console.process --listener FD --rest http://127.0.0.1:9081 ...`.

Serves on a socket that the bot opened and passes on. Ends on SIGTERM, on SIGINT, and when the bot dies.
"""

import argparse
import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

from bot.shared.child_process import log_as, stop_with
from bot.shared.hosts import proxy_options

CALLER_KEY = "CONSOLE_CALLER_KEY"
"""The environment variable with the secret by which the server trusts this process about its visitors."""

_SHUTDOWN_GRACE = 2


def main(arguments: list[str] | None = None) -> int:
    options = _parse(arguments)
    os.umask(0o077)
    log_as("console")
    # Read once, when NiceGUI is imported; without it NiceGUI makes a folder in the bot's current directory.
    os.environ["NICEGUI_STORAGE_PATH"] = str(options.storage)
    asyncio.run(_serve(options))
    return 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bot.console.process", description=__doc__)
    parser.add_argument("--listener", type=int, required=True, help="number of the socket that was handed over")
    parser.add_argument("--rest", required=True, help="address of the server")
    parser.add_argument("--storage", type=Path, required=True, help="where the page library may keep its files")
    parser.add_argument("--allow", action="append", default=[], help="a Host to answer to, beside loopback")
    parser.add_argument("--trust", action="append", default=[], help="a proxy that says who calls")
    parser.add_argument("--secure", action="store_true", help="people come by https: cookies go no other way")
    parser.add_argument("--parent", type=int, default=os.getppid(), help="process whose end ends this one")
    return parser.parse_args(arguments)


async def _serve(options: argparse.Namespace) -> None:
    import uvicorn

    from bot.console.site import build

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            """Leaves signals to this process instead of Uvicorn."""
            yield

    key = os.environ.pop(CALLER_KEY, "")
    app = build(options.rest, allowed_hosts=options.allow, secure=options.secure, caller_key=key)
    server = Server(
        uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="on", server_header=False, timeout_keep_alive=75,
            timeout_graceful_shutdown=_SHUTDOWN_GRACE, **proxy_options(options.trust),
        )
    )  # fmt: skip

    def stop() -> None:
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    watch = asyncio.create_task(stop_with(options.parent, stop))
    try:
        await server.serve(sockets=[socket.socket(fileno=options.listener)])
    finally:
        watch.cancel()


if __name__ == "__main__":
    sys.exit(main())
