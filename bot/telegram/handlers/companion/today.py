"""/today, /week, /digest and /brief: the agenda, every morning if wanted, and what to know before meeting somebody."""

import re
from datetime import datetime
from typing import Final

from aiogram import Router
from aiogram.filters import Command, CommandObject
from aiogram.types import CallbackQuery, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.account.quiet import NEVER
from bot.telegram.handlers.awaited_answers import Answers, ask
from bot.telegram.handlers.buttons import Owned, Rows, button
from bot.telegram.handlers.companion.brief_button import BriefButton, ProfileLinesButton, brief_button
from bot.telegram.handlers.companion.companion_text import agenda_text, brief_text
from bot.telegram.handlers.companion.reflections import set_reflections, show_reflections
from bot.telegram.handlers.facts.fact_text import LISTED_SOURCES, QUOTE, SourceLines, shorten, sources_text
from bot.telegram.handlers.people.find import answer_text, find, find_answer, the_one
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from bot.telegram.rendering import escape
from internal.access.model import AwaitedAnswer, User
from internal.flows.companion.brief import brief
from internal.flows.companion.scheduler import DIGEST, set_digest
from internal.flows.companion.today import WEEK, agenda
from internal.flows.views.person_mentions import profile_lines
from internal.people import service as people
from internal.people.model import Person

_HOUR: Final = re.compile(r"\D*([01]?\d|2[0-3])(?:[:.]([0-5]\d))?\D*")
_OFFERED: Final = 4
"""The most people whose brief is offered below a day."""
_OFFERED_HOURS: Final = (7, 8, 9)


class DigestButton(Owned, prefix="dg", command="/digest"):
    """Sends the overview of the day at this hour; -1 turns it off."""

    hour: int


async def today(message: Message, chat: Chat, services: Services) -> None:
    await _show(chat, services, 1)


async def week(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    user, word = chat.user, (command.args or "").strip(" .!").casefold()
    if word:
        await services.write(lambda c: set_reflections(c, user.user_id, wanted=word not in NEVER))
        await chat.say(phrase(user.lang, "reflections-off" if word in NEVER else "reflections-on"))
        return
    await _show(chat, services, WEEK)
    await show_reflections(chat, services)


async def _show(chat: Chat, services: Services, days: int) -> None:
    user, now = chat.user, services.clock.now()
    await chat.say(*await services.read(lambda c: agenda_card(c, user, now, days)))


def agenda_card(connection: Connection, user: User, now: datetime, days: int) -> tuple[str, Rows]:
    """The days ahead, with a button for each person whom they name."""
    found = agenda(connection, user, now=now, days=days)
    named = [people.person(connection, user.user_id, one) for one in list(found.people)[:_OFFERED]]
    text, rows = agenda_text(user, found, now)
    return text, [*rows, *([brief_button(user, one.id, one.display_name)] for one in named)]


async def brief_command(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    if not command.args:
        await ask(chat, services, AwaitedAnswer("brief"), phrase(chat.user.lang, "brief-ask"))
        return
    await _brief_of(command.args, await find(command.args, chat.user, services), chat, services)


async def name_typed(message: Message, chat: Chat, services: Services) -> None:
    await _brief_of(answer_text(message), await find_answer(message, chat.user, services), chat, services)


async def _brief_of(name: str, found: list[Person], chat: Chat, services: Services) -> None:
    user = chat.user
    one = await the_one(name, found[:_OFFERED], chat, lambda one: brief_button(user, one.id, one.display_name))
    if one is not None:
        await chat.say(*await services.read(lambda c: brief_shown(c, user, one.id, services.clock.now())))


async def brief_pressed(query: CallbackQuery, callback_data: BriefButton, chat: Chat, services: Services) -> None:
    user, person_id = chat.user, callback_data.person
    await chat.say(*await services.read(lambda c: brief_shown(c, user, person_id, services.clock.now())))


def brief_shown(connection: Connection, user: User, person_id: int, now: datetime) -> tuple[str, Rows]:
    """The brief, with a button for the source of each numbered line."""
    person = people.person(connection, user.user_id, person_id)
    return brief_text(user, brief(connection, user, person, now=now), now)


async def lines_pressed(
    query: CallbackQuery, callback_data: ProfileLinesButton, chat: Chat, services: Services
) -> None:
    user, person_id = chat.user, callback_data.person

    def read(connection: Connection) -> str:
        person = people.person(connection, user.user_id, person_id)
        sources = sources_text(user, SourceLines(profile_lines(connection, person)), LISTED_SOURCES)
        return f"**{escape(person.display_name)}**\n{escape(shorten(person.bio, QUOTE))}\n\n{sources}"

    await chat.say(await services.read(read))


async def digest(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    words = (command.args or "").strip(" .!").casefold()
    match = _HOUR.fullmatch(words)
    if match or words in NEVER:
        at = f"{int(match[1]):02}:{match[2] or '00'}" if match else None
        await chat.say(await _set_digest(at, chat.user, services))
    else:
        await ask_digest(chat)


async def ask_digest(chat: Chat) -> None:
    user, none = chat.user, label(chat.user.lang, "digest-none")
    offered = [(f"{hour:02}:00", hour) for hour in _OFFERED_HOURS] + [(none, -1)]
    row = [button(words, DigestButton(owner=user.user_id, hour=hour)) for words, hour in offered]
    await chat.say(phrase(user.lang, "digest-ask", at=str(user.settings.get(DIGEST) or none)), [row])


async def digest_pressed(query: CallbackQuery, callback_data: DigestButton, chat: Chat, services: Services) -> None:
    at = f"{callback_data.hour:02}:00" if callback_data.hour in _OFFERED_HOURS else None
    await chat.edit(await _set_digest(at, chat.user, services))


async def _set_digest(at: str | None, user: User, services: Services) -> str:
    await services.write(lambda c: set_digest(c, user.user_id, at))
    return phrase(user.lang, "digest-set", at=at) if at else phrase(user.lang, "digest-off")


def router() -> Router:
    built = Router(name="today")
    for name, handler in (("today", today), ("week", week), ("brief", brief_command), ("digest", digest)):
        built.message.register(handler, Command(name, ignore_mention=True, ignore_case=True))
    built.message.register(name_typed, Answers("brief"))
    built.callback_query.register(brief_pressed, BriefButton.filter())
    built.callback_query.register(lines_pressed, ProfileLinesButton.filter())
    built.callback_query.register(digest_pressed, DigestButton.filter())
    return built
