"""Questions that the user's next message answers."""

from collections.abc import Awaitable, Callable
from typing import Any

from aiogram import BaseMiddleware
from aiogram.filters import Filter
from aiogram.types import CallbackQuery, Message, TelegramObject

from bot.telegram.delivery.chat import Chat, Keyboard
from bot.telegram.handlers.services import Services
from bot.telegram.message_reader import is_command
from internal.access import service as access
from internal.access.model import AwaitedAnswer, User

ADMISSION = "access"
"""The question whom to admit."""
ZONE = "zone"
"""The question for the time zone."""


async def ask(
    chat: Chat, services: Services, question: AwaitedAnswer, text: str, keyboard: Keyboard | None = None
) -> None:
    """Sends `text` as a question, which the next message answers, see `expect`."""
    await expect(chat.user, services, question)
    await chat.say(text, keyboard, force_reply=keyboard is None)


async def expect(user: User, services: Services, question: AwaitedAnswer) -> None:
    """Waits ten minutes for the user's next message as the answer; a command or any button withdraws the question."""
    now = services.clock.now()
    await services.write(lambda c: access.await_answer(c, user.user_id, question, now))


class Answers(Filter):
    """A filter for messages that answer a question of this kind; the handler gets the question as `awaiting`."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    async def __call__(self, message: Message, awaiting: AwaitedAnswer | None = None) -> bool:
        return awaiting is not None and awaiting.kind == self._kind


class TakeAnswer(BaseMiddleware):
    """Finds the question that a message answers. A command is no answer: it withdraws the question."""

    async def __call__(
        self,
        handler: Callable[[TelegramObject, dict[str, Any]], Awaitable[Any]],
        event: TelegramObject,
        data: dict[str, Any],
    ) -> Any:
        if isinstance(event, Message):
            data["awaiting"] = await _awaiting(event, data["chat"], data["services"])
        return await handler(event, data)


class WithdrawQuestion(BaseMiddleware):
    """Withdraws the question when a button is pressed, so that the next message answers only a new one."""

    async def __call__(
        self,
        handler: Callable[[TelegramObject, dict[str, Any]], Awaitable[Any]],
        event: TelegramObject,
        data: dict[str, Any],
    ) -> Any:
        chat: Chat = data["chat"]
        services: Services = data["services"]
        if isinstance(event, CallbackQuery) and access.awaited(chat.user, services.clock.now()) is not None:
            await services.write(lambda c: access.stop_awaiting(c, chat.user.user_id))
        return await handler(event, data)


async def _awaiting(message: Message, chat: Chat, services: Services) -> AwaitedAnswer | None:
    user_id, now = chat.user.user_id, services.clock.now()
    question = access.awaited(chat.user, now, message.message_id)
    if question is None:
        return None
    if is_command(message):
        await services.write(lambda c: access.stop_awaiting(c, user_id))
        return None
    if not _may_answer(question, message):
        return None
    return await services.write(lambda c: access.take_answer(c, user_id, message.message_id, now))


def _may_answer(question: AwaitedAnswer, message: Message) -> bool:
    """Whether the message may answer the question. A card or forward without text only answers whom to admit, a place
    only the question for the time zone.
    """
    if question.kind == ADMISSION and (message.contact or message.forward_origin):
        return True
    return bool(message.text or message.caption or (question.kind == ZONE and message.location))
