"""The figures that `/metrics` reads from the database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Table, insert

from internal.storage import tables
from internal.storage.database import Database
from internal.telemetry.repository import StoredGauges, stored_gauges

NOW = datetime(2026, 2, 7, 12, 0, tzinfo=UTC)


def put(table: Table, **values: Any) -> Any:
    return lambda connection: connection.execute(insert(table).values(**values))


def person(person_id: int, owner: int, circle: str, mentions: int, **more: Any) -> Any:
    profile = {"display_name": "", "aliases": [], "bio": "", "first_seen": NOW, "last_seen": NOW, "rev": 1}
    keys = {"id": person_id, "user_id": owner, "entity_id": f"e{person_id}", "circle": circle, "field_meta": {}}
    return put(tables.people, **profile, **keys, mention_count=mentions, **more)


def message(seq: int, at: datetime, episode_id: str | None) -> Any:
    keys = {"user_id": 1, "seq": seq, "id": f"m{seq}", "role": "user", "content": "", "rev": 1}
    return put(tables.messages, **keys, timestamp=at, episode_id=episode_id)


def run(name: str, state: str, first_n: int, agent: str = "archivist") -> Any:
    keys = {"id": name, "user_id": 1, "agent": agent, "episode_id": "f", "first_n": first_n, "last_n": first_n}
    return put(tables.runs, **keys, rev=1, state=state, due_at=NOW, created_at=NOW)


def segment(n: int, at: datetime) -> Any:
    return put(tables.segments, user_id=1, episode_id="f", n=n, text=None, at=at, message_id=f"m{n}")


async def figures(database: Database, *rows: Any, most_people: int = 100) -> StoredGauges:
    def fill(connection: Connection) -> None:
        for row in rows:
            row(connection)

    await database.write(fill)
    return await database.read(lambda connection: stored_gauges(connection, most_people=most_people))


async def test_empty_store_has_nothing(database: Database) -> None:
    """A fresh database counts to zero everywhere."""
    assert await figures(database) == StoredGauges([], [], 0, 0, 0, 0, None)


async def test_visible_people_are_counted_by_owner_and_circle(database: Database) -> None:
    """Whoever was merged away or is being forgotten counts nowhere."""
    found = await figures(
        database,
        person(1, 7, "Family", 3),
        person(2, 7, "Family", 4),
        person(3, 7, "Other", 1),
        person(4, 8, "Other", 2),
        person(5, 7, "Family", 100, merged_into=1),
        person(6, 7, "Family", 100),
        put(tables.hidings, user_id=7, forgetting_id="asked", kind="node", target="e6"),
    )
    assert found.people == [(7, "Family", 2), (7, "Other", 1), (8, "Other", 1)]
    assert found.mentions == [(1, 3), (2, 4), (3, 1), (4, 2)]
    assert found.other_mentions == 0


async def test_only_so_many_people_are_listed(database: Database) -> None:
    """The people first known are listed one by one, the mentions of the rest in one sum."""
    rows = [person(n, 7, "Other", n) for n in range(1, 6)]
    found = await figures(database, *rows, most_people=2)
    assert (found.mentions, found.other_mentions) == ([(1, 1), (2, 2)], 3 + 4 + 5)
    assert (await figures(database, most_people=0)).other_mentions == 15


async def test_depths_count_what_is_still_owed(database: Database) -> None:
    """Settled rows are not in the queue; held ones wait for their user, not for the bot."""
    inbox_states = ["received", "received", "ingested", "ignored", "quarantined"]
    outbox_states = ["pending", "sending", "unknown", "sent", "refused", "held"]
    to_chat: dict[str, Any] = {"user_id": 1, "bot_id": 1, "chat_id": 1, "part": 0, "payload": {}}
    # What needs no more work is oldest, so that only the state can keep it out.
    age = {"received": 1, "pending": 2, "sending": 3, "unknown": 4}
    at = {state: NOW - timedelta(hours=age.get(state, 9)) for state in inbox_states + outbox_states}
    received = [
        put(tables.inbox, bot_id=1, update_id=n, raw="{}", state=state, received_at=at[state])
        for n, state in enumerate(inbox_states)
    ]
    owed = [
        put(tables.outbox, id=state, dedupe=state, **to_chat, state=state, due_at=NOW, created_at=at[state])
        for state in outbox_states
    ]
    runs = [run(state, state, 1) for state in ("due", "claimed", "replied", "applied", "dead")]
    found = await figures(database, *received, *owed, *runs)
    assert (found.inbox_depth, found.outbox_depth, found.runs_dead, found.quarantined) == (2, 3, 1, 1)
    assert (found.oldest_inbox, found.oldest_outbox) == (at["received"], at["unknown"])


async def test_oldest_unarchived_message(database: Database) -> None:
    """In the dialogue or in a slice not yet worked off, the oldest one counts; done and dead ones do not."""
    at = [NOW + timedelta(minutes=minute) for minute in range(5)]
    done = [message(1, at[0], "f"), segment(1, at[0]), run("done", "applied", 1)]
    dead = [message(2, at[1], "f"), segment(2, at[1]), run("dead", "dead", 2)]
    other = [message(3, at[2], "f"), segment(3, at[2]), run("other", "due", 3, agent="analyst")]
    assert (await figures(database, *done, *dead, *other)).oldest_unarchived is None
    assert (await figures(database, message(5, at[4], None))).oldest_unarchived == at[4]
    slices = [message(4, at[3], "f"), segment(4, at[3]), run("due", "due", 4)]
    assert (await figures(database, *slices)).oldest_unarchived == at[3]
