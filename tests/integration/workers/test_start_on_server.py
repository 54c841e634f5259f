"""The start on a server, and what doctor says of one."""

from __future__ import annotations

import asyncio
import contextvars
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Connection, insert, make_url, text
from support.stores.stores import where_postgresql

from bot.application.doctor import examine_here
from bot.runtime.worker import telegram_of
from internal.config.settings import Config, load
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import Outgoing
from internal.errors import ConfigurationError, StorageError
from internal.flows.operations.health_checks import Level, check_clocks, check_server
from internal.scheduling.leases import Leases
from internal.scheduling.shards import SERVING
from internal.storage.database import Database
from internal.storage.engine import postgres
from internal.storage.engine.postgres_server import ServerState
from internal.storage.migration import bring_up_to_date
from internal.storage.tables import search_items
from internal.storage.transfer.migrate_store import NAME, forget_move

SERVER = ServerState("18.6", 180006, "laplaced", False, False, "UTF8", most_connections=100, connections=12)


def config_of(tmp_path: Path, url: str, **more: str) -> Config:
    environ = {"LAPLACED_DATA_DIR": str(tmp_path / "data"), "LAPLACED_STORAGE__URL": url}
    return load(None, environ | {f"LAPLACED_{key}": value for key, value in more.items()})


async def test_doctor_looks_at_the_server(tmp_path: Path) -> None:
    """Its version, our role and its room are told, and the schema; nothing is made in the data folder."""
    checks = await examine_here(config_of(tmp_path, where_postgresql(tmp_path)))
    found = {check.name: check.level for check in checks}
    for name in ("postgresql", "role", "connections", "schema", "clocks"):
        assert found[name] is Level.OK, checks
    assert "sqlite" not in found
    assert not (tmp_path / "data").exists()


async def test_doctor_knows_half_a_store(tmp_path: Path) -> None:
    """After a move that was interrupted it says so, as the start would, and nothing of what is there so far."""
    address = where_postgresql(tmp_path)
    async with Database.open(address) as database:
        await database.exclusive(lambda c: c.execute(text(f"CREATE TABLE {NAME} (part text, state text)")))
    checks = await examine_here(config_of(tmp_path, address))
    found = {check.key for check in checks}
    assert "database-half" in found
    assert not found & {"vectors-all", "outbox-empty", "workers-none"}
    async with Database.open(address) as database:
        await database.exclusive(forget_move)


async def test_doctor_counts_what_everybody_has_there(tmp_path: Path) -> None:
    """It is begun for no owner: what the policies hide from nobody in particular is counted all the same."""
    address = where_postgresql(tmp_path)
    row = {"user_id": 1, "item": "person:1", "kind": "person", "ref_id": "1", "text": "x", "text_hash": "h", "rev": 1}
    async with Database.open(address) as database:
        await database.write(lambda c: c.execute(insert(search_items).values(**row)))
    as_a_command = examine_here(config_of(tmp_path, address))
    checks = await asyncio.create_task(as_a_command, context=contextvars.Context())
    assert [check.message[:20] for check in checks if check.name == "vectors"] == ["1 of 1 texts wait fo"]


async def test_doctor_knows_workers_by_their_leases(tmp_path: Path) -> None:
    """It counts them; where only workers live, what is owed for hours is stuck; and the size is the server's."""
    address, old = where_postgresql(tmp_path), datetime.now(UTC) - timedelta(hours=3)
    config = config_of(tmp_path, address)
    config.data_dir.mkdir()
    async with Database.open(address) as database:
        await database.write(lambda c: mailbox.enqueue(c, Outgoing(1, 1, 1, "Hi", "key"), old))
        without = {check.name: check for check in await examine_here(config)}
        await Leases(database, "w").take(f"{SERVING}w")
        beside = {check.name: check for check in await examine_here(config)}
    assert (without["outbox"].key, beside["outbox"].key) == ("outbox-next-start", "outbox-stuck")
    assert (without["workers"].level, without["workers"].key) == (Level.NOTE, "workers-none")
    assert (beside["workers"].level, beside["workers"].message[:18]) == (Level.OK, "1 process at work,")
    assert float(without["disk"].values["size"]) > 1


@pytest.mark.parametrize(("minutes", "level"), [(0, Level.OK), (3, Level.FINDING), (-3, Level.FINDING)])
def test_clocks_that_differ_are_told(minutes: int, level: Level) -> None:
    """A machine minutes off is a finding, though what is due does not suffer."""
    check = check_clocks(timedelta(minutes=minutes))
    assert check.level is level
    assert (minutes < 0) == ("behind" in check.message)


