"""One started product and one browser for all tests of the console; what they see is written into its store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest_asyncio
from playwright.async_api import Browser
from support.product.console_product import ANNA, BOT_TOKEN, KEY, House, Lodger, Opened, furnish
from support.product.program import NO_DICTIONARIES
from support.product.screenshot import chromium

from bot.runtime.headless import open_alone
from bot.runtime.http import serve_rest_and_mcp
from internal.access.console import service as console
from internal.config.settings import load

OpenPage = Callable[..., Awaitable[Opened]]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def house(tmp_path_factory: Any) -> AsyncIterator[House]:
    """Everything that serves and nothing that talks: two owners live here, see `furnish`."""
    config = load(
        None,
        NO_DICTIONARIES
        | {
            "LAPLACED_DATA_DIR": str(tmp_path_factory.mktemp("house") / "data"),
            "LAPLACED_SERVER__PORT": "0",
            "LAPLACED_SERVER__API_KEY": KEY,
            "LAPLACED_SERVER__CONSOLE_PORT": "0",
            "LAPLACED_MCP__PORT": "0",
        },
    )
    lodger = Lodger()
    async with (
        open_alone(config) as (app, ports),
        serve_rest_and_mcp(app, replace(ports, simulator=lodger, bot_token=BOT_TOKEN)) as server,
    ):
        assert server.console is not None
        await app.database.write(furnish)
        yield House(app, server.rest.url, server.console, lodger)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chrome() -> AsyncIterator[Browser]:
    async with chromium() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(house: House, chrome: Browser) -> AsyncIterator[OpenPage]:
    """Opens an address of the console in a browser of its own; at the end no page may have complained.

    `owner`: logged in with that owner's link, None: with the key. Other options are playwright's for a context.
    """
    opened: list[Opened] = []

    async def open_page(path: str = "/", *, owner: int | None = ANNA, **options: Any) -> Opened:
        given: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}, "locale": "en", "reduced_motion": "reduce"}
        context = await chrome.new_context(**given | options)
        page = Opened(await context.new_page(), house)
        opened.append(page)
        await context.add_cookies([{"name": "laplaced_session", "value": await _token(house, owner), "url": house.url}])
        await page.goto(path)
        return page

    yield open_page
    for one in opened:
        await one.page.context.close()
    assert [complaint for one in opened for complaint in one.complaints] == []


async def _token(house: House, owner: int | None) -> str:
    lifetime, now = house.app.config.console.session_lifetime, house.app.clock.now()
    opened = await house.app.database.write(
        lambda c: console.open_session(c, owner, lifetime=lifetime, now=now, key=KEY)
    )
    return opened.token
