"""A Bot API server that costs next to nothing; its users write as soon as the last message is answered.

The local Telegram keeps everything on disk and shows it on a page; here only the bot is to be measured. Times are
taken on the wire: when an update left with the answer to getUpdates, and when sendMessage arrived.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Self

import orjson
from aiohttp import web

TOKEN = "4242424242:a-benchmark-has-no-secrets"
MOST_UPDATES = 100


class InstantTelegram:
    """`async with InstantTelegram() as telegram:` then `url`, `converse`, `waits`."""

    def __init__(self) -> None:
        self.url = ""
        self.waits: dict[int, list[float]] = defaultdict(list)
        """Seconds from each update's departure to its answer's arrival, by user, in order."""
        self.calls: dict[str, int] = defaultdict(int)
        self._left: dict[int, int] = {}
        self._departed: dict[int, float] = {}
        self._updates: list[dict[str, Any]] = []
        self._numbers = {"update": 1, "message": 1}
        self._news = asyncio.Event()
        self._done = asyncio.Event()
        self._pause = 0.0
        self._asked: dict[int, asyncio.Future[float]] = {}
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/bot{token}/{method}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def converse(self, users: Sequence[int], messages: int, pause: float = 0.0) -> float:
        """Lets every user have so many messages answered, all users at once; the seconds this took.

        A user thinks for `pause` seconds before each next message; they begin one after another within that time.
        """
        self._pause = pause
        self._left = dict.fromkeys(users, messages)
        self.waits.clear()
        self.calls.clear()
        self._done.clear()
        began = time.perf_counter()
        for place, user in enumerate(users):
            self._write_after(user, pause * place / len(users))
        await self._done.wait()
        return time.perf_counter() - began

    def ask(self, user: int, text: str) -> asyncio.Future[float]:
        """Lets a user write this; the seconds until the answer arrives."""
        self._asked[user] = asyncio.get_running_loop().create_future()
        self._write(user, text)
        return self._asked[user]

    def heard(self, method: str, body: dict[str, Any]) -> None:
        """Takes note of a call as it arrives."""

    def _write_after(self, user: int, seconds: float) -> None:
        asyncio.get_running_loop().call_later(seconds, self._write, user)

    def _write(self, user: int, text: str = "") -> None:
        update_id, message_id = self._next("update"), self._next("message")
        text = text or f"А что сказал Петров про релиз, {message_id}?"
        sender = {"id": user, "is_bot": False, "first_name": f"User {user}", "language_code": "ru"}
        message = {
            "message_id": message_id,
            "date": int(time.time()),
            "chat": _chat(user),
            "from": sender,
            "text": text,
        }
        self._updates.append({"update_id": update_id, "message": message})
        self._news.set()

    def _next(self, kind: str) -> int:
        self._numbers[kind] += 1
        return self._numbers[kind]

    async def _answer(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        self.calls[method] += 1
        body = await _body(request)
        self.heard(method, body)
        match method:
            case "getUpdates":
                result: Any = await self._poll(int(body.get("offset", 0)), float(body.get("timeout", 0)))
            case "sendMessage":
                result = await self._take(int(body["chat_id"]), str(body["text"]))
            case "getMe":
                result = {"id": 4242424242, "is_bot": True, "first_name": "Laplaced", "username": "laplaced_bot"}
            case _:
                result = True
        return web.Response(body=orjson.dumps({"ok": True, "result": result}), content_type="application/json")

    async def _poll(self, offset: int, seconds: float) -> list[dict[str, Any]]:
        self._updates = [update for update in self._updates if update["update_id"] >= offset]
        if not self._updates and seconds:
            self._news.clear()
            try:
                async with asyncio.timeout(seconds):
                    await self._news.wait()
            except TimeoutError:
                return []
        now = time.perf_counter()
        for update in self._updates[:MOST_UPDATES]:
            self._departed.setdefault(update["message"]["chat"]["id"], now)
        return self._updates[:MOST_UPDATES]

    def _answered(self, user: int, waited: float) -> None:
        if user in self._asked:
            self._asked.pop(user).set_result(waited)
            return
        self.waits[user].append(waited)
        self._left[user] -= 1
        if self._left[user] > 0:
            self._write_after(user, self._pause)
        elif not any(self._left.values()):
            self._done.set()

    async def _take(self, user: int, text: str) -> dict[str, Any]:
        departed = self._departed.pop(user, None)
        if departed is not None:  # else the bot speaks of its own accord, as when a fragment could not be gone through
            self._answered(user, time.perf_counter() - departed)
        return {"message_id": self._next("message"), "date": int(time.time()), "chat": _chat(user), "text": text}


def _chat(user: int) -> dict[str, Any]:
    return {"id": user, "type": "private", "first_name": f"User {user}"}


async def _body(request: web.Request) -> dict[str, Any]:
    if request.content_type == "application/json":
        return dict(orjson.loads(await request.read()))
    return dict(await request.post())
