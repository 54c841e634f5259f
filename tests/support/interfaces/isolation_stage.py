"""Two owners in one store: whatever is told of ALICE holds a canary, and BOB must never see it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, insert, select
from support.interfaces.rest_graph_stage import Stage, stage, user
from support.stores.store_hash import owner_hashes
from support.stores.stores import where

from internal.access import disclosure_repository as disclosures
from internal.access.api_keys import ApiKeys
from internal.access.console import service as console
from internal.config.settings import MetricsConfig
from internal.dialogue import repository as dialogue
from internal.dialogue.notifications import repository as notifications
from internal.dialogue.notifications.model import NotificationKind
from internal.dialogue.snapshots import repository as snapshots
from internal.dialogue.snapshots.model import Snapshot, SnapshotItem
from internal.events import agent_state_repository as agent_state, repository as events
from internal.flows.archival.ingestion import add_episode, text_segments
from internal.graph import store
from internal.knowledge.model import OF_FILE
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.tables import artifacts, model_calls, tasks
from internal.storage.types import new_id
from internal.tasks.teams import service as teams
from internal.telemetry.metrics import Metrics

ALICE, BOB, CAROL = 100, 200, 300
"""Carol is in a team with Alice, and Bob in none."""

CANARY = "кенар4711"
WORDS = f"секретне слово {CANARY}"
"""Everything Alice's: Bob asks for the first two words, so that an echo of his question is no leak."""

QUESTION = "секретне слово"


@dataclass
class Isolation:
    """`ids` are Alice's by what they are of, `bobs` those of Bob's that calls need beside them.

    `session` and `key` are headers with which Bob calls.
    """

    stage: Stage
    session: Mapping[str, str]
    key: Mapping[str, str]
    ids: dict[str, str] = field(default_factory=dict)
    bobs: dict[str, str] = field(default_factory=dict)

    async def alices_rows(self) -> dict[str, str]:
        return await self.stage.database.read(lambda c: owner_hashes(c, ALICE))


@asynccontextmanager
async def isolation(folder: Path) -> AsyncIterator[Isolation]:
    async with Database.open(where(folder)) as database:
        await database.exclusive(migrate)
        known = [user(one) for one in (ALICE, BOB, CAROL)]
        keys = ApiKeys(folder / "keys")
        async with stage(database, Metrics(MetricsConfig()), *known, keys=keys) as running:
            life = timedelta(days=1)
            now = running.clock.now()
            opened = await database.write(lambda c: console.open_session(c, BOB, lifetime=life, now=now))
            headers = {"Authorization": f"Bearer {opened.token}", "X-CSRF-Token": opened.session.csrf}
            key = {"Authorization": f"Bearer {keys.add('bob', BOB, read_only=False, now=now)}"}
            apart = Isolation(running, headers, key)
            apart.ids, apart.bobs = await lived(running, ALICE, WORDS), await lived(running, BOB, "звичайна річ")
            yield apart


async def lived(running: Stage, user_id: int, words: str) -> dict[str, str]:
    """A bit of everything that an owner can have, and the ids by which it is asked for."""
    node, other = await running.node(words, user_id), await running.node(f"{words} 2", user_id)
    fact, episode = await running.tell(node, "KNOWS", other, words, user_id=user_id, url=f"https://x.example/{user_id}")
    message = await running.say(words, user_id=user_id)
    person = await running.person(words, user_id, bio=words, aliases=(f"{words} a",))
    second = await running.person(f"{words} b", user_id)
    session = await running.talked((words, words), user_id=user_id)
    now = running.clock.now()

    def write(connection: Connection) -> dict[str, str]:
        memories = [store.add_node(connection, user_id, "Memory", memory(f"{words} {n}"), now=now).id for n in (1, 2)]
        joined = store.add_edge(connection, user_id, "RELATES_TO", memories[0], memories[1], {"strength": 0.5}, now=now)
        told: dict[str, Any] = {"source": f"user:{user_id}", "now": now, "user_id": user_id}
        first = events.append(connection, "message_received", payload={"text": words}, **told)
        events.append(connection, "agent_result", payload={"text": words}, links={"caused_by": first}, **told)
        learned = events.append(connection, "fact_created", payload={"ids": [fact]}, **told)
        found = notifications.generate(connection, user_id, NotificationKind.NOTICE, words, now=now, dedupe=words)
        snapshot = snapshots.add(connection, user_id, Snapshot(who=(SnapshotItem(words, now),)), now=now)
        agent = agent_state.agent_id("task_manager", user_id)
        agent_state.save_state(connection, agent, "pending_tasks", [{"title": words}], user_id=user_id, now=now)
        task = put(connection, tasks, **task_row(user_id, words), created_at=now, updated_at=now)
        call = put(connection, model_calls, **call_row(user_id, words), at=now)
        disclosures.record(
            connection, user_id, words, words, kind="message", ref_id=words, audience="group:-1", reason=words, now=now
        )
        team = teams.create(connection, user_id, words, now)
        asked = teams.invite(connection, user_id, team.id, str(CAROL), now)
        if user_id == ALICE:
            teams.accept(connection, CAROL, asked.id, now)
        file = put(connection, artifacts, **file_row(user_id, words, message), added_at=now, due_at=now)
        add_episode(
            connection, user_id, source="text", name=words, segments=text_segments(words, now), now=now,
            source_description=OF_FILE, source_url=None, reference_time=now, dedupe=None, agents=[], episode_id=file,
        )  # fmt: skip
        dialogue.record_activity(connection, user_id, now)
        return {
            "memory": memories[0],
            "memory 2": memories[1],
            "edge": joined.id,
            "event": first,
            "change": f"{learned}.0",
            "notification": str(found),
            "snapshot": str(snapshot.version),
            "task": task,
            "call": call,
            "team": team.id,
            "invitation": asked.id,
            "file": file,
        }

    ids = await running.database.write(write)
    await running.follow()
    named = {"node": node, "node 2": other, "fact": fact, "episode": episode, "message": message, "session": session}
    people = {"person": str(person.id), "person 2": str(second.id), "entity": person.entity_id}
    return ids | named | people


def memory(words: str) -> dict[str, Any]:
    return {"content": words, "summary": words, "confidence": 0.9}


def task_row(user_id: int, words: str) -> dict[str, Any]:
    row = {"user_id": user_id, "kind": "task", "state": "open", "title": words, "details": words, "tz": "UTC"}
    return row | {"origin": "chat", "rev": 1}


def file_row(user_id: int, words: str, message: str) -> dict[str, Any]:
    row = {"user_id": user_id, "kind": "document", "name": words, "mime": "", "state": "read", "file_id": "f"}
    return row | {"message_id": message}


def call_row(user_id: int, words: str) -> dict[str, Any]:
    row = {"user_id": user_id, "agent": "responder", "model": "m", "duration_s": 1.0, "prompt_tokens": 1}
    return row | {
        "completion_tokens": 1,
        "cost_usd": 0.1,
        "prompt": [{"role": "user", "content": words}],
        "reply": words,
    }


def put(connection: Connection, table: Table, **values: Any) -> str:
    row_id = new_id()
    connection.execute(insert(table).values(id=row_id, **values))
    return row_id


def tables_of(connection: Connection, user_id: int, *tables: Table) -> Iterator[str]:
    """Those of the tables that hold a row of this owner."""
    for table in tables:
        if connection.execute(select(table.c.user_id).where(table.c.user_id == user_id).limit(1)).first():
            yield table.name
