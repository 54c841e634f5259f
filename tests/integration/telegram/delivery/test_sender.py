"""The outbox against a real Telegram: each outcome of a send, and what becomes of the message."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Collection
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select
from support.interfaces.telegram_stage import BotStage, cancelled, eventually
from support.stores import stores

from bot.telegram.delivery.sender import Sender
from bot.telegram.i18n import phrase
from bot.telegram.service import open_bot
from internal.access import repository as users
from internal.config.settings import TelegramConfig
from internal.dialogue import repository as dialogue
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.mailbox.model import OutboxRow, Outgoing
from internal.flows.turn.delivery import Delivery
from internal.scheduling.clock import SystemClock
from internal.storage.tables import events, outbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

BOLD = [{"type": "bold", "offset": 0, "length": 4}]


async def delivery_of(stage: BotStage, user: int, message_id: str) -> str | None:
    [message] = await stage.read(lambda c: dialogue.by_ids(c, user, [message_id]))
    return message.delivery


async def test_a_sent_message_is_noted_and_its_text_gone_from_the_row(stage: BotStage) -> None:
    """With Telegram's id, in the row and in the log; entities and buttons are what was owed."""
    user = await stage.person()
    keyboard = [[{"text": "Yes", "callback_data": "y"}]]
    message_id, [row_id] = await stage.answer(user, "Good morning")
    buttons = await stage.owe(user, "Bold", entities=BOLD, keyboard=keyboard)
    row = await stage.settled(row_id)
    first, second = await eventually(lambda: _two(stage, user))
    assert row.tg_id == first["message_id"]
    assert row.outgoing.text == ""
    [logged] = await stage.read(lambda c: dialogue.by_ids(c, user, [message_id]))
    assert (logged.delivery, logged.tg_id) == ("sent", first["message_id"])
    assert second["entities"] == BOLD
    assert second["reply_markup"]["inline_keyboard"] == keyboard
    await stage.settled(buttons)


async def _two(stage: BotStage, user: int) -> list[dict[str, object]] | None:
    found = await stage.bot_messages(user)
    return found if len(found) == 2 else None


async def test_parts_arrive_in_order_although_the_first_fails(stage: BotStage) -> None:
    """Part k+1 waits for part k; another chat does not."""
    user, other = await stage.person(), await stage.person()
    await stage.fault("server_error", "sendMessage", chat_id=user)
    _, rows = await stage.answer(user, "one", "two", "three")
    await stage.settled(await stage.owe(other, "meanwhile"))
    await stage.settled(rows[-1])
    assert await stage.texts(user) == ["one", "two", "three"]


async def test_a_message_at_which_telegram_fails_holds_up_its_chat_for_seconds_only(stage: BotStage) -> None:
    """After a few failures the others pass it, but not the later parts of its own answer."""
    user = await stage.person()
    await stage.fault("server_error", "sendMessage", chat_id=user, times=3)
    first = await stage.owe(user, "one", turn_id="t")
    last = await stage.owe(user, "two", turn_id="t", part=1)
    other = await stage.owe(user, "other")
    await stage.settled(other)
    assert await stage.texts(user) == ["other"]
    assert (await stage.row(first)).stuck
    await stage.settled(last)
    assert await stage.texts(user) == ["other", "one", "two"]


async def test_messages_keep_their_order_where_telegram_fails_at_all_of_them(stage: BotStage) -> None:
    """What passes a message and fails as it does waits for it again."""
    user = await stage.person()
    await stage.fault("bad_gateway", "sendMessage", chat_id=user, times=5)
    rows = [await stage.owe(user, text) for text in ("one", "two", "three")]
    await stage.settled(rows[-1])
    assert await stage.texts(user) == ["one", "two", "three"]


