"""Replies in the database: owed once, sent in order, held back and let go."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, select
from support.stores.stores import memory_store

from internal.dialogue import turn_repository as turns
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import OutboxRow, Outgoing, Unsent
from internal.dialogue.model import Incoming, TurnState
from internal.storage.database import Database
from internal.storage.tables import turns as turn_rows
from internal.testing import FIRST_MOMENT

BOT, OTHER_BOT = 7, 8
NOW = FIRST_MOMENT
LATER = NOW + timedelta(minutes=1)


@pytest.fixture
def connection() -> Iterator[Connection]:
    """A database in memory."""
    with memory_store() as connected:
        yield connected


def owe(connection: Connection, text: str, *, chat: int = 1, bot: int = BOT, **more: Any) -> str:
    """One message of a private chat."""
    fields = {"dedupe": f"{bot}:{chat}:{text}"} | more
    row_id = mailbox.enqueue(connection, Outgoing(chat, bot, chat, text, **fields), NOW)
    assert row_id is not None
    return row_id


def texts(listing: list[OutboxRow]) -> list[str]:
    return [row.outgoing.text for row in listing]


def due(connection: Connection, limit: int = 100) -> list[str]:
    return texts(mailbox.due(connection, NOW, limit=limit))


def state(connection: Connection, row_id: str) -> str:
    row = mailbox.get(connection, row_id)
    assert row is not None
    return row.state


def test_what_is_owed_comes_back_as_it_was(connection: Connection) -> None:
    """Text, formatting, buttons and where it belongs; the same key is owed once, for ever."""
    out = Outgoing(
        1, BOT, 2, "Привіт", "key", kind="edit", entities=[{"type": "bold", "offset": 0, "length": 2}],
        keyboard=[[{"text": "⏹", "callback_data": "x"}]], force_reply=True, reply_to=5, thread_id=6, tg_id=9,
        turn_id="t", message_id="m", part=3,
    )  # fmt: skip
    row_id = mailbox.enqueue(connection, out, NOW)
    assert row_id is not None
    row = mailbox.get(connection, row_id)
    assert row is not None
    assert (row.outgoing, row.state, row.attempts, row.uncertain, row.due_at) == (out, "pending", 0, 0, NOW)
    assert mailbox.enqueue(connection, out, LATER) is None
    assert mailbox.by_dedupe(connection, 1, "key") == row
    assert mailbox.by_dedupe(connection, 2, "key") is None
    assert mailbox.by_dedupe(connection, 1, "another") is None
    assert mailbox.get(connection, "another") is None


def test_a_chats_messages_wait_for_each_other_other_chats_do_not(connection: Connection) -> None:
    """The first unsettled message of each chat is next, oldest first, at most so many."""
    first, _ = owe(connection, "a1"), owe(connection, "a2")
    owe(connection, "b1", chat=2)
    assert due(connection) == ["a1", "b1"]
    assert due(connection, limit=1) == ["a1"]
    assert mailbox.mark_sending(connection, 1, first)
    assert due(connection) == ["b1"]
    assert mailbox.mark_unknown(connection, 1, first, LATER, "timeout")
    assert due(connection) == ["b1"]
    assert texts(mailbox.due(connection, LATER, limit=9)) == ["a1", "b1"]
    assert mailbox.mark_sent(connection, 1, first, 100)
    assert due(connection) == ["a2", "b1"]


async def test_what_is_stuck_holds_up_its_own_parts_alone(database: Database) -> None:
    """On either engine: others pass it, its parts wait for it, and whatever becomes of a new attempt it stays stuck."""

    def work(connection: Connection) -> None:
        first, _ = owe(connection, "a1", turn_id="a"), owe(connection, "a2", turn_id="a", part=1)
        alone = owe(connection, "b")
        owe(connection, "c")
        mailbox.mark_stuck(connection, _row(connection, first), LATER, "500")
        assert due(connection) == ["b"]
        assert mailbox.stuck_before(connection, _row(connection, first)) is None
        assert mailbox.stuck_before(connection, _row(connection, alone)) == LATER
        mailbox.mark_stuck(connection, _row(connection, alone), LATER, "500")
        assert due(connection) == ["c"]
        assert texts(mailbox.due(connection, LATER, limit=9)) == ["a1", "b", "c"]
        mailbox.mark_sending(connection, 1, first)
        mailbox.postpone(connection, 1, first, LATER, "no network")
        assert _row(connection, first).stuck
        mailbox.mark_unknown(connection, 1, first, LATER, "reset")
        assert due(connection) == ["c"]
        mailbox.mark_sent(connection, 1, first, 100)
        assert texts(mailbox.due(connection, LATER, limit=9)) == ["a2", "b", "c"]

    await database.write(work)


def _row(connection: Connection, row_id: str) -> OutboxRow:
    row = mailbox.get(connection, row_id)
    assert row is not None
    return row


def test_when_the_next_is_due(connection: Connection) -> None:
    """The earliest of those that wait; None when nothing does."""
    assert mailbox.next_due_at(connection) is None
    first, second = owe(connection, "a"), owe(connection, "b", chat=2)
    mailbox.postpone(connection, 1, first, LATER, "429")
    assert mailbox.next_due_at(connection) == NOW
    mailbox.mark_sending(connection, 2, second)
    assert mailbox.next_due_at(connection) == LATER


def test_every_attempt_and_every_doubt_is_counted(connection: Connection) -> None:
    """In the row: a crash forgets neither."""
    row_id = owe(connection, "a")
    for _ in range(2):
        mailbox.mark_sending(connection, 1, row_id)
        mailbox.postpone(connection, 1, row_id, NOW, "429")
    mailbox.mark_sending(connection, 1, row_id)
    assert [row.id for row in mailbox.interrupted(connection)] == [row_id]
    mailbox.mark_unknown(connection, 1, row_id, LATER, "interrupted")
    row = mailbox.get(connection, row_id)
    assert row is not None
    assert (row.state, row.attempts, row.uncertain, row.due_at) == ("unknown", 3, 1, LATER)
    assert mailbox.interrupted(connection) == []


@pytest.mark.parametrize("settle", ["sent", "refused"])
def test_what_is_settled_stays_so_and_loses_its_text(connection: Connection, settle: str) -> None:
    """Nothing late can revive it; its key goes on guarding against a second one."""
    row_id = owe(connection, "secret")
    if settle == "sent":
        assert mailbox.mark_sent(connection, 1, row_id, 100)
    else:
        assert mailbox.refuse(connection, 1, row_id, "400")
    assert not mailbox.mark_sending(connection, 1, row_id)
    assert not mailbox.postpone(connection, 1, row_id, NOW, "429")
    assert not mailbox.mark_unknown(connection, 1, row_id, NOW, "timeout")
    assert (state(connection, row_id), due(connection)) == (settle, [])
    row = mailbox.get(connection, row_id)
    assert row is not None
    assert (row.outgoing.text, row.tg_id) == ("", 100 if settle == "sent" else None)
    assert mailbox.enqueue(connection, Outgoing(1, BOT, 1, "x", f"{BOT}:1:secret"), NOW) is None


def test_who_left_is_owed_until_he_writes_to_the_same_bot(connection: Connection) -> None:
    """Only his messages are held, and only this bot's come free."""
    own, foreign = owe(connection, "own"), owe(connection, "foreign", bot=OTHER_BOT)
    other = owe(connection, "other", chat=2)
    assert mailbox.hold_messages(connection, 1, "blocked the bot") == 2
    assert due(connection) == ["other"]
    assert mailbox.unsent(connection) == Unsent(waiting=1, oldest_due_at=NOW, held=2)
    assert mailbox.release(connection, 1, BOT, LATER) == 1
    assert [state(connection, one) for one in (own, foreign, other)] == ["pending", "held", "pending"]
    assert texts(mailbox.due(connection, LATER, limit=9)) == ["own", "other"]


