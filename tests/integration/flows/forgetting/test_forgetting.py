"""Forgetting a person or everything, down to the bytes on the disk; and taking everything along."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from sqlalchemy import JSON, Connection, LargeBinary, Table, func, insert, select
from support.stores.stores import where

from internal.chronicle.model import EventLabel
from internal.errors import NotFound
from internal.events import repository as events
from internal.flows.forgetting.requests import UNDO_WINDOW, ForgettingService, ask_forget, undo
from internal.flows.transfer.export import export_document, export_owner
from internal.flows.visibility.pending_forgettings import everything_asked
from internal.people import apply_operations, repository, service
from internal.people.model import Circle
from internal.people.operations import Added, ApplyContext, ApplyOutcome, Operation, SourceLine, Updated
from internal.storage import vectors
from internal.storage.database import Database
from internal.storage.forgetting import forgettings
from internal.storage.migration import migrate
from internal.storage.tables import (
    TEXT,
    chronicle,
    metadata,
    notifications,
    people,
    runs,
    search_items,
    tasks,
    turns,
    users,
)
from internal.storage.types import Timestamp
from internal.testing import FrozenClock

OWNER, STRANGER = 1, 2
NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
KEY = b"k" * 32
CANARY = "Канарейкин"
SECRET = "разводит редких бабочек в подвале"


_FILLED_OTHERWISE = {"users", "people", "forgettings", "changes", "spend"}


class Remembering:
    """A cache that is asked to forget."""

    def __init__(self) -> None:
        self.forgotten: list[int] = []

    def forget(self, user_id: int) -> None:
        self.forgotten.append(user_id)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database.open(where(tmp_path)) as opened:
        await opened.exclusive(migrate)
        await opened.write(lambda c: [_add_user(c, user_id) for user_id in (OWNER, STRANGER)])
        yield opened


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(NOON)


@pytest.fixture
def cache() -> Remembering:
    return Remembering()


@pytest.fixture
def eraser(database: Database, clock: FrozenClock, cache: Remembering) -> ForgettingService:
    return ForgettingService(database, clock, KEY, [cache])


def _add_user(connection: Connection, user_id: int) -> None:
    row = {"user_id": user_id, "role": "member", "state": "active", "name": "Оля", "lang": "ru", "tz": "UTC"}
    connection.execute(insert(users).values(**row, settings={"awaiting": "x"}, created_at=NOON))


def _learn(connection: Connection, *operations: Operation, user_id: int = OWNER) -> ApplyOutcome:
    context = ApplyContext(
        episode_id="episode",
        run_id="run",
        lines={1: SourceLine(NOON, 1, "message-1")},
        snapshot_rev=repository.current_rev(connection, user_id),
        tombstone_key=KEY,
        now=NOON,
    )
    return apply_operations.apply(connection, user_id, operations, context)


def _embed(connection: Connection) -> None:
    for due in vectors.due(connection, "m", 4, limit=100):
        vectors.save_vector(connection, due, "m", np.ones(4, dtype=np.float32))


_ONE_OF_FEW: Final[dict[Any, str]] = {
    chronicle.c.label: EventLabel.ANALYSIS,
    notifications.c.kind: "reminder",
    notifications.c.state: "waiting",
    tasks.c.kind: "task",
    tasks.c.state: "open",
    tasks.c.tz: "UTC",
    tasks.c.origin: "chat",
    tasks.c.recurrence: "FREQ=DAILY",
}
"""Columns that are read back as one of few values."""


def _fill(table: Table, user_id: int, text: str, number: int) -> dict[str, Any]:
    """A row with the text in every text-bearing column and something that fits in every other."""
    row: dict[str, Any] = {}
    for column in table.c:
        holds_text = column.info.items() >= TEXT.items()
        if column.name == "user_id":
            row[column.name] = user_id
        elif isinstance(column.type, JSON):
            row[column.name] = {"about": text} if holds_text else {}
        elif isinstance(column.type, LargeBinary):
            row[column.name] = text.encode()
        elif isinstance(column.type, Timestamp):
            row[column.name] = NOON
        elif column.name in ("seq", "n", "id") and column.autoincrement is True:
            continue
        elif column in _ONE_OF_FEW:
            row[column.name] = _ONE_OF_FEW[column]
        elif column.type.python_type is str:
            row[column.name] = text if holds_text else f"{table.name}-{user_id}-{number}"
        else:
            row[column.name] = column.type.python_type(number)
    return row


def _fill_all(connection: Connection, user_id: int, text: str, number: int = 7) -> None:
    """One row in every table that belongs to owners, people apart: those have rules of their own."""
    for table in metadata.sorted_tables:
        if "user_id" in table.c and table.name not in _FILLED_OTHERWISE:
            connection.execute(insert(table).values(_fill(table, user_id, text, number)))


def _counts(connection: Connection, user_id: int) -> dict[str, int]:
    return {
        table.name: connection.execute(
            select(func.count()).select_from(table).where(table.c.user_id == user_id)
        ).scalar_one()
        for table in metadata.sorted_tables
        if "user_id" in table.c
    }


def _remember_run(connection: Connection, text: str, number: int) -> None:
    """An event and a finished run of one page or of many."""
    events.append(connection, "agent_result", source="agent:A", now=NOON, user_id=OWNER, payload={"text": text})
    row = _fill(runs, OWNER, text, 1) | {"id": f"run-{number}", "state": "applied"}
    connection.execute(insert(runs).values(row))


def _on_disk(database: Database, text: str) -> list[str]:
    """The database's files that hold this text anywhere, in free pages too."""
    files = sorted(database.path.parent.glob(database.path.name + "*"))
    return [file.name for file in files if text.encode() in file.read_bytes()]


