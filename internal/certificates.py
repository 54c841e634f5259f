"""Whose certificates an HTTP client believes. Reading the authorities takes 40 ms, so it is done once in a process."""

from __future__ import annotations

import ssl
from functools import cache

import httpx


def believed(url: str | httpx.URL, *, environment: bool = False) -> ssl.SSLContext | bool:
    """What `verify` of an httpx client of this address is to be; plain HTTP has no certificates to compare.

    `environment`: SSL_CERT_FILE and SSL_CERT_DIR name other authorities, as they do for httpx itself.
    """
    return _authorities(environment) if httpx.URL(url).scheme == "https" else False


@cache
def _authorities(environment: bool) -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=environment)
