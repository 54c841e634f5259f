"""The list of commands behind Telegram's menu button, in each language."""

from __future__ import annotations

from aiogram import Bot
from aiogram.types import BotCommand, BotCommandScopeAllPrivateChats, BotCommandScopeChat

from bot.telegram.i18n import label
from internal.access.model import LANGUAGES, Language

COMMANDS = (
    "people",
    "person",
    "archive",
    "status",
    "forget",
    "export",
    "language",
    "timezone",
    "privacy",
    "cancel",
    "help",
    "start",
)
OWNER_COMMANDS = (*COMMANDS, "access")

DEFAULT: Language = "en"
"""What users of other languages see."""


def commands(lang: Language, names: tuple[str, ...] = COMMANDS) -> list[BotCommand]:
    return [BotCommand(command=name, description=label(lang, f"menu-{name}")) for name in names]


async def set_menu(bot: Bot) -> None:
    """Sets the menu of private chats: the default, and one for each language. Raises aiogram's errors."""
    scope = BotCommandScopeAllPrivateChats()
    await bot.set_my_commands(commands(DEFAULT), scope=scope)
    for lang in LANGUAGES:
        await bot.set_my_commands(commands(lang), scope=scope, language_code=lang)


async def set_owner_menu(bot: Bot, owner_id: int, lang: Language) -> None:
    """Adds what only the owner sees to the menu of his chat. Raises aiogram's errors, also before he ever wrote."""
    await bot.set_my_commands(commands(lang, OWNER_COMMANDS), scope=BotCommandScopeChat(chat_id=owner_id))
