"""What stands between the bot and a Telegram of somebody else: it adds what that server leaves out, and nothing else.

docs/testing.md lists the differences. A call that the server does not know is passed on like any other, so the bot has
to get along with the refusal; `unknown` remembers its name.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import ClientSession, web

from bot.web.server.telegram_webhook import SECRET_HEADER

POLL_S: Final = 0.1
BOT: Final = {"id": 4242424242, "is_bot": True, "first_name": "Laplaced", "username": "laplaced_bot"}


class Relay:
    """The bot calls `url`, the server below it is at `server`; updates for a webhook come to `url`/hook."""

    def __init__(self, server: str) -> None:
        self.server, self.url = server, ""
        self.unknown: set[str] = set()
        self._hook, self._secret = "", ""
        self.http: ClientSession

    async def _call(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        body = dict(await request.post())
        if method == "getMe":
            return web.json_response({"ok": True, "result": BOT})
        if method == "setWebhook":
            self._hook, self._secret = str(body["url"]), str(body.get("secret_token", ""))
            body["url"] = f"{self.url}/hook"
        wait_s = float(str(body.get("timeout", 0))) if method == "getUpdates" else 0
        while True:
            async with self.http.post(f"{self.server}{request.path}", data=body) as answered:
                status, text = answered.status, await answered.text()
            if wait_s <= 0 or json.loads(text)["result"]:
                break
            await asyncio.sleep(POLL_S)  # it answers at once, where Telegram waits for the next update
            wait_s -= POLL_S
        if status in (404, 500):
            self.unknown.add(method)
            return web.json_response({"ok": False, "error_code": 404, "description": "Not Found"}, status=404)
        answer = json.loads(text)
        if answer["ok"] and answer["result"] is None:
            answer["result"] = True
        return web.json_response(answer, status=answer.get("error_code") or 200)

    async def _update(self, request: web.Request) -> web.Response:
        """An update on its way to the bot's webhook, now with the secret that Telegram sends along."""
        headers = {SECRET_HEADER: self._secret, "Content-Type": "application/json"}
        async with self.http.post(self._hook, data=await request.read(), headers=headers) as answered:
            return web.Response(status=answered.status, body=await answered.read())


@asynccontextmanager
async def relayed(server: str) -> AsyncIterator[Relay]:
    relay = Relay(server)
    app = web.Application(client_max_size=1 << 26)
    app.add_routes([web.post("/hook", relay._update), web.post("/bot{token}/{method}", relay._call)])
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    relay.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    async with ClientSession() as relay.http:
        try:
            yield relay
        finally:
            await runner.cleanup()
