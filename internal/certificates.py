"""The certificate authorities of HTTP clients. Reading them takes 40 ms, so it is done once in a process."""

import ssl
from functools import cache

import httpx


def believed(url: str | httpx.URL, *, environment: bool = False) -> ssl.SSLContext | bool:
    """The `verify` argument of an httpx client for this address; plain HTTP has no certificates to check.

    `environment`: SSL_CERT_FILE and SSL_CERT_DIR name other authorities, as they do for httpx itself.
    """
    return _authorities(environment) if httpx.URL(url).scheme == "https" else False


@cache
def _authorities(environment: bool) -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=environment)
