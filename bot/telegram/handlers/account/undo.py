"""/undo: the changes of the last week, each with a button that undoes it."""

from datetime import datetime

from aiogram import Router
from aiogram.filters import Command
from aiogram.types import CallbackQuery, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.buttons import Id, Owned, Rows, button
from bot.telegram.handlers.facts.fact_text import number_rows, numbered, shorten
from bot.telegram.handlers.paging import PAGE
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from bot.telegram.rendering import escape
from internal.access.model import User
from internal.errors import LaplacedError
from internal.flows.correcting import changes
from internal.flows.correcting.changes import Change, ChangeKind
from internal.tasks.model import time_of_day

_LONGEST, _TOAST = 90, 180


class UndoChangeButton(Owned, prefix="un", command="/undo"):
    """Undoes the `number`th change of an event. The list stays at the page."""

    event: Id
    number: int
    page: int = 0


class UndoPageButton(Owned, prefix="up", command="/undo"):
    page: int


async def undo_command(message: Message, chat: Chat, services: Services) -> None:
    await chat.say(*await _listing(chat.user, services, 0))


async def pressed(query: CallbackQuery, callback_data: UndoChangeButton, chat: Chat, services: Services) -> None:
    """Undoes the change and shows the rest; says so if it is gone or other changes depend on it."""
    user, now, at = chat.user, services.clock.now(), time_of_day(services.config.notifications.whole_day_at)
    change_id = f"{callback_data.event}.{callback_data.number}"
    try:
        change = await services.write(lambda c: changes.undo(c, user.user_id, change_id, now=now, whole_day_at=at))
        said = label(user.lang, "undo-done", what=_text(user, change))
    except LaplacedError:
        said = label(user.lang, "undo-too-late")
    await chat.toast(shorten(said, _TOAST))
    await chat.edit(*await _listing(user, services, callback_data.page))


async def page_pressed(query: CallbackQuery, callback_data: UndoPageButton, chat: Chat, services: Services) -> None:
    await chat.edit(*await _listing(chat.user, services, callback_data.page))


def _text(user: User, change: Change) -> str:
    what = label(user.lang, f"undo-forgotten-{change.text}") if change.kind is ChangeKind.FORGETTING else change.text
    if change.fields:
        fields = (label(user.lang, f"person-button-{one}") for one in change.fields)
        what = f"{what} ({', '.join(fields).lower()})"
    return label(user.lang, f"undo-{change.kind.value}", what=shorten(what, _LONGEST))


async def _listing(user: User, services: Services, page: int) -> tuple[str, Rows]:
    return await services.read(lambda c: changes_shown(c, user, services.clock.now(), page))


def changes_shown(connection: Connection, user: User, now: datetime, page: int = 0) -> tuple[str, Rows]:
    """A page of the changes of the last week, with their buttons."""
    found = changes.recent(connection, user.user_id, now=now, limit=PAGE + 1, offset=page * PAGE)
    if not found:
        return phrase(user.lang, "undo-nothing"), []
    shown = found[:PAGE]
    numbers = [
        button(str(index), UndoChangeButton(owner=user.user_id, event=event, number=int(number), page=page))
        for index, (event, _, number) in enumerate((one.id.partition(".") for one in shown), start=1)
    ]
    turns = [
        button(sign, UndoPageButton(owner=user.user_id, page=to))
        for sign, to, there in (("«", page - 1, page > 0), ("»", page + 1, len(found) > PAGE))
        if there
    ]
    lines = numbered([escape(_text(user, one)) for one in shown])
    return f"{phrase(user.lang, 'undo')}\n\n{lines}", [*number_rows(numbers), *([turns] if turns else [])]


def router() -> Router:
    built = Router(name="undo")
    built.message.register(undo_command, Command("undo", ignore_mention=True))
    built.callback_query.register(pressed, UndoChangeButton.filter())
    built.callback_query.register(page_pressed, UndoPageButton.filter())
    return built
