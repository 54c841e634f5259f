"""The choice of the engine: the driver of PostgreSQL is imported only where it is used."""

from __future__ import annotations

from pathlib import Path

from internal.errors import ConfigurationError
from internal.storage.engine.driver import Engine


async def engine_of(where: Path | str) -> Engine:
    """Opens the engine of a SQLite file or of a `postgresql://` address. Raises ConfigurationError without a driver."""
    if isinstance(where, Path):
        from internal.storage.engine.sqlite import SqliteEngine

        return SqliteEngine.prepared(where)
    try:
        from internal.storage.engine.postgres import PostgresEngine
    except ImportError as error:  # the driver is an extra: most installations need none
        reason = "the driver of PostgreSQL is not installed: pip install '.[postgres]' in the folder of Laplaced"
        raise ConfigurationError(reason) from error

    return await PostgresEngine.prepared(where)
