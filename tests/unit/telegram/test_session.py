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
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramServerError,
)
from aiogram.methods import GetMe, SendMessage, SendPhoto, SendRichMessage, SendVoice
from aiogram.types import BufferedInputFile, InputRichMessage

from bot.telegram.service import open_bot
from internal.config.settings import TelegramConfig

SEND = SendMessage(chat_id=1, text="hello")
RICH = SendRichMessage(chat_id=1, rich_message=InputRichMessage(markdown="hello"))
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
    """Of the answer only the id is read, whatever was sent; without one the message was sent all the same."""
    file = BufferedInputFile(b"1", "1")
    sent = (SEND, RICH, SendVoice(chat_id=1, voice=file), SendPhoto(chat_id=1, photo=file))
    for method in sent:
        answer = bot.session.check_response(bot, method, 200, json.dumps({"ok": True, "result": result}))
        assert answer.result is not None
        assert answer.result.message_id == number


async def test_the_page_of_a_server_without_rich_messages_is_a_refusal(bot: Bot) -> None:
    """Elsewhere a page is trouble that passes: the message is tried again."""
    with pytest.raises(TelegramNotFound):
        bot.session.check_response(bot, RICH, 404, PAGE)
    with pytest.raises(TelegramServerError):
        bot.session.check_response(bot, SEND, 404, PAGE)


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
