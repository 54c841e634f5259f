"""Random episodes of a few people and things, archived without an agent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st
from sqlalchemy import Connection, insert
from support.stores.stores import memory_store

from internal.graph import store
from internal.knowledge import episode_repository as episodes, service as knowledge
from internal.knowledge.claims.changes import ClaimLine, NewClaim
from internal.knowledge.model import Episode, Segment
from internal.people import apply_operations, repository
from internal.people.operations import Added, ApplyContext, SourceLine
from internal.storage.tables import messages, users

OWNER = 1
NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
CITIES, THINGS = ("Київ", "Львів", "Одеса"), ("чай", "кава")
NAMES = ("Петров", "Анна")
SENTENCES = ("Любит оперу.", "Работает хирургом.", "Переехал зимой.", "Собирает марки.")
ALIASES = {"Петров": ("Саша", "Шурик"), "Анна": ("Аня", "Док")}
"""Nobody's alias is another's: who was taken for one person stays one, whatever is forgotten."""


@dataclass(frozen=True)
class Line:
    """What one message tells: of a person, and of the owner."""

    name: str | None
    bio: str
    alias: int | None
    city: str | None
    year: int
    thing: str | None


LINES = st.builds(
    Line,
    name=st.none() | st.sampled_from(NAMES),
    bio=st.sampled_from(("", *SENTENCES)),
    alias=st.none() | st.integers(0, 1),
    city=st.none() | st.sampled_from(CITIES),
    year=st.integers(2018, 2024),
    thing=st.none() | st.sampled_from(THINGS),
)
EPISODES = st.lists(st.lists(LINES, min_size=1, max_size=3), min_size=1, max_size=4)


@contextmanager
def memory() -> Iterator[Connection]:
    with memory_store() as connection:
        row = {"user_id": OWNER, "role": "member", "state": "active", "name": "Олена", "lang": "uk", "tz": "UTC"}
        connection.execute(insert(users).values(**row, settings={}, created_at=NOON))
        yield connection


def tell(connection: Connection, number: int, lines: Sequence[Line]) -> None:
    """An episode of messages, archived: people first, then facts, each with the line that says it."""
    episode = f"episode-{number}"
    at = NOON + timedelta(hours=number)
    ids = [f"message-{number}-{n}" for n in range(1, len(lines) + 1)]
    for n, message_id in enumerate(ids, start=1):
        row = {"user_id": OWNER, "seq": number * 10 + n, "id": message_id, "role": "user", "timestamp": at, "rev": 1}
        connection.execute(insert(messages).values(**row, content=said(lines[n - 1]), episode_id=episode))
    stored = Episode(OWNER, episode, "message", episode, "", "", None, at, at)
    episodes.add_episode(connection, stored, [Segment(n, at, None, one) for n, one in enumerate(ids, start=1)])
    context = ApplyContext(
        episode_id=episode,
        run_id=f"run-{number}",
        lines={n: SourceLine(at, n, one) for n, one in enumerate(ids, start=1)},
        snapshot_rev=repository.current_rev(connection, OWNER),
        tombstone_key=b"k" * 32,
        now=at,
    )
    operations = [
        Added(line.name, aliases(line), bio=line.bio, evidence=(n,))
        for n, line in enumerate(lines, start=1)
        if line.name
    ]
    apply_operations.apply(connection, OWNER, operations, context)
    knowledge.record_claims(connection, OWNER, list(_claims(connection, episode, lines, ids, at)), now=at)


def aliases(line: Line) -> tuple[str, ...]:
    return () if line.name is None or line.alias is None else (ALIASES[line.name][line.alias],)


def said(line: Line) -> str:
    return " ".join(part for part in (line.name, *aliases(line), line.bio, line.city, line.thing) if part)


def _claims(
    connection: Connection, episode: str, lines: Sequence[Line], ids: Sequence[str], at: datetime
) -> Iterator[NewClaim]:
    owner = store.ensure_owner_node(connection, OWNER, "Олена", at).id
    for n, line in enumerate(lines, start=1):
        for relation, name in (("LIVES_IN", line.city), ("LIKES", line.thing)):
            if name is not None:
                node = _thing(connection, name, at)
                knowledge.cite_node(connection, OWNER, node, episode, {n: ids[n - 1]}, operation="created")
                support = [ClaimLine(n, said(line), ids[n - 1])]
                since = datetime(line.year, 1, 1, tzinfo=UTC)
                yield NewClaim(owner, relation, node, f"{relation} {name}", at, since, True, None, {}, episode, support)


def _thing(connection: Connection, name: str, at: datetime) -> str:
    known = store.nodes_called(connection, OWNER, [name])
    properties = {"name": name, "type": "concept"}
    return known[0].id if known else store.add_node(connection, OWNER, "Entity", properties, now=at).id