async def test_a_placeholder_that_is_stuck_does_not_come_after_its_answer(stage: BotStage) -> None:
    """The answer is sent instead of it."""
    user = await stage.person()
    await stage.fault("server_error", "sendMessage", chat_id=user, times=3)
    placeholder = await stage.owe(user, "…", dedupe=f"p:{user}")
    await stage.settled(await stage.owe(user, "answer", kind="edit", replaces=f"p:{user}"))
    assert await stage.state(placeholder) == "refused"
    assert await stage.texts(user) == ["answer"]


@pytest.mark.parametrize(("kind", "method"), [("document", "sendDocument"), ("photo", "sendPhoto")])
async def test_a_file_at_which_telegram_fails_is_soon_given_up_and_its_user_told(
    stage: BotStage, kind: str, method: str
) -> None:
    """Its chat goes on meanwhile."""
    user = await stage.person()
    await stage.fault("server_error", method, chat_id=user, times=50)
    export = await stage.owe(user, "Yours", kind=kind, filename="me.json", content="{}")
    answer = await stage.owe(user, "answer")
    await stage.settled(answer)
    await stage.settled(export, "refused")
    await eventually(lambda: _two(stage, user))
    assert await stage.texts(user) == ["answer", phrase("en", "file-failed")]
    assert len(await stage.ledger(user, method)) == 5


async def test_a_file_that_is_too_big_is_refused_at_once_and_its_user_told(stage: BotStage) -> None:
    """It is never sent again: it cannot have arrived. Of the parts of a file that is told once."""
    user = await stage.person()
    await stage.fault("too_large", "sendDocument", chat_id=user, times=2)
    for part in (1, 2):
        file = {"kind": "document", "filename": f"me.zip.00{part}", "content": "{}", "dedupe": f"update:{user}:{part}"}
        row = await stage.settled(await stage.owe(user, "Yours", **file), "refused")
        assert (row.attempts, row.uncertain) == (1, 0)
    await eventually(lambda: stage.texts(user))
    assert await stage.texts(user) == [phrase("en", "file-too-big")]


TABLE = "Prices:\n\n| Café | Coffee |\n|---|---|\n| Кит | 90 |"


async def test_a_table_is_sent_as_a_rich_message(stage: BotStage) -> None:
    """Also where it takes the place of an earlier message; its columns are cells."""
    user = await stage.person()
    await stage.settled(await stage.owe(user, "…", dedupe=f"p:{user}"))
    await stage.settled(await stage.owe(user, "Prices", rich=TABLE, kind="edit", replaces=f"p:{user}"))
    await stage.settled(await stage.owe(user, "Prices", rich=TABLE))
    for message in await stage.bot_messages(user):
        words, table = message["rich_message"]["blocks"]
        assert words["text"] == "Prices:"
        assert [[cell["text"] for cell in row] for row in table["cells"]] == [["Café", "Coffee"], ["Кит", "90"]]
        assert "text" not in message


async def test_a_table_is_sent_as_text_where_the_server_refuses_it(stage: BotStage) -> None:
    """Once, with its entities. The next one is tried again: the refusal may have been of that table."""
    user = await stage.person()
    await stage.fault("bad_request", "sendRichMessage", chat_id=user)
    await stage.settled(await stage.owe(user, "Bold table", rich=TABLE, entities=BOLD))
    await stage.settled(await stage.owe(user, "Another", rich=TABLE))
    first, second = await stage.bot_messages(user)
    assert (first["text"], first["entities"]) == ("Bold table", BOLD)
    assert "rich_message" in second


async def test_a_server_without_rich_messages_is_asked_once(stage: BotStage) -> None:
    """Older servers of the Bot API answer that there is no such method."""
    user = await stage.person()
    await stage.fault("not_found", "sendRichMessage", chat_id=user, times=9)
    sender = Sender(stage.bot, stage.delivery, stage.budget, stage.observer, SystemClock())
    for text in ("one", "two"):
        assert await sender._call(Outgoing(user, stage.bot.id, user, text, f"{user}:{text}", rich=TABLE))
    assert await stage.texts(user) == ["one", "two"]
    assert len(await stage.ledger(user, "sendRichMessage")) == 1


