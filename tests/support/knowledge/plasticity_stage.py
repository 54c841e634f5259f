"""Memories and their links in a database, with short ways to make, age and look at them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, insert, select, update
from support.stores.stores import memory_store

from internal.graph import store
from internal.storage.forgetting import hidings
from internal.storage.tables import changes, graph_edges, graph_nodes, users

OWNER, STRANGER = 1, 2
NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def user_row(user_id: int, tz: str = "UTC", **more: Any) -> dict[str, Any]:
    row = {"user_id": user_id, "role": "member", "state": "active", "name": "", "lang": "ru", "tz": tz}
    return {**row, "settings": {}, "created_at": NOON, **more}


@contextmanager
def in_memory() -> Iterator[Connection]:
    with memory_store() as connection:
        for user_id in (OWNER, STRANGER):
            connection.execute(insert(users).values(user_row(user_id)))
        yield connection


@dataclass(slots=True)
class Memories:
    """One owner's memories."""

    connection: Connection
    user_id: int = OWNER

    def memory(self, content: str, now: datetime = NOON, **more: Any) -> str:
        return self.node("Memory", now, content=content, **more)

    def node(self, label: str, now: datetime = NOON, **properties: Any) -> str:
        return store.add_node(self.connection, self.user_id, label, properties, now=now).id

    def link(self, source: str, target: str, strength: float = 0.5, now: datetime = NOON) -> str:
        return self.edge("RELATES_TO", source, target, now, strength=strength)

    def edge(self, type: str, source: str, target: str, now: datetime = NOON, **properties: Any) -> str:
        return store.add_edge(self.connection, self.user_id, type, source, target, properties, now=now).id

    def strengths(self) -> dict[tuple[str, str], float]:
        edge = graph_edges.c
        query = select(edge.source, edge.target, edge.strength).where(
            edge.user_id == self.user_id, edge.type == "RELATES_TO"
        )
        return {(row.source, row.target): row.strength for row in self.connection.execute(query)}

    def changed(self, after: int = 0) -> list[tuple[str, str, str]]:
        """(kind, id, op) of the change log after a place."""
        query = select(changes.c.kind, changes.c.id, changes.c.op).where(
            changes.c.user_id == self.user_id, changes.c.seq > after
        )
        return [tuple(row) for row in self.connection.execute(query.order_by(changes.c.seq))]

    @property
    def log_end(self) -> int:
        return len(self.connection.execute(select(changes.c.seq)).all())

    def hide(self, node_id: str) -> None:
        hidings.hide(self.connection, self.user_id, "asked", "node", [node_id])

    def set_accessed(self, node_id: str, at: datetime, count: int) -> None:
        values = {"last_accessed": at, "access_count": count}
        self.connection.execute(update(graph_nodes).where(graph_nodes.c.id == node_id).values(values))
