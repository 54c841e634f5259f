"""Faults on demand and flood limits, as aiogram sees them."""

from __future__ import annotations

import time

import httpx
import pytest
from aiogram.exceptions import (
    TelegramBadRequest,
    TelegramForbiddenError,
    TelegramMigrateToChat,
    TelegramNetworkError,
    TelegramRetryAfter,
    TelegramServerError,
)
from support.interfaces.simulator_stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("flood", TelegramRetryAfter),
        ("bad_request", TelegramBadRequest),
        ("forbidden", TelegramForbiddenError),
        ("server_error", TelegramServerError),
        ("migrate", TelegramMigrateToChat),
        ("reset", TelegramNetworkError),
    ],
)
async def test_refusing_faults(stage: Stage, kind: str, error: type[Exception]) -> None:
    """The next call fails in the ordered way without being processed; the one after it goes well."""
    user = await stage.person()
    await stage.fault(kind, "sendMessage")
    with pytest.raises(error):
        await stage.bot.send_message(user, "раз")
    assert await stage.messages(user) == []
    await stage.bot.send_message(user, "два")
    assert [message["text"] for message in await stage.messages(user)] == ["два"]
    assert [call["fault"] for call in await stage.ledger(user)] == [kind, None]


async def test_flood_tells_how_long(stage: Stage) -> None:
    """A 429 carries retry_after in its parameters and its words."""
    user = await stage.person()
    await stage.fault("flood", "sendMessage", retry_after=7)
    answer = await stage.call("sendMessage", chat_id=user, text="x")
    assert answer.json() == {
        "ok": False,
        "error_code": 429,
        "description": "Too Many Requests: retry after 7",
        "parameters": {"retry_after": 7},
    }


async def test_own_words_count_and_skip(stage: Stage) -> None:
    """An order can skip calls, last for several, choose its words, and hold for one chat and method only."""
    user, other = await stage.person(), await stage.person()
    await stage.fault("bad_request", "sendMessage", chat_id=user, skip=1, times=2, description="Bad Request: FOO")
    outcomes = []
    for chat in (user, other, user, user, user):
        answer = await stage.call("sendMessage", chat_id=chat, text="x")
        outcomes.append(answer.json().get("description", "ok"))
    assert outcomes == ["ok", "ok", "Bad Request: FOO", "Bad Request: FOO", "ok"]
    await stage.call("sendChatAction", chat_id=user, action="typing")
    assert (await stage.request("GET", "/faults"))["faults"] == []


async def test_processed_but_never_answered(stage: Stage) -> None:
    """With no_reply the message is in the chat, and the client's read times out."""
    user = await stage.person()
    await stage.fault("no_reply", "sendMessage")
    with pytest.raises(httpx.ReadTimeout):
        await stage.http.post(
            f"/bot{stage.local.token}/sendMessage", json={"chat_id": user, "text": "загублене"}, timeout=0.7
        )
    assert [message["text"] for message in await stage.messages(user)] == ["загублене"]
    assert [(call["status"], call["fault"]) for call in await stage.ledger(user)] == [(200, "no_reply")]


async def test_hanging_call_is_not_processed(stage: Stage) -> None:
    """With hang the client waits in vain, and nothing was sent."""
    user = await stage.person()
    await stage.fault("hang", "sendMessage")
    with pytest.raises(httpx.ReadTimeout):
        await stage.http.post(f"/bot{stage.local.token}/sendMessage", json={"chat_id": user, "text": "x"}, timeout=0.5)
    assert await stage.messages(user) == []


async def test_processed_then_reset(stage: Stage) -> None:
    """With reset_after the message is in the chat, and the connection breaks before the answer."""
    user = await stage.person()
    await stage.fault("reset_after", "sendMessage")
    with pytest.raises(TelegramNetworkError):
        await stage.bot.send_message(user, "дійшло")
    assert [message["text"] for message in await stage.messages(user)] == ["дійшло"]


async def test_slow_and_bad_gateway(stage: Stage) -> None:
    """A slow call is answered late; a bad gateway answers HTML, as proxies do."""
    user = await stage.person()
    await stage.fault("slow", "sendMessage", seconds=0.6)
    began = time.monotonic()
    await stage.bot.send_message(user, "повільно")
    assert time.monotonic() - began >= 0.6
    await stage.fault("bad_gateway", "sendMessage")
    answer = await stage.call("sendMessage", chat_id=user, text="x")
    assert answer.status_code == 502
    assert answer.text.startswith("<html>")


async def test_polling_can_fail_too(stage: Stage) -> None:
    """Faults on getUpdates lose nothing: the next poll has the update."""
    user = await stage.person()
    await stage.say(user, "ще тут")
    await stage.fault("server_error", "getUpdates", times=2)
    for _ in range(2):
        with pytest.raises(TelegramServerError):
            await stage.bot.get_updates()
    assert len(await stage.bot.get_updates()) == 1


async def test_flood_limits(stage: Stage) -> None:
    """With limits on, what goes beyond them is 429; typing counts; another chat is not held up by it."""
    user, other = await stage.person(), await stage.person()
    await stage.request("PUT", "/flood", {"enabled": True, "per_chat": 2, "chat_seconds": 1})
    await stage.bot.send_chat_action(user, "typing")
    await stage.bot.send_message(user, "раз")
    with pytest.raises(TelegramRetryAfter) as refused:
        await stage.bot.send_message(user, "два")
    assert refused.value.retry_after == 1
    await stage.bot.send_message(other, "раз")


async def test_unknown_fault_is_refused(stage: Stage) -> None:
    """An order that names no known kind or a wrong field is 422."""
    answer = await stage.http.post("/sim/faults", json={"kind": "earthquake"})
    assert answer.status_code == 422
    answer = await stage.http.post("/sim/faults", json={"kind": "flood", "metod": "sendMessage"})
    assert answer.status_code == 422
