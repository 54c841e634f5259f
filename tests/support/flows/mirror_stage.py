"""A store, the real FalkorDB beside it, and everything in a mirror as values that can be compared."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import Connection
from support.flows.flow_stage import OWNER, Talk

from internal.flows.indexing.mirror import MirrorSync, StoredCursors
from internal.graph import store
from internal.graph.mirror.falkordb import Falkor
from internal.graph.mirror.falkordb_server import EmbeddedFalkor
from internal.graph.model import Edge, Node
from internal.storage.database import Database

T = TypeVar("T")
ROWS = 50_000
TARGET = "falkor://tests"


@dataclass(frozen=True, slots=True)
class Mirrored:
    """A whole graph: nodes by id with label and properties, and edges with their ends, each as often as it is there."""

    nodes: Mapping[str, tuple[str, dict[str, Any]]]
    edges: Counter[str]


@dataclass
class MirrorStage:
    talk: Talk
    falkor: Falkor
    mirroring: MirrorSync

    @classmethod
    @asynccontextmanager
    async def opened(cls, talk: Talk, server: EmbeddedFalkor) -> AsyncIterator[MirrorStage]:
        falkor = Falkor(server.url, TARGET, timeout=timedelta(seconds=10), rows=ROWS)
        try:
            yield cls(talk, falkor, following(talk, falkor))
        finally:
            await falkor.aclose()

    @property
    def database(self) -> Database:
        return self.talk.database

    @property
    def now(self) -> datetime:
        return self.talk.clock.now()

    async def write(self, work: Callable[[Connection], T]) -> T:
        return await self.database.write(work)

    async def node(self, label: str, user_id: int = OWNER, **properties: Any) -> Node:
        return await self.write(lambda c: store.add_node(c, user_id, label, properties, now=self.now))

    async def edge(self, type: str, source: Node, target: Node, **properties: Any) -> Edge:
        owner = source.user_id
        return await self.write(
            lambda c: store.add_edge(c, owner, type, source.id, target.id, properties, now=self.now)
        )

    async def ask(self, cypher: str, user_id: int = OWNER, **params: Any) -> list[dict[str, Any]]:
        """Rows of the mirror as it is, without following what changed."""
        return [dict(row) for row in (await self.falkor.query(user_id, cypher, params)).rows]

    async def followed(self, user_id: int = OWNER) -> Mirrored:
        """The mirror after it followed what changed."""
        await self.mirroring.follow(user_id)
        return await self.mirrored(user_id)

    async def built_anew(self, user_id: int = OWNER) -> Mirrored:
        await self.mirroring.rebuild(user_id)
        return await self.mirrored(user_id)

    async def mirrored(self, user_id: int = OWNER) -> Mirrored:
        nodes = await self.ask("MATCH (n) RETURN n", user_id)
        edges = await self.ask(
            "MATCH (a)-[r]->(b) RETURN a.id AS a, type(r) AS t, properties(r) AS p, b.id AS b", user_id
        )
        by_id = {row["n"]["id"]: (row["n"]["label"], row["n"]["properties"]) for row in nodes}
        assert len(by_id) == len(nodes), "a node is there twice"
        return Mirrored(by_id, Counter(json.dumps(row, sort_keys=True, ensure_ascii=False) for row in edges))


def following(talk: Talk, falkor: Falkor) -> MirrorSync:
    """As after a restart: nothing is remembered but what is stored."""
    return MirrorSync(talk.database, talk.clock, falkor, StoredCursors(talk.database, talk.clock, falkor.target))
