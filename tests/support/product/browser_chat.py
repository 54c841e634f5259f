"""The chat page as a person uses it: what is on the screen, and what the hands do."""

from __future__ import annotations

from typing import Any

import httpx
from playwright.async_api import ConsoleMessage, Locator, Page, Request
from support.patience import PATIENCE_S

from bot.simulator.launch import LocalTelegram


class Chat:
    """One open page. `complaints` collects console errors, exceptions and requests to other hosts."""

    def __init__(self, page: Page, local: LocalTelegram) -> None:
        self.page = page
        self.user_id: int | None = None
        self._local = local
        self.complaints: list[str] = []
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(f"exception: {error}"))
        page.on("request", self._asked)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(f"{message.type}: {message.text}")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self._local.url, "data:", "blob:", self._local.url.replace("http", "ws"))):
            self.complaints.append(f"request to {request.url}")

    @property
    def token(self) -> str:
        return self._local.token

    async def open(self, user_id: int | None) -> None:
        self.user_id = user_id
        await self.page.goto(self._local.url + ("/" if user_id is None else f"/?user={user_id}"))
        await self.page.locator(".sidebar" if user_id is None else ".composer").wait_for()

    @property
    def field(self) -> Locator:
        return self.page.locator("textarea.field-text")

    def bubble(self, text: str) -> Locator:
        return self.page.locator(".bubble", has_text=text)

    def person(self, name: str) -> Locator:
        return self.page.locator(".person", has_text=name)

    async def write(self, text: str) -> None:
        """Type into the field and press Enter."""
        await self.field.click()
        await self.page.keyboard.type(text)
        await self.page.keyboard.press("Enter")

    async def attach(self, what: str) -> None:
        menu = self.page.locator(".attach-menu")
        await self.page.locator(".attach-button").click()
        await menu.get_by_text(what, exact=True).click()
        await menu.wait_for(state="hidden")  # the server closes it: later, that would close the next one

    async def bot(self, method: str, **values: Any) -> Any:
        """The bot calls a method; the `result`."""
        async with httpx.AsyncClient(base_url=self._local.url, timeout=PATIENCE_S) as http:
            answer = await http.post(f"/bot{self._local.token}/{method}", json=values)
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]

    async def file(self, file_id: str) -> bytes:
        """A file as the bot downloads it."""
        path = (await self.bot("getFile", file_id=file_id))["file_path"]
        async with httpx.AsyncClient(base_url=self._local.url, timeout=PATIENCE_S) as http:
            answer = await http.get(f"/file/bot{self._local.token}/{path}")
        assert answer.status_code == 200, answer.text
        return answer.content

    async def updates(self) -> list[dict[str, Any]]:
        """What waits for the bot, confirmed."""
        found: list[dict[str, Any]] = await self.bot("getUpdates")
        if found:
            await self.bot("getUpdates", offset=found[-1]["update_id"] + 1)
        return found
