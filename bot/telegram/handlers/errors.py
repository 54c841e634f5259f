"""Answers button presses, also of old and of other people's buttons, and turns refusals into sentences."""

from collections.abc import Awaitable, Callable
from typing import Any

from aiogram import BaseMiddleware, Router
from aiogram.filters import ExceptionTypeFilter
from aiogram.types import CallbackQuery, ErrorEvent, TelegramObject

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import has_phrase, label, phrase
from internal.errors import Conflict, NotFound, Refused

Handler = Callable[[TelegramObject, dict[str, Any]], Awaitable[Any]]


class GiveServices(BaseMiddleware):
    """Hands `services` to every handler by keyword."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, handler: Handler, event: TelegramObject, data: dict[str, Any]) -> Any:
        data["services"] = self._services
        return await handler(event, data)


class AnswerPress(BaseMiddleware):
    """Lets only the user for whom a button was made press it, and answers the press if its handler did not."""

    async def __call__(self, handler: Handler, event: TelegramObject, data: dict[str, Any]) -> Any:
        chat: Chat = data["chat"]
        if isinstance(event, CallbackQuery) and not _made_for(event.data or "", chat.user.user_id):
            await chat.toast(label(chat.user.lang, "button-not-yours"))
            return None
        result = await handler(event, data)
        await chat.toast()
        return result


def _made_for(callback_data: str, user_id: int) -> bool:
    """Whether the second field of the data, the owner in all our buttons, is this user. True for unknown data."""
    fields = callback_data.split(":")
    return len(fields) < 2 or not fields[1].removeprefix("-").isdigit() or int(fields[1]) == user_id


async def stale(query: CallbackQuery, chat: Chat) -> None:
    await chat.toast(label(chat.user.lang, "button-stale"))


async def refused(event: ErrorEvent, chat: Chat) -> None:
    """Says in the user's language why something cannot be done. Other errors are passed on."""
    key = _reason(event.exception)
    if event.update.callback_query is not None:
        await chat.toast(label(chat.user.lang, key))
    else:
        await chat.say(phrase(chat.user.lang, key))


def _reason(error: Exception) -> str:
    if isinstance(error, Refused):
        key = f"refused-{error.reason}"
        return key if has_phrase(key) else "refused-other"
    return "conflict" if isinstance(error, Conflict) else "not-found"


def router() -> Router:
    """The router for everything that no other handler took. Included last."""
    built = Router(name="border")
    built.callback_query.register(stale)
    built.errors.register(refused, ExceptionTypeFilter(Refused, NotFound, Conflict))
    return built
