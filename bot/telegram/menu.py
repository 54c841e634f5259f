"""The command list of Telegram's menu button, in each language, and the button itself."""

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from datetime import timedelta

from aiogram import Bot
from aiogram.exceptions import TelegramAPIError, TelegramNetworkError, TelegramRetryAfter, TelegramServerError
from aiogram.types import (
    BotCommand,
    BotCommandScopeAllPrivateChats,
    BotCommandScopeChat,
    MenuButtonCommands,
    MenuButtonWebApp,
    WebAppInfo,
)

from bot.telegram.delivery.sender import describe
from bot.telegram.i18n import label
from internal.access.model import LANGUAGES, Language, User
from internal.scheduling.retry import retry_delay

log = logging.getLogger(__name__)

COMMANDS = (
    "people", "person", "map", "facts", "why", "asof", "correct", "goals", "decisions", "questions", "preferences",
    "instructions", "memories", "tasks", "today", "week", "brief", "digest", "birthdays", "files", "sessions", "db",
    "sa", "ss", "team", "console", "settings", "more", "archive", "status", "forget", "undo", "export", "language",
    "timezone", "quiet", "share", "shared", "privacy", "cancel", "help", "start",
)  # fmt: skip
OWNER_COMMANDS = (*COMMANDS, "access", "groups")

MENU = ("today", "people", "facts", "tasks", "brief", "files", "forget", "undo", "settings", "more")
"""Commands in Telegram's menu: those of daily use. /more lists the rest."""

DEFAULT: Language = "en"
"""The language of the menu for users of other languages."""

RETRY_BASE, RETRY_MAX = timedelta(seconds=2), timedelta(minutes=10)
TIMEOUT_S = 5
"""Seconds for setting a chat's menu: the chat's other updates wait meanwhile."""


def commands(lang: Language, names: Sequence[str] = MENU) -> list[BotCommand]:
    return [BotCommand(command=name, description=label(lang, f"menu-{name}")) for name in names]


async def set_menu(bot: Bot, miniapp: str = "") -> None:
    """Sets the menu of private chats: the default and one for each language, and the button beside the field.

    The button opens the Mini App at that address, or shows the commands. Raises aiogram's errors.
    """
    scope = BotCommandScopeAllPrivateChats()
    await bot.set_my_commands(commands(DEFAULT), scope=scope)
    for lang in LANGUAGES:
        await bot.set_my_commands(commands(lang), scope=scope, language_code=lang)
    await bot.set_chat_menu_button(menu_button=_button(miniapp, DEFAULT) if miniapp else MenuButtonCommands())


def _button(miniapp: str, lang: Language) -> MenuButtonWebApp:
    return MenuButtonWebApp(text=label(lang, "menu-button"), web_app=WebAppInfo(url=miniapp))


class ChatMenus:
    """Menus of single chats: a chosen language may differ from Telegram's.

    Such a menu hides those of `set_menu`, so it is set again whenever its user's language changes. If
    Telegram fails, `keep` sets it later.
    """

    def __init__(self, bot: Bot, miniapp: str = "") -> None:
        self._bot, self._miniapp = bot, miniapp
        self._owed: dict[int, User] = {}
        self._woken = asyncio.Event()

    async def show(self, user: User) -> None:
        """Sets the user's menu. Cosmetic: a refusal, as before the user ever wrote, is only logged."""
        if user.user_id < 0:  # groups have the general menu
            return
        self._owed[user.user_id] = user
        if await _again_in(self._set(user)) is None:
            self._owed.pop(user.user_id, None)
        self._woken.set()

    async def keep(self, owners: Sequence[User]) -> None:
        """Sets the general menus and those of `owners`; repeats what failed until cancelled."""
        self._owed = {owner.user_id: owner for owner in owners} | self._owed
        general, failures = True, 0
        while True:
            self._woken.clear()
            waits = (
                [wait] if general and (wait := await _again_in(set_menu(self._bot, self._miniapp))) is not None else []
            )
            general = bool(waits)
            for user in list(self._owed.values()):
                if (wait := await _again_in(self._set(user))) is not None:
                    waits.append(wait)
                else:
                    self._owed.pop(user.user_id, None)
            failures = failures + 1 if waits else 0
            if waits:
                await asyncio.sleep(max(*waits, retry_delay(failures, RETRY_BASE, RETRY_MAX).total_seconds()))
            else:
                await self._woken.wait()

    async def _set(self, user: User) -> None:
        scope = BotCommandScopeChat(chat_id=user.user_id)
        await self._bot.set_my_commands(commands(user.lang), scope=scope, request_timeout=TIMEOUT_S)
        if self._miniapp:
            shown = _button(self._miniapp, user.lang)
            await self._bot.set_chat_menu_button(user.user_id, shown, request_timeout=TIMEOUT_S)


async def _again_in(setting: Awaitable[None]) -> float | None:
    """Sets a menu. Returns None, or the least seconds after which to try again."""
    try:
        await setting
    except TelegramAPIError as error:
        log.warning("menu_not_set", extra={"error": describe(error)})
        if isinstance(error, TelegramRetryAfter):
            return float(error.retry_after)
        return 0.0 if isinstance(error, TelegramNetworkError | TelegramServerError) else None
    return None
