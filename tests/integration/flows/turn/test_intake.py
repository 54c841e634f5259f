"""Messages enter the log once, with their turn; what is over a limit is kept and answered plainly."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event
from support.flows.flow_stage import BOT, OWNER, Talk

from internal.access import limits, repository as users
from internal.dialogue.model import ForwardOrigin
from internal.people import repository as people

SECOND = timedelta(seconds=1)

MOST_TO_STORE, MOST_TO_ANSWER = 15, 24
"""Statements of C2, and of C3 and C4 together."""


async def test_messages_within_the_window_are_one_turn(talk: Talk) -> None:
    """Three messages a second apart are answered together; their turn closes a window after the last."""
    taken = []
    for text in ("one", "two", "three"):
        taken.append(await talk.say(text))
        talk.clock.advance(1)
    ids = {one.turn.id for one in taken if one.turn}
    assert len(ids) == 1
    last = taken[-1].turn
    assert last is not None
    assert last.close_at == talk.clock.now() - SECOND + talk.group_window
    assert [message.turn_id for message in await talk.messages()] == [last.id] * 3


async def test_a_message_after_the_window_is_a_turn_of_its_own(talk: Talk) -> None:
    """The turn before it takes no more messages."""
    first = await talk.say("one")
    talk.clock.advance(4)
    second = await talk.say("two")
    assert first.turn is not None
    assert second.turn is not None
    assert first.turn.id != second.turn.id
    assert await talk.turn_states() == ["running", "collecting"]


async def test_a_window_of_nothing_groups_nothing(talk: Talk) -> None:
    """With 0s two messages of the same moment get two answers."""
    talk.group_window = timedelta(0)
    await talk.say("one")
    await talk.say("two")
    assert await talk.turn_states() == ["running", "collecting"]


async def test_a_backlog_is_grouped_by_when_it_was_written(talk: Talk) -> None:
    """After an outage messages arrive together: those written hours apart are not one turn, those of an album are."""
    written = talk.clock.now() - timedelta(hours=5)
    for hours in (0, 3, 3):
        await talk.say("…", sent=written + timedelta(hours=hours))
    assert await talk.turn_states() == ["running", "collecting"]


async def test_what_was_sent_together_stays_together_however_late_it_is_read(talk: Talk) -> None:
    """A busy machine takes ten seconds between two pictures of an album; their turn was not begun meanwhile."""
    sent = talk.clock.now()
    first = await talk.say("", sent=sent)
    talk.clock.advance(10)
    second = await talk.say("", sent=sent)
    assert first.turn is not None
    assert second.turn is not None
    assert first.turn.id == second.turn.id
    assert second.turn.close_at == talk.clock.now() + talk.group_window


async def test_a_turn_closes_however_long_its_user_goes_on(talk: Talk) -> None:
    """Whoever writes without a pause is answered after half a minute."""
    opened = talk.clock.now()
    for _ in range(40):
        taken = await talk.say("and")
        talk.clock.advance(1)
    assert taken.turn is not None
    assert taken.turn.opened_at > opened
    assert (await talk.turn_states())[0] == "running"


async def test_lanes_do_not_mix(talk: Talk) -> None:
    """Two threads of one chat have a collecting turn each."""
    await talk.say("here", thread_id=1)
    await talk.say("there", thread_id=2)
    assert await talk.turn_states() == ["collecting", "collecting"]


async def test_the_same_telegram_message_is_stored_once(talk: Talk) -> None:
    """Telegram may bring a message again under another update id."""
    incoming = talk.incoming("once")
    user = await talk.user()
    first = await talk.intake.take(await talk.update(), user, incoming)
    again = await talk.intake.take(await talk.update(), user, incoming)
    assert first.message is not None
    assert (again.message, again.turn) == (None, None)
    assert [message.content for message in await talk.messages()] == ["once"]
    assert len(talk.buffers.of(OWNER)) == 1


async def test_an_update_that_was_settled_changes_nothing(talk: Talk) -> None:
    """Worked off twice, an update stores its message once."""
    update, user = await talk.update(), await talk.user()
    await talk.intake.take(update, user, talk.incoming("first"))
    taken = await talk.intake.take(update, user, talk.incoming("second"))
    assert taken.message is None
    assert len(await talk.messages()) == 1


async def test_too_many_messages_are_kept_and_answered_once_a_minute(talk: Talk) -> None:
    """Beyond the limit there is no turn; one clear line is owed, and every message is in the log."""
    talk.limits["messages_per_minute"] = 2
    taken = [await talk.say(str(number)) for number in range(4)]
    assert [one.turn is None for one in taken] == [False, False, True, True]
    [line] = await talk.owed()
    assert "at most 2 messages a minute" in line
    assert [message.content for message in await talk.messages()] == ["0", "1", "2", "3"]
    refused = [event.payload["limit"] for event in await talk.events("message_received")]
    assert refused == [None, None, "TooFast", "TooFast"]


async def test_the_daily_cost_is_told_and_the_message_kept(talk: Talk) -> None:
    """Who has used up his day is told so; what he writes is remembered all the same."""
    talk.limits["daily_cost_usd"] = 1.5
    now = talk.clock.now()
    await talk.write(lambda c: limits.add_spend(c, users.get(c, OWNER), "responder", tokens=1, cost_usd=1.5, now=now))
    taken = await talk.say("hello")
    assert taken.turn is None
    assert "$1.50" in (await talk.owed())[0]
    assert [message.content for message in await talk.messages()] == ["hello"]


async def test_a_message_carries_the_clock_of_its_user(talk: Talk) -> None:
    """Date, time and zone are his own, of the moment he wrote."""
    await talk.write(lambda c: users.change(c, OWNER, tz="Europe/Kyiv"))
    taken = await talk.say("hi")
    assert taken.message is not None
    assert taken.message.user_metadata == {
        "current_date": "2026-02-07",
        "current_time": "14:00",
        "user_timezone": "Europe/Kyiv",
    }


@pytest.mark.parametrize("author", [OWNER, BOT])
async def test_forwards_of_oneself_and_of_the_bot_make_nobody(talk: Talk, author: int) -> None:
    """Only other people become people."""
    await talk.say("look", forward=ForwardOrigin("user", "X", author))
    assert await talk.read(lambda c: people.listing(c, OWNER)) == []


async def test_a_forward_with_an_author_becomes_a_person(talk: Talk) -> None:
    """By Telegram id, twice the same; its name alone is no id."""
    for _ in range(2):
        await talk.say("look", forward=ForwardOrigin("user", "Marko", 55, "marko"))
    await talk.say("look", forward=ForwardOrigin("hidden_user", "Marko"))
    [person] = await talk.read(lambda c: people.listing(c, OWNER))
    assert (person.display_name, person.telegram_id, person.username) == ("Marko", 55, "marko")


async def test_an_edit_changes_the_log(talk: Talk) -> None:
    """The message says the new text everywhere, its rev has grown, an event tells it."""
    taken = await talk.say("befoer")
    assert taken.message is not None
    talk.clock.advance(5)
    edited = await talk.edit(taken.message, "before")
    assert edited is not None
    assert edited.rev > taken.message.rev
    assert await talk.messages() == [edited]
    assert (edited.content, edited.edited_at) == ("before", talk.clock.now())
    assert [event.payload["seq"] for event in await talk.events("message_edited")] == [1]


async def test_an_edit_that_changes_no_words_is_none(talk: Talk) -> None:
    """Telegram also tells of reactions and previews as edits; and of messages that were never stored."""
    taken = await talk.say("same")
    assert taken.message is not None
    assert await talk.edit(taken.message, "same") is None
    unknown = talk.incoming("never stored")
    assert await talk.intake.edit(await talk.update(), unknown) is None
    assert [message.rev for message in await talk.messages()] == [taken.message.rev]


async def test_a_plain_message_asks_little(talk: Talk) -> None:
    """Each unit of work asks for nothing twice, and writes what it notes in the change log together."""
    asked: list[str] = []

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        asked.append(statement)

    await talk.exchange("Hi", "Hello.")
    await talk.write(lambda c: event.listen(c, "before_cursor_execute", note))
    taken = await talk.say("And now?")
    assert len(set(asked)) == len(asked) <= MOST_TO_STORE
    assert taken.turn is not None
    asked.clear()
    await talk.flow().answer(taken.turn)
    assert len(asked) <= MOST_TO_ANSWER
    assert sum(one.startswith("INSERT INTO changes") for one in asked) == 1
