"""Nothing configured: the real process, its own local Telegram, offline models, no way out of this machine."""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.product.running_product import ROOT, Product, product, until

from bot.simulator.client import ControlClient
from internal.testing import ScriptedModel

GUARD = '''
"""Refuses and records whatever leaves this machine, in every process of the product."""
import ipaddress, os, sys

def _is_local(host):
    if host in (None, "", b"", "localhost", b"localhost"):
        return True
    try:
        return ipaddress.ip_address(host.decode() if isinstance(host, bytes) else host).is_loopback
    except ValueError:
        return False

def _guard(event, arguments):
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    if not _is_local(host):
        with open(os.environ["GUARD_LOG"], "a") as log:
            print(event, host, file=log)
        raise OSError(f"no network here: {host}")

sys.addaudithook(_guard)
'''


@dataclass(frozen=True)
class Story:
    """What one person tells, whom the bot must know then, and questions with the words that their answers quote."""

    lang: str
    told: tuple[str, ...]
    known: frozenset[tuple[str, str]]
    family: tuple[str, str]
    asked: tuple[str, str]
    counted: tuple[str, str]
    asked_after_restart: tuple[str, str]
    told_before_kill: str
    asked_after_kill: tuple[str, str]


STORIES = (
    Story(
        lang="ru",
        told=(
            "Вчера обедал с Петровым, мы вместе работаем над проектом «Маяк». Он сказал, что релиз перенесли на март.",
            "А сестра Маша приехала из Казани, привезла собаку.",
        ),
        known=frozenset({("Петров", "Work_Inner"), ("Маша", "Family")}),
        family=("Семья: 1", "Маша"),
        asked=("Что я рассказывал о Петрове?", "релиз перенесли на март"),
        counted=("Как часто я вижусь с Петровым?", "Дней, о которых ты рассказывал: 1"),
        asked_after_restart=("Кто такая Mariya?", "приехала из Казани"),
        told_before_kill="Мой друг Виктор Задорожный купил дом в Твери.",
        asked_after_kill=("Что купил Zadorozhny?", "дом в Твери"),
    ),
    Story(
        lang="uk",
        told=(
            "Учора зустрів Олега Петренка, мого друга зі школи. Він переїхав до Львова і шукає роботу.",
            "Моя сестра Оля тепер мешкає в Полтаві.",
        ),
        known=frozenset({("Олег Петренко", "Friends"), ("Оля", "Family")}),
        family=("Родина: 1", "Оля"),
        asked=("Що я розповідав про Петренка?", "переїхав до Львова"),
        counted=("Як часто я бачуся з Петренком?", "Днів, про які ти розповідав: 1"),
        asked_after_restart=("Хто такий Petrenko?", "шукає роботу"),
        told_before_kill="Мій колега Андрій Шевчук робить ремонт удома.",
        asked_after_kill=("Що ти знаєш про Shevchuk?", "робить ремонт"),
    ),
    Story(
        lang="en",
        told=(
            "My colleague Tom Baker moved the release to March.",
            "My sister Kate is getting married in Leeds in June.",
        ),
        known=frozenset({("Tom Baker", "Work_Inner"), ("Kate", "Family")}),
        family=("Family: 1", "Kate"),
        asked=("What did I tell you about Baker?", "moved the release to March"),
        counted=("How often do I see Baker?", "I was told nothing of it"),
        asked_after_restart=("When is Katie getting married?", "in June"),
        told_before_kill="My friend Andrew Collins bought a boat.",
        asked_after_kill=("What did Andy buy?", "a boat"),
    ),
)


async def test_three_people_are_remembered_over_stops_and_kills(tmp_path: Path) -> None:
    """Told, archived, listed and quoted in three languages at once; a stop and a kill -9 later still known."""
    settings = _guarded(tmp_path) | {"LAPLACED_DIALOGUE__IDLE_TIMEOUT": "2s"}
    async with product(tmp_path, scripted=False, own_telegram=False, **settings) as (bot, _):
        await bot.start()
        async with ControlClient(bot.chat_page) as people:
            users = {user["language_code"]: user["id"] for user in (await people.request("GET", "/users"))["users"]}
            await _all(_tells_and_asks(bot, people, users[story.lang], story) for story in STORIES)
        assert await _stopped_within(bot, 25) == 0

        await bot.start()
        async with ControlClient(bot.chat_page) as people:
            await _all(_asks(people, users[story.lang], story.asked_after_restart) for story in STORIES)
            for story in STORIES:
                await people.say(users[story.lang], story.told_before_kill)
        await bot.kill()

        await bot.start()
        async with ControlClient(bot.chat_page) as people:
            await _all(_is_answered(people, users[story.lang], story.told_before_kill) for story in STORIES)
            await _all(_knows(bot, users[story.lang], len(story.known) + 1) for story in STORIES)
            await _all(_asks(people, users[story.lang], story.asked_after_kill) for story in STORIES)
            answers = [await _answers_between(people, users[story.lang], story) for story in STORIES]
            # Killed between C5 and C6, the bot cannot know whether Telegram had the reply: it says so, and repeats it.
            [repeated] = re.findall(r"^laplaced_sends_unknown_total (\d+)", await bot.metrics(), re.MULTILINE)
            assert len(STORIES) <= sum(answers) <= len(STORIES) + int(repeated)
        assert await _stopped_within(bot, 25) == 0
        assert bot.rows("SELECT state, count(*) FROM runs GROUP BY state HAVING state <> 'applied'") == []
        assert not (tmp_path / "left.log").exists()