async def test_flood_control_is_obeyed(stage: BotStage) -> None:
    """A 429 is tried again after as many seconds as Telegram says, and its chat is left alone until then."""
    user = await stage.person()
    await stage.fault("flood", "sendMessage", chat_id=user, retry_after=2)
    before = asyncio.get_running_loop().time()
    row_id = await stage.owe(user, "patience")
    await eventually(lambda: stage.ledger(user))
    assert not stage.budget.try_take(user)
    await stage.settled(row_id)
    assert asyncio.get_running_loop().time() - before >= 2
    assert await stage.texts(user) == ["patience"]


@pytest.mark.parametrize("kind", ["server_error", "bad_gateway"])
async def test_what_telegram_failed_at_is_tried_again(stage: BotStage, kind: str) -> None:
    """An error of the server's or of a gateway before it delivered nothing."""
    user = await stage.person()
    await stage.fault(kind, "sendMessage", chat_id=user)
    row = await stage.settled(await stage.owe(user, "hello"))
    assert await stage.texts(user) == ["hello"]
    assert row.uncertain == 0
    assert stage.observer.counts["error TelegramServerError"] == 1


async def test_without_a_connection_nothing_was_sent(stage: BotStage) -> None:
    """As often as it takes, and never counted as unknown."""
    user = await stage.person()
    nowhere = open_bot(TelegramConfig(), "http://127.0.0.1:9", stage.local.token)
    sender = Sender(nowhere, stage.delivery, stage.budget, stage.observer, stage.clock)
    await stage.sender.drain(0)
    row_id = await stage.owe(user, "hello")
    running = asyncio.create_task(sender.run())
    try:
        await eventually(lambda: _attempted(stage, row_id))
    finally:
        await cancelled(running)
        await sender.drain(1)
        await nowhere.session.close()
    row = await stage.row(row_id)
    assert (row.state, row.uncertain) == ("pending", 0)
    assert stage.observer.counts["unknown"] == 0


async def _attempted(stage: BotStage, row_id: str) -> bool:
    row = await stage.row(row_id)
    return row.attempts > 0 and row.state == "pending"


@pytest.mark.parametrize(("kind", "copies"), [("reset", 1), ("reset_after", 2)])
async def test_an_unknown_delivery_is_sent_once_more(stage: BotStage, kind: str, copies: int) -> None:
    """A connection that broke may have delivered: one more attempt, counted; so a reply may come twice, no more."""
    user = await stage.person()
    await stage.fault(kind, "sendMessage", chat_id=user)
    row = await stage.settled(await stage.owe(user, "maybe"))
    assert row.uncertain == 1
    assert await stage.texts(user) == ["maybe"] * copies
    assert stage.observer.counts["unknown"] == 1


async def test_a_second_unknown_delivery_is_given_up(stage: BotStage) -> None:
    """It is shown as failed rather than sent a third time, and the next message goes out."""
    user = await stage.person()
    await stage.fault("reset_after", "sendMessage", chat_id=user, times=2)
    message_id, [row_id] = await stage.answer(user, "maybe")
    await stage.settled(row_id, "refused")
    assert await delivery_of(stage, user, message_id) == "refused"
    await stage.settled(await stage.owe(user, "next"))
    assert await stage.texts(user) == ["maybe", "maybe", "next"]


