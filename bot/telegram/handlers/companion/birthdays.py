"""/birthdays: the occasions of the next year as a list, a file, and an address for calendars."""

from datetime import datetime
from enum import StrEnum

from aiogram import F, Router
from aiogram.filters import Command
from aiogram.types import CallbackQuery, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.buttons import Button, Owned, Rows, button
from bot.telegram.handlers.companion.companion_text import occasion_line
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from internal.access.model import User
from internal.flows.companion import calendar
from internal.flows.companion.occasions import local_day, year_ahead

_SHOWN = 60
"""The most occasions in one message; the file has all."""


class CalendarTap(StrEnum):
    FILE = "f"
    LINK = "l"
    REVOKE = "r"


class CalendarButton(Owned, prefix="ca", command="/birthdays"):
    """Sends the occasions as a file, opens their secret calendar address, or closes it."""

    tap: CalendarTap


async def birthdays(message: Message, chat: Chat, services: Services) -> None:
    user, now = chat.user, services.clock.now()
    await services.archival.read_now(user.user_id)  # messages of the last moments count too
    await chat.say(*await services.read(lambda c: birthdays_shown(c, user, now)))


def birthdays_shown(connection: Connection, user: User, now: datetime) -> tuple[str, Rows]:
    """The occasions of the next year, with the buttons for a file and an address."""
    found, today = year_ahead(connection, user, now=now), local_day(user, now)
    lines = [f"• {occasion_line(user, one, today)}" for one in found[:_SHOWN]]
    if not lines:
        return phrase(user.lang, "birthdays-none"), []
    rows: Rows = [[_button(user, CalendarTap.FILE), _button(user, CalendarTap.LINK)]]
    return "\n".join([phrase(user.lang, "birthdays-title"), "", *lines]), rows


async def file_pressed(query: CallbackQuery, chat: Chat, services: Services) -> None:
    user = chat.user
    content = await services.read(lambda c: calendar.calendar(c, user, now=services.clock.now()))
    await chat.document("laplaced.ics", content, label(user.lang, "birthdays-caption"))


async def link_pressed(query: CallbackQuery, chat: Chat, services: Services) -> None:
    user, server = chat.user, services.config.server
    secret = await services.write(lambda c: calendar.give_secret(c, user.user_id))
    base = (server.public_url or f"http://{server.host}:{server.port}").rstrip("/")
    url = f"{base}{calendar.PATH}?user_id={user.user_id}&key={secret}"
    await chat.say(phrase(user.lang, "birthdays-link", url=url), [[_button(user, CalendarTap.REVOKE)]])


async def revoke_pressed(query: CallbackQuery, chat: Chat, services: Services) -> None:
    await services.write(lambda c: calendar.revoke(c, chat.user.user_id))
    await chat.edit(phrase(chat.user.lang, "birthdays-revoked"))


def _button(user: User, tap: CalendarTap) -> Button:
    words = label(user.lang, f"birthdays-button-{tap.name.casefold()}")
    return button(words, CalendarButton(owner=user.user_id, tap=tap))


def router() -> Router:
    built = Router(name="birthdays")
    built.message.register(birthdays, Command("birthdays", ignore_mention=True, ignore_case=True))
    for tap, handler in (
        (CalendarTap.FILE, file_pressed),
        (CalendarTap.LINK, link_pressed),
        (CalendarTap.REVOKE, revoke_pressed),
    ):
        built.callback_query.register(handler, CalendarButton.filter(F.tap == tap))
    return built
