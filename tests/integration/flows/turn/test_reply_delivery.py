"""What becomes of a reply on its way out, without Telegram: every outcome, and the end of every patience."""

from __future__ import annotations

from datetime import timedelta

import pytest
from support.flows.flow_stage import BOT, OWNER, Talk

from bot.telegram.i18n import phrase
from internal.dialogue import turn_repository as turns
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import OutboxRow, Outgoing
from internal.flows.turn.delivery import MAX_ATTEMPTS, MAX_UNCERTAIN, PATIENCE, RETRY_MAX, Delivery


async def answered(talk: Talk) -> OutboxRow:
    """A question whose answer waits to be sent."""
    await talk.flow().answer(await talk.ask("Hi"))
    [row] = await talk.outbox()
    return row


async def next_due(talk: Talk, delivery: Delivery) -> OutboxRow:
    """The one message that is due, once it is."""
    _, at = await delivery.look(10)
    assert at is not None
    talk.clock.advance(max(0.0, (at - talk.clock.now()).total_seconds()))
    [row], _ = await delivery.look(10)
    return row


async def test_an_unreachable_telegram_is_tried_with_growing_pauses_and_then_given_up(talk: Talk) -> None:
    """After so many attempts the answer is shown as failed, its turn is over and an event says why."""
    delivery = Delivery(talk.database, talk.clock, phrase)
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
    assert await delivery.look(10) == ([], None)


async def test_an_answer_at_which_telegram_fails_for_hours_holds_up_no_other(talk: Talk) -> None:
    """After some seconds what comes behind it is sent at once, until the answer is given up and shown as failed."""
    delivery = Delivery(talk.database, talk.clock, phrase)
    stone = await answered(talk)

    def other(n: int) -> Outgoing:
        return Outgoing(OWNER, BOT, OWNER, str(n), f"other:{n}")

    for attempts in range(1, MAX_ATTEMPTS + 2):
        [due, *_], _ = await delivery.look(10)
        assert due.id == stone.id
        await delivery.sending(due)
        await delivery.retry(due, "TelegramServerError: 500", server_failed=True)
        if attempts in (1, PATIENCE, MAX_ATTEMPTS):
            await talk.write(lambda c, n=attempts: mailbox.enqueue(c, other(n), talk.clock.now()))  # type: ignore[misc]
            while passing := (await delivery.look(10))[0]:
                await delivery.sending(passing[0])
                await delivery.sent(passing[0], attempts)
            waiting = [row.outgoing.text for row in await talk.outbox() if row.state == "pending"]
            assert waiting == (["Answer."] if attempts >= PATIENCE else ["Answer.", "1"])
        talk.clock.advance(RETRY_MAX * 1.5)
    assert [message.delivery for message in await talk.messages()] == [None, "refused"]
    assert len(await talk.events("message_refused")) == 1


async def test_telegrams_own_pause_is_kept(talk: Talk) -> None:
    """A flood limit says how long; the next try comes exactly then."""
    delivery = Delivery(talk.database, talk.clock, phrase)
    row = await answered(talk)
    await delivery.sending(row)
    await delivery.retry(row, "429", 37.0)
    assert await delivery.look(10) == ([], talk.clock.now() + timedelta(seconds=37))


@pytest.mark.parametrize("crashed", [False, True])
async def test_a_doubtful_send_is_repeated_once(talk: Talk, crashed: bool) -> None:
    """Whether the answer was lost or the program: after the second doubt it is shown as failed."""
    delivery = Delivery(talk.database, talk.clock, phrase)
    row = await answered(talk)

    async def doubt() -> None:
        await delivery.sending(row)
        if crashed:
            assert await delivery.recover(BOT) == 1
        else:
            await delivery.unknown(row, "read timeout")

    for doubts in range(1, MAX_UNCERTAIN):
        await doubt()
        row = await next_due(talk, delivery)
        assert (row.state, row.uncertain) == ("unknown", doubts)
    await doubt()
    [given_up] = await talk.outbox()
    assert (given_up.state, given_up.uncertain) == ("refused", MAX_UNCERTAIN)
    assert [message.delivery for message in await talk.messages()] == [None, "refused"]
    assert await talk.turn_states() == ["closed"]
    assert len(await talk.events("message_refused")) == 1


async def test_an_interrupted_edit_is_made_again_at_once(talk: Talk) -> None:
    """However often: it shows the same text, so there is nothing to doubt."""
    delivery = Delivery(talk.database, talk.clock, phrase)
    edit = Outgoing(OWNER, BOT, OWNER, "changed", "edit:1", kind="edit", tg_id=7)
    await talk.write(lambda c: mailbox.enqueue(c, edit, talk.clock.now()))
    for _ in range(MAX_UNCERTAIN + 1):
        [row], _ = await delivery.look(10)
        assert await delivery.sending(row) is not None
        assert await delivery.recover(BOT) == 0
    [row], _ = await delivery.look(10)
    assert (row.state, row.uncertain) == ("pending", 0)


async def test_an_edit_of_what_never_came_is_a_message_and_in_doubt_as_one(talk: Talk) -> None:
    """Where the placeholder was given up, its answer is sent anew: interrupted, it may be there already."""
    delivery = Delivery(talk.database, talk.clock, phrase)
    placeholder = Outgoing(OWNER, BOT, OWNER, "…", "turn:1:placeholder")
    answer = Outgoing(OWNER, BOT, OWNER, "answer", "turn:1:0", kind="edit", replaces=placeholder.dedupe)
    for owed in (placeholder, answer):
        await talk.write(lambda c, owed=owed: mailbox.enqueue(c, owed, talk.clock.now()))  # type: ignore[misc]
    [row], _ = await delivery.look(10)
    await delivery.refused(row, "400")
    [row], _ = await delivery.look(10)
    await delivery.sending(row)
    assert await delivery.recover(BOT) == 1
    assert [row.uncertain for row in await talk.outbox()] == [0, 1]


async def test_another_bots_answers_wait_for_its_token(talk: Talk) -> None:
    """With a new token nothing of the old bot is sent or taken up; with the old token it goes on."""
    delivery = Delivery(talk.database, talk.clock, phrase)
    await answered(talk)
    open_turn = await talk.ask("And?")
    await delivery.recover(BOT + 1)
    assert await delivery.look(10) == ([], None)
    assert await talk.read(lambda c: turns.unfinished(c, BOT + 1)) == []
    await delivery.recover(BOT)
    assert [row.outgoing.text for row in (await delivery.look(10))[0]] == ["Answer."]
    assert [turn.id for turn in await talk.read(lambda c: turns.unfinished(c, BOT))] == [open_turn.id]


async def test_what_a_stranger_is_owed_is_not_kept_when_he_is_gone(talk: Talk) -> None:
    """He has no profile to be paused; the owner's messages are held until he writes again."""
    delivery = Delivery(talk.database, talk.clock, phrase)
    row = await answered(talk)
    await delivery.sending(row)
    await delivery.left(row, "bot was blocked by the user")
    assert [row.state for row in await talk.outbox()] == ["held"]
    assert (await talk.user(OWNER)).state == "paused"
