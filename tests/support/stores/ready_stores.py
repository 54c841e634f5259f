"""Stores that have their tables already: SQLite makes them in 25 ms, which is much of a short test."""

from __future__ import annotations

import asyncio
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from support.stores.stores import where

from internal.storage.database import Database
from internal.storage.migration import migrate


def ready(folder: Path) -> Path | str:
    """As `where`, with the tables of this program, as it makes them itself; `migrate` finds nothing to do."""
    place = where(folder)
    if isinstance(place, Path) and not place.exists():
        place.touch(mode=0o600)
        place.write_bytes(_made())
    return place


@cache
def _made() -> bytes:
    """The file of a store in which nothing is, made once in a process."""
    with ThreadPoolExecutor(1) as aside:  # a loop may be running here
        return aside.submit(lambda: asyncio.run(_make())).result()


async def _make() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "laplaced.db"
        async with Database.open(path) as database:
            await database.exclusive(migrate)
        return path.read_bytes()
