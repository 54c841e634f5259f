"""The process of the local Telegram: `python -m bot.simulator.local_telegram --port 8090 --data-dir DIR --token TOKEN`.

Prints one line, `READY http://127.0.0.1:PORT`, when it answers. Ends on SIGTERM, on SIGINT, and when its parent dies.
Exit code 1, with one line on stderr, when the port is taken or another process uses the data folder.
"""

import argparse
import asyncio
import contextlib
import errno
import os
import re
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bot.shared.child_process import log_as, stop_with

# A predecessor whose parent was killed needs a moment to notice.
_PREDECESSOR_GRACE = 5.0
_SHUTDOWN_GRACE = 2
_OTHER_PORT = "another one is set by telegram.local.port (LAPLACED_TELEGRAM__LOCAL__PORT)"


class CannotStart(Exception):
    """The local Telegram cannot start; the message says why."""


def main(arguments: list[str] | None = None) -> int:
    options = _parse(arguments)
    os.umask(0o077)  # its database and the page's files contain people's messages
    log_as("local telegram")
    try:
        with _sole_owner(options.data_dir), _listening(options.host, options.port) as listener:
            asyncio.run(_serve(options, listener))
    except CannotStart as error:
        print(f"local telegram: {error}", file=sys.stderr)
        return 1
    return 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bot.simulator.local_telegram", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
    parser.add_argument("--port", type=int, default=8090, help="0 takes a free one")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--token", type=_token, required=True, help="the token that the bot will use, NUMBER:SECRET")
    parser.add_argument("--bot-name", default="Laplaced")
    parser.add_argument("--setup", nargs="?", const="", metavar="FILE", help="offers to choose models for this file")
    parser.add_argument("--parent", type=int, default=os.getppid(), help="process whose end ends this one")
    return parser.parse_args(arguments)


def _token(text: str) -> str:
    if not re.fullmatch(r"\d+:[\w-]+", text):
        raise argparse.ArgumentTypeError("a token looks like 123456:secret")
    return text


@contextlib.contextmanager
def _sole_owner(data_dir: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    from internal.storage.files.permissions import PRIVATE_FOLDER, close_to_others

    data_dir.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    close_to_others(data_dir)
    lock = FileLock(data_dir / "local_telegram.lock")
    try:
        lock.acquire(timeout=_PREDECESSOR_GRACE)
    except Timeout:
        raise CannotStart(f"another local Telegram uses {data_dir}") from None
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    listener = _bound(host, port)
    try:
        listener.listen(256)
        yield listener
    finally:
        listener.close()


def _bound(host: str, port: int) -> socket.socket:
    deadline = time.monotonic() + _PREDECESSOR_GRACE
    while True:
        # asyncio switches Nagle's delay off only if the protocol is named: otherwise each call takes 40 ms.
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            return listener
        except OSError as error:
            listener.close()
            if error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
                taken = error.errno == errno.EADDRINUSE
                reason = f"is taken; {_OTHER_PORT}" if taken else f"cannot be used: {error.strerror}"
                raise CannotStart(f"port {port} {reason}") from None
            time.sleep(0.1)


async def _serve(options: argparse.Namespace, listener: socket.socket) -> None:
    import uvicorn

    from bot.simulator.server.connections import TrackedProtocol
    from bot.simulator.server.server import build
    from bot.simulator.telegram import Installation, Telegram

    class Server(uvicorn.Server):
        """Uvicorn that reports when it is ready and leaves signals to this process."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            print(f"READY {_address(options.host, listener)}", flush=True)

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    local = options.host in {"127.0.0.1", "localhost", "::1"}
    installation = None if options.setup is None or not local else Installation(options.setup, options.parent)
    telegram = Telegram(options.data_dir, options.token, options.bot_name, installation)
    config = uvicorn.Config(
        build(telegram, storage=options.data_dir / "page", local_only=local), http=TrackedProtocol, log_config=None,
        access_log=False, proxy_headers=False, lifespan="on", timeout_graceful_shutdown=_SHUTDOWN_GRACE,
        timeout_keep_alive=75,
    )  # fmt: skip
    server = Server(config)

    def stop() -> None:
        telegram.updates.close()
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    watch = asyncio.create_task(stop_with(options.parent, stop))
    try:
        await server.serve(sockets=[listener])
    finally:
        watch.cancel()
        telegram.close()


def _address(host: str, listener: socket.socket) -> str:
    shown = "127.0.0.1" if host in {"0.0.0.0", "localhost"} else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listener.getsockname()[1]}"


if __name__ == "__main__":
    sys.exit(main())
