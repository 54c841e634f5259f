"""What `laplaced import` sends: through the real server, behind the key, bounded and checked field by field."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import insert, select
from support.patience import PATIENCE_S

from bot.application.rest import rest_of
from bot.web.admin.imports import IMPORT_PATH, TERMS_PATH, ImportedEpisode, ImportOrder
from bot.web.client import CallRefused, RestClient
from bot.web.http.body_limit import LARGEST_BODY
from bot.web.http.owners import Owners
from bot.web.server.app import build_web
from bot.web.server.ports import WebPorts
from bot.web.server.uvicorn import serving
from internal.config.settings import Config, load
from internal.flows.transfer.imports import ImportedDrafts, Importer, OwnerTerms
from internal.import_formats.model import EpisodeDraft
from internal.knowledge import episode_repository as episodes
from internal.knowledge.model import Segment
from internal.scheduling.clock import SystemClock
from internal.storage.database import Database
from internal.storage.engine.data_lock import Holder
from internal.storage.tables import segments, users
from internal.telemetry.metrics import Metrics

KEY = "server-key-of-the-tests"
OWNER = 500
NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
LINE = {"at": "2024-03-01T12:00:00Z", "text": "Привіт", "key": "k:1"}
EPISODE: dict[str, Any] = {"name": "a", "source_description": "b", "place": "c", "lines": [LINE]}


@pytest.fixture
async def config(tmp_path: Path) -> Config:
    return load(None, {"LAPLACED_DATA_DIR": str(tmp_path / "data"), "LAPLACED_SERVER__API_KEY": KEY})


@pytest.fixture
async def web(database: Database, metrics: Metrics) -> FastAPI:
    row = {"user_id": OWNER, "role": "owner", "state": "active", "name": "Olena", "lang": "uk", "tz": "Europe/Kyiv"}
    await database.write(lambda c: c.execute(insert(users).values(**row, settings={}, created_at=NOON)))

    async def nobody(user_id: int) -> bool:
        return False

    async def archive(user_id: int | None, backfill: str | None, again: bool) -> None:
        raise NotImplementedError

    owners = Owners(database, nobody)
    return build_web(
        WebPorts(
            database=database,
            metrics=metrics,
            clock=SystemClock(),
            api_key=KEY,
            allowed_hosts=[],
            owners=owners,
            poll_fresh=lambda: True,
            archive=archive,  # type: ignore[arg-type]  # nobody archives here
            importer=Importer(database, SystemClock(), ["archivist"], owners),
        )
    )


@pytest.fixture
async def server(web: FastAPI) -> AsyncIterator[Holder]:
    async with serving(web, "127.0.0.1", 0) as running:
        yield Holder(1, running.url)


@pytest.fixture
async def importer(server: Holder) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {KEY}"}
    async with httpx.AsyncClient(
        base_url=str(server.url), headers=headers, trust_env=False, timeout=PATIENCE_S
    ) as client:
        yield client


async def take(rest: RestClient, draft: EpisodeDraft, *, dry_run: bool) -> ImportedDrafts:
    """As `laplaced import` sends a draft."""
    order = ImportOrder(user_id=OWNER, dry_run=dry_run, episodes=[ImportedEpisode.of(draft)])
    return await rest.post(IMPORT_PATH, order.model_dump_json().encode(), ImportedDrafts)


async def test_a_draft_arrives_as_it_was_read(server: Holder, config: Config, database: Database) -> None:
    """Every field of a message passes the wire, and the report comes back."""
    lines = (
        Segment(
            1, NOON, "Привіт", None, speaker="Олена", own=True, url="https://t.me/c/1/1", key="telegram:channel1:1"
        ),
        Segment(2, NOON, "чуже", None, speaker="Олена", own=False, forwarded_from="Іван", key="telegram:channel1:2"),
        Segment(3, NOON, "сам", None, own=False, key="telegram:channel1:3"),
    )
    draft = EpisodeDraft("Команда", "Telegram chat Команда", "https://t.me/c/1/1", "Команда", lines)
    async with aclosing(rest_of(server, config)) as rest:
        assert (await take(rest, draft, dry_run=True)).new == [[1, 2, 3]]
        assert (await take(rest, draft, dry_run=False)).new == [[1, 2, 3]]
    [episode_id] = await database.read(lambda c: c.execute(select(segments.c.episode_id).distinct()).scalars().all())
    assert await database.read(lambda c: episodes.episode_segments(c, OWNER, episode_id, 1, 9)) == list(lines)
    episode = await database.read(lambda c: episodes.episode(c, OWNER, episode_id))
    assert episode is not None
    assert (episode.name, episode.source_url, episode.reference_time) == ("Команда", "https://t.me/c/1/1", NOON)


async def test_terms_and_refusals_come_back(server: Holder, config: Config) -> None:
    """What the server refuses, the command says."""
    async with aclosing(rest_of(server, config)) as rest:
        assert (await rest.post(TERMS_PATH, {"user_id": OWNER}, OwnerTerms)).tz == "Europe/Kyiv"
        with pytest.raises(CallRefused, match=r"^there is no user 404$"):
            await rest.post(TERMS_PATH, {"user_id": 404}, OwnerTerms)


@pytest.mark.parametrize(
    ("episode", "said"),
    [
        ({"lines": []}, "episodes.0.lines: "),
        ({"lines": [LINE] * 61}, "episodes.0.lines: "),
        ({"lines": [LINE | {"at": "2024-03-01T12:00:00"}]}, "episodes.0.lines.0.at: "),
        ({"lines": [LINE | {"text": ""}]}, "episodes.0.lines.0.text: "),
        ({"lines": [LINE | {"key": None}]}, "episodes.0.lines.0.key: "),
        ({"lines": [LINE | {"own": "maybe"}]}, "episodes.0.lines.0.own: "),
        ({"name": "a" * 2_001}, "episodes.0.name: "),
        ({"other": 1}, "episodes.0.other: "),
    ],
)
async def test_wrong_orders_are_refused_in_words(
    importer: httpx.AsyncClient, episode: dict[str, Any], said: str
) -> None:
    """The field is named, and nothing is stored."""
    answer = await importer.post(IMPORT_PATH, json={"user_id": OWNER, "episodes": [EPISODE | episode]})
    assert (answer.status_code, answer.json()["detail"][: len(said)]) == (422, said)


async def test_bodies_are_bounded(importer: httpx.AsyncClient) -> None:
    """A body that is too large is refused before it is held, one that is no JSON is told."""
    answer = await importer.post(IMPORT_PATH, content=b" " * (LARGEST_BODY + 1))
    assert (answer.status_code, answer.json()["detail"]) == (413, f"body: at most {LARGEST_BODY} bytes at a time")
    answer = await importer.post(IMPORT_PATH, content=b"{")
    assert (answer.status_code, answer.json()["detail"].startswith("body: ")) == (422, True)


@pytest.mark.parametrize("path", [IMPORT_PATH, TERMS_PATH])
async def test_nobody_without_the_key(importer: httpx.AsyncClient, path: str) -> None:
    """An import needs the server's key."""
    order = {"user_id": OWNER} | ({"episodes": []} if path == IMPORT_PATH else {})
    assert (await importer.post(path, json=order, headers={"Authorization": "Bearer x"})).status_code == 401
    assert (await importer.post(path, json=order)).status_code == 200
