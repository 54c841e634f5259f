"""Updates: long polling, confirmation by offset, conflicts, kinds."""

from __future__ import annotations

import asyncio
import time

import pytest
from aiogram.exceptions import TelegramConflictError
from support.interfaces.simulator_stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_message_arrives_as_update(stage: Stage) -> None:
    """What a person writes reaches the bot with author, chat, language and entities."""
    user = await stage.person("Олена")
    await stage.say(user, "Привіт 😀 /start")
    (update,) = await stage.bot.get_updates()
    message = update.message
    assert message is not None
    assert message.from_user is not None
    assert (message.text, message.chat.id, message.from_user.language_code) == ("Привіт 😀 /start", user, "uk")
    assert message.entities is not None
    assert [(e.type, e.offset, e.length) for e in message.entities] == [("bot_command", 10, 6)]


async def test_long_poll_answers_when_something_happens(stage: Stage) -> None:
    """A poll with a timeout waits, and answers as soon as a message comes."""
    user = await stage.person()
    began = time.monotonic()
    poll = asyncio.create_task(stage.bot.get_updates(timeout=20))
    await asyncio.sleep(0.3)
    assert not poll.done()
    await stage.say(user, "тут")
    assert len(await poll) == 1
    assert time.monotonic() - began < 20


async def test_empty_long_poll_ends_with_its_timeout(stage: Stage) -> None:
    """With nothing to tell, a poll answers an empty list after its timeout, not earlier."""
    began = time.monotonic()
    assert await stage.bot.get_updates(timeout=1) == []
    assert time.monotonic() - began > 0.9


async def test_unconfirmed_updates_come_again(stage: Stage) -> None:
    """Without a higher offset the same updates are given again; with it they are gone for good."""
    user = await stage.person()
    for text in ("раз", "два", "три"):
        await stage.say(user, text)
    first = await stage.bot.get_updates()
    assert [u.update_id for u in await stage.bot.get_updates()] == [u.update_id for u in first]
    rest = await stage.bot.get_updates(offset=first[1].update_id)
    assert [u.message.text for u in rest if u.message] == ["два", "три"]
    assert [u.message.text for u in await stage.bot.get_updates() if u.message] == ["два", "три"]


async def test_negative_offset_keeps_only_the_last(stage: Stage) -> None:
    """Offset -1 gives the last update and forgets all before it."""
    user = await stage.person()
    for text in ("раз", "два", "три"):
        await stage.say(user, text)
    last = await stage.bot.get_updates(offset=-1)
    assert [u.message.text for u in last if u.message] == ["три"]
    assert len(await stage.bot.get_updates()) == 1


async def test_limit(stage: Stage) -> None:
    """`limit` bounds one answer."""
    user = await stage.person()
    for number in range(4):
        await stage.say(user, str(number))
    assert len(await stage.bot.get_updates(limit=3)) == 3


async def test_allowed_updates_hold_until_changed(stage: Stage) -> None:
    """Kinds that the bot did not ask for are never queued, also in later polls that do not repeat the list."""
    user = await stage.person()
    await stage.bot.get_updates(allowed_updates=["edited_message"])
    message = await stage.say(user, "не замовлено")
    await stage.edit(user, message["message_id"], "замовлено")
    updates = await stage.bot.get_updates()
    assert [u.edited_message.text for u in updates if u.edited_message] == ["замовлено"]
    assert len(updates) == 1


async def test_newer_poll_ends_the_older_with_409(stage: Stage) -> None:
    """Two pollers: the waiting one is told of the conflict, the new one goes on."""
    user = await stage.person()
    first = asyncio.create_task(stage.bot.get_updates(timeout=20))
    await asyncio.sleep(0.3)
    second = asyncio.create_task(stage.bot.get_updates(timeout=20))
    with pytest.raises(TelegramConflictError, match="terminated by other getUpdates request"):
        await first
    await stage.say(user, "далі")
    assert len(await second) == 1


