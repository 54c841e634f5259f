"""The examination of models and embeddings against a scripted server, and of what is stored with another model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Connection, insert

from bot.application.doctor import Doctor, examine_here
from internal.config.agents import AgentsConfig
from internal.config.settings import Config, load
from internal.flows.operations.health_checks import Check, Level
from internal.scheduling.clock import SystemClock
from internal.storage import vectors
from internal.storage.database import Database
from internal.storage.files.keys import ensure_key
from internal.storage.migration import migrate
from internal.storage.tables import search_items
from internal.testing import Fault, ScriptedModel

MODELS = tuple(name.upper() for name, _ in AgentsConfig().each())


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel() as started:
        started.always("chat", "ok")
        yield started


@pytest.fixture
def config(model: ScriptedModel, tmp_path: Path) -> Config:
    """Two chat models in use, of which the archivist's alone is called `thinker`."""
    environ = {f"LAPLACED_AGENTS__{name}__MODEL": "chat" for name in MODELS}
    environ |= {
        "LAPLACED_AGENTS__ARCHIVIST__MODEL": "thinker",
        "LAPLACED_LLM__BASE_URL": model.url,
        "LAPLACED_EMBEDDING__DIMENSIONS": "64",
        "LAPLACED_EMBEDDING__MODEL": "embedder",
        "LAPLACED_DATA_DIR": str(tmp_path / "data"),
    }
    return load(None, environ)


async def examined(config: Config, database: Database | None = None) -> list[Check]:
    return await Doctor(config, SystemClock(), running=True, telegram=None).examine(database)


def of(checks: list[Check], name: str) -> list[tuple[Level, str]]:
    return [(check.level, check.message) for check in checks if check.name == name]


async def test_models_are_asked_once_each(config: Config, model: ScriptedModel) -> None:
    """One small call a model, however many agents use it; thoughts instead of words are an answer too."""
    model.always("thinker", Fault("truncated", text=""))
    checks = await examined(config)
    assert of(checks, "model") == [(Level.OK, "chat answers"), (Level.OK, "thinker answers")]
    assert of(checks, "embedding") == [(Level.OK, "embedder answers with 64 numbers")]
    assert sorted(asked.model for asked in model.requests) == ["chat", "embedder", "thinker"]
    assert all(asked.body["max_tokens"] <= 16 for asked in model.requests if "max_tokens" in asked.body)


@pytest.mark.parametrize("fault", [Fault("status", status=401), Fault("status", status=404), Fault("status")])
async def test_model_that_does_not_answer_is_a_finding(config: Config, model: ScriptedModel, fault: Fault) -> None:
    """A refused key, an unknown model and an outage are findings of that model alone."""
    model.always("thinker", fault)
    model.always("embedder", fault)
    checks = await examined(config)
    levels = {check.message.split()[0].rstrip(":"): check.level for check in checks if check.name == "model"}
    assert levels == {"chat": Level.OK, "thinker": Level.FINDING}
    assert [level for level, _ in of(checks, "embedding")] == [Level.FINDING]


async def test_an_unknown_model_is_told_as_such(config: Config, model: ScriptedModel) -> None:
    """With what the server said, and the settings that name models."""
    model.always("thinker", Fault("status", status=400, body={"error": {"message": "thinker is not a valid model ID"}}))
    [found] = [check for check in await examined(config) if check.key == "model-unknown"]
    assert (found.level, found.values["model"]) == (Level.FINDING, "thinker")
    assert "not a valid model ID" in found.message
    assert "llm.model" in found.fix


async def test_vectors_of_a_wrong_size_are_a_finding(config: Config, model: ScriptedModel) -> None:
    """What the server gives must fit what is configured; the fix names the setting."""
    model.always("thinker", "ok")
    model.always("embedder", Fault("wrong_size"))
    (found,) = [check for check in await examined(config) if check.name == "embedding"]
    assert found.level is Level.FINDING
    assert "embedding.dimensions" in found.fix
    assert "64" in found.message


async def test_stored_vectors_of_another_model_are_noted(config: Config, model: ScriptedModel) -> None:
    """After a change of the model it is told how many texts wait, and how many old vectors there are."""
    model.always("thinker", "ok")

    def fill(connection: Connection) -> None:
        row = {"user_id": 1, "item": "person:1", "kind": "person", "ref_id": "1", "text": "x", "text_hash": "h"}
        connection.execute(insert(search_items).values(**row, rev=1))
        for due in vectors.due(connection, "old", 4, limit=9):
            vectors.save_vector(connection, due, "old", np.ones(4, dtype=np.float32))

    async with Database.open(config.database_path) as database:
        await database.exclusive(migrate)
        await database.write(fill)
        ((level, told),) = of(await examined(config, database), "vectors")
    assert level is Level.NOTE
    assert told.startswith("1 of 1 texts wait for a vector of embedder; 1 vectors of another model")


async def test_key_that_others_can_read_is_found(config: Config, model: ScriptedModel) -> None:
    """The mode of every key in the data folder is looked at."""
    model.always("thinker", "ok")
    ensure_key(config.data_dir if config.data_dir.exists() else _made(config.data_dir), "hmac_key")
    assert [level for level, _ in of(await examined(config), "keys")] == [Level.OK]
    (config.data_dir / "hmac_key").chmod(0o644)
    ((level, told),) = of(await examined(config), "keys")
    assert (level, told.endswith("(mode 644)")) == (Level.FINDING, True)


async def test_older_schema_is_examined_without_being_changed(config: Config, model: ScriptedModel) -> None:
    """A stopped bot's empty database is looked at and not migrated."""
    model.always("thinker", "ok")
    async with Database.open(config.database_path) as database:
        await database.exclusive(lambda c: c.exec_driver_sql("CREATE TABLE x (y)"))
    checks = await examine_here(config)
    assert of(checks, "schema") == [(Level.NOTE, "an empty database; the next start fills it")]
    async with Database.open(config.database_path) as database:
        names = await database.read(lambda c: c.exec_driver_sql("SELECT name FROM sqlite_master").scalars().all())
    assert names == ["x"]


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
