"""What plain words did is taken back by its button, and a choice is made by one: the real process, a local Telegram."""

from __future__ import annotations

from pathlib import Path

from support.product.owners_chat import Chat
from support.product.running_product import product


async def test_plain_words_are_taken_back_by_a_button(tmp_path: Path) -> None:
    """A task that was moved, a name, and one of two tasks that fit."""
    async with product(tmp_path, scripted=False) as (bot, people):
        assert people is not None
        user = await people.add_user("Alex", language_code="en")
        bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = str(user)
        await bot.start()
        chat = Chat(people, user)
        await chat.say("remind me tomorrow at 9 about the dentist")
        moved = await chat.say("move the dentist to Friday at 15:00")
        assert "3:00" in moved["text"]
        back = await chat.press(moved, "Undo", "Moved: The dentist — tomorrow")
        assert "9:00" in back["text"]
        called = await chat.say("call me Captain")
        await chat.press(called, "Undo", "Alex again")
        await chat.say("remind me on Friday to call mum")
        await chat.say("remind me on Saturday to call dad")
        which = await chat.say("move the call to tomorrow at 15:00")
        assert "3:00" in (await chat.press(which, "Call dad", "Moved: Call dad"))["text"]
        sure = await chat.say("cancel all my reminders")
        assert "all 3 tasks" in sure["text"]
        assert "All cancelled: 3" in (await chat.press(sure, "✓ Yes, all", "All cancelled"))["text"]
        await chat.say("My colleague Vadik Sokolov works at ACME and likes fishing.")
        asked = await chat.say("forget everything about Vadik")  # who is in no profile yet: that message is read first
        assert "Forget Vadik Sokolov?" in asked["text"]
