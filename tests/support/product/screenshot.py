"""Headless Chromium on the chat page: for browser tests, and for pictures of a conversation in the documentation.

Needs the test extra (playwright) and a Chromium of the system, such as Debian's `chromium-headless-shell`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from internal.errors import LaplacedError

if TYPE_CHECKING:
    from playwright.async_api import Browser

_ARGUMENTS = (
    "--no-sandbox",  # refused to root, which containers and CI often are; only pages of this machine are opened
    "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", "--font-render-hinting=none",
    "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",  # a microphone that beeps
)  # fmt: skip
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first makes no windows that nobody sees: a page costs half the processor time."""


class BrowserMissing(LaplacedError):
    """No Chromium was found: install the package `chromium-headless-shell`, or name one in CHROMIUM."""


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """A headless Chromium for the time of the block; raises BrowserMissing."""
    from playwright.async_api import async_playwright

    found = (path for name in _NAMES if (path := shutil.which(name)))
    executable = os.environ.get("CHROMIUM") or next(found, None)
    if executable is None:
        raise BrowserMissing
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable, args=list(_ARGUMENTS))
        try:
            yield browser
        finally:
            await browser.close()


async def take_screenshot(
    url: str,
    path: Path,
    *,
    user_id: int = 1001,
    language: str = "uk",
    width: int = 1200,
    height: int = 800,
    dark: bool = False,
    scale: float = 1,
) -> None:
    """A PNG of one person's chat, at its end, as soon as it stands still. Sizes in CSS pixels, `scale` pixels each."""
    async with chromium() as browser:
        page = await browser.new_page(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            device_scale_factor=scale,
            locale=language,
            reduced_motion="reduce",
        )
        await page.goto(f"{url}/?user={user_id}")
        await page.locator(".composer").wait_for()
        await page.evaluate("document.fonts.ready")
        await page.wait_for_timeout(400)  # menus and bubbles fade in
        await page.screenshot(path=path)
