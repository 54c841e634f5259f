"""Three libraries as they are used: their bot, their types, and how each takes a file."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

LIBRARIES = ("aiogram", "python-telegram-bot", "pyTelegramBotAPI")


@dataclass(frozen=True)
class Library:
    """A bot of one library. Methods have the same names in all three; what differs is here."""

    name: str
    bot: Any
    types: ModuleType
    file: Callable[[str, bytes], Any]
    close: Callable[[], Any]

    def __call__(self, type_name: str, /, **values: Any) -> Any:
        """An object of the library, such as `InputMediaPhoto`."""
        return getattr(self.types, type_name)(**values)

    def keyboard(self, *rows: list[Any]) -> Any:
        """Inline buttons, whose rows pyTelegramBotAPI calls `keyboard`."""
        return self("InlineKeyboardMarkup", **{self._rows: list(rows)})

    def reply_keyboard(self, text: str) -> Any:
        """A keyboard of one key, which pyTelegramBotAPI makes step by step."""
        if self.name == "pyTelegramBotAPI":
            return self.types.ReplyKeyboardMarkup().add(text)
        return self("ReplyKeyboardMarkup", keyboard=[[self("KeyboardButton", text=text)]])

    def flag(self, name: str) -> dict[str, bool]:
        """A field that is always true, which aiogram alone wants to be told."""
        return {name: True} if self.name == "aiogram" else {}

    def parameter(self, kind: str) -> str:
        """The name under which a sending method takes its file."""
        return "data" if (self.name, kind) == ("pyTelegramBotAPI", "video_note") else kind

    @property
    def _rows(self) -> str:
        return "keyboard" if self.name == "pyTelegramBotAPI" else "inline_keyboard"


async def open_library(name: str, token: str, url: str) -> Library:
    """A bot of the library `name` with this token, at this Bot API server."""
    return await {"aiogram": _aiogram, "python-telegram-bot": _ptb, "pyTelegramBotAPI": _telebot}[name](token, url)


async def _aiogram(token: str, url: str) -> Library:
    from aiogram import Bot, types
    from aiogram.client.session.aiohttp import AiohttpSession
    from aiogram.client.telegram import TelegramAPIServer

    bot = Bot(token, session=AiohttpSession(api=TelegramAPIServer.from_base(url)))
    return Library(
        "aiogram", bot, types, lambda name, content: types.BufferedInputFile(content, name), bot.session.close
    )


async def _ptb(token: str, url: str) -> Library:
    import telegram
    from telegram.request import HTTPXRequest

    requests = [HTTPXRequest(httpx_kwargs={"trust_env": False}) for _ in range(2)]
    bot = telegram.Bot(token, f"{url}/bot", f"{url}/file/bot", request=requests[0], get_updates_request=requests[1])
    await bot.initialize()
    return Library(
        "python-telegram-bot", bot, telegram, lambda name, content: telegram.InputFile(content, name, attach=True),
        bot.shutdown,
    )  # fmt: skip


async def _telebot(token: str, url: str) -> Library:
    from telebot import asyncio_helper, types
    from telebot.async_telebot import AsyncTeleBot

    vars(asyncio_helper).update(API_URL=f"{url}/bot{{0}}/{{1}}", FILE_URL=f"{url}/file/bot{{0}}/{{1}}")
    bot = AsyncTeleBot(token)

    def file(name: str, content: bytes) -> Any:
        return types.InputFile(io.BytesIO(content), file_name=name)

    return Library("pyTelegramBotAPI", bot, types, file, bot.close_session)
