"""Two Telegrams that other people wrote for tests of bots: npm's telegram-test-api and PyPI's telemelya.

`make test` installs them into `.venv`. Each is a process of its own; telemelya keeps its messages in Redis and its
files on S3, which are processes and threads beside it.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from abc import ABC, abstractmethod
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from moto.server import ThreadedMotoServer
from support.foreign_servers.relay import Relay, relayed
from support.paths import ROOT
from support.patience import PATIENCE_S
from support.product.running_product import until

from bot.simulator.launch import DEFAULT_TOKEN
from internal.graph.mirror.falkordb_server import binaries

VENV: Final = ROOT / ".venv"
TEST_API: Final = VENV / "telegram-test-api"
TELEMELYA: Final = VENV / "telemelya/bin/python"
PERSON: Final = {"id": 77, "is_bot": False, "first_name": "Olena", "username": "olena", "language_code": "en"}
CHAT: Final = {"id": 77, "type": "private", "first_name": "Olena"}
KEY: Final = "key"


class Foreign(ABC):
    """A server with one person in it; `settings` are what the bot needs to use it."""

    def __init__(self, relay: Relay) -> None:
        self.relay = relay
        self.settings = {
            "LAPLACED_TELEGRAM__TOKEN": DEFAULT_TOKEN,
            "LAPLACED_TELEGRAM__API_BASE": relay.url,
            "LAPLACED_ACCESS__ALLOWED_USER_IDS": str(PERSON["id"]),
        }

    @abstractmethod
    async def say(self, text: str) -> None: ...

    @abstractmethod
    async def press(self, data: str, message_id: int) -> None: ...

    @abstractmethod
    async def shown(self) -> dict[int, dict[str, Any]]:
        """The bot's messages by their number, each as it was sent or last edited: `text`, `reply_markup`."""

    async def _post(self, path: str, body: Any, **query: str) -> Any:
        headers = {"Authorization": f"Bearer {KEY}", "X-Test-Session": "s"}
        url = f"{self.relay.server}{path}"
        async with self.relay.http.post(url, json=body, params=query, headers=headers) as answered:
            assert answered.status == 200, await answered.text()
            return await answered.json()


class TelegramTestApi(Foreign):
    """Speaks of polling and texts; a bot's message has fields as the bot sent them."""

    async def say(self, text: str) -> None:
        command = text.split(maxsplit=1)[0]
        marks = [{"type": "bot_command", "offset": 0, "length": len(command)}] if text[0] == "/" else []
        body = {"botToken": DEFAULT_TOKEN, "from": PERSON, "chat": CHAT, "date": 1_795_300_000, "text": text}
        await self._post("/sendCommand", body | {"entities": marks})

    async def press(self, data: str, message_id: int) -> None:
        message = {"message_id": message_id, "chat": CHAT, "date": 1_795_300_000, "text": "-"}
        body = {"botToken": DEFAULT_TOKEN, "from": PERSON, "message": message, "data": data}
        await self._post("/sendCallback", body)

    async def shown(self) -> dict[int, dict[str, Any]]:
        told = (await self._post("/getUpdatesHistory", {"token": DEFAULT_TOKEN}))["result"]
        return {one["messageId"]: one["message"] for one in told if "chat_id" in one.get("message", ())}


class Telemelya(Foreign):
    """Knows webhooks alone."""

    def __init__(self, relay: Relay) -> None:
        super().__init__(relay)
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        self.settings |= {
            "LAPLACED_TELEGRAM__MODE": "webhook",
            "LAPLACED_TELEGRAM__WEBHOOK__URL": f"http://127.0.0.1:{port}",
            "LAPLACED_TELEGRAM__WEBHOOK__SECRET": "only-telegram-knows",
            "LAPLACED_SERVER__PORT": str(port),
        }

    async def _deliver(self, **what: Any) -> None:
        person = {key: PERSON[key] for key in ("id", "first_name", "username")}
        body = {"chat_id": CHAT["id"], "from_user": person, **what}
        delivered = await self._post("/api/v1/test/send_update", body, bot_token=DEFAULT_TOKEN)
        assert delivered["delivery"]["status_code"] == 200, delivered

    async def say(self, text: str) -> None:
        await self._deliver(text=text)

    async def press(self, data: str, message_id: int) -> None:
        await self._deliver(callback_data=data, callback_message_id=message_id)

    async def shown(self) -> dict[int, dict[str, Any]]:
        headers = {"Authorization": f"Bearer {KEY}", "X-Test-Session": "s"}
        async with self.relay.http.get(f"{self.relay.server}/api/v1/test/responses", headers=headers) as answered:
            told = (await answered.json())["responses"]
        return {one["message_id"]: one for one in told if one.get("message_id")}


@asynccontextmanager
async def telegram_test_api() -> AsyncIterator[Foreign]:
    program = Path(__file__).with_name("telegram_test_api.js")
    environment = os.environ | {"NODE_PATH": str(TEST_API / "node_modules")}
    async with _process("node", str(program), environment=environment, stdout=PIPE) as server:
        assert server.stdout is not None
        port = (await asyncio.wait_for(server.stdout.readline(), PATIENCE_S)).decode().strip()
        async with relayed(f"http://127.0.0.1:{port}") as relay:
            yield TelegramTestApi(relay)


@asynccontextmanager
async def telemelya(folder: Path) -> AsyncIterator[Foreign]:
    async with AsyncExitStack() as stack:
        files = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        files.start()
        stack.callback(files.stop)
        host, port = files.get_host_and_port()
        redis = folder / "redis.sock"
        no_files = ("--save", "", "--appendonly", "no", "--dir", str(folder))
        await stack.enter_async_context(
            _process(binaries()[0], "--port", "0", "--unixsocket", str(redis), *no_files, environment={})
        )
        await until(redis.exists)
        door = stack.enter_context(socket.socket())
        door.bind(("127.0.0.1", 0))
        environment = {
            "REDIS_URL": f"unix://{redis}", "MINIO_ENDPOINT": f"{host}:{port}", "AUTH_KEYS": KEY,
            "MOCK_SERVER_HOST": "127.0.0.1", "MOCK_SERVER_PORT": str(door.getsockname()[1]),
        }  # fmt: skip
        door.close()
        start = "from telemelya.server.app import main; main()"
        await stack.enter_async_context(_process(str(TELEMELYA), "-c", start, environment=environment))
        relay = await stack.enter_async_context(relayed(f"http://127.0.0.1:{environment['MOCK_SERVER_PORT']}"))

        async def ready() -> bool:
            try:
                async with relay.http.get(relay.server) as answered:
                    return answered.status == 200
            except OSError:
                return False

        await until(ready)
        yield Telemelya(relay)


@asynccontextmanager
async def _process(*command: str, environment: dict[str, str], stdout: int = DEVNULL) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(*command, env=environment, stdin=DEVNULL, stdout=stdout)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def buttons(sent: dict[str, Any]) -> list[dict[str, Any]]:
    """The buttons below a message, in their order."""
    markup = sent.get("reply_markup") or {}
    rows = (json.loads(markup) if isinstance(markup, str) else markup).get("inline_keyboard", [])
    return [button for row in rows for button in row]


def words(sent: dict[str, Any]) -> str:
    """What a person reads of a message."""
    return str(sent.get("text") or "")