async def _pass_window(clock: FrozenClock, eraser: ForgettingService) -> int:
    clock.advance(UNDO_WINDOW)
    return await eraser.erase_due()


# One person


async def test_a_person_is_hidden_at_once_and_can_be_brought_back(
    database: Database, clock: FrozenClock, eraser: ForgettingService
) -> None:
    """From the asking on he is nowhere; within the window an undo restores him with his search item and vector."""
    await database.write(lambda c: (_learn(c, Added(CANARY, bio=SECRET)), _embed(c)))
    before = await database.read(lambda c: repository.get(c, OWNER, 1))
    asked = await database.write(lambda c: ask_forget(c, OWNER, 1, now=clock.now()))
    assert asked.due_at == NOON + UNDO_WINDOW
    assert await database.read(lambda c: repository.listing(c, OWNER)) == []
    assert await database.read(lambda c: c.execute(select(search_items)).all()) == []
    assert await database.write(lambda c: ask_forget(c, OWNER, 1, now=clock.now())) == asked

    clock.advance(UNDO_WINDOW - timedelta(seconds=1))
    assert await eraser.erase_due() == 0
    await database.write(lambda c: undo(c, OWNER, asked.id))
    after = await database.read(lambda c: repository.get(c, OWNER, 1))
    assert before is not None
    assert after is not None
    assert (after.names, after.bio) == (before.names, before.bio)
    assert [one.known for one in await database.read(lambda c: vectors.due(c, "m", 4, limit=1))] == [True]
    assert await _pass_window(clock, eraser) == 0
    with pytest.raises(NotFound):
        await database.write(lambda c: undo(c, OWNER, asked.id))


async def test_a_failure_at_one_owner_keeps_nobody_elses_words(
    database: Database, clock: FrozenClock, caplog: pytest.LogCaptureFixture
) -> None:
    """Requests are erased in order: one that fails each time must not stand before all others for ever."""

    class Failing(Remembering):
        def forget(self, user_id: int) -> None:
            if user_id == OWNER:
                raise RuntimeError("broken")

    for owner in (OWNER, STRANGER):
        await database.write(lambda c: _learn(c, Added(CANARY), user_id=owner))  # noqa: B023 - awaited here
        found = await database.read(lambda c: repository.listing(c, owner))  # noqa: B023 - awaited here
        await database.write(lambda c: ask_forget(c, owner, found[0].id, now=clock.now()))  # noqa: B023 - awaited here
    eraser = ForgettingService(database, clock, KEY, [Failing()])
    assert await _pass_window(clock, eraser) == 1
    assert await database.read(lambda c: c.execute(select(people).where(people.c.user_id == STRANGER)).all()) == []
    assert [one.message for one in caplog.records if one.levelname == "ERROR"] == ["forgetting_failed"]


