"""Probes and the metrics page."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol

import httpx
from sqlalchemy import insert, text
from support.stores.stores import store

from internal.storage import tables
from internal.storage.database import Database
from internal.storage.migration import head_revision
from internal.telemetry.metrics import Metrics

NOW = datetime(2026, 2, 7, 12, 0, tzinfo=UTC)
READ_ONLY = {"sqlite": "PRAGMA query_only={}", "postgresql": "SET default_transaction_read_only = {}"}


class Ports(Protocol):
    poll_fresh: bool
    mistake: Exception | None


async def test_process_lives(caller: httpx.AsyncClient) -> None:
    """While the process answers at all, it lives."""
    assert (await caller.get("/healthz")).json() == {"status": "alive"}


async def test_ready_when_everything_is(caller: httpx.AsyncClient) -> None:
    """A writable, migrated database and a fresh poll are readiness."""
    answer = await caller.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ready"})


async def test_stale_poll_is_named(caller: httpx.AsyncClient, ports: Ports) -> None:
    """A bot that hears nothing from Telegram is not ready."""
    ports.poll_fresh = False
    answer = await caller.get("/readyz")
    assert answer.status_code == 503
    assert (answer.json()["failing"], answer.json()["detail"]) == (["poll"], "not ready: poll")


async def test_database_that_cannot_be_written_is_named(caller: httpx.AsyncClient, database: Database) -> None:
    """A database that can only be read is not ready, and is again once it can be written."""
    await database.exclusive(lambda connection: connection.exec_driver_sql(READ_ONLY[store()].format("on")))
    answer = await caller.get("/readyz")
    assert (answer.status_code, answer.json()["failing"]) == (503, ["database"])
    await database.exclusive(lambda connection: connection.exec_driver_sql(READ_ONLY[store()].format("off")))
    assert (await caller.get("/readyz")).status_code == 200


async def test_other_schema_is_named(caller: httpx.AsyncClient, database: Database) -> None:
    """A schema that is not this program's own is not ready."""
    await database.write(lambda c: c.exec_driver_sql("UPDATE alembic_version SET version_num = 'older'"))
    answer = await caller.get("/readyz")
    assert (answer.status_code, answer.json()["failing"]) == (503, ["migrations"])
    own = text(f"UPDATE alembic_version SET version_num = '{head_revision()}'")
    await database.write(lambda c: c.execute(own).rowcount)


async def test_page_shows_what_was_counted_and_what_is_stored(
    caller: httpx.AsyncClient, database: Database, metrics: Metrics
) -> None:
    """Counters come from the process, depths from the database, on one page in the Prometheus text format."""
    metrics.people_applied(7, "Added", 1)
    row = {"bot_id": 1, "update_id": 1, "raw": "{}", "state": "received", "received_at": NOW}
    await database.write(lambda connection: connection.execute(insert(tables.inbox).values(row)))
    answer = await caller.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert 'laplaced_people_extracted_total{op_type="Added",user_id="7"} 1.0' in answer.text
    assert "laplaced_inbox_depth 1.0" in answer.text


async def test_trouble_inside_is_told_without_details(caller: httpx.AsyncClient, ports: Ports) -> None:
    """An error nobody foresaw is 500 with a plain sentence; what it was stands in the log only."""
    ports.mistake = RuntimeError("the password is 42")
    answer = await caller.post("/admin/archive", json={})
    assert (answer.status_code, answer.json()) == (500, {"detail": "something went wrong; the log says more"})
