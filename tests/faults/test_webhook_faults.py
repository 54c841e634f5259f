"""Telegram calls the bot: what is stored is answered with 200, what is answered with 200 is stored."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio
from support.faults.fault_record import proving
from support.faults.fault_stage import OFFLINE, WEBHOOK_SECRET, Stage, quiet, under_faults
from support.product.running_product import until
from test_storage_faults import locked

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATH = "/telegram/webhook"
HEADER = "X-Telegram-Bot-Api-Secret-Token"


def free_port() -> int:
    """Telegram is told the address before the server has one."""
    with contextlib.closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def update(user: int, number: int, text: str) -> dict[str, Any]:
    person = {"id": user, "is_bot": False, "first_name": "Olena", "language_code": "en"}
    chat = {"id": user, "type": "private", "first_name": "Olena"}
    message = {"message_id": number, "date": 1_795_300_000, "from": person, "chat": chat, "text": text}
    return {"update_id": 800_000_000 + number, "message": message}


async def post(stage: Stage, body: bytes, **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=stage.bot.url, timeout=30, trust_env=False) as client:
        return await client.post(PATH, content=body, headers=headers)


def stored(stage: Stage, text: str) -> int:
    ((count,),) = stage.bot.rows("SELECT count(*) FROM messages WHERE content = ? AND role = 'user'", text)
    return int(count)


async def test_what_telegram_posts_is_answered(stage: Stage) -> None:
    """With the right secret each message is stored and answered once."""
    with proving("webhook", "the right secret", "200, stored, answered once"):
        user = await stage.newcomer()
        assert await stage.ask(user, "Through the webhook") == OFFLINE
        assert stored(stage, "Through the webhook") == 1
        state = await stage.people.request("GET", "/state")
        assert state["webhook"]["url"].endswith(PATH)


@pytest.mark.parametrize("secret", [None, "", "wrong", WEBHOOK_SECRET + "x", WEBHOOK_SECRET[:-1]])
async def test_nobody_else_is_heard(stage: Stage, secret: str | None) -> None:
    """Without the secret, or with another, it is 401 and nothing is stored, not even as raw text."""
    with proving("webhook", "a wrong or missing secret", "401, nothing stored"):
        user = await stage.newcomer()
        body = json.dumps(update(user, user, f"forged {secret}")).encode()
        answer = await post(stage, body, **({} if secret is None else {HEADER: secret}))
        assert answer.status_code == 401
        assert WEBHOOK_SECRET not in answer.text
        assert stage.bot.rows("SELECT 1 FROM inbox WHERE update_id = ?", 800_000_000 + user) == []


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b'{"message": {}}', b'{"update_id": "7"}', b'{"update_id"', b"\xff"]
)
async def test_what_is_no_update_is_refused(stage: Stage, body: bytes) -> None:
    """422: nothing is stored, and nothing crashes."""
    with proving("webhook", "a body that is no update", "422, nothing stored"):
        before = stage.bot.rows("SELECT count(*) FROM inbox")
        answer = await post(stage, body, **{HEADER: WEBHOOK_SECRET})
        assert answer.status_code == 422
        assert stage.bot.rows("SELECT count(*) FROM inbox") == before


async def test_a_body_without_end_is_not_read(stage: Stage) -> None:
    """No update is nearly as large; who sends more gets 413, and takes no memory."""
    with proving("webhook", "a body of 64 MB", "413, not read"):
        answer = await post(stage, b" " * (64 << 20), **{HEADER: WEBHOOK_SECRET})
        assert answer.status_code == 413
        assert await stage.ask(await stage.newcomer(), "Still there?") == OFFLINE


async def test_an_update_posted_twice_is_one_message(stage: Stage) -> None:
    """Telegram repeats what it believes was not taken: 200 again, one message, one answer."""
    with proving("webhook", "the same update twice", "200 twice, one message, one answer"):
        user = await stage.newcomer()
        body = json.dumps(update(user, 700_001, "Only once")).encode()
        for _ in range(2):
            assert (await post(stage, body, **{HEADER: WEBHOOK_SECRET})).status_code == 200
        await stage.heard(user, OFFLINE)
        assert stored(stage, "Only once") == 1
        assert await stage.seen(user) == [OFFLINE]


async def test_what_cannot_be_stored_is_not_taken(stage: Stage) -> None:
    """A database that refuses answers 503, so that Telegram keeps the update and brings it again."""
    with proving("webhook", "the database refuses", "503, so Telegram sends it again; answered once"):
        user = await stage.newcomer()
        body = json.dumps(update(user, 700_002, "Not lost")).encode()
        with locked(stage.bot.data_dir / "laplaced.db"):
            assert (await post(stage, body, **{HEADER: WEBHOOK_SECRET})).status_code == 503
        assert (await post(stage, body, **{HEADER: WEBHOOK_SECRET})).status_code == 200
        await stage.heard(user, OFFLINE)
        assert stored(stage, "Not lost") == 1


async def test_a_kill_after_200_loses_nothing(stage: Stage) -> None:
    """Killed the moment it answered 200: the next start answers it, once."""
    with proving("webhook", "SIGKILL right after 200", "answered once by the next start"):
        user = await stage.newcomer()
        body = json.dumps(update(user, 700_003, "Before the kill")).encode()
        assert (await post(stage, body, **{HEADER: WEBHOOK_SECRET})).status_code == 200
        await stage.bot.kill()
        await stage.bot.start()
        await stage.heard(user, OFFLINE)
        await until(lambda: stored(stage, "Before the kill") == 1)
        assert await stage.seen(user) == [OFFLINE]


async def test_polling_ends_the_webhook_of_before(stage: Stage) -> None:
    """The last case here: with `telegram.mode: polling` the next start takes its own webhook back and polls."""
    with proving("webhook", "the mode becomes polling", "its own webhook is deleted, answered by polling"):
        await stage.bot.kill()
        stage.bot.settings |= {"LAPLACED_TELEGRAM__MODE": "polling", "LAPLACED_TELEGRAM__WEBHOOK__URL": ""}
        await stage.bot.start()
        assert await stage.ask(await stage.newcomer(), "By polling now") == OFFLINE
        assert (await stage.people.request("GET", "/state"))["webhook"]["url"] == ""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    port = free_port()
    settings = {
        "LAPLACED_TELEGRAM__MODE": "webhook",
        "LAPLACED_TELEGRAM__WEBHOOK__URL": f"http://127.0.0.1:{port}",
        "LAPLACED_SERVER__PORT": str(port),
    }
    async with under_faults(tmp_path_factory.mktemp("webhook"), **settings) as running:
        quiet(running.model)
        await running.bot.start()
        yield running
