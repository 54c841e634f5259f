"""Raw updates in the database: stored once, together with those that come at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta

import pytest
from hypothesis import given, strategies as st
from sqlalchemy import Connection, select
from support.stores.stores import memory_store, refuse, relent

from internal.dialogue.mailbox import inbox as mailbox_inbox, repository as mailbox
from internal.dialogue.mailbox.inbox import Inbox
from internal.dialogue.mailbox.model import InboxState
from internal.errors import StorageError
from internal.storage import tables
from internal.storage.database import Database
from internal.testing import FIRST_MOMENT, FrozenClock

BOT, OTHER_BOT = 7, 8
NOW = FIRST_MOMENT


def rows(connection: Connection) -> list[tuple[int, str, str]]:
    query = select(tables.inbox.c.update_id, tables.inbox.c.state, tables.inbox.c.raw).order_by(tables.inbox.c.n)
    return [(row.update_id, row.state, row.raw) for row in connection.execute(query)]


@pytest.fixture
def connection() -> Iterator[Connection]:
    """A database in memory."""
    with memory_store() as connected:
        yield connected


async def test_calls_at_once_share_a_commit(database: Database) -> None:
    """Five hundred users' updates are on disk after two commits, and each caller gets his own."""
    inbox = Inbox(database, FrozenClock(), BOT)
    before = database.commits_seen
    stored = await asyncio.gather(*(inbox.store([(number, f'"{number}"')]) for number in range(500)))
    assert [[row.raw for row in mine] for mine in stored] == [[f'"{number}"'] for number in range(500)]
    assert database.commits_seen - before <= 2
    assert len(await database.read(rows)) == 500


