"""A local Telegram, a headless Chromium, and pages on which any console error fails the test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest_asyncio
from playwright.async_api import Browser, expect
from support.patience import PATIENCE_S
from support.product.browser_chat import Chat
from support.product.program import local_telegram
from support.product.screenshot import chromium

from bot.simulator.client import ControlClient
from bot.simulator.launch import LocalTelegram

expect.set_options(timeout=PATIENCE_S * 1000)  # a busy machine lays a page again in some seconds


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as browser:
        yield browser


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def local(tmp_path_factory: Any) -> AsyncIterator[LocalTelegram]:
    async with local_telegram(tmp_path_factory.mktemp("telegram")) as local:
        yield local


@pytest_asyncio.fixture(loop_scope="module")
async def control(local: LocalTelegram) -> AsyncIterator[ControlClient]:
    async with ControlClient(local.url) as control:
        await control.request("DELETE", "/updates")  # what an earlier test's people wrote is not this one's
        yield control


@pytest_asyncio.fixture(loop_scope="module")
async def open_chat(
    browser: Browser, local: LocalTelegram, control: ControlClient
) -> AsyncIterator[Callable[..., Awaitable[Chat]]]:
    """Opens a person's chat in a browser of its own; at the end no page may have complained."""
    chats: list[Chat] = []

    async def open_chat(user_id: int | None, **options: Any) -> Chat:
        given: dict[str, Any] = {"viewport": {"width": 1200, "height": 800}, "locale": "uk"}
        context = await browser.new_context(**given | options)
        chat = Chat(await context.new_page(), local)
        chats.append(chat)
        await chat.open(user_id)
        return chat

    yield open_chat
    for chat in chats:
        await chat.page.context.close()
    assert [complaint for chat in chats for complaint in chat.complaints] == []
