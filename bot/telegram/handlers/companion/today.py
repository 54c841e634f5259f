"""/today, /week, /digest and /brief: what is on, every morning if wanted, and what to know before meeting somebody."""

import re
from datetime import datetime
from typing import Final

from aiogram import Router
from aiogram.filters import Command, CommandObject
from aiogram.types import CallbackQuery, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.awaited_answers import Answers, ask
from bot.telegram.handlers.buttons import NEW_MESSAGE, FactButton, Rows, button
from bot.telegram.handlers.companion.brief_button import BriefButton, brief_button
from bot.telegram.handlers.companion.companion_text import agenda_text, brief_text
from bot.telegram.handlers.companion.reflections import set_reflections, show_reflections
from bot.telegram.handlers.facts.fact_text import number_rows
from bot.telegram.handlers.people.find import answer_text, find, find_answer
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from internal.access.model import AwaitedAnswer, User
from internal.flows.companion.brief import brief
from internal.flows.companion.due import DIGEST, set_digest
from internal.flows.companion.today import WEEK, agenda
from internal.people import service as people
from internal.people.model import Person

_HOUR: Final = re.compile(r"\D*([01]?\d|2[0-3])(?:[:.]([0-5]\d))?\D*")
_NEVER: Final = frozenset({"off", "no", "none", "never", "нет", "выкл", "никогда", "ні", "вимкнути", "ніколи"})
_OFFERED: Final = 4
"""People whose brief is offered below a day."""


async def today(message: Message, chat: Chat, services: Services) -> None:
    await _show(chat, services, 1)


async def week(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    user, word = chat.user, (command.args or "").strip(" .!").casefold()
    if word:
        await services.write(lambda c: set_reflections(c, user.user_id, wanted=word not in _NEVER))
        await chat.say(phrase(user.lang, "reflections-off" if word in _NEVER else "reflections-on"))
        return
    await _show(chat, services, WEEK)
    await show_reflections(chat, services)


async def _show(chat: Chat, services: Services, days: int) -> None:
    user, now = chat.user, services.clock.now()
    await chat.say(*await services.read(lambda c: shown(c, user, now, days)))


def shown(connection: Connection, user: User, now: datetime, days: int) -> tuple[str, Rows]:
    """The days ahead, with a button for each person whom they name."""
    found = agenda(connection, user, now=now, days=days)
    named = [people.person(connection, user.user_id, one) for one in list(found.people)[:_OFFERED]]
    return agenda_text(user, found, now), [[brief_button(user, one.id, one.display_name)] for one in named]


async def brief_command(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    if not command.args:
        await ask(chat, services, AwaitedAnswer("brief"), phrase(chat.user.lang, "brief-ask"))
        return
    await _brief_of(command.args, await find(command.args, chat.user, services), chat, services)


async def name_typed(message: Message, chat: Chat, services: Services) -> None:
    await _brief_of(answer_text(message), await find_answer(message, chat.user, services), chat, services)


async def _brief_of(name: str, found: list[Person], chat: Chat, services: Services) -> None:
    user = chat.user
    if len(found) == 1:
        await chat.say(*await services.read(lambda c: brief_shown(c, user, found[0].id, services.clock.now())))
    elif found:
        rows: Rows = [[brief_button(user, one.id, one.display_name)] for one in found[:_OFFERED]]
        await chat.say(phrase(user.lang, "person-choose", name=name[:64]), rows)
    else:
        await chat.say(phrase(user.lang, "person-unknown", name=name[:64]))


async def brief_pressed(query: CallbackQuery, callback_data: BriefButton, chat: Chat, services: Services) -> None:
    user, person_id = chat.user, callback_data.person
    await chat.toast()
    await chat.say(*await services.read(lambda c: brief_shown(c, user, person_id, services.clock.now())))


def brief_shown(connection: Connection, user: User, person_id: int, now: datetime) -> tuple[str, Rows]:
    """The brief, with a button for the sources of each numbered fact."""
    person = people.person(connection, user.user_id, person_id)
    text, facts = brief_text(user, brief(connection, user, person, now=now), now)
    sources = [FactButton(owner=user.user_id, fact=one.id, place=NEW_MESSAGE) for one in facts]
    return text, number_rows([button(str(number), one) for number, one in enumerate(sources, start=1)])


async def digest(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    user, words = chat.user, (command.args or "").strip(" .!").casefold()
    match = _HOUR.fullmatch(words)
    if words in _NEVER:
        await services.write(lambda c: set_digest(c, user.user_id, None))
        await chat.say(phrase(user.lang, "digest-off"))
    elif match:
        at = f"{int(match[1]):02}:{match[2] or '00'}"
        await services.write(lambda c: set_digest(c, user.user_id, at))
        await chat.say(phrase(user.lang, "digest-set", at=at))
    else:
        now = str(user.settings.get(DIGEST) or label(user.lang, "digest-none"))
        await chat.say(phrase(user.lang, "digest-ask", at=now))


def router() -> Router:
    built = Router(name="today")
    for name, handler in (("today", today), ("week", week), ("brief", brief_command), ("digest", digest)):
        built.message.register(handler, Command(name, ignore_mention=True, ignore_case=True))
    built.message.register(name_typed, Answers("brief"))
    built.callback_query.register(brief_pressed, BriefButton.filter())
    return built
