"""The certificate authorities of HTTP clients. Reading them takes 40 ms, so it is done once in a process."""

import ssl
from functools import cache
from urllib.parse import urlsplit


def ssl_context(url: str, *, environment: bool = False) -> ssl.SSLContext | bool:
    """The certificate authorities that a client trusts for this address; False for plain HTTP.

    `environment`: SSL_CERT_FILE and SSL_CERT_DIR name other authorities, as they do for httpx itself.
    """
    return _authorities(environment) if urlsplit(url).scheme == "https" else False


@cache
def _authorities(environment: bool) -> ssl.SSLContext:
    import httpx

    return httpx.create_ssl_context(trust_env=environment)
