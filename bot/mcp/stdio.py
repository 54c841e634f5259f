"""MCP over this process's standard streams, for clients that start the server themselves."""

import asyncio
import io
import threading
from collections.abc import AsyncIterator
from typing import Any, cast

from mcp.server.stdio import stdio_server

from bot.mcp.server import mcp_server
from bot.web.client import RestClient

_AT_ONCE = 64 << 10


async def serve_stdio(rest: RestClient) -> None:
    """Serves until the client closes its end, or this is cancelled."""
    server = mcp_server(rest)
    async with stdio_server(stdin=cast(Any, _Lines())) as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


class _Lines:
    """Reads lines of standard input. The SDK's own reader is a thread that cancelling does not end."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        threading.Thread(target=self._read, name="mcp-stdin", daemon=True).start()

    async def __aiter__(self) -> AsyncIterator[str]:
        while (line := await self._lines.get()) is not None:
            yield line

    def _read(self) -> None:
        # Unbuffered: a thread that dies inside a buffered reader takes its lock with it, and the interpreter aborts.
        rest = b""
        with io.FileIO(0, closefd=False) as raw:
            while part := raw.read(_AT_ONCE):
                *lines, rest = (rest + part).split(b"\n")
                for line in lines:
                    self._tell(line.decode("utf-8", "replace"))
        self._tell(rest.decode("utf-8", "replace") if rest.strip() else None)
        self._tell(None)

    def _tell(self, line: Any) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