async def test_server_that_makes_no_tables_is_told_in_one_line(tmp_path: Path) -> None:
    """A role without the right to make them: no statement is shown, and no traceback."""
    nowhere = make_url(where_postgresql(tmp_path)).update_query_dict({"options": "-c search_path=nowhere"})
    async with Database.open(nowhere.render_as_string(hide_password=False)) as database:
        with pytest.raises(StorageError, match="cannot be made or brought up to date: no schema") as told:
            await bring_up_to_date(database)
    assert "\n" not in str(told.value)


async def test_server_that_is_away_is_a_finding_without_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Doctor says why the server cannot be used, and never with what password."""
    monkeypatch.setattr(postgres, "_START_ATTEMPTS", 1)
    checks = await examine_here(config_of(tmp_path, "postgresql://me:do-not-show-me@127.0.0.1:1/mine"))
    [away] = [check for check in checks if check.name == "postgresql"]
    assert away.level is Level.FINDING
    assert "onnection" in away.message
    assert not {"\n", "\t"} & set(away.message)
    assert "show-me" not in str(checks)


async def test_role_that_the_server_does_not_know_is_told_at_once(tmp_path: Path) -> None:
    """A wrong name or password is one sentence, and nothing is tried for a minute."""
    address = where_postgresql(tmp_path).replace("//laplaced", "//nobody-knows-him:do-not-show-me")
    with pytest.raises(StorageError, match=r"cannot use the database: .*nobody-knows-him") as told:
        async with Database.open(address):
            pass
    assert "show-me" not in str(told.value)


async def test_a_server_that_fell_silent_is_not_waited_for_as_long_as_tcp_would(tmp_path: Path) -> None:
    """Whatever was sent and is not acknowledged within seconds ends the connection, and another is opened."""

    def told(connection: Connection) -> dict[str, str]:
        raw = connection.connection.dbapi_connection
        assert isinstance(raw, psycopg.Connection)
        return raw.info.get_parameters()

    async with Database.open(where_postgresql(tmp_path)) as database:
        found = await database.read(told)
    assert {name: found.get(name) for name in postgres.KEEPALIVE} == {
        name: str(one) for name, one in postgres.KEEPALIVE.items()
    }


async def test_missing_driver_is_told_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra the sentence says its name."""
    monkeypatch.setitem(sys.modules, "internal.storage.engine.postgres", None)
    with pytest.raises(ConfigurationError, match=r"pip install '\.\[postgres\]'"):
        async with Database.open("postgresql://h/d"):
            pass


@pytest.mark.parametrize(
    ("server", "finding"),
    [
        (SERVER, None),
        (replace(SERVER, version="13.9", version_number=130009), "postgresql"),
        (replace(SERVER, superuser=True), "role"),
        (replace(SERVER, bypasses_policies=True), "role"),
        (replace(SERVER, connections=96), "connections"),
        (replace(SERVER, encoding="SQL_ASCII"), "encoding"),
    ],
)
def test_what_a_server_must_be(server: ServerState, finding: str | None) -> None:
    """Old servers, roles that pass by the policies and servers without room are findings, each with a way out."""
    found = [check for check in check_server(server) if check.level is Level.FINDING]
    assert [check.name for check in found] == ([] if finding is None else [finding])
    assert all(check.fix for check in found)


def test_worker_needs_a_server(tmp_path: Path) -> None:
    """On a file it is refused with one sentence; beside a local Telegram it must know its port."""
    with pytest.raises(ConfigurationError, match="belongs to one process"):
        telegram_of(config_of(tmp_path, ""))
    url = "postgresql://h/d"
    assert telegram_of(config_of(tmp_path, url, TELEGRAM__TOKEN="1:own"))[1] == "1:own"
    assert telegram_of(config_of(tmp_path, url, TELEGRAM__LOCAL__PORT="4321"))[0] == "http://127.0.0.1:4321"
    with pytest.raises(ConfigurationError, match=r"telegram\.local\.port"):
        telegram_of(config_of(tmp_path, url, TELEGRAM__LOCAL__PORT="0"))


def test_passwords_of_an_address_are_secrets(tmp_path: Path) -> None:
    """As written and as meant, wherever an address may hold one."""
    config = config_of(tmp_path, "postgresql://me:a%40bcd@h/d?password=efgh")
    assert {"a%40bcd", "a@bcd", "efgh"} <= set(config.secrets())
