"""The command list of Telegram's menu button, in each language."""

from __future__ import annotations

import logging

from aiogram import Bot
from aiogram.exceptions import TelegramAPIError
from aiogram.types import BotCommand, BotCommandScopeAllPrivateChats, BotCommandScopeChat

from bot.telegram.delivery.sender import describe
from bot.telegram.i18n import label
from internal.access.model import LANGUAGES, Language, Role, User

log = logging.getLogger(__name__)

COMMANDS = (
    "people",
    "person",
    "facts",
    "why",
    "asof",
    "correct",
    "goals",
    "decisions",
    "questions",
    "preferences",
    "memories",
    "tasks",
    "sessions",
    "db",
    "sa",
    "ss",
    "team",
    "console",
    "archive",
    "status",
    "forget",
    "export",
    "language",
    "timezone",
    "quiet",
    "privacy",
    "cancel",
    "help",
    "start",
)
OWNER_COMMANDS = (*COMMANDS, "access")

DEFAULT: Language = "en"
"""The menu for users of other languages."""

TIMEOUT_S = 5
"""The chat's other updates wait while its own menu is set."""


def commands(lang: Language, names: tuple[str, ...] = COMMANDS) -> list[BotCommand]:
    return [BotCommand(command=name, description=label(lang, f"menu-{name}")) for name in names]


async def set_menu(bot: Bot) -> None:
    """Sets the menu of private chats: the default and one for each language. Raises aiogram's errors."""
    scope = BotCommandScopeAllPrivateChats()
    await bot.set_my_commands(commands(DEFAULT), scope=scope)
    for lang in LANGUAGES:
        await bot.set_my_commands(commands(lang), scope=scope, language_code=lang)


class ChatMenus:
    """Menus of single chats: the owner's has more commands, and a chosen language may differ from Telegram's.

    Such a menu hides those of `set_menu`, so it is set again whenever its user's language or role changes.
    """

    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    async def show(self, user: User) -> None:
        """Sets the user's menu. Cosmetic: a refusal, as before the user ever wrote, is only logged."""
        names = OWNER_COMMANDS if user.role is Role.OWNER else COMMANDS
        scope = BotCommandScopeChat(chat_id=user.user_id)
        try:
            await self._bot.set_my_commands(commands(user.lang, names), scope=scope, request_timeout=TIMEOUT_S)
        except TelegramAPIError as error:
            log.warning("menu_not_set", extra={"user_id": user.user_id, "error": describe(error)})


async def publish(bot: Bot, owners: list[User]) -> None:
    """Sets the general menus and those of `owners`. Cosmetic: a refused one is tried again at the next start."""
    try:
        await set_menu(bot)
    except TelegramAPIError as error:
        log.warning("menu_not_set", extra={"error": describe(error)})
        return
    for owner in owners:
        await ChatMenus(bot).show(owner)