async def test_a_batch_is_bounded(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls wait for no more than a batch; one that alone is larger goes by itself."""
    monkeypatch.setattr(mailbox_inbox, "BATCH", 3)
    inbox = Inbox(database, FrozenClock(), BOT)
    calls = [[(1, "a"), (2, "b")], [(3, "c"), (4, "d")], [(n, "e") for n in range(5, 12)], [(12, "f")], [(13, "g")]]
    before = database.commits_seen
    stored = await asyncio.gather(*(inbox.store(call) for call in calls))
    assert [[(row.update_id, row.raw) for row in mine] for mine in stored] == calls
    assert database.commits_seen - before == 4


async def test_the_same_update_twice_at_once_is_one_callers(database: Database) -> None:
    """Telegram calls a webhook again while the first call is still being written."""
    inbox = Inbox(database, FrozenClock(), BOT)
    stored = await asyncio.gather(inbox.store([(1, "first"), (1, "again")]), inbox.store([(1, "later"), (2, "two")]))
    assert [[row.raw for row in mine] for mine in stored] == [["first"], ["two"]]
    assert await inbox.store([(2, "two"), (1, "first")]) == []


async def test_a_refused_commit_is_told_to_everybody_and_forgotten(database: Database) -> None:
    """Nothing of it is stored; the next call stands on its own."""
    inbox = Inbox(database, FrozenClock(), BOT)
    await database.write(lambda c: refuse(c, "INSERT", "inbox", full=True))
    told = await asyncio.gather(*(inbox.store([(n, "x")]) for n in (1, 2)), return_exceptions=True)
    assert [type(error) for error in told] == [StorageError, StorageError]
    await database.write(relent)
    assert [row.update_id for row in await inbox.store([(1, "x")])] == [1]
    assert await database.read(rows) == [(1, "received", "x")]


async def test_a_caller_that_went_away_before_the_write_leaves_nothing(database: Database) -> None:
    """His call ends at once, and those beside it are stored."""
    inbox = Inbox(database, FrozenClock(), BOT)
    gone = asyncio.create_task(inbox.store([(1, "gone")]))
    stays = asyncio.create_task(inbox.store([(2, "stays")]))
    asyncio.get_running_loop().call_soon(gone.cancel)
    assert [row.update_id for row in await stays] == [2]
    assert gone.cancelled()
    assert (2, "received", "stays") in await database.read(rows)


@given(st.lists(st.lists(st.integers(1, 12), max_size=6), max_size=6))
def test_whatever_is_repeated_each_number_is_stored_once(batches: list[list[int]]) -> None:
    """In the order of its first arrival, and it is new exactly then."""
    seen: list[int] = []
    with memory_store() as connection:
        for batch in batches:
            fresh = mailbox.receive(connection, BOT, [(number, f"{number}") for number in batch], NOW)
            expected = [n for n in dict.fromkeys(batch) if n not in seen]
            assert [row.update_id for row in fresh] == expected
            seen += expected
        assert [(number, raw) for number, _, raw in rows(connection)] == [(n, f"{n}") for n in seen]
        assert [row.update_id for row in mailbox.unprocessed_updates(connection)] == seen


def test_two_bots_number_their_updates_apart(connection: Connection) -> None:
    """The same number of another bot is another update."""
    for bot in (BOT, OTHER_BOT):
        assert len(mailbox.receive(connection, bot, [(1, "x")], NOW)) == 1
    assert [row.bot_id for row in mailbox.unprocessed_updates(connection)] == [BOT, OTHER_BOT]


def test_what_is_worked_off_loses_its_text_once(connection: Connection) -> None:
    """A second settling changes nothing, whatever it says; what a human has to look at keeps its text."""
    done, aside = mailbox.receive(connection, BOT, [(1, "secret"), (2, "unreadable")], NOW)
    assert mailbox.mark_processed(connection, done.n, InboxState.INGESTED, user_id=5)
    assert not mailbox.mark_processed(connection, done.n, InboxState.QUARANTINED, error="late", keep_raw=True)
    assert mailbox.mark_processed(connection, aside.n, InboxState.QUARANTINED, error="no date", keep_raw=True)
    assert rows(connection) == [(1, "ingested", ""), (2, "quarantined", "unreadable")]
    assert mailbox.quarantined(connection) == 1
    [shown] = mailbox.quarantine(connection, limit=10)
    assert (shown.update_id, shown.error, shown.raw, shown.received_at) == (2, "no date", "unreadable", NOW)


def test_what_was_put_aside_is_replayed_or_given_up(connection: Connection) -> None:
    """One or all, with a fresh count of attempts; nothing else is touched."""
    stored = mailbox.receive(connection, BOT, [(n, f"{n}") for n in range(1, 6)], NOW)
    for row in stored[:4]:
        mailbox.count_attempt(connection, row.n)
        mailbox.mark_processed(connection, row.n, InboxState.QUARANTINED, error="no", keep_raw=True)
    assert mailbox.count_attempt(connection, stored[4].n) == 1
    [again] = mailbox.replay(connection, stored[1].n)
    assert (again.update_id, again.raw, again.state, again.attempts) == (2, "2", "received", 0)
    assert mailbox.discard(connection, stored[0].n) == 1
    assert mailbox.replay(connection, stored[0].n) == []
    assert [row.update_id for row in mailbox.replay(connection, None)] == [3, 4]
    assert mailbox.discard(connection, None) == 0
    assert [(n, state) for n, state, _ in rows(connection)] == [
        (1, "ignored"), (2, "received"), (3, "received"), (4, "received"), (5, "received")
    ]  # fmt: skip


def test_keys_of_old_updates_go_those_of_open_ones_stay(connection: Connection) -> None:
    """Telegram may use a number again after a quiet week; what still waits for somebody is never dropped."""
    stored = mailbox.receive(connection, BOT, [(n, "x") for n in range(1, 5)], NOW)
    for row, state in zip(stored, (InboxState.INGESTED, InboxState.IGNORED, InboxState.QUARANTINED), strict=False):
        mailbox.mark_processed(connection, row.n, state, keep_raw=True)
    assert mailbox.drop_settled(connection, NOW) == 0
    assert mailbox.drop_settled(connection, NOW + timedelta(days=2)) == 2
    assert [number for number, _, _ in rows(connection)] == [3, 4]
    assert len(mailbox.receive(connection, BOT, [(1, "another"), (3, "repeated")], NOW)) == 1
