"""The TCP connections of the server, which a fault can cut like a broken network."""

import asyncio
import socket
import struct
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

_open: dict[tuple[str, int], asyncio.BaseTransport] = {}


class TrackedProtocol(H11Protocol):
    """Uvicorn's HTTP protocol that knows each connection by the client's address."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        _open[_peer(transport)] = transport
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        _open.pop(_peer(self.transport), None)
        super().connection_lost(exc)


def _peer(transport: asyncio.BaseTransport) -> tuple[str, int]:
    name: Any = transport.get_extra_info("peername") or ("", 0)
    return str(name[0]), int(name[1])


def reset_connection(client: tuple[str, int] | None) -> bool:
    """Resets the connection of `client` (a TCP RST; nothing is sent). Returns False if it is unknown."""
    transport = _open.get(client) if client is not None else None
    if not isinstance(transport, asyncio.Transport):
        return False
    peer: socket.socket | None = transport.get_extra_info("socket")
    if peer is not None:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()
    return True
