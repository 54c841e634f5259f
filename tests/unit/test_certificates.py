"""Which certificates an HTTP client compares."""

from __future__ import annotations

import ssl

from internal.certificates import ssl_context


def test_encrypted_addresses_share_the_authorities() -> None:
    """They are read once, and certificate and name are both compared."""
    first, second = ssl_context("https://api.telegram.org/bot1:x/getMe"), ssl_context("https://openrouter.ai/api/v1")
    assert first is second
    assert isinstance(first, ssl.SSLContext)
    assert first.check_hostname
    assert first.verify_mode is ssl.CERT_REQUIRED
    assert first.cert_store_stats()["x509_ca"] > 0


def test_a_plain_address_has_no_certificates() -> None:
    """Nothing is read for it."""
    assert ssl_context("http://127.0.0.1:8090") is False
