"""Databases of the tests' PostgreSQL, each used again after it was emptied: that takes 2 ms, a new one takes 25 to 60.

All belong to a role that is no superuser, so that the policies of the tables hold for the tests too.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import psycopg
from filelock import FileLock
from sqlalchemy import Connection, Engine as SqlEngine, StaticPool, create_engine
from support.stores import postgres_server

from internal.storage.engine.owner_scope import EVERYONE
from internal.storage.engine.postgres import DIALECT_OPTIONS, WithoutNul, url_of
from internal.storage.migration import migrate

_ROLE: Final = "laplaced"
_TEMPLATE: Final = "template_of_tests"
_CLOSES_WITHIN_S: Final = 0.5
"""The server notices that a connection was closed some milliseconds later."""

_EMPTIED: Final = """
CREATE FUNCTION emptied() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET session_replication_role = replica AS $$
DECLARE
    one text;
    used boolean;
BEGIN
    FOR one IN SELECT quote_ident(tablename) FROM pg_tables
        WHERE schemaname = 'public' AND tablename <> 'alembic_version' LOOP
        EXECUTE 'SELECT EXISTS (SELECT 1 FROM ' || one || ')' INTO used;
        IF used THEN
            EXECUTE 'DELETE FROM ' || one;
        END IF;
    END LOOP;
    PERFORM counted_anew();
END $$
"""
"""Without the foreign keys' own checks: all rows of all tables go."""

_COUNTED_ANEW: Final = """
CREATE FUNCTION counted_anew() RETURNS void LANGUAGE sql AS $$
    SELECT setval(seqrelid, seqstart, false) FROM pg_sequence
$$
"""


class PostgresStores:
    """What one process of the tests has of the server that all of them share."""

    def __init__(self, folder: Path) -> None:
        self._server = _address(folder)
        self._admin = psycopg.connect(self._server, autocommit=True)
        self._made = 0
        self._idle: list[str] = []
        self._lent: dict[Path, str] = {}
        self._kept: set[Path] = set()
        """Folders whose databases were still open at the end of a test."""
        self._changed: set[Path] = set()
        """Folders whose databases have a schema of their own, and are not used again."""
        self._in_memory: list[_Undone] = []

    def where(self, folder: Path, *, empty: bool) -> str:
        """The address of the database that stands for the folder until the end of the test, migrated or `empty`.

        One that is still open at the end of a test belongs to a longer fixture and stays.
        """
        if folder not in self._lent:
            if empty:
                self._lent[folder] = self._new("template1")
                self._changed.add(folder)
            else:
                self._lent[folder] = self._idle.pop() if self._idle else self._new(_TEMPLATE)
        return self._address_of(self._lent[folder])

    @contextlib.contextmanager
    def in_memory(self) -> Iterator[Connection]:
        """A connection to a migrated database whose commits are savepoints: all is undone at the end."""
        store = self._in_memory.pop() if self._in_memory else _Undone(self._address_of(self._new(_TEMPLATE)))
        try:
            with store.fresh() as connection:
                yield connection
        finally:
            self._in_memory.append(store)

    def take_back(self) -> None:
        """Empties the databases that nobody has open any more."""
        for folder, name in list(self._lent.items()):
            if folder in self._changed:
                continue
            if self._is_closed(name, 0 if folder in self._kept else _CLOSES_WITHIN_S):
                with psycopg.connect(self._server, dbname=name, autocommit=True) as connection:
                    connection.execute("SELECT emptied()")
                self._idle.append(self._lent.pop(folder))
                self._kept.discard(folder)
            else:
                self._kept.add(folder)

    def close(self) -> None:
        for store in self._in_memory:
            store.close()
        self._admin.close()

    def _is_closed(self, name: str, within_s: float) -> bool:
        until = time.monotonic() + within_s
        while self._admin.execute("SELECT 1 FROM pg_stat_activity WHERE datname = %s", (name,)).fetchone():
            if time.monotonic() > until:
                return False
            time.sleep(0.005)
        return True

    def _new(self, template: str) -> str:
        self._made += 1
        name = f"test_{os.getpid()}_{self._made}"
        self._admin.execute(f"CREATE DATABASE {name} OWNER {_ROLE} TEMPLATE {template} STRATEGY file_copy")
        return name

    def _address_of(self, name: str) -> str:
        return _as_role(self._server, name)


class _Undone:
    """A connection that never commits."""

    def __init__(self, address: str) -> None:
        self._raw = psycopg.connect(address, prepare_threshold=None, options=f"-c laplaced.owner={EVERYONE}")
        self._raw.adapters.register_dumper(str, WithoutNul)
        self._engine = _engine(self._raw)

    @contextlib.contextmanager
    def fresh(self) -> Iterator[Connection]:
        self._raw.execute("SELECT counted_anew()")  # a sequence is not undone
        self._raw.execute("SAVEPOINT committed")
        try:
            with self._engine.connect() as connection:
                yield connection
        finally:
            self._raw.rollback()

    def close(self) -> None:
        self._engine.dispose()
        self._raw.close()


def _engine(raw: psycopg.Connection[Any]) -> SqlEngine:
    engine = create_engine(
        "postgresql+psycopg://",
        creator=lambda: raw,
        poolclass=StaticPool,
        pool_reset_on_return=None,
        **DIALECT_OPTIONS,
    )
    engine.dialect.do_commit = lambda opened: opened.execute(  # type: ignore[method-assign,assignment]
        "RELEASE SAVEPOINT committed; SAVEPOINT committed"
    )
    engine.dialect.do_rollback = lambda opened: opened.execute(  # type: ignore[method-assign,assignment]
        "ROLLBACK TO SAVEPOINT committed"
    )
    return engine


def _address(folder: Path) -> str:
    """The server's address as superuser; the first that asks starts it and makes the template."""
    known = folder / "address"
    with FileLock(folder / "lock"):
        if not known.exists():
            address = postgres_server.start(folder)
            _make_template(address)
            known.write_text(address)
        return known.read_text()


def _make_template(server: str) -> None:
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {_ROLE} LOGIN NOSUPERUSER NOBYPASSRLS")
        admin.execute(f"CREATE DATABASE {_TEMPLATE} OWNER {_ROLE}")
    engine = create_engine(url_of(_as_role(server, _TEMPLATE)), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        migrate(connection)
    engine.dispose()
    with psycopg.connect(server, dbname=_TEMPLATE, autocommit=True) as admin:
        admin.execute(_COUNTED_ANEW)
        admin.execute(_EMPTIED)


def _as_role(server: str, database: str) -> str:
    return url_of(server).set(drivername="postgresql", username=_ROLE, database=database).render_as_string()
