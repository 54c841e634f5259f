"""What is shared with a group is logged, sent and kept once, wherever the process dies meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.product.owners_chat import Chat
from support.product.running_product import SHORT_WAITS, product, until

WORDS = "The tent is in the blue Volvo"


@pytest.mark.parametrize("killed_at", ["C1:after", "C5:before", "C5:after"])
async def test_a_kill_loses_and_doubles_no_shared_words(tmp_path: Path, killed_at: str) -> None:
    """The press was stored but not handled; the words wait to be sent; they are being sent."""
    async with product(tmp_path, scripted=False, LAPLACED_GROUPS__ENABLED="true", **SHORT_WAITS) as (bot, people):
        assert people is not None
        owner = await people.add_user("Emma", language_code="en", started=True)
        bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = str(owner)
        await bot.start()
        group = (await people.request("POST", "/chats", {"title": "Dacha", "members": [owner]}))["id"]
        await people.wait_for_message(group, lambda _: True)
        chat = Chat(people, owner)
        offer = await chat.say(f"/share {WORDS}")
        [[button]] = offer["reply_markup"]["inline_keyboard"]
        await until(lambda: not bot.rows("SELECT 1 FROM outbox WHERE state != 'sent'"))
        assert await bot.stop() == 0
        await people.press(owner, offer["message_id"], button["callback_data"])
        await bot.start_until_killed(killed_at)
        assert await bot.ended() == -9
        await bot.start()
        shared = await people.wait_for_message(group, lambda one: WORDS in one["text"])
        await chat.say("/shared")
        assert bot.rows("SELECT user_id, audience FROM disclosures") == [(owner, f"group:{group}")]
        assert bot.rows("SELECT user_id, content FROM messages WHERE role = 'user' AND user_id = ?", group) == [
            (group, WORDS)
        ]
        assert [one["text"] for one in await people.bot_messages(group) if WORDS in one["text"]] == [shared["text"]]
