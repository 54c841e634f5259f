"""/quiet: the hours in which a user does not want to be disturbed."""

import re
from datetime import datetime
from typing import Final

from aiogram import Router
from aiogram.dispatcher.event.bases import SkipHandler
from aiogram.filters import Command, CommandObject
from aiogram.types import CallbackQuery, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.awaited_answers import Answers, ask
from bot.telegram.handlers.buttons import QuietButton, Rows, button
from bot.telegram.handlers.people.find import answer_text
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from internal.access import service as access
from internal.access.model import AwaitedAnswer, User
from internal.dialogue.notifications import repository as notifications

_HOURS: Final = re.compile(
    r"\D*?([01]?\d|2[0-3])(?::([0-5]\d))?\s*(?:-|–|—|to|till|until|до)\s*([01]?\d|2[0-3])(?::([0-5]\d))?\D*"
)
NEVER: Final = frozenset({"off", "no", "none", "never", "нет", "выкл", "никогда", "ні", "вимкнути", "ніколи"})
_OFFERED: Final = ("21:00-07:00", "22:00-08:00", "23:00-09:00", "00:00-10:00")
_AS_CONFIGURED: Final = "="
_NONE: Final = "-"


async def quiet_command(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    if command.args:
        await _set_typed(command.args, chat, services)
    else:
        await ask_hours(chat, services)


async def ask_hours(chat: Chat, services: Services) -> None:
    text, rows = _question(chat.user, services)
    await ask(chat, services, AwaitedAnswer("quiet", {"offered": True}), text, rows)


async def hours_pressed(query: CallbackQuery, callback_data: QuietButton, chat: Chat, services: Services) -> None:
    compact = callback_data.hours
    hours = None if compact == _AS_CONFIGURED else "" if compact == _NONE else _with_colons(compact)
    await chat.edit(await _set(hours, chat.user, services))


async def hours_typed(message: Message, awaiting: AwaitedAnswer, chat: Chat, services: Services) -> None:
    if hours_in(answer_text(message)) is None:
        raise SkipHandler
    await _set_typed(answer_text(message), chat, services)


def hours_in(text: str) -> str | None:
    """Parses quiet hours ("23-7", "22:30 – 08:00", "off" = ""); None if the text has none."""
    if text.strip(" .!").casefold() in NEVER:
        return ""
    match = _HOURS.fullmatch(text.strip().casefold())
    if match is None:
        return None
    begin, begin_minutes, end, end_minutes = match.groups()
    return f"{int(begin):02}:{begin_minutes or '00'}-{int(end):02}:{end_minutes or '00'}"


def _question(user: User, services: Services) -> tuple[str, Rows]:
    now = access.quiet_hours(user, services.config.notifications.quiet_hours)
    text = phrase(user.lang, "quiet-ask", hours=now) if now else phrase(user.lang, "quiet-ask-none")
    offered = [button(one, QuietButton(owner=user.user_id, hours=one.replace(":", ""))) for one in _OFFERED]
    none = button(label(user.lang, "quiet-button-none"), QuietButton(owner=user.user_id, hours=_NONE))
    return text, [offered[:2], offered[2:], [none]]


async def _set_typed(text: str, chat: Chat, services: Services) -> None:
    hours = hours_in(text)
    if hours is None:
        await ask(chat, services, AwaitedAnswer("quiet"), phrase(chat.user.lang, "quiet-unknown"))
    else:
        await chat.say(await _set(hours, chat.user, services))


async def _set(hours: str | None, user: User, services: Services) -> str:
    now = services.clock.now()
    changed = await services.write(lambda c: _store(c, user.user_id, hours, now))
    kept = access.quiet_hours(changed, services.config.notifications.quiet_hours)
    return phrase(user.lang, "quiet-set", hours=kept) if kept else phrase(user.lang, "quiet-set-none")


def _store(connection: Connection, user_id: int, hours: str | None, now: datetime) -> User:
    """Stores the quiet hours. Notifications waiting for the end of the old ones are decided on again."""
    changed = access.set_quiet_hours(connection, user_id, hours)
    notifications.look_again_at_quiet(connection, user_id, now)
    return changed


def _with_colons(compact: str) -> str:
    """Quiet hours with colons: "2200-0800" as 22:00-08:00."""
    return re.sub(r"(\d\d)(\d\d)-(\d\d)(\d\d)", r"\1:\2-\3:\4", compact)


def router() -> Router:
    built = Router(name="quiet")
    built.message.register(quiet_command, Command("quiet", ignore_mention=True, ignore_case=True))
    built.message.register(hours_typed, Answers("quiet"))
    built.callback_query.register(hours_pressed, QuietButton.filter())
    return built
