"""What is looked into between a stored reply and its transaction: vectors of names, dates, and what is recorded."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import pytest_asyncio
from sqlalchemy import insert
from support.knowledge.name_stage import NOON, OWNER, TYPES, entity, fact
from support.stores.stores import where

from internal.agents.archivist.output import ArchivistReply, parse
from internal.agents.archivist.reply.name_matcher import ANCHORS, MARGIN, NameMatcher
from internal.agents.model import TranscriptLine
from internal.errors import ModelUnavailable
from internal.flows.archivist.resolve_reply import ReplyResolver
from internal.graph import store
from internal.knowledge.claims.changes import ClaimLine
from internal.knowledge.entities import resolve
from internal.knowledge.entities.resolve import ResolveContext
from internal.knowledge.entities.resolved_names import FactDates
from internal.language.worker.process_pool import LanguageWorker
from internal.llm.model import Vectors
from internal.scheduling.clock import SystemClock
from internal.storage import vectors
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.tables import users
from internal.testing import TrigramEmbedder
from internal.testing.vectors import trigram_vectors

pytestmark = pytest.mark.asyncio(loop_scope="module")

KYIV = ZoneInfo("Europe/Kyiv")
SAID = datetime(2026, 2, 7, 23, 30, tzinfo=KYIV)
YESTERDAY, NEW_YEAR = datetime(2026, 2, 6, tzinfo=KYIV), datetime(2020, 1, 1, tzinfo=KYIV)
DIMENSIONS = 512


@pytest_asyncio.fixture(loop_scope="module")
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database.open(where(tmp_path)) as opened:
        await opened.exclusive(migrate)
        row = {"user_id": OWNER, "role": "member", "state": "active", "name": "", "lang": "ru", "tz": "UTC"}
        await opened.write(lambda c: c.execute(insert(users).values(**row, settings={}, created_at=NOON)))
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def worker() -> AsyncIterator[LanguageWorker]:
    opened = LanguageWorker()
    yield opened
    await opened.close()


class Watched(TrigramEmbedder):
    """Keeps what it was asked for; may be down."""

    def __init__(self) -> None:
        super().__init__(DIMENSIONS)
        self.asked: list[list[str]] = []
        self.down = False

    async def embed_documents(self, texts: Sequence[str], *, user_id: int | None = None) -> Vectors:
        self.asked.append(list(texts))
        if self.down:
            raise ModelUnavailable("down")
        return trigram_vectors(texts, self.dimensions)


LINES = (
    TranscriptLine(1, "user", "Анна", SAID, "..."),
    TranscriptLine(2, "user", "Анна", SAID + timedelta(hours=1), "..."),
)


def reply(*entities: dict[str, Any], facts: Sequence[dict[str, Any]] = ()) -> ArchivistReply:
    written = json.dumps({"entities": list(entities), "facts": list(facts)}, ensure_ascii=False)
    return parse(written, LINES, (), TYPES)


async def store_entity(database: Database, embedder: TrigramEmbedder, name: str, description: str = "") -> str:
    """A known organisation with its vector."""
    told = {"name": name, "type": "organization", "labels": ["Organization"], "description": description}
    node = await database.write(lambda c: store.add_node(c, OWNER, "Entity", told, now=NOON))
    due = await database.read(lambda c: vectors.due(c, embedder.name, embedder.dimensions, limit=100))
    found = trigram_vectors([one.text for one in due], embedder.dimensions)
    for one, vector in zip(due, found, strict=True):
        await database.write(lambda c, one=one, vector=vector: vectors.save_vector(c, one, embedder.name, vector))  # type: ignore[misc] # defaults bind the loop's values
    return node.id


async def test_what_the_model_holds_for_one_name_is_one_thing(database: Database, worker: LanguageWorker) -> None:
    """The order of its words is all that differs; another of the same kind stays another."""
    embedder = Watched()
    known = await store_entity(database, embedder, "Северный Торговый Дом", "Поставщик гвоздей")
    await store_entity(database, embedder, "Южный Торговый Дом", "Поставщик гвоздей")
    said = reply(
        entity("Торговый Дом Северный", "Organization", summary="Оптовая база"),
        entity("Западный Торговый Дом", "Organization", summary="Поставщик гвоздей"),
    )
    resolved = await ReplyResolver(database, NameMatcher(worker, embedder)).names(OWNER, said, LINES, "ru")
    cosines = trigram_vectors(ANCHORS, DIMENSIONS) @ trigram_vectors(ANCHORS, DIMENSIONS).T
    distinct = max(cosines[i, j] for i in range(len(ANCHORS)) for j in range(i))
    assert resolved.threshold == pytest.approx(distinct + MARGIN)
    circumstances = ResolveContext(NOON, "Анна", [1, 2])
    found = await database.write(
        lambda c: resolve.resolve(c, OWNER, said.entities, said.facts, resolved, circumstances, TYPES)
    )
    assert [one.node_id == known for one in found.entities] == [True, False]
    learnt = await database.read(lambda c: store.get_node(c, OWNER, known))
    assert learnt is not None
    assert learnt.properties["aliases"] == ["Торговый Дом Северный"]
    assert len(found.created) == 1


async def test_known_names_cost_no_call(database: Database, worker: LanguageWorker) -> None:
    """Nor do those that declension or sound explains; a reply of people only reads nothing."""
    embedder = Watched()
    await store_entity(database, embedder, "Акме")
    resolver = ReplyResolver(database, NameMatcher(worker, embedder))
    said = reply(entity("акме"), facts=[fact("user", "WORKS_FOR", "ACME"), fact("Person:1", "KNOWS", "user")])
    await resolver.names(OWNER, said, LINES, "ru")
    await resolver.names(OWNER, reply(), LINES, "ru")
    assert embedder.asked == []


async def test_an_embedder_that_is_down_costs_the_likeness_only(database: Database, worker: LanguageWorker) -> None:
    """Whatever it was asked for when it went down."""
    embedder = Watched()
    await store_entity(database, embedder, "Северный Торговый Дом")
    embedder.down = True
    said = reply(entity("Торговый Дом Северный", "Organization"))
    resolved = await ReplyResolver(database, NameMatcher(worker, embedder)).names(OWNER, said, LINES, "ru")
    assert resolved.matches == {}
    assert resolved.dates == []


@pytest.mark.parametrize(
    ("stated", "dates"),
    [
        ({}, FactDates(SAID, SAID)),
        ({"valid_at": "вчера"}, FactDates(SAID, YESTERDAY, True, valid_precision="day")),
        ({"valid_at": "2020"}, FactDates(SAID, NEW_YEAR, True, valid_precision="year")),
        ({"valid_at": "90-е"}, FactDates(SAID, NEW_YEAR.replace(year=1990), True, valid_precision="year")),
        ({"valid_at": "летом 2025"}, FactDates(SAID, SAID.replace(2025, 6, 1, 0, 0), True, valid_precision="month")),
        ({"valid_at": "unknown"}, FactDates(SAID, None)),
        ({"valid_at": "когда-то"}, FactDates(SAID, None)),
        ({"invalid_at": "вчера"}, FactDates(SAID, None, False, YESTERDAY, invalid_precision="day")),
        ({"invalid_at": "2027"}, FactDates(SAID, SAID, False, NEW_YEAR.replace(year=2027), invalid_precision="year")),
        ({"invalid_at": "unknown"}, FactDates(SAID, SAID)),
        (
            {"valid_at": "2020", "invalid_at": "2022-03"},
            FactDates(SAID, NEW_YEAR, True, datetime(2022, 3, 1, tzinfo=KYIV), "year", "month"),
        ),
        (
            {"valid_at": "2020", "invalid_at": "2020"},
            FactDates(SAID, NEW_YEAR, True, NEW_YEAR.replace(year=2021), "year", "year"),
        ),
    ],
)
async def test_a_fact_is_dated_by_the_line_that_says_it(
    worker: LanguageWorker, stated: dict[str, Any], dates: FactDates
) -> None:
    """As exactly as it was stated. A null beginning is the time of the earliest line, unless it had ended by then."""
    said = reply(facts=[fact("user", "WORKS_FOR", "ACME", evidence=[1, 2], **stated)])
    assert (await NameMatcher(worker, Watched()).resolve(said, LINES, [], "ru")).dates == [dates]


async def test_a_rounded_date_is_no_more_exact_than_its_line(worker: LanguageWorker) -> None:
    """For "in 2018" many a model writes the first of January; where a day was said it stays one."""
    for line, stated, exact in (
        ("Работаю там с 2018 года", {"valid_at": "2018-01-01"}, ("year", None)),
        ("С мая 2018 до 2020 жил в Киеве", {"valid_at": "2018-05-01", "invalid_at": "2020-01-01"}, ("month", "year")),
        ("Переехал 1 мая 2018", {"valid_at": "2018-05-01"}, ("day", None)),
        ("Переехал, как раз под праздник", {"valid_at": "2018-05-01"}, ("day", None)),
    ):
        said = reply(facts=[fact("user", "WORKS_FOR", "ACME", evidence=[1], **stated)])
        lines = [TranscriptLine(1, "user", "Анна", SAID, line)]
        [found] = (await NameMatcher(worker, Watched()).resolve(said, lines, [], "ru")).dates
        assert (found.valid_precision, found.invalid_precision) == exact, line


async def test_what_is_recorded_cites_the_lines_own_words(database: Database, worker: LanguageWorker) -> None:
    """A claim between nodes, with its dates and the verbatim lines."""
    said = reply(facts=[fact("user", "works at", "ACME", evidence=[2], valid_at="2020", attributes={"also": True})])
    resolved = await ReplyResolver(database, NameMatcher(worker, Watched())).names(OWNER, said, LINES, "ru")
    circumstances = ResolveContext(SystemClock().now(), "Анна", [1, 2])
    found = await database.write(
        lambda c: resolve.resolve(c, OWNER, said.entities, said.facts, resolved, circumstances, TYPES)
    )
    quoted = {1: ClaimLine(11, "Привет", "m-1"), 2: ClaimLine(12, "Работаю в ACME с 2020", "m-2")}
    (claim,) = resolve.new_claims(found.facts, quoted, "episode")
    assert (claim.source, claim.relation, claim.target) == (
        store.owner_node_id(OWNER),
        "WORKS_FOR",
        found.nodes["ACME"],
    )
    assert (claim.said_at, claim.valid_at, claim.valid_stated) == (LINES[1].at, datetime(2020, 1, 1, tzinfo=KYIV), True)
    assert (claim.lines, claim.episode_id, claim.attributes) == ([quoted[2]], "episode", {"also": True})