async def test_the_terminal_says_what_answers(tmp_path: Path) -> None:
    """At start the bot says where to write to it, that no real Telegram and no real model is used, and which servers of
    this machine could be: one that answers, none that is silent, and none is asked for a word."""

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    silent = await asyncio.start_server(hold, "127.0.0.1", 0)
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(silent)
        ollama = await stack.enter_async_context(ScriptedModel(offered=["qwen3:8b", "gemma3:4b"]))
        here = {"OLLAMA_HOST": f"0.0.0.0:{ollama.port}", "LLAMA_ARG_PORT": str(silent.sockets[0].getsockname()[1])}
        given = _guarded(tmp_path) | here
        bot, _ = await stack.enter_async_context(
            product(tmp_path, scripted=False, own_telegram=False, fresh=True, **given)
        )
        await bot.start()
        said = "\n".join(bot.output)
        assert "Ollama runs on this machine (qwen3:8b, gemma3:4b) and is not used. To use it: laplaced setup" in said
        assert "--provider ollama --model qwen3:8b\n" in said
        assert ("llama.cpp" in said, ollama.requests) == (False, [])
        assert f"Open {bot.chat_page} and write to Laplaced" in said
        assert "the offline models answer" in said
        assert await _stopped_within(bot, 25) == 0
    assert not (tmp_path / "left.log").exists()


async def test_the_guard_of_these_tests_sees_what_leaves(tmp_path: Path) -> None:
    """A process under the guard cannot ask a name server, and the attempt is on record."""
    environment = _guarded(tmp_path)
    code = "import socket; socket.create_connection(('laplaced.invalid', 443), 1)"
    asked = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, env=environment, stderr=asyncio.subprocess.PIPE
    )
    told = (await asked.communicate())[1].decode()
    assert "no network here: laplaced.invalid" in told
    assert (tmp_path / "left.log").read_text() == "socket.getaddrinfo laplaced.invalid\n"


def _guarded(folder: Path) -> dict[str, str]:
    guard = folder / "guard"
    guard.mkdir()
    (guard / "sitecustomize.py").write_text(GUARD)
    return {"PYTHONPATH": f"{guard}:{ROOT}", "GUARD_LOG": str(folder / "left.log")}


async def _all(steps: Any) -> None:
    async with asyncio.TaskGroup() as group:
        for step in steps:
            group.create_task(step)


async def _tells_and_asks(bot: Product, people: ControlClient, user: int, story: Story) -> None:
    for sentence in story.told:
        await _answer(people, user, sentence)
    assert {(one["display_name"], one["circle"]) for one in await _knows(bot, user, len(story.known))} == story.known
    overview = await _answer(people, user, "/people")
    keys = [key for row in overview["reply_markup"]["inline_keyboard"] for key in row]
    [button] = [key for key in keys if key["text"] == story.family[0]]
    await people.press(user, overview["message_id"], button["callback_data"])
    await people.wait_for_message(user, lambda message: story.family[1] in str(message.get("reply_markup")))
    await _asks(people, user, story.asked)
    await _asks(people, user, story.counted)


async def _knows(bot: Product, user: int, count: int) -> list[dict[str, Any]]:
    """The people of a user once there are so many, each with a vector."""

    async def found() -> list[dict[str, Any]] | None:
        listed: list[dict[str, Any]] = (await bot.get("/people", user_id=user))["people"]
        embedded = bot.rows("SELECT count(*) FROM vectors WHERE user_id = ? AND item LIKE 'person:%'", user)[0][0]
        return listed if len(listed) == embedded == count else None

    known: list[dict[str, Any]] = await until(found)
    return known


async def _asks(people: ControlClient, user: int, asked: tuple[str, str]) -> None:
    question, quoted = asked
    said = await people.say(user, question)
    # Not the first message: after a kill an earlier reply may be repeated half a minute later.
    await people.wait_for_message(
        user, lambda told: quoted in str(told.get("text")), after=said["message_id"], within=60
    )


async def _answer(people: ControlClient, user: int, text: str) -> dict[str, Any]:
    said = await people.say(user, text)
    answer: dict[str, Any] = await people.wait_for_message(user, lambda _: True, after=said["message_id"])
    return answer


async def _is_answered(people: ControlClient, user: int, text: str) -> None:
    [said] = [message for message in await people.messages(user) if message.get("text") == text]
    await people.wait_for_message(user, lambda _: True, after=said["message_id"])


async def _answers_between(people: ControlClient, user: int, story: Story) -> int:
    """How many replies came between what was said before the kill and the question after it."""
    chat = await people.messages(user)
    [said, asked] = [
        n for n, one in enumerate(chat) if one.get("text") in (story.told_before_kill, story.asked_after_kill[0])
    ]
    return sum(one["from"]["is_bot"] for one in chat[said:asked])


async def _stopped_within(bot: Product, seconds: float) -> int:
    async with asyncio.timeout(seconds):
        return await bot.stop()
