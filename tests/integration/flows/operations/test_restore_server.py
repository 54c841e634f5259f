"""A store that is no file: backed up into one, and put back whole or not at all; what was forgotten stays forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select, update
from support.stores.store_hash import logical_hash
from support.stores.stores import where

from internal.errors import Refused, StorageDamaged, StorageError
from internal.flows.forgetting.requests import UNDO_WINDOW, ForgettingService, ask_forget
from internal.flows.operations.restore import Restored, restore_into
from internal.people import apply_operations, repository
from internal.people.operations import Added, ApplyContext, SourceLine
from internal.storage.backup import postgres_backup
from internal.storage.backup.backup import Backup, listing
from internal.storage.database import Database
from internal.storage.migration import current_revision, head_revision, migrate, migrate_to
from internal.storage.tables import changes, leases, messages, settings, tombstones, users
from internal.storage.transfer import row_copy
from internal.testing import FrozenClock

OWNER, OTHER = 1, 2
NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
KEY = b"k" * 32


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(NOON)


@pytest.fixture
def place(tmp_path: Path) -> Path | str:
    return where(tmp_path / "store")


@pytest.fixture
async def database(place: Path | str) -> AsyncIterator[Database]:
    """A store with two owners who know two people each."""
    async with Database.open(place) as opened:
        await opened.exclusive(migrate)
        for user_id in (OWNER, OTHER):
            await opened.write(lambda c: know(c, user_id))  # noqa: B023 - awaited here
        yield opened


@pytest.fixture
async def made(database: Database, tmp_path: Path) -> Backup:
    return await postgres_backup.back_up(database, tmp_path / "backups", NOON)


def know(connection: Connection, user_id: int) -> None:
    row = {"user_id": user_id, "role": "member", "state": "active", "name": "Оля", "lang": "ru", "tz": "UTC"}
    connection.execute(insert(users).values(**row, settings={}, created_at=NOON + timedelta(seconds=user_id)))
    said = {"user_id": user_id, "seq": 1, "id": f"m{user_id}", "role": "user", "content": "Привіт", "rev": 1}
    connection.execute(insert(messages).values(**said, timestamp=NOON))
    context = ApplyContext(
        episode_id="episode",
        run_id="run",
        lines={1: SourceLine(NOON, 1, f"m{user_id}")},
        snapshot_rev=repository.current_rev(connection, user_id),
        tombstone_key=KEY,
        now=NOON,
    )
    apply_operations.apply(
        connection, user_id, [Added("Канарейкин", bio="Друг."), Added("Мария", bio="Сестра.")], context
    )


def names(connection: Connection, user_id: int = OWNER) -> list[str]:
    return [person.display_name for person in repository.listing(connection, user_id)]


async def restored(made: Backup, place: Any, clock: FrozenClock, *, force: bool = True) -> Restored:
    folder = made.path.parent.parent / "data"
    return await restore_into(made.path, place, folder, clock=clock, tombstone_key=KEY, force=force)


async def hash_of(path: Path) -> str:
    async with Database.open(path) as opened:
        return await opened.read(logical_hash)


async def test_backup_says_the_same_in_one_file(database: Database, made: Backup) -> None:
    """The backup is a database file of the same content, alone in its folder."""
    assert [path.name for path in made.path.parent.iterdir()] == [made.path.name]
    assert made.revision == head_revision()
    assert await hash_of(made.path) == await database.read(logical_hash)


async def test_backup_is_of_one_moment(database: Database, tmp_path: Path) -> None:
    """What is written while a backup is being made is in it whole or not at all."""

    async def talk() -> None:
        for n in range(2, 12):
            row = {"user_id": OWNER, "seq": n, "id": f"n{n}", "role": "user", "content": "x", "rev": n}
            await database.write(lambda c: c.execute(insert(messages).values(**row, timestamp=NOON)))  # noqa: B023 - awaited here
            await database.write(lambda c: c.execute(update(users).values(next_seq=n + 1)))  # noqa: B023 - awaited here

    talking = asyncio.create_task(talk())
    made = await postgres_backup.back_up(database, tmp_path / "backups", NOON)
    await talking
    async with Database.open(made.path) as opened:
        said = await opened.read(lambda c: max(c.execute(select(messages.c.seq)).scalars()))
        counted = await opened.read(lambda c: c.execute(select(users.c.next_seq).limit(1)).scalar_one())
    assert counted - 1 in (said, said - 1, 0)


async def test_failed_backup_leaves_nothing(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy that does not say the same is no backup: it is told, and its file is gone."""
    contents = iter(range(9))
    content_of = postgres_backup.content_of
    monkeypatch.setattr(postgres_backup, "content_of", lambda c, tables: content_of(c, tables[: 40 + next(contents)]))
    with pytest.raises(StorageError, match="does not say the same"):
        await postgres_backup.back_up(database, tmp_path / "backups", NOON)
    assert list((tmp_path / "backups").iterdir()) == []


