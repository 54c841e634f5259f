"""A bucket of a real S3 server on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from moto.server import ThreadedMotoServer
from support.patience import PATIENCE_S


@contextmanager
def s3_bucket() -> Iterator[str]:
    """Its address, with its keys in the environment."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    assert httpx.put(f"{address}/bucket", trust_env=False, timeout=PATIENCE_S).is_success
    keys = {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "REGION": "us-east-1", "ENDPOINT_URL": address}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (keys | {"ALLOW_HTTP": "true"}).items():
            patch.setenv(f"AWS_{name}", value)
        yield "s3://bucket/files"
    server.stop()
