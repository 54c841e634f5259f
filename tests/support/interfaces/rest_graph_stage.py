"""The application with everything it serves, over a real store in which two owners know something."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ParamSpec, TypeVar

import httpx
from fastapi import FastAPI
from sqlalchemy import Connection
from support.interfaces.caused_changes import watching

from bot.application.mirror import Mirrors
from bot.web.activity.chronicle import Chronicle
from bot.web.admin.console_login import Console
from bot.web.admin.operations import ArchiveReport
from bot.web.graph.cypher import Cypher
from bot.web.graph.episodes import EpisodeIntake
from bot.web.graph.router import Graph
from bot.web.http.owners import Owners
from bot.web.memory.nodes import MemoryPorts, memory_eraser
from bot.web.server.app import build_web
from bot.web.server.ports import WebPorts
from internal.access import repository as users
from internal.access.api_keys import ApiKeys
from internal.access.model import Role, User, UserState
from internal.config.settings import Config, MemoryConfig
from internal.dialogue import repository as dialogue
from internal.flows.forgetting.requests import ForgettingService
from internal.flows.operations.nightly import NightlyMaintenance
from internal.flows.reflections.past_questions import LifeAnswers
from internal.flows.reflections.service import Reflections
from internal.flows.sessions.audit import ChronicleAudit
from internal.flows.sessions.lifecycle import UNJUDGED, SessionLifecycle
from internal.flows.views.people_map import PeopleMaps
from internal.flows.visibility.prompt_filter import PromptFilter
from internal.graph import store
from internal.knowledge import episode_repository as episodes, service as knowledge
from internal.knowledge.claims.changes import ClaimLine, NewClaim
from internal.knowledge.model import Episode, Segment
from internal.memory.plasticity.decay import PRESETS
from internal.memory.plasticity.maintenance import MaintenanceReport
from internal.people import repository as people
from internal.people.model import Circle, Person
from internal.recall.index.embed import VectorBackfill
from internal.recall.messages.search import MessageSearch
from internal.recall.prompt.overview import PeopleFinder
from internal.recall.search.knowledge import KnowledgeSearch
from internal.recall.search.people import PeopleSearch
from internal.storage import search_items
from internal.storage.database import Database
from internal.storage.types import new_id
from internal.telemetry.metrics import Metrics
from internal.testing import FrozenClock, TrigramEmbedder

P = ParamSpec("P")
T = TypeVar("T")

KEY, CALLER_KEY = "server-key-of-the-tests", "console-key-of-the-tests"
BOT_TOKEN = "42:token-of-the-tests"
ANNA, BORIS, EXPECTED = 100, 200, 500
"""Two who have written, and one who is let in and has not."""

NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)


@dataclass
class Stage:
    """`client` knows the key. `woken` counts how often the agents were told of new episodes."""

    database: Database
    app: FastAPI
    client: httpx.AsyncClient
    clock: FrozenClock
    owners: Owners
    stopping: asyncio.Event
    embedder: TrigramEmbedder
    woken: list[int] = field(default_factory=list)

    async def node(self, name: str, user_id: int = ANNA, **properties: Any) -> str:
        """The id of a new entity."""
        given = {"name": name, "type": "concept", **properties}
        made = await self.database.write(lambda c: store.add_node(c, user_id, "Entity", given, now=self.clock.now()))
        return made.id

    async def tell(
        self,
        source: str,
        relation: str,
        target: str,
        fact: str,
        since: str | None = None,
        *,
        until: str | None = None,
        user_id: int = ANNA,
        url: str | None = None,
    ) -> tuple[str, str]:
        """Records one claim of an episode of its own: the ids of its fact and of the episode."""
        episode_id, now = new_id(), self.clock.now()
        begun, ended = (datetime.fromisoformat(day).replace(tzinfo=UTC) if day else None for day in (since, until))
        episode = Episode(
            user_id=user_id,
            id=episode_id,
            source="text",
            name=f"note of {fact}",
            content=fact,
            source_description="notes",
            source_url=url,
            reference_time=now,
            created_at=now,
        )
        claim = NewClaim(
            source=source,
            relation=relation,
            target=target,
            fact=fact,
            said_at=now,
            valid_at=begun,
            valid_stated=begun is not None,
            invalid_at=ended,
            episode_id=episode_id,
            lines=[ClaimLine(1, fact)],
        )

        def record(connection: Connection) -> str:
            episodes.add_episode(connection, episode, [Segment(1, now, fact, None)])
            search_items.save_search_item(connection, user_id, "episode", episode_id, fact, 1)
            outcome = knowledge.record_claims(connection, user_id, [claim], now=now)
            [fact_id] = outcome.facts
            assert fact_id is not None, outcome.refused
            return fact_id

        self.clock.advance(timedelta(minutes=1))
        return await self.database.write(record), episode_id

    async def say(self, text: str, *, days: int = 0, user_id: int = ANNA) -> str:
        """The id of a message of this owner, said so many days from now."""
        now = self.clock.now() + timedelta(days=days)
        return (await self.database.write(lambda c: dialogue.add(c, user_id, "user", text, now=now))).id

    async def person(self, name: str, user_id: int = ANNA, **more: Any) -> Person:
        made = Person(
            id=0,
            user_id=user_id,
            entity_id=new_id(),
            display_name=name,
            circle=Circle.WORK_OUTER,
            bio=more.pop("bio", f"{name}."),
            first_seen=NOON,
            last_seen=NOON,
            **more,
        )
        return await self.database.write(lambda c: people.create(c, made, by="archivist", now=NOON))

    async def talked(self, *exchanges: tuple[str, str], user_id: int = ANNA, closed: bool = True) -> str:
        """A session of these questions and answers; its id."""

        def work(connection: Connection) -> str:
            for words, reply in exchanges:
                self.clock.advance(timedelta(minutes=1))
                now = self.clock.now()
                asked = dialogue.add(connection, user_id, "user", words, now=now)
                UNJUDGED.heard(connection, asked, tz="Europe/Kyiv", now=now)
                said = dialogue.add(connection, user_id, "assistant", reply, now=now)
                event = UNJUDGED.answered(connection, said, [asked], tz="Europe/Kyiv", now=now)
            if closed:
                UNJUDGED.close(connection, user_id, self.clock.now())
            return event.session_id

        return await self.database.write(work)

    async def follow(self) -> None:
        """Lets vectors follow."""
        wait = timedelta(seconds=1)
        await VectorBackfill(self.database, self.embedder, self.clock, retry_base=wait, retry_max=wait).embed_due()


class LanguageHere:
    """The language process, in this process."""

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return function(*args, **kwargs)

    run_bulk = run


def user(user_id: int, tz: str = "UTC") -> User:
    return User(user_id, Role.MEMBER, UserState.ACTIVE, f"user {user_id}", None, "ru", tz, True, NOON)


@asynccontextmanager
async def stage(
    database: Database,
    metrics: Metrics,
    *known: User,
    agents: tuple[str, ...] = ("archivist",),
    keys: ApiKeys | None = None,
) -> AsyncIterator[Stage]:
    clock, embedder, stopping, woken = FrozenClock(NOON), TrigramEmbedder(64), asyncio.Event(), list[int]()
    search = KnowledgeSearch(database, clock, embedder=embedder, terms=None, names=None)
    messages = MessageSearch(database, clock, embedder=embedder, terms=None, names=None)

    async def allows(user_id: int) -> bool:
        return user_id == EXPECTED

    async def archive(user_id: int | None, backfill: str | None, again: bool) -> ArchiveReport:
        raise NotImplementedError

    eraser = ForgettingService(database, clock, b"key", [search])

    async def erase(user_id: int, episode_id: str) -> None:
        await eraser.erase_now(user_id, "episode", episode_id)

    async def erase_file(user_id: int, message_id: str) -> None:
        await eraser.erase_now(user_id, "message", message_id)

    async def maintain(user_id: int, dry_run: bool) -> MaintenanceReport:
        return await NightlyMaintenance(database, clock, MemoryConfig(), metrics).maintain(user_id, dry_run=dry_run)

    owners = Owners(database, allows, admit_all=True)
    mirrors = Mirrors(Config(), database, clock)
    app = build_web(
        WebPorts(
            database=database,
            metrics=metrics,
            clock=clock,
            api_key=KEY,
            allowed_hosts=[],
            owners=owners,
            poll_fresh=lambda: True,
            archive=archive,
            graph=Graph(
                search,
                PeopleFinder(database, PeopleSearch(database, embedder), search),
                EpisodeIntake(agents, lambda: woken.append(1), erase),
                messages,
            ),
            chronicle=Chronicle(
                ChronicleAudit(database, clock, LanguageHere(), SessionLifecycle(["analyst"])), "Laplaced"
            ),
            eraser=eraser,
            memory=MemoryPorts(memory_eraser(eraser), maintain, search),
            files=erase_file,
            cypher=Cypher(mirrors.query, mirrors.rebuild),
            console=Console(KEY, CALLER_KEY, bot_token=BOT_TOKEN),
            stopping=stopping,
            keys=keys,
            reflections=Reflections(database, clock, LanguageHere(), PRESETS["default"]),
            life=LifeAnswers(
                database,
                LanguageHere(),
                search,
                messages,
                PeopleMaps(database, clock, LanguageHere()),
                PromptFilter(database, b"key"),
            ),
        )
    )
    await database.write(lambda c: [users.add(c, one) for one in known])
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {KEY}"}
    address = "http://127.0.0.1:9081"
    hooks = watching(database)
    client = httpx.AsyncClient(transport=transport, base_url=address, headers=headers, event_hooks=hooks)
    async with mirrors.opened(), client:
        yield Stage(database, app, client, clock, owners, stopping, embedder, woken)
