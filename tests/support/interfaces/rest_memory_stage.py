"""One owner of a served store that many tests share: what the others make is not his."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import httpx
from support.interfaces.rest_graph_stage import Stage, stage, user
from support.stores.stores import where

from internal.access import repository as users
from internal.config.settings import MetricsConfig
from internal.graph.labels import NODES
from internal.graph.registry import expected
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.telemetry.metrics import Metrics

SAMPLES: dict[str, tuple[list[Any], list[Any]]] = {
    "text": (["чай"], [5, ["x"]]),
    "text that is not empty": (["чай"], ["", "  ", 5]),
    "a number from 0 to 1": ([0, 0.5, 1], [-0.1, 1.1, "0.5"]),
    "a number from -1 to 1": ([-1, 0, 1], [-1.1, 1.1, "x"]),
    "a whole number, 0 or more": ([0, 7], [-1, 1.5, "7"]),
    "a whole number, 1 or more": ([1, 7], [0, 1.5, "7"]),
    "true or false": ([True, False], ["yes", 1]),
    "a list of texts that are not empty": ([["a", "б"], []], ["a", [""], [5]]),
    "an object of JSON values": ([{"a": [1, None]}, {}], ["a", []]),
    "a time in ISO 8601": (["2026-02-01T10:00:00+00:00"], ["yesterday", "2026-13-01", 5]),
}
"""What a property takes, by the words of its refusal: values that are stored as they are, and values that are not."""

_NUMBERS = count(1_000)


def samples(words: str) -> tuple[list[Any], list[Any]]:
    if words.startswith("one of "):
        return words.removeprefix("one of ").split(", "), ["something else", 5]
    return SAMPLES[words]


def least(label: str) -> dict[str, Any]:
    """The required properties of a label."""
    fields = NODES[label].model.model_fields
    return {name: samples(expected(field))[0][0] for name, field in fields.items() if field.is_required()}


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[Stage]:
    async with Database.open(where(folder)) as database:
        await database.exclusive(migrate)
        async with stage(database, Metrics(MetricsConfig())) as running:
            yield running


@dataclass
class Own:
    """A user of his own, and another one."""

    stage: Stage
    user_id: int = field(default_factory=lambda: next(_NUMBERS))
    stranger: int = field(default_factory=lambda: next(_NUMBERS))

    @classmethod
    async def come(cls, stage: Stage) -> Own:
        own = cls(stage)
        await stage.database.write(lambda c: [users.add(c, user(one)) for one in (own.user_id, own.stranger)])
        return own

    @property
    def client(self) -> httpx.AsyncClient:
        return self.stage.client

    async def get(self, path: str, **query: Any) -> httpx.Response:
        """GET /memory/PATH of this user."""
        return await self.client.get(f"/memory/{path}", params={"user_id": self.user_id, **query})

    async def post(self, path: str, **body: Any) -> httpx.Response:
        """POST /memory/PATH for this user."""
        return await self.client.post(f"/memory/{path}", json={"user_id": self.user_id, **body})

    async def make(self, label: str, user_id: int | None = None, **properties: Any) -> str:
        """The id of a new node that has what its label needs."""
        told = {**least(label), **properties}
        answer = await self.post("nodes", user_id=user_id or self.user_id, label=label, properties=told)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    async def link(self, type: str, source: str, target: str, **properties: Any) -> httpx.Response:
        return await self.post("edges", type=type, source_id=source, target_id=target, properties=properties)