async def test_only_the_newest_stay(database: Database, made: Backup) -> None:
    """The folder keeps as many backups as it is told."""
    newer = await postgres_backup.back_up(database, made.path.parent, NOON + timedelta(hours=1), keep=1)
    assert listing(made.path.parent) == [newer]


async def test_store_of_an_older_schema_is_backed_up_as_it_is(tmp_path: Path) -> None:
    """Before a migration the tables are not this program's: the backup has those, and a restore brings them up."""
    async with Database.open(tmp_path / "old.db") as old:
        await old.exclusive(lambda c: migrate_to(c, "0006"))
        await old.write(lambda c: c.execute(insert(settings).values(key="k", value={"ї": [1, None]})))
        made = await postgres_backup.back_up(old, tmp_path / "backups", NOON)
    assert made.revision == "0006"
    async with Database.open(made.path) as opened:
        assert await opened.read(current_revision) == "0006"
        assert await opened.read(lambda c: c.execute(select(settings.c.value)).scalar_one()) == {"ї": [1, None]}


async def test_restore_says_what_was_backed_up(
    database: Database, made: Backup, place: Any, clock: FrozenClock
) -> None:
    """After changes, a restore brings the same content, and what it replaced is kept as a file."""
    wanted = await database.read(logical_hash)
    await database.write(lambda c: c.execute(update(messages).values(content="другое")))
    changed = await database.read(logical_hash)
    with pytest.raises(Refused, match="--force"):
        await restored(made, place, clock, force=False)
    outcome = await restored(made, place, clock)
    assert (outcome.revision, outcome.forgotten, outcome.answered) == (head_revision(), 0, 0)
    assert await database.read(logical_hash) == wanted
    assert outcome.kept is not None
    assert await hash_of(outcome.kept) == changed
    assert list(outcome.kept.parent.iterdir()) == [outcome.kept]


async def test_empty_store_needs_no_force(made: Backup, tmp_path: Path, clock: FrozenClock) -> None:
    """A store without anything takes a backup without being asked twice."""
    place: Any = where(tmp_path / "new")
    assert (await restored(made, place, clock, force=False)).kept is None
    async with Database.open(place) as opened:
        assert await opened.read(logical_hash) == await hash_of(made.path)


async def test_person_forgotten_since_does_not_come_back(
    database: Database, made: Backup, place: Any, clock: FrozenClock
) -> None:
    """Who was erased after the backup is not in what is restored, and stays buried."""
    await database.write(lambda c: ask_forget(c, OWNER, 1, now=clock.now()))
    clock.advance(UNDO_WINDOW)
    assert await ForgettingService(database, clock, KEY).erase_due() == 1
    buried = await database.read(lambda c: c.execute(select(tombstones).order_by(tombstones.c.key_hmac)).all())
    clock.advance(3600)
    assert (await restored(made, place, clock)).forgotten == 1
    assert await database.read(names) == ["Мария"]
    assert await database.read(lambda c: names(c, OTHER)) == ["Канарейкин", "Мария"]
    assert await database.read(lambda c: c.execute(select(tombstones).order_by(tombstones.c.key_hmac)).all()) == buried


async def test_failed_restore_leaves_the_old_content(
    database: Database, made: Backup, place: Any, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever goes wrong on the way, the store says what it said before."""
    await database.write(lambda c: c.execute(update(messages).values(content="другое")))
    before = await database.read(logical_hash)
    put = row_copy.put_batch

    def spoil(connection: Connection, table: Any, batch: Any) -> int:
        lost = put(connection, table, batch)
        if table is changes:
            connection.execute(update(changes).values(op="spoilt"))
        return lost

    monkeypatch.setattr(row_copy, "put_batch", spoil)
    with pytest.raises(StorageError, match="changes"):
        await restored(made, place, clock)
    assert await database.read(logical_hash) == before
    made.path.write_bytes(made.path.read_bytes()[:20_000])
    with pytest.raises(StorageDamaged):
        await restored(made, place, clock)
    assert await database.read(logical_hash) == before


async def test_store_that_is_worked_on_is_left_alone(
    database: Database, made: Backup, place: Any, clock: FrozenClock
) -> None:
    """While a process holds a lease, nothing takes the place of what it works on. A file is held by a lock instead."""
    long = {"name": "clock", "holder": "w1", "until": 2**62}
    await database.write(lambda c: c.execute(insert(leases).values(long)))
    with pytest.raises(Refused, match="1 process works"):
        await restored(made, place, clock)
