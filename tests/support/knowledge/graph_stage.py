"""A database in memory with two owners, and short ways to make nodes and edges in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Table, insert, select
from support.stores.stores import memory_store

from internal.graph import store
from internal.graph.model import Edge, Node
from internal.storage.tables import changes, users

OWNER, STRANGER = 1, 2
NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)


@contextmanager
def memory() -> Iterator[Connection]:
    with memory_store() as connection:
        for user_id in (OWNER, STRANGER):
            row = {"user_id": user_id, "role": "member", "state": "active", "name": "", "lang": "ru", "tz": "UTC"}
            connection.execute(insert(users).values(**row, settings={}, created_at=NOON))
        yield connection


@dataclass(slots=True)
class Graph:
    """One owner's graph."""

    connection: Connection
    user_id: int = OWNER

    def node(self, label: str, now: datetime = NOON, **properties: Any) -> Node:
        return store.add_node(self.connection, self.user_id, label, properties, now=now)

    def entity(self, name: str, **properties: Any) -> str:
        return self.node("Entity", name=name, **properties).id

    def memory(self, content: str) -> str:
        return self.node("Memory", content=content).id

    def edge(
        self,
        type: str,
        source: str,
        target: str,
        *,
        now: datetime = NOON,
        valid_at: datetime | None = None,
        invalid_at: datetime | None = None,
        **properties: Any,
    ) -> Edge:
        return store.add_edge(
            self.connection,
            self.user_id,
            type,
            source,
            target,
            properties,
            now=now,
            valid_at=valid_at,
            invalid_at=invalid_at,
        )

    def fact(self, source: str, name: str, target: str, **options: Any) -> Edge:
        return self.edge("FACT", source, target, name=name, fact=f"{source} {name} {target}", **options)

    def rows(self, table: Table, *without: str) -> set[str]:
        """All rows of a table as text, some columns left out."""
        found = self.connection.execute(select(table)).mappings()
        return {str(sorted((k, v) for k, v in row.items() if k not in without)) for row in found}

    def logged(self, after: int = 0) -> list[tuple[str, str, str]]:
        """(kind, id, op) of the owner's changes after a place in the log."""
        query = select(changes.c.kind, changes.c.id, changes.c.op).where(changes.c.user_id == self.user_id)
        return [tuple(row) for row in self.connection.execute(query.where(changes.c.seq > after))]

    @property
    def log_end(self) -> int:
        return len(self.connection.execute(select(changes.c.seq)).all())
