"""Stores that outlive a connection: empty, and brought to the newest schema."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import Connection
from support.stores.stores import where

from internal.storage.database import Database
from internal.storage.migration import migrate


@pytest.fixture
async def empty(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database.open(where(tmp_path, empty=True)) as opened:
        yield opened


@pytest.fixture
async def database(empty: Database) -> Database:
    await empty.exclusive(migrate)
    return empty


@pytest.fixture
async def notes(empty: Database) -> Database:
    """A database with one table of words, for tests of the engine alone."""

    def create(connection: Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE notes (word TEXT PRIMARY KEY)")

    await empty.exclusive(create)
    return empty
