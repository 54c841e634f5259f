"""What an operator's commands ask of the server: behind the key, checked by field, over the real database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from sqlalchemy import Connection

from bot.application.backups import Backups
from bot.application.operations import Operations
from bot.application.owner_data import OwnerData
from bot.web.http.owners import Owners
from bot.web.server.app import build_web
from bot.web.server.ports import WebPorts
from internal.config.settings import load
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import InboxRow, InboxState
from internal.flows.forgetting.requests import ForgettingService
from internal.flows.operations.health_checks import Check, fine
from internal.scheduling.clock import SystemClock
from internal.storage.backup.backup import verify
from internal.storage.database import Database
from internal.storage.migration import head_revision
from internal.telemetry.metrics import Metrics

KEY = "server-key-of-the-tests"
NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)


class Taken:
    """The bot's side: what it was given to work off, and when it was told of a backup."""

    def __init__(self) -> None:
        self.rows: list[InboxRow] = []
        self.backups: list[datetime] = []

    async def take_up(self, rows: Sequence[InboxRow]) -> None:
        self.rows += rows


@pytest.fixture
def taken() -> Taken:
    return Taken()


@pytest.fixture
async def operator(
    database: Database, metrics: Metrics, taken: Taken, tmp_path: Path
) -> AsyncIterator[httpx.AsyncClient]:
    async def examine() -> list[Check]:
        return [fine("config", "read", "config-read", folder="data")]

    async def nobody(user_id: int) -> bool:
        return False

    async def archive(user_id: int | None, backfill: str | None, again: bool) -> None:
        raise NotImplementedError

    clock = SystemClock()
    config = load(None, {"LAPLACED_DATA_DIR": str(tmp_path)})
    operations = Operations(
        Backups(config, database, clock, taken.backups.append), database, clock, take_up=taken.take_up
    )
    app = build_web(
        WebPorts(
            database=database,
            metrics=metrics,
            clock=clock,
            api_key=KEY,
            allowed_hosts=[],
            owners=Owners(database, nobody),
            poll_fresh=lambda: True,
            archive=archive,  # type: ignore[arg-type]  # nobody archives here
            examine=examine,
            operations=operations,
            owner_data=OwnerData(database, clock, ForgettingService(database, clock, b"key"), tmp_path),
        )
    )
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {KEY}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:9081", headers=headers) as client:
        yield client


@pytest.fixture
async def aside(database: Database) -> None:
    """Three quarantined updates, numbered from 1."""

    def put(connection: Connection) -> None:
        mailbox.receive(connection, 7, [(n, f'{{"update_id": {n}}}') for n in (10, 11, 12)], NOON)
        for n in (1, 2, 3):
            mailbox.mark_processed(connection, n, InboxState.QUARANTINED, error="why", keep_raw=True)

    await database.write(put)


@pytest.mark.parametrize(
    "path",
    ["backup", "doctor", "quarantine", "quarantine/replay", "quarantine/drop", "runs/dead", "runs/revive", "queues"],
)
async def test_nobody_without_the_key(operator: httpx.AsyncClient, path: str) -> None:
    """Every order needs the server's key."""
    assert (await operator.post(f"/admin/{path}", json={}, headers={"Authorization": "Bearer x"})).status_code == 401
    assert (await operator.post(f"/admin/{path}", json={})).status_code == 200
    assert (await operator.post(f"/admin/{path}", json={"other": 1})).status_code == 422


async def test_backup_is_written_where_it_was_asked_for(
    operator: httpx.AsyncClient, taken: Taken, tmp_path: Path
) -> None:
    """By itself or under an absolute path that is free, among the backups; the bot is told of it."""
    made = (await operator.post("/admin/backup", json={})).json()
    assert Path(made["path"]).parent == tmp_path / "backups"
    assert (made["revision"], verify(Path(made["path"]))) == (head_revision(), head_revision())
    target = str(tmp_path / "backups" / "mine.db")
    assert (await operator.post("/admin/backup", json={"to": target})).json()["path"] == target
    again = await operator.post("/admin/backup", json={"to": target})
    assert (again.status_code, again.json()["detail"]) == (422, f"{target} exists; a backup overwrites nothing")
    relative = await operator.post("/admin/backup", json={"to": "mine.db"})
    assert (relative.status_code, relative.json()["detail"].startswith("to: ")) == (422, True)
    assert len(taken.backups) == 2


@pytest.mark.parametrize(("path", "field"), [("backup", "to"), ("import/export", "file")], ids=["written", "read"])
async def test_no_file_outside_the_data_folder_is_touched(
    operator: httpx.AsyncClient, tmp_path: Path, path: str, field: str
) -> None:
    """Neither above it, nor in a folder whose name begins alike, nor behind a link that leads out of it."""
    beside = tmp_path.with_name(f"{tmp_path.name}-beside")
    beside.mkdir()
    (tmp_path / "linked").symlink_to(beside)
    owner = {"user_id": 1} if path != "backup" else {}
    for place in (tmp_path.parent / "x.db", tmp_path / "../x.db", beside / "x.db", tmp_path / "linked/x.db"):
        refused = await operator.post(f"/admin/{path}", json={field: str(place), **owner})
        told = refused.json()["detail"]
        folder = tmp_path / "backups" if path == "backup" else tmp_path
        assert (refused.status_code, told) == (422, f"{field}: it must be in {folder}")
        assert not place.exists()


async def test_quarantine_is_shown_replayed_and_dropped(
    operator: httpx.AsyncClient, aside: None, taken: Taken, database: Database
) -> None:
    """One by its number or all; what is replayed is worked off at once and in order, what is dropped loses its text."""
    shown = (await operator.post("/admin/quarantine", json={})).json()
    assert [(one["n"], one["update_id"], one["error"]) for one in shown] == [
        (1, 10, "why"),
        (2, 11, "why"),
        (3, 12, "why"),
    ]
    assert (await operator.post("/admin/quarantine/drop", json={"n": 2})).json() == 1
    missing = await operator.post("/admin/quarantine/replay", json={"n": 2})
    assert (missing.status_code, missing.json()["detail"]) == (404, "no update 2 is in quarantine")
    assert (await operator.post("/admin/quarantine/replay", json={})).json() == 2
    assert [(row.n, row.state, row.attempts) for row in taken.rows] == [(1, "received", 0), (3, "received", 0)]
    assert (await operator.post("/admin/quarantine/replay", json={})).json() == 0
    query = "SELECT state, raw FROM inbox WHERE n = 2"
    assert tuple(await database.read(lambda c: c.exec_driver_sql(query).one())) == ("ignored", "")
