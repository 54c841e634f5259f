"""/settings: a button for each setting; /more: the commands that the menu does not show."""

from enum import StrEnum

from aiogram import Router
from aiogram.filters import Command
from aiogram.types import CallbackQuery, Message

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.account import data, quiet
from bot.telegram.handlers.account.settings import LANGUAGE_NAMES, ask_zone, language
from bot.telegram.handlers.buttons import Owned, Rows, button
from bot.telegram.handlers.companion import today
from bot.telegram.handlers.memories import memories
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from bot.telegram.menu import COMMANDS, MENU, OWNER_COMMANDS
from internal.access import service as access
from internal.access.model import Role
from internal.access.zones import zone_label


class Setting(StrEnum):
    """A setting with a button in /settings; the labels are those of the menu."""

    LANGUAGE = "language"
    TIMEZONE = "timezone"
    QUIET = "quiet"
    DIGEST = "digest"
    INSTRUCTIONS = "instructions"
    PRIVACY = "privacy"
    EXPORT = "export"


class SettingButton(Owned, prefix="se", command="/settings"):
    setting: Setting


async def settings(message: Message, chat: Chat, services: Services) -> None:
    user, now = chat.user, services.clock.now()
    hours = access.quiet_hours(user, services.config.notifications.quiet_hours)
    text = phrase(
        user.lang,
        "settings",
        language=LANGUAGE_NAMES[user.lang],
        zone=zone_label(user.tz, user.lang, now),
        quiet=hours or label(user.lang, "quiet-button-none"),
    )
    buttons = [
        button(label(user.lang, f"menu-{one.value}"), SettingButton(owner=user.user_id, setting=one)) for one in Setting
    ]
    rows: Rows = [buttons[at : at + 2] for at in range(0, len(buttons), 2)]
    await chat.say(text, rows)


async def pressed(query: CallbackQuery, callback_data: SettingButton, chat: Chat, services: Services) -> None:
    """Does the same as the command of that name without text."""
    match callback_data.setting:
        case Setting.LANGUAGE:
            await language(query, chat)
        case Setting.TIMEZONE:
            await ask_zone(chat, services)
        case Setting.QUIET:
            await quiet.ask_hours(chat, services)
        case Setting.DIGEST:
            await today.ask_digest(chat)
        case Setting.INSTRUCTIONS:
            await memories.show_list("instructions", chat, services)
        case Setting.PRIVACY:
            await data.privacy(query, chat, services)
        case Setting.EXPORT:
            await data.export(query, chat, services)


async def more(message: Message, chat: Chat) -> None:
    lang = chat.user.lang
    names = OWNER_COMMANDS if chat.user.role is Role.OWNER else COMMANDS
    lines = [phrase(lang, "more")]
    lines += [f"/{name} — {label(lang, f'menu-{name}')}" for name in names if name not in MENU]
    await chat.say("\n".join(lines))


def router() -> Router:
    built = Router(name="overview")
    built.message.register(settings, Command("settings", ignore_mention=True))
    built.message.register(more, Command("more", ignore_mention=True))
    built.callback_query.register(pressed, SettingButton.filter())
    return built