def test_what_another_bot_owes_waits_for_its_token(connection: Connection) -> None:
    """Nothing of it is due, stuck or released with its user; it goes on when the token is back."""
    own = owe(connection, "own")
    foreign = [owe(connection, f"{n}", chat=n, bot=OTHER_BOT) for n in (1, 2, 3)]
    mailbox.mark_sending(connection, 2, foreign[1])
    mailbox.mark_sent(connection, 3, foreign[2], 5)
    assert mailbox.hold_others(connection, BOT) == 2
    assert mailbox.hold_others(connection, BOT) == 0
    assert due(connection) == ["own"]
    assert mailbox.unsent(connection) == Unsent(waiting=1, oldest_due_at=NOW, held=0, foreign=2)
    assert mailbox.release(connection, 1, BOT, NOW) == 0
    assert mailbox.release_own(connection, BOT, NOW) == 0
    assert mailbox.hold_others(connection, OTHER_BOT) == 1
    assert mailbox.release_own(connection, OTHER_BOT, LATER) == 2
    assert [state(connection, row_id) for row_id in (own, *foreign)] == ["held", "pending", "pending", "sent"]


def test_a_chat_that_moved_takes_what_is_owed_with_it(connection: Connection) -> None:
    """What was sent stays where it was."""
    sent, waiting = owe(connection, "sent", chat=-5), owe(connection, "waiting", chat=-5)
    mailbox.mark_sent(connection, -5, sent, 1)
    assert mailbox.move_chat(connection, -5, -1005) == 1
    found = [mailbox.get(connection, row_id) for row_id in (sent, waiting)]
    assert [row.outgoing.chat_id for row in found if row is not None] == [-5, -1005]


