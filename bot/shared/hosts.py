"""Allowed host names, which stop DNS rebinding, and the addresses of callers."""

from collections.abc import Collection
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit


def local_address(host: str, port: int) -> str:
    """The address at which a browser on this machine reaches a server that listens on this host and port."""
    address = "127.0.0.1" if host in {"0.0.0.0", "::", "localhost"} else f"[{host}]" if ":" in host else host
    return f"http://{address}:{port}"


def proxy_options(trusted: Collection[str]) -> dict[str, Any]:
    """uvicorn's options by which all servers of Laplaced find out the addresses of callers.

    If a trusted proxy connects, the caller is the last address of X-Forwarded-For that is not a trusted proxy's; else
    the peer. `trusted` are addresses and networks.
    """
    return {"proxy_headers": bool(trusted), "forwarded_allow_ips": list(trusted)}


class Hosts:
    """Loopback and the allowed names or addresses, with or without a port."""

    def __init__(self, allowed: Collection[str]) -> None:
        self._names = frozenset(_name(host) for host in allowed)

    def allow(self, host: str) -> bool:
        """Whether a request with this Host header may be answered."""
        name = _name(host)
        return is_loopback(name) or name in self._names


def _name(host: str) -> str:
    """The host's name or address without its port, lower-case; empty if it is neither."""
    try:
        return (urlsplit(f"//{host.strip()}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def is_loopback(name: str) -> bool:
    """Whether a host's name or address is this machine's own, unreachable from other machines."""
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False
