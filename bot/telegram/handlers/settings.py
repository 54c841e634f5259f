"""/timezone and /language: how the user counts time, and in which language he is answered."""

from __future__ import annotations

from aiogram import Router
from aiogram.filters import Command, CommandObject
from aiogram.types import CallbackQuery, Message

from bot.telegram.chat import Chat
from bot.telegram.handlers.asking import Answers, ask
from bot.telegram.handlers.buttons import LanguageButton, Rows, ZoneButton, button
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from internal.access import service as access
from internal.access.model import LANGUAGES, Awaiting, Language, User
from internal.access.zones import parse_zone, zone_label

LANGUAGE_NAMES: dict[Language, str] = {"ru": "Русский", "uk": "Українська", "en": "English"}

_OFFERED: dict[Language, tuple[str, ...]] = {
    "ru": ("Europe/Moscow", "Asia/Yekaterinburg", "Asia/Novosibirsk", "Europe/Minsk", "Asia/Almaty"),
    "uk": ("Europe/Kyiv", "Europe/Warsaw", "Europe/Berlin", "Europe/London"),
    "en": ("Europe/London", "Europe/Berlin", "America/New_York", "America/Chicago", "America/Los_Angeles"),
}
"""Where most who speak the language live; for the rest there is a button to name the place."""

_ZONE = Awaiting("zone")


async def ask_zone(chat: Chat, services: Services) -> None:
    user, now = chat.user, services.clock.now()
    zones = dict.fromkeys((user.tz, *_OFFERED[user.lang]))
    buttons = [button(zone_label(zone, user.lang, now), ZoneButton(owner=user.user_id, zone=zone)) for zone in zones]
    other = button(label(user.lang, "zone-button-other"), ZoneButton(owner=user.user_id, zone=""))
    rows: Rows = [[*buttons[start : start + 2]] for start in range(0, len(buttons), 2)]
    await chat.say(phrase(user.lang, "zone-ask", zone=zone_label(user.tz, user.lang, now)), [*rows, [other]])


async def timezone(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    if command.args:
        await _take_zone(command.args, chat, services)
    else:
        await ask_zone(chat, services)


async def zone_pressed(query: CallbackQuery, callback_data: ZoneButton, chat: Chat, services: Services) -> None:
    await chat.toast()
    if not callback_data.zone:
        await ask(chat, services, _ZONE, phrase(chat.user.lang, "zone-type"))
        return
    zone = parse_zone(callback_data.zone) or "UTC"
    await chat.edit(await _set_zone(zone, chat.user, services))


async def zone_typed(message: Message, chat: Chat, services: Services) -> None:
    await _take_zone(message.text or "", chat, services)


async def _take_zone(text: str, chat: Chat, services: Services) -> None:
    zone = parse_zone(text)
    if zone is None:
        await ask(chat, services, _ZONE, phrase(chat.user.lang, "zone-unknown", text=text[:64]))
    else:
        await chat.say(await _set_zone(zone, chat.user, services))


async def _set_zone(zone: str, user: User, services: Services) -> str:
    await services.write(lambda c: access.set_zone(c, user.user_id, zone))
    return phrase(user.lang, "zone-set", zone=zone_label(zone, user.lang, services.clock.now()))


async def language(message: Message, chat: Chat) -> None:
    owner = chat.user.user_id
    row = [button(LANGUAGE_NAMES[lang], LanguageButton(owner=owner, lang=lang)) for lang in LANGUAGES]
    await chat.say(phrase(chat.user.lang, "language-ask"), [row])


async def language_pressed(query: CallbackQuery, callback_data: LanguageButton, chat: Chat, services: Services) -> None:
    await services.write(lambda c: access.set_language(c, chat.user.user_id, callback_data.lang))
    await chat.toast()
    await chat.edit(phrase(callback_data.lang, "language-set"))


def router() -> Router:
    built = Router(name="settings")
    built.message.register(timezone, Command("timezone", ignore_mention=True))
    built.message.register(language, Command("language", ignore_mention=True))
    built.message.register(zone_typed, Answers("zone"))
    built.callback_query.register(zone_pressed, ZoneButton.filter())
    built.callback_query.register(language_pressed, LanguageButton.filter())
    return built
