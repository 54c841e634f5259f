"""Answers that quote a message go with it when it is forgotten, and come back with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection, insert, select
from support.stores.stores import where

from internal.dialogue import reply_source_repository, repository as dialogue
from internal.dialogue.model import ReplySource
from internal.flows.forgetting.requests import UNDO_WINDOW, ForgettingService, ask, undo
from internal.flows.visibility.pending_forgettings import messages_to_forget
from internal.people import service
from internal.people.service import TelegramAccount
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.storage.tables import messages, search_items, users
from internal.testing.clock import FrozenClock

OWNER = 11
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TOLD = "I left my bicycle at Oksana's"
CITING, QUOTING, OTHER = "It is at your friend's [S1].", f"You wrote: {TOLD}.", "Good to know!"


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database.open(where(tmp_path)) as opened:
        await opened.exclusive(migrate)
        row = {"user_id": OWNER, "role": "owner", "state": "active", "name": "Оля", "lang": "ru", "tz": "UTC"}
        await opened.write(lambda c: c.execute(insert(users).values(**row, settings={}, created_at=NOON)).rowcount)
        yield opened


def _tell(connection: Connection) -> str:
    """The message, an answer that quotes nothing, one that cites it and one that repeats it; the message's id."""
    told = dialogue.add(connection, OWNER, "user", TOLD, now=NOON)
    dialogue.add(connection, OWNER, "user", "Yes", now=NOON)
    answers = [dialogue.add(connection, OWNER, "assistant", text, now=NOON) for text in (OTHER, CITING, QUOTING)]
    reply_source_repository.add(connection, OWNER, answers[1].id, [ReplySource(1, "message", told.id, cited=True)])
    return told.id


def _left(connection: Connection) -> list[str]:
    return list(connection.execute(select(messages.c.content).order_by(messages.c.seq)).scalars())


def _findable(connection: Connection) -> set[str]:
    return set(connection.execute(select(search_items.c.text)).scalars())


async def test_what_quotes_a_message_is_hidden_and_comes_back_with_it(database: Database) -> None:
    """Until the time to undo has passed nobody is shown the message or what quotes it; undone, all are there again."""
    told = await database.write(_tell)
    before = await database.read(_findable)
    asked = await database.write(lambda c: ask(c, OWNER, "message", told, now=NOON))
    assert await database.read(_findable) == {"Yes", OTHER}
    assert len(await database.read(lambda c: messages_to_forget(c, OWNER))) == 3
    await database.write(lambda c: undo(c, OWNER, asked.id))
    assert await database.read(_findable) == before
    assert await database.read(lambda c: messages_to_forget(c, OWNER)) == set()


@pytest.mark.parametrize("at_once", [False, True])
async def test_what_quotes_a_message_is_erased_with_it(database: Database, at_once: bool) -> None:
    """With and without a time to undo, the words are in no row and no file; what merely answered stays."""
    clock = FrozenClock(NOON)
    eraser = ForgettingService(database, clock, b"k" * 32, [])
    told = await database.write(_tell)
    if at_once:
        await eraser.erase_now(OWNER, "message", told)
    else:
        await database.write(lambda c: ask(c, OWNER, "message", told, now=NOON))
        clock.advance(UNDO_WINDOW)
        assert await eraser.erase_due() == 1
    assert await database.read(_left) == ["Yes", OTHER]
    files = database.path.parent.glob(database.path.name + "*")
    assert [file.name for file in files if b"bicycle" in file.read_bytes()] == []


def _answered(connection: Connection) -> str:
    """A message that answers one about the bicycle, and one that answers one about Oksana; the first one's id."""
    told = dialogue.add(connection, OWNER, "user", TOLD, now=NOON)
    for text, quote in (("Yes", TOLD), ("No", "Oksana rang. She is well.")):
        quoted = {"by": "owner", "author": "", "text": quote, "part": quote[:12]}
        metadata = {"current_time": "12:00", "quoted": quoted}
        dialogue.add(connection, OWNER, "user", text, now=NOON, user_metadata=metadata)
    return told.id


def _quotes(connection: Connection) -> list[str | None]:
    said = dialogue.recent(connection, OWNER, limit=9)
    assert all("current_time" in (one.user_metadata or {}) for one in said if one.content in ("Yes", "No"))
    return [one.quoted.text if one.quoted else None for one in said]


async def test_what_a_message_answered_is_erased_from_it(database: Database) -> None:
    """The message itself stays: only the copy of the forgotten words goes, and other quotes stay."""
    told = await database.write(_answered)
    await ForgettingService(database, FrozenClock(NOON), b"k" * 32, []).erase_now(OWNER, "message", told)
    assert await database.read(_quotes) == [None, "Oksana rang. She is well."]
    assert await database.read(_left) == ["Yes", "No"]


async def test_nobody_is_quoted_about_a_forgotten_person(database: Database) -> None:
    """Of what the owner wrote all stays; what others wrote about the person goes."""
    sender = TelegramAccount(5, "Oksana")
    await database.write(_answered)
    one = await database.write(lambda c: service.from_metadata(c, OWNER, sender, seen_at=NOON, now=NOON))
    await ForgettingService(database, FrozenClock(NOON), b"k" * 32, []).erase_now(OWNER, "person", str(one.id))
    assert await database.read(_quotes) == [None, None, None]
    assert await database.read(_left) == [TOLD, "Yes", "No"]


async def test_a_short_word_is_no_quotation(database: Database) -> None:
    """A message of a word or two takes no answer along, however many hold it."""
    await database.write(_tell)
    yes = await database.write(lambda c: dialogue.add(c, OWNER, "user", "Good", now=NOON))
    await database.write(lambda c: ask(c, OWNER, "message", yes.id, now=NOON))
    assert await database.read(lambda c: messages_to_forget(c, OWNER)) == {yes.id}
