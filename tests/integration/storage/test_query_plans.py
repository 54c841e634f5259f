"""What is asked for every message stays quick however much is stored: no statement reads a growing table whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, event

from internal.access import limits, service as access
from internal.access.model import Author
from internal.dialogue import repository as dialogue, turn_repository as turns
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import InboxState, Outgoing
from internal.dialogue.model import Incoming, Turn, TurnState
from internal.events import link_repository, repository as events, retention_repository
from internal.people import repository as people
from internal.recall.messages import repository as message_rows
from internal.recall.search import passage_repository as passage_rows
from internal.storage.database import Database
from internal.storage.types import new_id
from internal.testing import FIRST_MOMENT

GROWING = ("messages", "turns", "inbox", "outbox", "events", "episodes", "segments", "runs", "model_calls", "spend")
BOT, USER = 7, 1
NOW = FIRST_MOMENT


@contextmanager
def watched(connection: Connection) -> Iterator[list[tuple[str, Any]]]:
    """Every statement that runs inside, with its parameters."""
    said: list[tuple[str, Any]] = []

    def note(_: Any, __: Any, statement: str, parameters: Any, ___: Any, many: bool) -> None:
        said.append((statement, parameters[0] if many else parameters))

    event.listen(connection, "before_cursor_execute", note)
    try:
        yield said
    finally:
        event.remove(connection, "before_cursor_execute", note)


def scans(connection: Connection, said: list[tuple[str, Any]]) -> list[str]:
    """The statements that read a growing table, or the log of one user, from end to end, with the step that does."""
    whole = re.compile(rf"SCAN ({'|'.join(GROWING)})(?! USING)|SEARCH messages USING .*\(user_id=\?\)$")
    found = []
    for statement, parameters in said:
        if statement.startswith(("SELECT", "UPDATE", "DELETE", "INSERT")):
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
            steps = [row[3] for row in plan if whole.match(row[3])]
            found += [f"{step}: {statement}" for step in steps]
    return found


def incoming(number: int) -> Incoming:
    return Incoming(USER, BOT, USER, number, "Hi", NOW)


def take(connection: Connection, number: int) -> Turn:
    """Everything that C1 and C2 ask."""
    [row] = mailbox.receive(connection, BOT, [(number, "{}")], NOW)
    mailbox.mark_processed(connection, row.n, InboxState.INGESTED, user_id=USER)
    collecting, turn_id = turns.collecting(connection, USER, BOT, incoming(number).lane), new_id()
    message = dialogue.add_incoming(connection, incoming(number), metadata={}, turn_id=turn_id)
    assert message is not None
    dialogue.record_activity(connection, USER, NOW)
    if collecting is not None:
        turns.freeze(connection, collecting)
    return turns.open_turn(connection, incoming(number), now=NOW, close_at=NOW, seq=message.seq, id=turn_id)


def answer(connection: Connection, turn: Turn) -> str:
    """Everything that C3 and C4 ask."""
    assert turns.next_in_lane(connection, BOT, turn.lane) == turn
    started = turns.start(connection, turn)
    assert started is not None
    assert len(dialogue.of_turn(connection, started)) == 1
    dialogue.recent(connection, USER, before_seq=turn.first_seq, limit=200)
    assert turns.finish(connection, turn, TurnState.ANSWERED, rev=turns.revision(connection, turn))
    said = dialogue.add(connection, USER, "assistant", "Hello", now=NOW, turn_id=turn.id, delivery="pending")
    out = Outgoing(USER, BOT, USER, "Hello", f"turn:{turn.id}:0", turn_id=turn.id, message_id=said.id)
    row_id = mailbox.enqueue(connection, out, NOW)
    assert row_id is not None
    events.append(connection, "agent_result", source="agent:Responder", now=NOW, user_id=USER)
    return row_id


def deliver(connection: Connection, row_id: str, tg_id: int) -> None:
    """Everything that the sender, C5 and C6 ask."""
    [row] = mailbox.due(connection, NOW, limit=200)
    assert row.id == row_id
    mailbox.next_due_at(connection)
    mailbox.mark_sending(connection, USER, row_id)
    mailbox.mark_sent(connection, USER, row_id, tg_id)
    out = row.outgoing
    assert out.message_id is not None
    assert out.turn_id is not None
    dialogue.mark_delivery(connection, USER, out.message_id, "sent", tg_id)
    turns.close_answered(connection, USER, out.turn_id)


async def test_a_turn_reads_no_growing_table_whole(database: Database) -> None:
    """From the update to the answer's delivery, and what a start asks."""

    def work(connection: Connection) -> list[str]:
        author = Author(USER, "Olena", language_code="en")
        access.admit(connection, author, allowed=[USER], admit_all=False, now=NOW)
        deliver(connection, answer(connection, take(connection, 1)), 1001)
        with watched(connection) as said:
            deliver(connection, answer(connection, take(connection, 2)), 1002)
            user = access.admit(connection, author, allowed=[USER], admit_all=False, now=NOW)
            assert user is not None
            limits.may_speak(connection, user, NOW, messages_per_minute=20, daily_cost_usd=5)
            turns.first_open_seq(connection, USER, BOT)
            dialogue.unpublished_messages(connection, USER, limit=800)
            dialogue.idle_since(connection, NOW - timedelta(minutes=30), limit=200)
            mailbox.release(connection, USER, BOT, NOW)
            turns.unfinished(connection, BOT)
            mailbox.unprocessed_updates(connection)
        assert len(said) > 30
        return scans(connection, said)

    assert await database.write(work) == []


async def test_what_is_asked_for_by_ids_is_not_looked_for_among_all_of_its_owner(database: Database) -> None:
    """Without figures about its tables SQLite would rather read everything of the owner than look up the ids."""

    def work(connection: Connection) -> list[str]:
        with watched(connection) as said:
            dialogue.by_ids(connection, USER, ["a", "b"])
            people.by_ids(connection, USER, [1, 2])
            link_repository.causes(connection, USER, ["a", "b"])
            link_repository.effects(connection, USER, ["a", "b"])
            retention_repository.drop(connection, [retention_repository.Old(1, NOW, USER, "t")])
        plans = [connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {one}", given).all() for one, given in said]
        return [row[3] for rows in plans for row in rows]

    steps = await database.write(work)
    assert len(steps) >= 7
    assert [step for step in steps if "(user_id=?)" in step or step.startswith("SCAN")] == []


async def test_the_lines_of_a_prompt_are_looked_up_one_by_one(database: Database) -> None:
    """What was found, what stands beside it, and the lines from which something was drawn."""

    def work(connection: Connection) -> list[str]:
        access.admit(connection, Author(USER, "Olena", language_code="en"), allowed=[USER], admit_all=False, now=NOW)
        take(connection, 1)
        take(connection, 2)
        said_before = dialogue.recent(connection, USER, limit=2)
        ids = [message.id for message in said_before]
        with watched(connection) as said:
            found = message_rows.messages_by_seq(connection, USER, [message.seq for message in said_before])
            shown = passage_rows.visible_messages(connection, USER, ids)
            passage_rows.neighbours_of(connection, USER, shown, gap=timedelta(hours=3), before_seq=None)
        assert [message.id for message in shown] == ids == [message.id for message in found.values()]
        return scans(connection, said)

    assert await database.write(work) == []
