"""The console's process: it comes with its first visitor, comes again, and says so when the bot is away."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Browser, expect
from support.patience import PATIENCE_S

from bot.console.launch import ConsoleSetup, console_at
from bot.web.server.uvicorn import listening

pytestmark = pytest.mark.asyncio(loop_scope="session")

NOBODY = "http://127.0.0.1:9"
"""The port of `discard`, where nothing listens."""


async def test_it_comes_with_its_first_visitor_and_again(tmp_path: Path, chrome: Browser) -> None:
    """Before, nothing runs; the page of a bot that is away says what to do; a killed process is followed by another."""
    listener = listening("127.0.0.1", 0, "server.console_port")
    async with (
        console_at(ConsoleSetup(listener.socket, NOBODY, tmp_path)) as console,
        httpx.AsyncClient(timeout=PATIENCE_S) as visitor,
    ):
        assert console.pid is None
        assert (await visitor.get(f"{listener.url}/login", timeout=60)).status_code == 200
        first = console.pid
        assert first is not None
        foreign = await visitor.get(f"{listener.url}/login", headers={"Host": "evil.example"})
        assert foreign.status_code == 403
        elsewhere = {"Origin": "http://evil.example"}
        assert (await visitor.post(f"{listener.url}/login", headers=elsewhere)).status_code == 403

        context = await chrome.new_context(locale="en")
        await context.add_cookies([{"name": "laplaced_session", "value": "lcs_x", "url": listener.url}])
        page = await context.new_page()
        await page.goto(listener.url)
        await expect(page.get_by_role("alert")).to_contain_text("The bot does not answer")
        await page.close()  # it goes on asking for the bot, and would load itself again in the midst of the next step
        page = await context.new_page()
        await page.goto(f"{listener.url}/login")
        await page.get_by_label("Server key").fill("x")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("alert")).to_contain_text("Is it running?")
        await context.close()

        os.kill(first, signal.SIGKILL)
        async with httpx.AsyncClient(timeout=PATIENCE_S) as another:
            assert (await another.get(f"{listener.url}/login", timeout=60)).status_code == 200
        assert console.pid not in {None, first}
    listener.close()
