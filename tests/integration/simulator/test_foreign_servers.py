"""The bot runs on Telegrams that other people wrote, as it does on the real one and on its own."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from support.foreign_servers.servers import Foreign, buttons, telegram_test_api, telemelya, words
from support.product.running_product import RESPONDER, product, until


async def answer(server: Foreign, part: str) -> tuple[int, dict[str, Any]]:
    """The message that holds these words, once it is there."""

    async def found() -> tuple[int, dict[str, Any]] | None:
        shown = await server.shown()
        return next(((number, sent) for number, sent in reversed(shown.items()) if part in words(sent)), None)

    message: tuple[int, dict[str, Any]] = await until(found)
    return message


@pytest.mark.parametrize("kind", ["telegram-test-api", "telemelya"])
async def test_the_bot_runs_on_it(kind: str, tmp_path: Path) -> None:
    """A text is answered, a command shows buttons, a press edits its message, and a restarted bot goes on."""
    async with AsyncExitStack() as stack:
        opened = telegram_test_api() if kind == "telegram-test-api" else telemelya(tmp_path)
        server = await stack.enter_async_context(opened)
        made = product(tmp_path, scripted=False, own_telegram=False, **server.settings)
        bot, _ = await stack.enter_async_context(made)
        await bot.start()
        await server.say("My sister Kateryna lives in Lviv")
        await answer(server, "Kateryna")
        await server.say("/settings")
        await press(server, "Time zone", "Language")
        number = await press(server, "Which language", "Українська")
        await until(lambda: edited(server, number, "українською"))
        assert await bot.stop() == 0
        await bot.start()
        await server.say("Where does my sister live?")
        await answer(server, "lives in Lviv")
    assert server.relay.unknown <= {"setMyCommands", "sendChatAction", "sendMessageDraft"}


async def press(server: Foreign, part: str, button: str) -> int:
    """Presses a button below the message with these words, and returns its number."""
    number, sent = await answer(server, part)
    await server.press(next(one["callback_data"] for one in buttons(sent) if one["text"] == button), number)
    return number


async def edited(server: Foreign, number: int, part: str) -> bool:
    """Whether the message has these words by now."""
    return part in words((await server.shown())[number])


@pytest.mark.parametrize("kind", ["telegram-test-api", "telemelya"])
async def test_a_table_arrives_where_there_are_no_rich_messages(kind: str, tmp_path: Path) -> None:
    """As text in columns, each once."""
    birds = ("Kestrel", "Merlin")
    async with AsyncExitStack() as stack:
        opened = telegram_test_api() if kind == "telegram-test-api" else telemelya(tmp_path)
        server = await stack.enter_async_context(opened)
        made = product(tmp_path, scripted=True, own_telegram=False, **server.settings)
        bot, _ = await stack.enter_async_context(made)
        assert bot.model is not None
        bot.model.script(RESPONDER, *(f"| Bird | Seen |\n|---|---|\n| {bird} | 9 |" for bird in birds))
        await bot.start()
        for bird in birds:
            await server.say("Which bird did I see?")
            await answer(server, f"{bird} ")
        told = " ".join(map(words, (await server.shown()).values()))
        assert [told.count(bird) for bird in birds] == [1, 1]
    assert "sendRichMessage" in server.relay.unknown