async def test_an_unreadable_answer_may_have_delivered(stage: BotStage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply cut in the middle is no refusal, and does not block its chat."""
    user = await stage.person()
    loads = stage.bot.session.json_loads
    answers = iter([ValueError("cut")])

    def cut_once(text: str) -> object:
        for error in answers:
            raise error
        return loads(text)

    monkeypatch.setattr(stage.bot.session, "json_loads", cut_once)
    row = await stage.settled(await stage.owe(user, "hello"))
    assert row.uncertain == 1
    assert await stage.texts(user) == ["hello", "hello"]


async def test_a_message_that_telegram_took_is_not_sent_again_however_it_tells_so(stage: BotStage) -> None:
    """`ok: true` with unknown or missing fields is a delivery; the id is read all the same."""
    user = await stage.person()
    await stage.fault("unreadable", "sendMessage", chat_id=user)
    row = await stage.settled(await stage.owe(user, "once"))
    [message] = await stage.bot_messages(user)
    assert (message["text"], message["message_id"], row.uncertain) == ("once", row.tg_id, 0)


@pytest.mark.parametrize("entities", [[], BOLD])
async def test_an_answer_whose_thread_is_gone_is_sent_without_it(
    stage: BotStage, entities: list[dict[str, object]]
) -> None:
    """A topic may be deleted while its question is answered; formatting refused on top of that goes too."""
    user = await stage.person()
    await stage.request("DELETE", f"/chats/{user}/threads/987654")
    if entities:
        await stage.fault("bad_request", "sendMessage", chat_id=user)
    await stage.settled(await stage.owe(user, "Good morning", thread_id=987_654, entities=entities))
    [message] = await stage.bot_messages(user)
    assert (message["text"], message.get("message_thread_id"), message.get("entities")) == ("Good morning", None, None)


async def test_refused_formatting_is_sent_plain(stage: BotStage) -> None:
    """Words matter more than their looks."""
    user = await stage.person()
    wrong = [{"type": "bold", "offset": 0, "length": 4}]
    await stage.fault("bad_request", "sendMessage", chat_id=user)
    await stage.settled(await stage.owe(user, "words", entities=wrong))
    [message] = await stage.bot_messages(user)
    assert (message["text"], message.get("entities")) == ("words", None)


async def test_a_refused_message_is_given_up(stage: BotStage) -> None:
    """With the reason in the row and in an event; its text is kept in the log only."""
    user = await stage.person()
    await stage.fault("bad_request", "sendMessage", chat_id=user, description="Bad Request: chat not found")
    message_id, [row_id] = await stage.answer(user, "hello")
    row = await stage.settled(row_id, "refused")
    assert row.outgoing.text == ""
    assert "chat not found" in await stage.column(row_id, "error")
    assert await delivery_of(stage, user, message_id) == "refused"


async def test_a_message_that_cannot_be_built_does_not_block_its_chat(stage: BotStage) -> None:
    """It is given up, and what follows is sent."""
    user = await stage.person()
    impossible = await stage.owe(user, "hello", entities=[{"type": 5}])
    await stage.settled(await stage.owe(user, "next"))
    assert await stage.state(impossible) == "refused"


async def test_who_blocked_the_bot_is_paused_and_gets_everything_when_he_writes(stage: BotStage) -> None:
    """403 holds what is owed to him; nothing is tried meanwhile; released, it arrives in order."""
    user = await stage.person()
    await stage.request("POST", f"/users/{user}/block")
    _, rows = await stage.answer(user, "one", "two")
    for row_id in rows:
        await stage.settled(row_id, "held")
    known = await stage.read(lambda c: users.get(c, user))
    assert known.state == "paused"
    assert len(await stage.ledger(user)) == 1
    await stage.request("POST", f"/users/{user}/unblock")
    await stage.write(lambda c: mailbox.release(c, user, stage.bot.id, datetime.now(UTC)))
    stage.sender.wake()
    await stage.settled(rows[-1])
    assert await stage.texts(user) == ["one", "two"]


async def test_a_stranger_who_left_takes_nothing_along(stage: BotStage) -> None:
    """His line is given up; those of other strangers and of groups are not held back by it."""
    stranger, other = await stage.person(known=False), await stage.person(known=False)
    await stage.request("POST", f"/users/{stranger}/block")
    await stage.fault("slow", "sendMessage", chat_id=other, seconds=0.3)
    waiting = await stage.owe(other, "private bot", user_id=0)
    refused = await stage.owe(stranger, "private bot", user_id=0)
    assert (await stage.settled(refused, "refused")).outgoing.text == ""
    await stage.settled(waiting)
    assert await stage.texts(other) == ["private bot"]


async def test_a_group_that_became_a_supergroup_is_followed(stage: BotStage) -> None:
    """Everything owed to its old id goes to the new one, in order."""
    user = await stage.person(known=False)
    group = await stage.request("POST", "/chats", {"title": "Family", "members": [user], "type": "group"})
    grown = await stage.request("POST", f"/chats/{group['id']}/upgrade", {"user_id": user})
    rows = [await stage.owe(group["id"], text, user_id=0) for text in ("one", "two")]
    await stage.settled(rows[-1])
    assert (await stage.texts(grown["id"]))[-2:] == ["one", "two"]


async def test_edits_are_idempotent(stage: BotStage) -> None:
    """An edit that changes nothing is done; one that was cut off is simply tried again; both end as sent."""
    user = await stage.person()
    first = await stage.settled(await stage.owe(user, "old"))
    await stage.settled(await stage.owe(user, "old", kind="edit", tg_id=first.tg_id))
    await stage.fault("reset_after", "editMessageText", chat_id=user)
    row = await stage.settled(await stage.owe(user, "new", kind="edit", tg_id=first.tg_id))
    assert (row.uncertain, await stage.texts(user)) == (0, ["new"])


async def test_an_edit_of_a_message_that_is_gone_is_sent_anew(stage: BotStage) -> None:
    """The user gets the words either way."""
    user = await stage.person()
    await stage.settled(await stage.owe(user, "words", kind="edit", tg_id=987_654))
    assert await stage.texts(user) == ["words"]


async def test_an_answer_takes_the_place_of_its_placeholder(stage: BotStage) -> None:
    """Where the placeholder was never delivered, the answer is a message of its own."""
    user = await stage.person()
    await stage.owe(user, "…", dedupe=f"p:{user}")
    await stage.settled(await stage.owe(user, "answer", kind="edit", replaces=f"p:{user}"))
    assert await stage.texts(user) == ["answer"]
    await stage.fault("bad_request", "sendMessage", chat_id=user, description="Bad Request: nope")
    await stage.owe(user, "…", dedupe=f"q:{user}")
    await stage.settled(await stage.owe(user, "second", kind="edit", replaces=f"q:{user}"))
    assert await stage.texts(user) == ["answer", "second"]


async def test_a_document_is_sent_whole(stage: BotStage) -> None:
    """An export of any alphabet arrives byte for byte."""
    user = await stage.person()
    await stage.settled(await stage.owe(user, "Yours", kind="document", filename="me.json", content="Їжак"))
    [message] = await stage.bot_messages(user)
    assert (message["caption"], message["document"]["file_name"]) == ("Yours", "me.json")
    file = await stage._http.get(f"/sim/files/{message['document']['file_id']}")
    assert file.content.decode() == "Їжак"


async def test_a_send_that_is_out_when_the_program_stops_is_waited_for(stage: BotStage) -> None:
    """An orderly stop leaves nothing unknown behind."""
    user = await stage.person()
    await stage.fault("slow", "sendMessage", chat_id=user, seconds=0.5)
    row_id = await stage.owe(user, "hello")
    await stage.settled(row_id, "sending")
    await stage.sender.drain(5)
    assert await stage.state(row_id) == "sent"


async def test_a_stop_lets_the_last_sends_have_their_turn(stage: BotStage) -> None:
    """A sender that was woken and whose loop has ended looks again now and then, not all the time."""
    user, looked = await stage.person(), list[int]()

    class Counting(Delivery):
        async def look(
            self, limit: int, shards: Collection[int] | None = None
        ) -> tuple[list[OutboxRow], datetime | None]:
            looked.append(limit)
            return await super().look(limit)

    delivery = Counting(stage.database, stage.clock, phrase)
    await stage.fault("hang", "sendMessage", chat_id=user)
    owed = Outgoing(user, stage.bot.id, user, "hello", "stop")
    await stage.write(lambda c: mailbox.enqueue(c, owed, datetime.now(UTC)))
    sender = Sender(stage.bot, delivery, stage.budget, stage.observer, stage.clock)
    sender.wake()
    await sender.drain(0.3)
    assert 0 < len(looked) < 20


async def test_a_stop_waits_no_longer_than_it_may(stage: BotStage) -> None:
    """What Telegram does not answer in time is unknown at the next start, and nothing is left running."""
    user = await stage.person()
    await stage.fault("hang", "sendMessage", chat_id=user)
    row_id = await stage.owe(user, "hello")
    await stage.settled(row_id, "sending")
    began = asyncio.get_running_loop().time()
    await stage.sender.drain(0.2)
    assert asyncio.get_running_loop().time() - began < 20
    assert [task for task in asyncio.all_tasks() if task.get_name().startswith("send-")] == []
    assert await stage.delivery.recover(stage.bot.id) == 1
    row = await stage.row(row_id)
    assert (row.state, row.uncertain) == ("unknown", 1)


async def test_what_happened_is_written_down_when_the_disk_allows_it(stage: BotStage) -> None:
    """A message that was sent while the database refused to note it is not sent again."""
    user = await stage.person()
    await stage.write(lambda c: stores.refuse(c, "UPDATE", "outbox", when="NEW.state = 'sent'", full=True))
    row_id = await stage.owe(user, "once")
    await eventually(lambda: stage.texts(user))
    await stage.write(stores.relent)
    await stage.settled(row_id)
    assert await stage.texts(user) == ["once"]


async def test_the_token_is_in_no_log_row_or_event(stage: BotStage, caplog: pytest.LogCaptureFixture) -> None:
    """Not in tracebacks either: request URLs hold it, and so do the client's own errors."""
    caplog.set_level(logging.DEBUG)
    secret = stage.local.token.split(":")[1]
    user = await stage.person()
    for kind in ("reset", "bad_gateway", "server_error", "forbidden"):
        await stage.fault(kind, "sendMessage", chat_id=user)
        await stage.settled(await stage.owe(user, kind), "sent", "held")
    formatter = logging.Formatter()
    ours = [record for record in caplog.records if record.name.startswith(("bot", "internal"))]
    assert ours
    assert [text for record in ours if secret in (text := formatter.format(record) + str(vars(record)))] == []
    rows = await stage.read(lambda c: [*c.execute(select(outbox)), *c.execute(select(events))])
    assert secret not in json.dumps([list(row) for row in rows], default=str)


async def test_messages_of_a_chat_wait_for_what_is_unknown(stage: BotStage) -> None:
    """Nothing overtakes a message that may not have arrived."""
    user = await stage.person()
    await stage.fault("reset", "sendMessage", chat_id=user)
    rows = [await stage.owe(user, text) for text in ("one", "two")]
    await stage.settled(rows[1])
    assert await stage.texts(user) == ["one", "two"]


async def test_what_is_owed_twice_is_sent_once(stage: BotStage) -> None:
    """A handler that runs again after a crash owes the same key."""
    user = await stage.person()
    out = Outgoing(user, stage.bot.id, user, "hello", dedupe=f"same:{user}")
    now = SystemClock().now() - timedelta(seconds=1)
    owed = [await stage.write(lambda c: mailbox.enqueue(c, out, now)) for _ in range(2)]
    assert owed[1] is None
    stage.sender.wake()
    await stage.settled(owed[0] or "")
    assert await stage.texts(user) == ["hello"]
