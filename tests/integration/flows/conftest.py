from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from support.flows.flow_stage import Talk, prepared
from support.flows.mirror_stage import ROWS, MirrorStage
from support.stores.ready_stores import ready

from internal.graph.mirror.falkordb_server import EmbeddedFalkor
from internal.storage.database import Database


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Talk]:
    """A fresh store with two users, and everything between a parsed message and the outbox."""
    async with Database.open(ready(tmp_path)) as database:
        yield await prepared(database)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def falkordb(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[EmbeddedFalkor]:
    """One real FalkorDB for all tests of a process. Where it cannot be started they fail: nothing else runs Cypher."""
    server = EmbeddedFalkor(tmp_path_factory.mktemp("falkordb"), rows=ROWS)
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def mirror(falkordb: EmbeddedFalkor, talk: Talk) -> AsyncIterator[MirrorStage]:
    """The store of `talk`, and a mirror of it."""
    async with MirrorStage.opened(talk, falkordb) as stage:
        yield stage
