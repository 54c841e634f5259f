"""A bucket for files."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from moto.server import ThreadedMotoServer


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A bucket of a real S3 server on this machine, and its keys in the environment."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    assert httpx.put(f"{address}/bucket", trust_env=False).is_success
    keys = {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "REGION": "us-east-1", "ENDPOINT_URL": address}
    for name, value in (keys | {"ALLOW_HTTP": "true"}).items():
        monkeypatch.setenv(f"AWS_{name}", value)
    yield "s3://bucket/files"
    server.stop()