async def test_everything_is_erased_at_once_behind_many_requests_of_others(
    database: Database, clock: FrozenClock, eraser: ForgettingService
) -> None:
    """Only an answer that is being written to this owner is a reason to wait."""
    ask = partial(forgettings.ask, user_id=STRANGER, kind="memory", now=NOON, due_at=NOON)
    await database.write(lambda c: [ask(c, ref_id=f"memory-{n}") for n in range(60)])
    await database.write(lambda c: _learn(c, Added(CANARY)))
    await eraser.erase_now(OWNER, "everything", None)
    assert await database.read(lambda c: repository.listing(c, OWNER)) == []


async def test_nothing_of_a_forgotten_person_is_left_on_the_disk(
    database: Database, clock: FrozenClock, eraser: ForgettingService, cache: Remembering
) -> None:
    """Profile, merged profiles, edits, suggestions, vectors, events, prompts and replies: no byte in file or log."""
    await database.write(
        lambda c: (
            _learn(c, Added(CANARY, username="kanareika", bio=SECRET), Added("Птица", (CANARY + " Пётр",), bio=SECRET)),
            service.merge(c, OWNER, 2, 1, now=NOON),
            service.edit(c, OWNER, 1, {"circle": Circle.FAMILY}, now=NOON),
            _learn(c, Updated(1, circle=Circle.OTHER, bio=f"{SECRET}. Ещё {CANARY}."), Added("Мария", bio="Сестра.")),
            _embed(c),
        )
    )
    for number in range(300):
        text = f"[Person:1] {CANARY} | {SECRET}" if number % 3 else "совсем о другом"
        await database.write(partial(_remember_run, text=text * (number + 1), number=number))
    assert _on_disk(database, CANARY)
    await database.write(lambda c: ask_forget(c, OWNER, 1, now=clock.now()))
    assert await _pass_window(clock, eraser) == 1
    for text in (CANARY, SECRET, "kanareika", CANARY.casefold()):
        assert _on_disk(database, text) == []
    assert cache.forgotten == [OWNER]
    rest = await database.read(lambda c: repository.listing(c, OWNER))
    assert [person.display_name for person in rest] == ["Мария"]
    kept = await database.read(lambda c: events.listing(c, OWNER, limit=1000))
    assert sum(event.payload == {"forgotten": True} for event in kept) >= 200
    assert sum("другом" in json.dumps(event.payload, ensure_ascii=False) for event in kept) == 100


@pytest.mark.parametrize(
    "text",
    [
        "говорила с Канарейкиным",
        "КАНАРЕЙКИН",
        "[Person:1] x",
        '{"people_operations":[{"type":"Updated","person":{"id":1}}]}',
        '{"source_id": "1"}',
        "написала @kanareika",
        f"он {SECRET}",
    ],
)
async def test_every_derived_column_that_mentions_the_person_is_emptied(
    database: Database, clock: FrozenClock, eraser: ForgettingService, text: str
) -> None:
    """By declined name, id, username or a sentence of the bio, in every table of the registry; others' rows stay.

    Facts, things and memories that name him are deleted instead: test_erasing.py, test_memory_erasing.py.
    """
    await database.write(
        lambda c: (
            _learn(c, Added(CANARY, username="kanareika", bio=SECRET)),
            _fill_all(c, OWNER, text, 70),
            _fill_all(c, STRANGER, text, 80),
        )
    )
    await database.write(lambda c: ask_forget(c, OWNER, 1, now=clock.now()))
    await _pass_window(clock, eraser)
    own_words = {"messages", "episodes", "segments"}
    profiles = {"name_keys", "search_items", "vectors", "merges", "people"}
    knowledge = {"graph_nodes", "graph_edges", "facts", "claims", "observations", "node_merges"}

    def left(connection: Connection, user_id: int) -> set[str]:
        found = set()
        for table in metadata.sorted_tables:
            for column in table.c:
                if "user_id" in table.c and column.info.items() >= TEXT.items():
                    rows = connection.execute(select(column).where(table.c.user_id == user_id)).scalars()
                    plain = [v.decode() if isinstance(v, bytes) else json.dumps(v, ensure_ascii=False) for v in rows]
                    found |= {table.name for value in plain if text in value.replace('\\"', '"')}
        return found

    assert await database.read(lambda c: left(c, OWNER)) <= own_words | profiles | knowledge
    assert await database.read(lambda c: left(c, STRANGER)) >= own_words | {"events", "runs", "model_calls"}


