"""What becomes of a reply on its way out, without Telegram: every outcome, and the end of every patience."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flow_stage import BOT, OWNER, Talk

from internal.dialogue import turn_repository as turns
from internal.flows.delivery import MAX_ATTEMPTS, MAX_UNCERTAIN, RETRY_MAX, Delivery
from internal.mailbox.model import OutboxRow


async def answered(talk: Talk) -> OutboxRow:
    """A question whose answer waits to be sent."""
    await talk.flow().answer(await talk.ask("Hi"))
    [row] = await talk.outbox()
    return row


async def next_due(talk: Talk, delivery: Delivery) -> OutboxRow:
    """The one message that is due, once it is."""
    at = await delivery.next_due_at()
    assert at is not None
    talk.clock.advance(max(0.0, (at - talk.clock.now()).total_seconds()))
    [row] = await delivery.due(10)
    return row


async def test_an_unreachable_telegram_is_tried_with_growing_pauses_and_then_given_up(talk: Talk) -> None:
    """After so many attempts the answer is shown as failed, its turn is over and an event says why."""
    delivery = Delivery(talk.database, talk.clock)
    await answered(talk)
    pauses, row = [], await next_due(talk, delivery)
    for attempt in range(MAX_ATTEMPTS):
        assert row.attempts == attempt
        assert await delivery.sending(row) is not None
        await delivery.retry(row, "network: ClientConnectorError")
        before = talk.clock.now()
        row = await next_due(talk, delivery)
        pauses.append(talk.clock.now() - before)
    await delivery.sending(row)
    await delivery.retry(row, "network: ClientConnectorError")
    [given_up] = await talk.outbox()
    assert (given_up.state, given_up.outgoing.text) == ("refused", "")
    assert max(pauses) <= RETRY_MAX * 1.5
    assert sum(pauses, timedelta()) > timedelta(hours=2)
    assert pauses[0] < timedelta(seconds=5)
    assert [message.delivery for message in await talk.messages()] == [None, "refused"]
    assert await talk.turn_states() == ["closed"]
    [event] = await talk.events("message_refused")
    assert event.payload["error"] == "network: ClientConnectorError"
    assert await delivery.next_due_at() is None


async def test_telegrams_own_pause_is_kept(talk: Talk) -> None:
    """A flood limit says how long; the next try comes exactly then."""
    delivery = Delivery(talk.database, talk.clock)
    row = await answered(talk)
    await delivery.sending(row)
    await delivery.retry(row, "429", 37.0)
    assert await delivery.next_due_at() == talk.clock.now() + timedelta(seconds=37)


@pytest.mark.parametrize("crashed", [False, True])
async def test_a_doubtful_send_is_repeated_once(talk: Talk, crashed: bool) -> None:
    """Whether the answer was lost or the program: after the second doubt it is shown as failed."""
    delivery = Delivery(talk.database, talk.clock)
    row = await answered(talk)
    for doubt in range(1, MAX_UNCERTAIN):
        await delivery.sending(row)
        if crashed:
            assert await delivery.recover(BOT) == 1
        else:
            await delivery.unknown(row, "read timeout")
        row = await next_due(talk, delivery)
        assert (row.state, row.uncertain) == ("unknown", doubt)
    await delivery.sending(row)
    await delivery.unknown(row, "read timeout")
    assert [row.state for row in await talk.outbox()] == ["refused"]
    assert await talk.turn_states() == ["closed"]


async def test_another_bots_answers_wait_for_its_token(talk: Talk) -> None:
    """With a new token nothing of the old bot is sent or taken up; with the old token it goes on."""
    delivery = Delivery(talk.database, talk.clock)
    await answered(talk)
    open_turn = await talk.ask("And?")
    await delivery.recover(BOT + 1)
    assert await delivery.due(10) == []
    assert await talk.read(lambda c: turns.unfinished(c, BOT + 1)) == []
    await delivery.recover(BOT)
    assert [row.outgoing.text for row in await delivery.due(10)] == ["Answer."]
    assert [turn.id for turn in await talk.read(lambda c: turns.unfinished(c, BOT))] == [open_turn.id]


async def test_what_a_stranger_is_owed_is_not_kept_when_he_is_gone(talk: Talk) -> None:
    """He has no profile to be paused; the owner's messages are held until he writes again."""
    delivery = Delivery(talk.database, talk.clock)
    row = await answered(talk)
    await delivery.sending(row)
    await delivery.left(row, "bot was blocked by the user")
    assert [row.state for row in await talk.outbox()] == ["held"]
    assert (await talk.user(OWNER)).state == "paused"
