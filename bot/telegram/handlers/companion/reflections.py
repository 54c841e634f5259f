"""Shows reflections: their text, their lines, and the buttons that dismiss them."""

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from aiogram import Router
from aiogram.types import CallbackQuery
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.buttons import Owned, Rows, button
from bot.telegram.handlers.facts.fact_text import quotable, shorten
from bot.telegram.handlers.services import Services
from bot.telegram.handlers.tasks.task_text import day_words
from bot.telegram.i18n import label, phrase
from bot.telegram.rendering import escape
from internal.access import repository as users
from internal.access.model import User
from internal.flows.companion.scheduler import REFLECTIONS
from internal.flows.reflections.model import Reflection
from internal.flows.reflections.service import MOST

_QUOTE = 90
_RECEIPTS = 4


class DismissButton(Owned, prefix="rx", command="/week"):
    """Dismisses a reflection. `within`: the message holds further ones."""

    key: str
    within: bool = False


def reflections_text(user: User, found: Sequence[Reflection], now: datetime) -> str:
    """The reflections, numbered, each with the newest line that shows it."""
    parts, zone = [f"**{phrase(user.lang, 'reflections-title')}**"], ZoneInfo(user.tz)

    def day(at: datetime) -> str:
        return day_words(user.lang, at.astimezone(zone), now.astimezone(zone))

    for number, one in enumerate(found, start=1):
        values = {"subject": quotable(one.subject), "before": quotable(one.before), "names": ", ".join(one.names)}
        said = phrase(user.lang, f"reflection-{one.kind}", count=one.count, last=day(one.at), **values)
        shown = sorted({line.text: line for line in one.sources}.values(), key=lambda line: line.at)[-_RECEIPTS:]
        quotes = [
            f"• {escape(day(line.at))}: {phrase(user.lang, 'source-quote', text=shorten(line.text, _QUOTE))}"
            for line in shown
        ]
        parts.append("\n".join([f"{number}\\. {said}", *quotes]))
    return "\n\n".join(parts)


def dismiss_rows(user: User, found: Sequence[Reflection], *, within: bool = False) -> Rows:
    """A button for each reflection, by its number."""
    keys = [DismissButton(owner=user.user_id, key=one.key, within=within) for one in found]
    return [[button(f"✕ {number}", key) for number, key in enumerate(keys, start=1)]]


async def show_reflections(chat: Chat, services: Services) -> None:
    """Sends the reflections as a message of their own, if there are any."""
    user = chat.user
    if found := (await services.reflections.current(user))[:MOST]:
        await chat.say(reflections_text(user, found, services.clock.now()), dismiss_rows(user, found))


async def dismissed(query: CallbackQuery, callback_data: DismissButton, chat: Chat, services: Services) -> None:
    user, key = chat.user, callback_data.key
    await services.write(lambda c: services.reflections.dismiss(c, user.user_id, key))
    await chat.toast(label(user.lang, "reflections-dismissed"))
    if not callback_data.within:
        found = (await services.reflections.current(user))[:MOST]
        text = reflections_text(user, found, services.clock.now())
        await chat.edit(text if found else phrase(user.lang, "reflections-none"), dismiss_rows(user, found))


def set_reflections(connection: Connection, user_id: int, *, wanted: bool) -> None:
    """Turns the weekly message with reflections on or off."""
    settings = users.get(connection, user_id).settings
    users.change(connection, user_id, settings=settings | {REFLECTIONS: wanted})


def router() -> Router:
    built = Router(name="reflections")
    built.callback_query.register(dismissed, DismissButton.filter())
    return built