async def test_a_reply_that_waits_to_be_applied_is_asked_for_again(
    database: Database, clock: FrozenClock, eraser: ForgettingService
) -> None:
    """A run whose stored reply was emptied is due once more instead of failing."""
    reply = _fill(runs, OWNER, f"о {CANARY}", 1) | {"state": "replied", "claim": "x"}
    await database.write(lambda c: (_learn(c, Added(CANARY)), c.execute(insert(runs).values(reply))))
    await database.write(lambda c: ask_forget(c, OWNER, 1, now=clock.now()))
    await _pass_window(clock, eraser)
    row = await database.read(lambda c: c.execute(select(runs.c.state, runs.c.reply, runs.c.claim)).one())
    assert tuple(row) == ("due", None, None)


async def test_what_was_said_before_does_not_bring_the_person_back(
    database: Database, clock: FrozenClock, eraser: ForgettingService
) -> None:
    """The tombstone stands at the moment of asking: older lines are refused, newer ones count."""
    await database.write(lambda c: _learn(c, Added(CANARY)))
    clock.advance(60)
    await database.write(lambda c: ask_forget(c, OWNER, 1, now=clock.now()))
    await _pass_window(clock, eraser)
    outcome = await database.write(lambda c: _learn(c, Added(CANARY.upper())))
    assert [refused.reason for refused in outcome.refused] == ["forgotten"]
    other = await database.write(lambda c: _learn(c, Added(CANARY), user_id=STRANGER))
    assert other.applied == {"Added": 1}


# Everything


async def test_everything_of_an_owner_goes_and_nothing_of_another(
    database: Database, clock: FrozenClock, eraser: ForgettingService, cache: Remembering
) -> None:
    """Every row in every table, every byte on the disk; the admission stays, so that he can go on."""
    for user_id, text in ((OWNER, CANARY), (STRANGER, "Чужое")):
        await database.write(
            lambda c, user_id=user_id, text=text: (
                _fill_all(c, user_id, text, user_id),
                _learn(c, Added(text, bio=SECRET if user_id == OWNER else "Другое."), user_id=user_id),
            )
        )
    assert _on_disk(database, CANARY)
    strangers = await database.read(lambda c: _counts(c, STRANGER))
    asked = await database.write(lambda c: ask_forget(c, OWNER, None, now=clock.now()))
    again = await database.write(lambda c: ask_forget(c, OWNER, None, now=clock.now()))
    assert asked.id == again.id
    assert await database.read(lambda c: everything_asked(c, OWNER)) == asked
    assert await database.read(lambda c: repository.listing(c, OWNER)) == []

    assert await _pass_window(clock, eraser) == 1
    left = await database.read(lambda c: {name: n for name, n in _counts(c, OWNER).items() if n})
    assert left == {"users": 1, "changes": 1, "forgettings": 1}
    assert await database.read(lambda c: _counts(c, STRANGER)) == strangers
    user = await database.read(lambda c: c.execute(select(users).where(users.c.user_id == OWNER)).one())
    assert (user.role, user.state, user.name, user.settings) == ("member", "active", "", {})
    assert _on_disk(database, CANARY) == []
    assert _on_disk(database, SECRET) == []
    assert cache.forgotten == [OWNER]
    fresh = await database.write(lambda c: _learn(c, Added("Новый знакомый")))
    assert fresh.applied == {"Added": 1}


