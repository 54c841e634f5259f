"""Webhook delivery to a real HTTP server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from support.interfaces.simulator_stage import Stage, eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Hook:
    """A bot's webhook that answers with the statuses it is given, then 200."""

    def __init__(self) -> None:
        self.received: list[tuple[str | None, dict[str, Any]]] = []
        self.statuses: list[int] = []
        self.answer: dict[str, Any] = {}
        self.url = ""

    async def handle(self, request: web.Request) -> web.Response:
        self.received.append((request.headers.get("X-Telegram-Bot-Api-Secret-Token"), await request.json()))
        return web.json_response(self.answer, status=self.statuses.pop(0) if self.statuses else 200)

    async def has(self, count: int) -> bool:
        return len(self.received) >= count

    async def until(self, count: int) -> list[dict[str, Any]]:
        await eventually(lambda: self.has(count))
        return [update for _, update in self.received]


@pytest_asyncio.fixture(loop_scope="module")
async def hook() -> AsyncIterator[Hook]:
    hook = Hook()
    app = web.Application()
    app.router.add_post("/hook", hook.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.2)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    hook.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    yield hook
    await runner.cleanup()


async def test_updates_are_posted_with_the_secret(stage: Stage, hook: Hook) -> None:
    """What waits and what comes is posted in order, with the secret token in its header."""
    user = await stage.person()
    await stage.say(user, "раніше")
    await stage.bot.set_webhook(hook.url, secret_token="s3cret-Token_1")
    await stage.say(user, "потім")
    updates = await hook.until(2)
    assert [update["message"]["text"] for update in updates] == ["раніше", "потім"]
    assert {secret for secret, _ in hook.received} == {"s3cret-Token_1"}

    async def all_taken() -> bool:
        return (await stage.bot.get_webhook_info()).pending_update_count == 0

    await eventually(all_taken)


async def test_delivery_is_repeated_until_it_is_taken(stage: Stage, hook: Hook) -> None:
    """An update that the bot does not take is posted again, before the next one, and the error is told."""
    user = await stage.person()
    hook.statuses = [500, 503]
    await stage.bot.set_webhook(hook.url)
    await stage.say(user, "перше")
    await stage.say(user, "друге")
    updates = await hook.until(4)
    assert [update["message"]["text"] for update in updates] == ["перше", "перше", "перше", "друге"]
    info = await stage.bot.get_webhook_info()
    assert info.last_error_message == "Wrong response from the webhook: 503 Service Unavailable"


async def test_pending_updates_can_be_dropped(stage: Stage, hook: Hook) -> None:
    """drop_pending_updates forgets what waits."""
    user = await stage.person()
    await stage.say(user, "забудь")
    await stage.bot.set_webhook(hook.url, drop_pending_updates=True)
    await stage.say(user, "пам’ятай")
    updates = await hook.until(1)
    assert [update["message"]["text"] for update in updates] == ["пам’ятай"]


async def test_a_method_in_the_answer_is_called(stage: Stage, hook: Hook) -> None:
    """A bot may answer an update with a call, as Telegram offers."""
    user = await stage.person()
    hook.answer = {"method": "sendMessage", "chat_id": user, "text": "одразу"}
    await stage.bot.set_webhook(hook.url)
    await stage.say(user, "питання")
    said = await stage.wait_for_message(user, lambda message: message.get("text") == "одразу")
    assert (await stage.ledger(user))[-1]["message_id"] == said["message_id"]
