"""Compiled statements, shared by all connections of one kind in a process.

SQLAlchemy compiles a statement once for each engine, and a link has an engine of its own: without this the writer and
every reader compile everything again, which took a third of a short-lived store's processor time.
"""

from typing import Final

from sqlalchemy import Connection, Engine as SqlEngine
from sqlalchemy.engine import Dialect
from sqlalchemy.util import LRUCache

from internal import text_caches

MOST_STATEMENTS: Final = 2_000


class StatementCache:
    """The statements of one dialect. Compiled ones are found by their dialect too, so that is shared as well."""

    def __init__(self) -> None:
        self._dialect: Dialect | None = None
        self._compiled: LRUCache[object, object] = LRUCache(MOST_STATEMENTS)
        text_caches.register_holder(self)

    def forget(self, user_id: int) -> None:
        """Drops all statements: a compiled one holds the values that it was first executed with."""
        for key in list(self._compiled):
            self._compiled.pop(key, None)

    def connect(self, engine: SqlEngine, kind: type[Connection] = Connection) -> Connection:
        """Opens a connection that uses the cache. All engines are made with the same options."""
        if self._dialect is not None:
            engine.dialect = self._dialect
        connection = kind(engine).execution_options(compiled_cache=self._compiled)
        self._dialect = engine.dialect  # the first one has been set up by its connection
        return connection
