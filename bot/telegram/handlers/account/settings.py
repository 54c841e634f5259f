"""/timezone and /language: the user's time zone, and the language of the answers."""

from collections.abc import Iterable
from datetime import datetime

from aiogram import Router
from aiogram.dispatcher.event.bases import SkipHandler
from aiogram.filters import Command, CommandObject
from aiogram.types import CallbackQuery, Location, Message, TelegramObject
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.awaited_answers import ZONE, Answers, ask
from bot.telegram.handlers.buttons import LanguageButton, Rows, ZoneButton, button
from bot.telegram.handlers.cards import CalledButton
from bot.telegram.handlers.people.find import answer_text, reads_like_sentence
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from internal.access import service as access
from internal.access.model import LANGUAGES, AwaitedAnswer, Language, User
from internal.access.zones import parse_zone, zone_label, zones_near
from internal.chronicle import service as chronicle
from internal.dialogue.notifications import repository as notifications
from internal.tasks import service as tasks
from internal.tasks.model import time_of_day

LANGUAGE_NAMES: dict[Language, str] = {"ru": "Русский", "uk": "Українська", "en": "English"}

_OFFERED: dict[Language, tuple[str, ...]] = {
    "ru": ("Europe/Moscow", "Asia/Yekaterinburg", "Asia/Novosibirsk", "Europe/Minsk", "Asia/Almaty"),
    "uk": ("Europe/Kyiv", "Europe/Warsaw", "Europe/Berlin", "Europe/London"),
    "en": ("Europe/London", "Europe/Berlin", "America/New_York", "America/Chicago", "America/Los_Angeles"),
}
"""The zones in which most speakers of a language live; for other places there is a button to type the name."""

_ZONE = AwaitedAnswer(ZONE)
_ZONE_OFFERED = AwaitedAnswer(ZONE, {"offered": True})
"""The question with buttons, as at the first meeting: a place may be typed too, other text is not an answer."""


async def ask_zone(chat: Chat, services: Services) -> None:
    user, now = chat.user, services.clock.now()
    rows = _zone_rows(user, dict.fromkeys((user.tz, *_OFFERED[user.lang])), now)
    question = phrase(user.lang, "zone-ask", zone=zone_label(user.tz, user.lang, now))
    await ask(chat, services, _ZONE_OFFERED, question, rows)


async def called_back(query: CallbackQuery, callback_data: CalledButton, chat: Chat, services: Services) -> None:
    now = services.clock.now()
    user = await services.write(lambda c: access.call(c, chat.user.user_id, None, now))
    await chat.edit(phrase(user.lang, "called-undone", name=user.called))


async def timezone(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    if command.args:
        await _take_zone(command.args, chat, services)
    else:
        await ask_zone(chat, services)


async def zone_pressed(query: CallbackQuery, callback_data: ZoneButton, chat: Chat, services: Services) -> None:
    if not callback_data.zone:
        await ask(chat, services, _ZONE, phrase(chat.user.lang, "zone-type"))
        return
    zone = parse_zone(callback_data.zone) or "UTC"
    await chat.edit(await _set_zone(zone, chat.user, services))


async def zone_typed(message: Message, awaiting: AwaitedAnswer, chat: Chat, services: Services) -> None:
    if message.location is not None:
        await _take_place(message.location, chat, services)
        return
    text = answer_text(message)
    if _zone_in(text) is None and ("offered" in awaiting.details or reads_like_sentence(text)):
        raise SkipHandler
    await _take_zone(text, chat, services)


async def _take_place(place: Location, chat: Chat, services: Services) -> None:
    """Sets the zone of a place; if several match, asks which one is meant."""
    user, now = chat.user, services.clock.now()
    zones = zones_near(place.latitude, place.longitude, now, user.tz, _OFFERED[user.lang])
    if len(zones) == 1:
        await chat.say(await _set_zone(zones[0], user, services))
    else:
        await ask(chat, services, _ZONE_OFFERED, phrase(user.lang, "zone-near"), _zone_rows(user, zones, now))


def _zone_rows(user: User, zones: Iterable[str], now: datetime) -> Rows:
    """A button for each zone and one to type another."""
    buttons = [button(zone_label(zone, user.lang, now), ZoneButton(owner=user.user_id, zone=zone)) for zone in zones]
    other = button(label(user.lang, "zone-button-other"), ZoneButton(owner=user.user_id, zone=""))
    return [*([*buttons[start : start + 2]] for start in range(0, len(buttons), 2)), [other]]


async def _take_zone(text: str, chat: Chat, services: Services) -> None:
    zone = _zone_in(text)
    if zone is None:
        await ask(chat, services, _ZONE, phrase(chat.user.lang, "zone-unknown", text=text[:64]))
    else:
        await chat.say(await _set_zone(zone, chat.user, services))


def _zone_in(text: str) -> str | None:
    return parse_zone(text.strip(" .!"))


async def _set_zone(zone: str, user: User, services: Services) -> str:
    """Stores the zone. Quiet hours shift with it, so notifications waiting for their end are decided on again."""
    whole_day_at = time_of_day(services.config.notifications.whole_day_at)

    def work(connection: Connection) -> None:
        now = services.clock.now()
        access.set_zone(connection, user.user_id, zone)
        chronicle.move_zone(connection, user.user_id, zone)
        tasks.move_zone(connection, user.user_id, zone, tasks.by_owner(user.user_id, now, whole_day_at))
        notifications.look_again_at_quiet(connection, user.user_id, now)

    await services.write(work)
    return phrase(user.lang, "zone-set", zone=zone_label(zone, user.lang, services.clock.now()))


async def language(event: TelegramObject, chat: Chat) -> None:
    owner = chat.user.user_id
    row = [button(LANGUAGE_NAMES[lang], LanguageButton(owner=owner, lang=lang)) for lang in LANGUAGES]
    await chat.say(phrase(chat.user.lang, "language-ask"), [row])


async def language_pressed(query: CallbackQuery, callback_data: LanguageButton, chat: Chat, services: Services) -> None:
    changed = await services.write(lambda c: access.set_language(c, chat.user.user_id, callback_data.lang))
    await chat.edit(phrase(changed.lang, "language-set"))
    await services.menu.show(changed)


def router() -> Router:
    built = Router(name="settings")
    built.message.register(timezone, Command("timezone", ignore_mention=True))
    built.message.register(language, Command("language", ignore_mention=True))
    built.message.register(zone_typed, Answers(ZONE))
    built.callback_query.register(called_back, CalledButton.filter())
    built.callback_query.register(zone_pressed, ZoneButton.filter())
    built.callback_query.register(language_pressed, LanguageButton.filter())
    return built