async def test_no_polling_while_a_webhook_is_set(stage: Stage) -> None:
    """setWebhook ends a waiting poll and refuses new ones with 409 until deleteWebhook."""
    waiting = asyncio.create_task(stage.bot.get_updates(timeout=20))
    await asyncio.sleep(0.3)
    await stage.bot.set_webhook("http://127.0.0.1:9/hook")
    with pytest.raises(TelegramConflictError, match="terminated by setWebhook"):
        await waiting
    with pytest.raises(TelegramConflictError, match="can't use getUpdates method while webhook is active"):
        await stage.bot.get_updates()
    assert (await stage.bot.get_webhook_info()).url == "http://127.0.0.1:9/hook"
    await stage.bot.delete_webhook()
    assert await stage.bot.get_updates() == []


async def test_any_json_can_be_injected(stage: Stage) -> None:
    """An update that no library can parse is delivered as it is, with the id it was given, in its place."""
    user = await stage.person()
    await stage.say(user, "до")
    given = await stage.request(
        "POST", "/updates", {"update_id": 5, "message": {"message_id": "no number", "chat": None}}
    )
    await stage.say(user, "після")
    raw = (await stage.call("getUpdates")).json()["result"]
    assert given == {"update_id": 5}
    assert raw[1] == {"update_id": 5, "message": {"message_id": "no number", "chat": None}}
    assert [u.get("message", {}).get("text") for u in raw] == ["до", None, "після"]


async def test_update_ids_can_restart(stage: Stage) -> None:
    """Ids may begin again below the old ones, as Telegram's do after a quiet week."""
    user = await stage.person()
    await stage.request("POST", "/update_ids", {"next": 100})
    await stage.say(user, "знову")
    (update,) = await stage.bot.get_updates()
    assert update.update_id == 100
    await stage.request("POST", "/update_ids", {"next": 810_000_000})


async def test_callback_query_and_its_answer(stage: Stage) -> None:
    """A pressed button is a callback query; the person sees its answer; an unknown id is Telegram's 400."""
    user = await stage.person()
    markup = {"inline_keyboard": [[{"text": "Так", "callback_data": "yes"}]]}
    sent = (await stage.call("sendMessage", chat_id=user, text="Точно?", reply_markup=markup)).json()["result"]
    pressed = await stage.press(user, sent["message_id"], "yes")
    (update,) = await stage.take_updates()
    query = update.callback_query
    assert query is not None
    assert query.message is not None
    assert (query.id, query.data, query.message.message_id) == (pressed, "yes", sent["message_id"])
    assert (await stage.request("GET", f"/callbacks/{query.id}"))["answer"] is None
    await query.answer("Добре", show_alert=True).as_(stage.bot)
    assert (await stage.request("GET", f"/callbacks/{query.id}"))["answer"] == {"text": "Добре", "show_alert": True}
    refused = await stage.call("answerCallbackQuery", callback_query_id="17")
    assert refused.json()["description"] == (
        "Bad Request: query is too old and response timeout expired or query ID is invalid"
    )


async def test_blocking_is_told_and_refuses_sends(stage: Stage) -> None:
    """Blocking gives my_chat_member and 403; writing again unblocks."""
    user = await stage.person()
    await stage.request("POST", f"/users/{user}/block")
    (update,) = await stage.take_updates()
    assert update.my_chat_member is not None
    assert update.my_chat_member.new_chat_member.status == "kicked"
    refused = await stage.call("sendMessage", chat_id=user, text="?")
    assert refused.status_code == 403
    assert refused.json()["description"] == "Forbidden: bot was blocked by the user"
    await stage.say(user, "я повернулась")
    assert (await stage.call("sendMessage", chat_id=user, text="!")).status_code == 200
    kinds = [u.event_type for u in await stage.take_updates()]
    assert kinds == ["my_chat_member", "message"]
