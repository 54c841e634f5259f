"""The least that a bot can do: aiogram polls, a message is committed, one model call, its answer is committed and sent.

python -m benchmarks.shared.bare_bot BOT_API MODEL_API FILE
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys

import aiohttp
from aiogram import Bot, Dispatcher
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.types import Message

from benchmarks.shared.fake_telegram import TOKEN


async def main(telegram: str, model: str, path: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=FULL"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("CREATE TABLE messages(n INTEGER PRIMARY KEY, user_id INTEGER, role TEXT, content TEXT)")
    insert = "INSERT INTO messages(user_id, role, content) VALUES (?, ?, ?)"
    dispatcher = Dispatcher()
    session = aiohttp.ClientSession()

    @dispatcher.message()
    async def answer(message: Message) -> None:
        connection.execute(insert, (message.chat.id, "user", message.text))
        asked = {"model": "instant/responder", "messages": [{"role": "user", "content": message.text}]}
        async with session.post(f"{model}/chat/completions", json=asked) as reply:
            text = (await reply.json())["choices"][0]["message"]["content"]
        connection.execute(insert, (message.chat.id, "assistant", text))
        await message.answer(text)

    bot = Bot(TOKEN, session=AiohttpSession(api=TelegramAPIServer.from_base(telegram)))
    await dispatcher.start_polling(bot, handle_signals=True, close_bot_session=True)
    await session.close()
    connection.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
