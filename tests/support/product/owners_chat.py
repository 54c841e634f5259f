"""One person's chat with the running product."""

from __future__ import annotations

from typing import Any

from support.product.running_product import Product, until

from bot.simulator.client import ControlClient


class Chat:
    """One person's chat with the bot."""

    def __init__(self, people: ControlClient, user: int) -> None:
        self.people, self.user, self.last = people, user, 0

    async def say(self, text: str, **more: Any) -> dict[str, Any]:
        """The first message that the bot answers with."""
        said = await self.people.say(self.user, text, **more)
        return await self.next(said["message_id"])

    async def next(self, after: int) -> dict[str, Any]:
        return await self.people.wait_for_message(self.user, lambda _: True, after=after)

    async def press(self, message: dict[str, Any], label: str, shows: str) -> dict[str, Any]:
        """The message, edited or new, that shows these words after a press."""
        buttons = [one for row in message["reply_markup"]["inline_keyboard"] for one in row]
        data = next(one["callback_data"] for one in buttons if one["text"].startswith(label))
        await self.people.press(self.user, message["message_id"], data)
        return await self.people.wait_for_message(self.user, lambda m: shows in m["text"])


async def archived(bot: Product, chat: Chat, runs: int) -> None:
    """What was said so far is archived: so many slices altogether, and no agent is at work on any of them."""
    await chat.say("/archive")
    read = "sum(agent = 'archivist' AND state = 'applied') = ?"
    done = f"SELECT count(*) FROM runs HAVING {read} AND min(state IN ('applied', 'dead'))"
    await until(lambda: bot.rows(done, runs))
