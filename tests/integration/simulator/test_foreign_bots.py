"""Bots that other people wrote run on the local Telegram: a table of calls in each of three libraries."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from aiogram import methods
from support.foreign_bots.group_probes import GROUP_PROBES
from support.foreign_bots.libraries import LIBRARIES, open_library
from support.foreign_bots.probes import PICTURE, PROBES, SOUND, Probe, Scene
from support.interfaces.simulator_stage import Stage

from bot.simulator.launch import LocalTelegram
from bot.simulator.methods import METHODS

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=LIBRARIES)
async def scene(request: pytest.FixtureRequest, running: LocalTelegram) -> AsyncIterator[Scene]:
    """A bot of one library in the chat of a person, with messages of each kind in it."""
    stage = Stage(running)
    lib = await open_library(request.param, running.token, running.url)
    user = await stage.person()
    await stage.request("PUT", "/flood", {"enabled": False})  # a hundred calls in a second

    async def sent(method: str, files: dict[str, Any] | None = None, **values: Any) -> dict[str, Any]:
        answer = await stage.http.post(f"/bot{running.token}/{method}", data={"chat_id": user, **values}, files=files)
        result: dict[str, Any] = answer.json()["result"]
        return result

    photo = await sent("sendPhoto", {"photo": ("a.png", PICTURE, "image/png")}, caption="p")
    voice = await sent("sendVoice", {"voice": ("a.ogg", SOUND, "audio/ogg")})
    path = (await sent("getFile", file_id=photo["photo"][-1]["file_id"]))["file_path"]
    buttons = '{"inline_keyboard": [[{"text": "b", "callback_data": "b"}]]}'
    pressed = await sent("sendMessage", text="?", reply_markup=buttons)
    member = await stage.person("Остап")
    chat = {"title": "Ремонт", "members": [user, member], "privacy": False}
    group = (await stage.request("POST", "/chats", chat))["id"]
    await stage.request("POST", f"/chats/{group}/promote", {"user_id": int(running.token.split(":")[0])})
    topic = await stage.request("POST", f"/chats/{group}/topics/new", {"user_id": user, "name": "Плитка"})
    yield Scene(
        lib, user, (await sent("sendMessage", text="t"))["message_id"], photo["message_id"],
        photo["photo"][-1]["file_id"], voice["voice"]["file_id"], f"{running.url}/file/bot{running.token}/{path}",
        (await sent("sendLocation", latitude=1, longitude=2, live_period=900))["message_id"],
        (await sent("sendPoll", question="?", options='["a", "b"]'))["message_id"],
        (await sent("sendDice"))["message_id"], (await stage.say(user, "зелений чай"))["message_id"],
        await stage.press(user, pressed["message_id"], "b"), await stage.ask_inline(user, "x"),
        group, topic["message_thread_id"], member,
    )  # fmt: skip
    await lib.close()
    await stage.close()


async def test_every_method_is_there() -> None:
    """The local Telegram knows each method that aiogram knows."""
    named = [getattr(getattr(methods, name), "__api_method__", None) for name in methods.__all__]
    assert {name for name in named if isinstance(name, str) and name.lower() not in METHODS} == set()


@pytest.mark.parametrize("probes", [GROUP_PROBES, PROBES], ids=["as a moderator", "in private"])
async def test_every_call(scene: Scene, probes: list[Probe]) -> None:
    """Each call does in this library what it does with Telegram, or is refused in Telegram's words."""
    failed = {}
    for probe in probes:
        try:
            await probe.play(scene)
        except Exception as error:  # all are told at the end
            failed[probe.name] = repr(error)
    assert failed == {}
