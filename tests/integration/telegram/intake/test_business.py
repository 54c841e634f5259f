"""A user's chats with others: kept as words of others where that is turned on, answered never."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from support.interfaces.telegram_stage import MODEL, BotStage, WholeBot, eventually, whole_bot

from bot.telegram.intake.update_kinds import ALLOWED_UPDATES, BUSINESS
from internal.chronicle import repository as chronicle
from internal.dialogue import repository as dialogue
from internal.dialogue.model import Message
from internal.storage.forgetting import forgettings
from internal.testing import ScriptedModel

pytestmark = pytest.mark.asyncio(loop_scope="module")

_numbers = itertools.count(900_000_000)
OTHER = {"id": 777_001, "is_bot": False, "first_name": "Bohdan"}


def connection(user: int, *, enabled: bool = True) -> dict[str, Any]:
    told = {"id": f"c{user}", "user": {"id": user, "is_bot": False, "first_name": "Olena"}, "user_chat_id": user}
    return {"business_connection": {**told, "date": 1_780_000_000, "is_enabled": enabled}}


def said(user: int, number: int, text: str, *, own: bool = False) -> dict[str, Any]:
    author = {"id": user, "is_bot": False, "first_name": "Olena"} if own else OTHER
    chat = {"id": OTHER["id"], "type": "private", "first_name": "Bohdan"}
    place = {"message_id": number, "date": 1_780_000_000 + number, "chat": chat, "from": author}
    return {**place, "business_connection_id": f"c{user}", "text": text}


async def kept(stage: BotStage, user: int) -> list[Message]:
    return await stage.read(lambda c: dialogue.recent(c, user, limit=99))


async def take(bot: WholeBot, stage: BotStage, *updates: dict[str, Any]) -> None:
    """Has the bot handle these updates, one after the other."""
    for update in updates:
        number = next(_numbers)
        await bot.ingest.accept([(number, json.dumps({"update_id": number, **update}))])

        async def handled() -> bool:
            return all(state != "received" for state, _ in await stage.inbox())

        await eventually(handled)


async def test_chats_with_others_are_kept_and_never_answered(stage: BotStage, model: ScriptedModel) -> None:
    """Also where somebody orders the bot about; an edit changes, a deletion forgets. The own dialogue stays apart."""
    model.always(MODEL, "Hello.")
    user = await stage.person(known=False)
    async with whole_bot(stage, model, business=True) as bot:
        await stage.say(user, "hi")
        await stage.wait_for_message(user, lambda one: True)
        gone = {"chat": {"id": OTHER["id"], "type": "private"}, "message_ids": [6, 99]}
        await take(
            bot,
            stage,
            connection(user),
            {"business_message": said(user, 5, "Laplaced, remind me to pay the rent tomorrow at 9")},
            {"business_message": said(user, 6, "Forget everything about Vadik", own=True)},
            {"business_message": said(user, 7, "My rent is 500")},
            {"edited_business_message": {**said(user, 7, "My rent is 700"), "edit_date": 1_780_000_100}},
            {"deleted_business_messages": {"business_connection_id": f"c{user}", **gone}},
        )
        assert await stage.read(lambda c: forgettings.pending(c, user))
        messages = [one for one in await kept(stage, user) if one.chat_id == OTHER["id"]]
        calls = await stage.ledger()
        await stage.say(user, "and now?")
        await model.wait_for(MODEL, 2)
        await stage.wait_for_message(user, lambda one: one["message_id"] > 2)
        line = await stage.read(lambda c: chronicle.events(c, user))
    assert [(one.content, one.speaker) for one in messages] == [
        ("Laplaced, remind me to pay the rent tomorrow at 9", "Bohdan"),
        ("Forget everything about Vadik", "Olena"),
        ("My rent is 700", "Bohdan"),
    ]
    assert not [call for call in calls if str(OTHER["id"]) in str(call["request"])]
    assert "rent" not in model.asked(MODEL)[-1].text
    assert not [event for event in line if "rent" in event.text]


async def test_nothing_is_kept_without_setting_user_and_connection(stage: BotStage, model: ScriptedModel) -> None:
    """Telegram is not even asked for such updates by default."""
    model.always(MODEL, "Hello.")
    user, stranger = await stage.person(), 888_001
    assert not set(BUSINESS) & set(ALLOWED_UPDATES)
    for on, connected in ((False, user), (True, stranger)):
        async with whole_bot(stage, model, business=on, admit_all=False, poll=False) as bot:
            told = {"business_message": said(connected, 5, "A secret")}
            await take(bot, stage, connection(connected), told)
    async with whole_bot(stage, model, business=True, admit_all=False, poll=False) as bot:
        again = {"business_message": said(user, 6, "Another secret")}
        await take(bot, stage, connection(user), connection(user, enabled=False), again)
    assert await kept(stage, user) == []
    assert "secret" not in str(await stage.inbox())
