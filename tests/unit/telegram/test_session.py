"""What the Bot API client makes of answers that are not as they should be."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiogram import Bot
from aiogram.exceptions import (
    TelegramAPIError,
    TelegramBadRequest,
    TelegramEntityTooLarge,
    TelegramNetworkError,
    TelegramRetryAfter,
    TelegramServerError,
)
from aiogram.methods import GetMe, SendMessage

from bot.telegram.service import open_bot
from internal.config.settings import TelegramConfig

SEND = SendMessage(chat_id=1, text="hello")
PAGE = "<html><head><title>An error</title></head></html>"


@pytest.fixture
async def bot() -> AsyncIterator[Bot]:
    opened = open_bot(TelegramConfig(), "http://127.0.0.1:9", "7:secret")
    yield opened
    await opened.session.close()


@pytest.mark.parametrize(
    ("result", "number"),
    [
        ({"message_id": 5, "chat": "unknown"}, 5),
        ({"message_id": 5, "date": 0, "chat": {"id": 1, "type": "a kind of the future"}}, 5),
        ({}, None),
        (True, None),
        (None, None),
    ],
)
async def test_what_was_sent_is_sent(bot: Bot, result: Any, number: int | None) -> None:
    """Of the answer only the id is read; without one the message was sent all the same."""
    answer = bot.session.check_response(bot, SEND, 200, json.dumps({"ok": True, "result": result}))
    assert answer.result is not None
    assert answer.result.message_id == number


@pytest.mark.parametrize(
    ("status", "content", "error"),
    [
        (413, PAGE, TelegramEntityTooLarge),
        (413, '{"ok": false, "error_code": 413, "description": "Request Entity Too Large"}', TelegramEntityTooLarge),
        (502, PAGE, TelegramServerError),
        (429, PAGE, TelegramServerError),
        (403, PAGE, TelegramServerError),
        (429, '{"ok": false, "parameters": {"retry_after": 2.5}}', TelegramRetryAfter),
        (400, '{"ok": false, "description": "Bad Request: no", "parameters": "unknown"}', TelegramBadRequest),
        (500, '{"ok": false}', TelegramServerError),
        (200, '{"ok": true, "resu', TelegramNetworkError),
        (200, "[]", TelegramNetworkError),
    ],
)
async def test_a_refusal_is_never_taken_for_a_delivery_in_doubt(
    bot: Bot, status: int, content: str, error: type[TelegramAPIError]
) -> None:
    """Only an answer that was cut or is none leaves in doubt what became of the message."""
    with pytest.raises(TelegramAPIError) as raised:
        bot.session.check_response(bot, SEND, status, content)
    assert type(raised.value) is error
    if error is TelegramRetryAfter:
        assert raised.value.retry_after == 3  # type: ignore[attr-defined]


async def test_what_is_asked_must_be_answered_whole(bot: Bot) -> None:
    """Of other methods the answer itself is wanted."""
    with pytest.raises(TelegramNetworkError):
        bot.session.check_response(bot, GetMe(), 200, '{"ok": true, "result": {"id": "?"}}')
