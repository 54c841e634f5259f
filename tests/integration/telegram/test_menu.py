"""The menus of commands, against a real local Telegram that fails."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from support.interfaces.telegram_stage import BotStage, cancelled, eventually

from bot.telegram import menu
from bot.telegram.menu import ChatMenus, commands
from internal.access.model import LANGUAGES, Language, Role, User, UserState

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(menu, "RETRY_BASE", timedelta(milliseconds=20))


def user(number: int) -> User:
    """Somebody who chose Ukrainian, in a Telegram that speaks English."""
    return User(number, Role.OWNER, UserState.ACTIVE, "Olena", None, "uk", "UTC", True, {}, datetime.now(UTC))


async def shown(stage: BotStage, person: int, lang: Language) -> bool:
    wanted = [{"command": one.command, "description": one.description} for one in commands(lang)]
    return bool((await stage.screen(person))["commands"] == wanted)


@pytest.mark.parametrize("kind", ["server_error", "reset", "flood"])
async def test_a_menu_that_telegram_failed_at_is_set_later(stage: BotStage, kind: str) -> None:
    """That of everybody and that of one chat, at a start and while it runs."""
    owner, other = await stage.person(), await stage.person()
    await stage.bot.delete_my_commands()
    menus = ChatMenus(stage.bot)
    await stage.fault(kind, "setMyCommands", times=3)
    keeping = asyncio.create_task(menus.keep([user(owner)]))
    try:
        await eventually(lambda: shown(stage, owner, "uk"))
        await eventually(lambda: shown(stage, other, "en"))
        await stage.fault(kind, "setMyCommands", times=2)
        await menus.show(user(other))
        await eventually(lambda: shown(stage, other, "uk"))
    finally:
        await cancelled(keeping)


async def test_a_menu_that_is_refused_is_left_alone(stage: BotStage) -> None:
    """As before its user ever wrote: repeating it helps nobody."""
    person, refusal = await stage.person(), "Bad Request: chat not found"
    menus, general = ChatMenus(stage.bot), 1 + len(LANGUAGES)
    before = general + len(await stage.ledger(method="setMyCommands"))

    async def settled() -> bool:
        return len(await stage.ledger(method="setMyCommands")) == before

    keeping = asyncio.create_task(menus.keep([]))
    try:
        await eventually(settled)
        await stage.fault("bad_request", "setMyCommands", description=refusal)
        await menus.show(user(person))
        await asyncio.sleep(0.1)
        assert len(await stage.ledger(method="setMyCommands")) == before + 1
    finally:
        await cancelled(keeping)
