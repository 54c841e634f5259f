"""A client of the control API (control_api.py): for acceptance tests, virtual users and scripted conversations."""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import httpx

from bot.simulator.launch import LocalTelegramFailed
from bot.simulator.repository import Json
from internal.certificates import ssl_context


class ControlClient:
    """Acts for people and sees what the bot did. Raises LocalTelegramFailed with the server's reason if it refuses."""

    def __init__(self, url: str) -> None:
        self._http = httpx.AsyncClient(base_url=url, timeout=30, trust_env=False, verify=ssl_context(url))

    async def __aenter__(self) -> ControlClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def request(self, verb: str, path: str, body: Any = None, **query: Any) -> Any:
        """Sends any call of the control API, `path` without `/sim`. Returns the JSON of its answer."""
        answer = await self._http.request(verb, f"/sim{path}", json=body, params=query)
        if not answer.is_success:
            raise LocalTelegramFailed(f"{verb} {path}: {answer.status_code} {answer.text}")
        return answer.json()

    async def add_user(self, first_name: str, **more: Any) -> int:
        """Adds a person; `more` are further fields of POST /sim/users. Returns the id."""
        user = await self.request("POST", "/users", {"first_name": first_name, **more})
        return int(user["id"])

    async def knows(self, user_id: int) -> bool:
        """Whether the person exists, even without messages."""
        users = (await self.request("GET", "/users"))["users"]
        return any(user["id"] == user_id for user in users)

    async def say(self, user_id: int, text: str = "", **more: Any) -> Json:
        """Sends a person's message (fields of POST /sim/users/{id}/messages). Returns the first Message made of it."""
        sent = await self.request("POST", f"/users/{user_id}/messages", {"text": text, **more})
        message: Json = sent["messages"][0]
        return message

    async def send_file(self, user_id: int, media: str, name: str, content: bytes, mime: str, **more: Any) -> Json:
        """Sends a file as media of this kind: voice, video_note, audio, photo, document ...; `more` as for `say`."""
        document = {"name": name, "content": base64.b64encode(content).decode(), "mime": mime}
        return await self.say(user_id, media=media, document=document, **more)

    async def send_album(
        self, user_id: int, pictures: Sequence[tuple[str, bytes, str]], caption: str = ""
    ) -> list[Json]:
        """Sends photos (name, content, mime) as one album; the caption goes with the first."""
        album = secrets.token_hex(6)
        captions = [caption, *[""] * len(pictures)]
        return [
            await self.send_file(user_id, "photo", *picture, caption=text, media_group_id=album)
            for picture, text in zip(pictures, captions, strict=False)
        ]

    async def edit(self, user_id: int, message_id: int, text: str) -> Json:
        message: Json = await self.request("PATCH", f"/users/{user_id}/messages/{message_id}", {"text": text})
        return message

    async def press(self, user_id: int, message_id: int, data: str) -> str:
        """Presses an inline button. Returns the id of the callback query."""
        pressed = await self.request("POST", f"/users/{user_id}/press", {"message_id": message_id, "data": data})
        return str(pressed["callback_query_id"])

    async def ask_inline(self, user_id: int, query: str, **more: Any) -> str:
        """Types a query after the bot's name. Returns the id of the inline query."""
        asked = await self.request("POST", f"/users/{user_id}/inline", {"query": query, **more})
        return str(asked["inline_query_id"])

    async def react(self, user_id: int, message_id: int, emoji: str, chat_id: int | None = None) -> None:
        """Sets a person's reaction to a message; "" removes it."""
        body = {"message_id": message_id, "emoji": emoji, "chat_id": chat_id}
        await self.request("POST", f"/users/{user_id}/react", body)

    async def reactions(self, chat_id: int, message_id: int) -> dict[str, str]:
        """The reactions to a message, by person."""
        given = (await self.request("GET", f"/chats/{chat_id}/messages/{message_id}/reactions"))["reactions"]
        return {who: " ".join(str(one.get("emoji")) for one in types) for who, types in given.items() if types}

    async def fault(self, kind: str, method: str = "*", **more: Any) -> None:
        """Orders a fault (faults.py) for the next calls of a method."""
        await self.request("POST", "/faults", {"kind": kind, "method": method, **more})

    async def messages(self, chat_id: int) -> list[Json]:
        """The chat's messages, oldest first, deleted ones left out."""
        return list((await self.request("GET", f"/chats/{chat_id}/messages"))["messages"])

    async def bot_messages(self, chat_id: int) -> list[Json]:
        return [message for message in await self.messages(chat_id) if message["from"]["is_bot"]]

    async def ledger(self, chat_id: int | None = None, method: str = "") -> list[Json]:
        """The bot's calls (all but getUpdates), also failed ones, oldest first."""
        path = "/ledger" if chat_id is None else f"/chats/{chat_id}/ledger"
        return list((await self.request("GET", path, **({"method": method} if method else {})))["calls"])

    async def calls_after(self, seq: int, method: str) -> list[Json]:
        """The bot's calls of one method after position `seq` of the ledger, oldest first."""
        return list((await self.request("GET", "/ledger", after=seq, method=method))["calls"])

    async def screen(self, user_id: int) -> Json:
        """What the person sees besides messages: `typing`, `draft`, `commands`, `unread`."""
        shown: Json = await self.request("GET", f"/users/{user_id}/screen")
        return shown

    async def wait_for_message(
        self, chat_id: int, wanted: Callable[[Json], bool], *, after: int = 0, within: float = 120.0
    ) -> Json:
        """Waits for the bot's first `wanted` message after id `after`. Raises LocalTelegramFailed after `within` s."""
        seen = -1
        try:
            async with asyncio.timeout(within):
                while True:
                    found = await self.request("GET", f"/chats/{chat_id}/messages", beyond=seen)
                    for message in found["messages"]:
                        if message["from"]["is_bot"] and message["message_id"] > after and wanted(message):
                            return dict(message)
                    seen = found["happened"]
        except TimeoutError:
            said = [message.get("text") for message in await self.bot_messages(chat_id)]
            raise LocalTelegramFailed(f"no such message of the bot within {within} s; it said {said}") from None