async def test_everything_can_be_brought_back_within_the_window(
    database: Database, clock: FrozenClock, eraser: ForgettingService
) -> None:
    """People return, those who were being forgotten on their own apart."""
    await database.write(lambda c: _learn(c, Added("Анна"), Added("Мария")))
    await database.write(lambda c: ask_forget(c, OWNER, 1, now=clock.now()))
    clock.advance(1)
    asked = await database.write(lambda c: ask_forget(c, OWNER, None, now=clock.now()))
    await database.write(lambda c: undo(c, OWNER, asked.id))
    listed = await database.read(lambda c: repository.listing(c, OWNER))
    assert [person.display_name for person in listed] == ["Мария"]
    assert await _pass_window(clock, eraser) == 1
    assert await database.read(lambda c: c.execute(select(people.c.display_name)).scalars().all()) == ["Мария"]


async def test_everything_waits_until_no_turn_is_open(
    database: Database, clock: FrozenClock, eraser: ForgettingService
) -> None:
    """A reply that is being written is not pulled away under its feet."""
    turn = _fill(turns, OWNER, "x", 1) | {"state": "running"}
    await database.write(lambda c: (_learn(c, Added("Анна")), c.execute(insert(turns).values(turn))))
    await database.write(lambda c: ask_forget(c, OWNER, None, now=clock.now()))
    assert await _pass_window(clock, eraser) == 0
    await database.write(lambda c: c.execute(turns.update().values(state="closed")))
    assert await eraser.erase_due() == 1


async def test_what_was_spent_today_is_not_forgotten(
    database: Database, clock: FrozenClock, eraser: ForgettingService
) -> None:
    """Forgetting everything must not lift the daily limit."""
    spend = metadata.tables["spend"]
    for day in ("2026-02-07", "2026-01-01"):
        row = {"user_id": OWNER, "day": day, "agent": "a", "calls": 1, "tokens": 1, "cost_usd": 1.0}
        await database.write(lambda c, row=row: c.execute(insert(spend).values(row)))
    await database.write(lambda c: ask_forget(c, OWNER, None, now=clock.now()))
    await _pass_window(clock, eraser)
    assert await database.read(lambda c: c.execute(select(spend.c.day)).scalars().all()) == ["2026-02-07"]


async def test_updates_that_are_not_read_yet_survive(
    database: Database, clock: FrozenClock, eraser: ForgettingService
) -> None:
    """What came in after the request belongs to the new beginning; of the old ones only the keys stay."""
    inbox = metadata.tables["inbox"]
    for number, state in enumerate(("received", "ingested")):
        row = _fill(inbox, OWNER, CANARY, number) | {"state": state}
        await database.write(lambda c, row=row: c.execute(insert(inbox).values(row)))
    await database.write(lambda c: ask_forget(c, OWNER, None, now=clock.now()))
    await _pass_window(clock, eraser)
    rows = await database.read(lambda c: c.execute(select(inbox.c.state, inbox.c.raw, inbox.c.user_id)).all())
    assert [tuple(row) for row in rows] == [("received", CANARY, OWNER), ("ingested", "", None)]


# Export


async def test_an_export_holds_all_of_one_owner_and_nothing_of_another(database: Database) -> None:
    """Every table with text, readable, without vectors; it reads back as JSON."""
    await database.write(
        lambda c: (
            _fill_all(c, OWNER, CANARY, 1),
            _fill_all(c, STRANGER, "Чужое", 2),
            _learn(c, Added("Птица", bio=SECRET)),
        )
    )
    document = await database.read(lambda c: export_document(c, OWNER, now=NOON))
    exported = json.loads(document)
    assert exported == await database.read(lambda c: export_owner(c, OWNER, now=NOON))
    assert {"messages", "people", "events", "runs", "model_calls", "users"} <= set(exported["tables"])
    assert not {"vectors", "search_items"} & set(exported["tables"])
    assert SECRET in document
    assert "Чужое" not in document
    assert exported["tables"]["messages"][0]["timestamp"] == NOON.isoformat()