def test_a_turn_is_open_until_all_its_parts_are_settled(connection: Connection) -> None:
    """A held part is still owed."""
    asked = Incoming(1, BOT, 1, 1, "And?", NOW)
    turn = turns.open_turn(connection, asked, now=NOW, close_at=NOW, seq=1)
    parts = [owe(connection, f"{n}", turn_id=turn.id, part=n) for n in range(3)]
    assert turns.finish(connection, turn, TurnState.ANSWERED)

    def states() -> str:
        turns.close_answered(connection, 1, turn.id)
        return connection.execute(select(turn_rows.c.state)).scalar_one()

    mailbox.mark_sent(connection, 1, parts[0], 1)
    mailbox.refuse(connection, 1, parts[1], "400")
    mailbox.hold_messages(connection, 1, "blocked the bot")
    assert states() == TurnState.ANSWERED
    mailbox.mark_sent(connection, 1, parts[2], 3)
    assert states() == TurnState.CLOSED


def test_old_rows_go_but_for_those_that_guard_for_ever(connection: Connection) -> None:
    """A stranger is told once, however long ago that was; what is not settled is never dropped."""
    old, once = owe(connection, "old"), owe(connection, "stranger", dedupe="once:stranger:9")
    waiting = owe(connection, "waiting")
    for row_id in (old, once):
        mailbox.mark_sent(connection, 1, row_id, 1)
    assert mailbox.drop_settled_outgoing(connection, NOW) == 0
    assert mailbox.drop_settled_outgoing(connection, LATER) == 1
    assert mailbox.get(connection, old) is None
    assert [state(connection, row_id) for row_id in (once, waiting)] == ["sent", "pending"]


def test_the_newest_moment_is_of_either_box(connection: Connection) -> None:
    """What the clock showed when something last came in or was owed; None in an empty database."""
    assert mailbox.newest(connection) is None
    owe(connection, "a")
    assert mailbox.newest(connection) == NOW
    mailbox.receive(connection, BOT, [(1, "x")], LATER)
    assert mailbox.newest(connection) == LATER
