"""When a cache of an owner's rows must look at his change log again, on an engine with one writing process."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, literal, select

from internal.errors import Refused
from internal.storage.change_log import changes_together, record_change, record_selected
from internal.storage.database import Database
from internal.storage.migration import migrate

ANN, BOB = 1, 2


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database.open(tmp_path / "laplaced.db") as opened:
        await opened.exclusive(migrate)
        yield opened


async def test_only_the_owner_whose_log_grew_has_a_new_version(database: Database) -> None:
    """Another owner's cache stays valid."""
    ann, bob = database.cache_version(ANN), database.cache_version(BOB)
    await database.write(lambda c: record_change(c, ANN, "person", "a"))
    assert database.cache_version(ANN) > ann
    assert database.cache_version(BOB) == bob


async def test_every_way_of_recording_counts(database: Database) -> None:
    """Deletions, changes recorded together and selected rows, as single changes."""
    row = select(literal(ANN), literal("fact"), literal("f"), literal("put"))
    for work in (
        lambda c: record_change(c, ANN, "person", "a", "delete"),
        changes_together(lambda c: record_change(c, ANN, "vector", "v")),
        lambda c: record_selected(c, ANN, row),
    ):
        before = database.cache_version(ANN)
        await database.write(work)
        assert database.cache_version(ANN) > before


async def test_what_is_rolled_back_or_not_recorded_does_not_count(database: Database) -> None:
    """A unit of work that fails, or that records no change, leaves caches valid."""

    def refused(connection: Connection) -> None:
        record_change(connection, ANN, "person", "a")
        raise Refused("no")

    await database.write(lambda c: record_change(c, ANN, "person", "a"))
    before = database.cache_version(ANN)
    with pytest.raises(Refused):
        await database.write(refused)
    await database.write(lambda c: None)
    assert database.cache_version(ANN) == before
