"""The host names under which a server may be called: a page elsewhere may let its own name point to this machine."""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit


def local_address(host: str, port: int) -> str:
    """The address by which a browser on this machine reaches a server that listens there."""
    address = "127.0.0.1" if host in {"0.0.0.0", "::", "localhost"} else f"[{host}]" if ":" in host else host
    return f"http://{address}:{port}"


class Hosts:
    """Loopback and the allowed names or addresses, with or without a port."""

    def __init__(self, allowed: Collection[str]) -> None:
        self._names = frozenset(_name(host) for host in allowed)

    def allow(self, host: str) -> bool:
        """Whether a request with this Host header may be answered."""
        name = _name(host)
        return name == "localhost" or name in self._names or _is_loopback(name)


def _name(host: str) -> str:
    """The host's name or address without its port, lower-case; empty if it is neither."""
    try:
        return (urlsplit(f"//{host.strip()}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def _is_loopback(name: str) -> bool:
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
