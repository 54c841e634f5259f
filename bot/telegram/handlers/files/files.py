"""/files: the files that were sent, with buttons to open or forget each."""

from typing import Any
from zoneinfo import ZoneInfo

from aiogram import Router
from aiogram.filters import Command
from aiogram.types import CallbackQuery, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.buttons import Id, Owned, Rows, UndoButton, button
from bot.telegram.handlers.facts.fact_text import number_rows, numbered, quotable, shorten
from bot.telegram.handlers.paging import PAGE, clamp, page_row
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from internal.access.model import User
from internal.artifacts.model import Artifact
from internal.errors import ModelUnavailable, Refused
from internal.flows.forgetting import requests
from internal.flows.views import artifacts as view
from internal.language.worker.process_pool import LanguageCallFailed
from internal.storage.forgetting.forgettings import Forgetting

_SHOWN = 700
"""The most characters of a text on its card."""


class FilesButton(Owned, prefix="fi", command="/files"):
    page: int = 0


class FileButton(Owned, prefix="fo", command="/files"):
    file: Id


class ForgetFileButton(FileButton, prefix="ff", command="/forget"):
    """Forgets a file; without `sure` it asks first."""

    sure: bool = False


class ImportFileButton(FileButton, prefix="fm", command="/files"):
    """Imports the conversations of an export."""


async def files(message: Message, chat: Chat, services: Services) -> None:
    await chat.say(*await services.read(lambda c: _listing(c, chat.user, 0)))


async def page_pressed(query: CallbackQuery, callback_data: FilesButton, chat: Chat, services: Services) -> None:
    await chat.edit(*await services.read(lambda c: _listing(c, chat.user, callback_data.page)))


async def file_pressed(query: CallbackQuery, callback_data: FileButton, chat: Chat, services: Services) -> None:
    await chat.edit(*await services.read(lambda c: _card(c, chat.user, callback_data.file)))


async def forget_pressed(query: CallbackQuery, callback_data: ForgetFileButton, chat: Chat, services: Services) -> None:
    user, now = chat.user, services.clock.now()

    def work(connection: Connection) -> tuple[Artifact, Forgetting | None]:
        file = view.get_artifact(connection, user.user_id, callback_data.file)
        if not callback_data.sure:
            return file, None
        return file, requests.ask(connection, user.user_id, "message", file.message_id, now=now)

    file, asked = await services.write(work)
    if asked is None:
        yes = button(label(user.lang, "forget-button-yes"), callback_data.model_copy(update={"sure": True}))
        no = button(label(user.lang, "button-cancel"), FileButton(owner=user.user_id, file=file.id))
        await chat.edit(phrase(user.lang, "files-forget-confirm", name=file.name), [[yes, no]])
    else:
        undo = button(label(user.lang, "forget-button-undo"), UndoButton(owner=user.user_id, forgetting=asked.id))
        minutes = round(requests.UNDO_WINDOW.total_seconds() / 60)
        await chat.edit(phrase(user.lang, "files-forgotten", name=file.name, minutes=minutes), [[undo]])


async def import_pressed(query: CallbackQuery, callback_data: ImportFileButton, chat: Chat, services: Services) -> None:
    user = chat.user
    file = await services.read(lambda c: view.get_artifact(c, user.user_id, callback_data.file))
    imports = services.file_imports
    if imports is None:
        return
    await chat.toast(label(user.lang, "export-importing"))

    async def work() -> None:
        try:
            done = await imports.run(user, file)
        except (ModelUnavailable, LanguageCallFailed, Refused):
            await chat.say(phrase(user.lang, "export-failed", name=file.name))
        else:
            await chat.say(phrase(user.lang, "export-imported", count=done.messages, episodes=done.episodes))

    await chat.beside(work)


def import_buttons(user: User, artifact_id: str) -> list[list[dict[str, Any]]]:
    """The button below the offer to import an export, in Bot API form."""
    text, data = button(label(user.lang, "export-button"), ImportFileButton(owner=user.user_id, file=artifact_id))
    return [[{"text": text, "callback_data": data}]]


def _listing(connection: Connection, user: User, page: int) -> tuple[str, Rows]:
    count = view.count(connection, user.user_id)
    if not count:
        return phrase(user.lang, "files-none"), []
    here = clamp(page, count)
    found = view.visible(connection, user.user_id, limit=PAGE, offset=here * PAGE)
    first = here * PAGE + 1
    pressed = [button(str(n), FileButton(owner=user.user_id, file=one.id)) for n, one in enumerate(found, start=first)]
    rows: Rows = number_rows(pressed)
    rows += page_row(user.lang, here, count, lambda to: FilesButton(owner=user.user_id, page=to))
    title = phrase(user.lang, "files-title", count=count)
    return f"{title}\n\n{numbered([_line(user, one) for one in found], first)}", rows


def _card(connection: Connection, user: User, artifact_id: str) -> tuple[str, Rows]:
    file = view.get_artifact(connection, user.user_id, artifact_id)
    parts = view.text_of(connection, user.user_id, file)
    shown = [_line(user, file)]
    if file.reason is not None:
        shown.append(phrase(user.lang, "artifact-failed", reason=file.reason, name=file.name))
    elif parts:
        shown.append(phrase(user.lang, "source-quote", text=quotable(shorten(parts[0].text, _SHOWN))))
    forget = button(label(user.lang, "files-button-forget"), ForgetFileButton(owner=user.user_id, file=file.id))
    back = button(label(user.lang, "files-button-back"), FilesButton(owner=user.user_id))
    return "\n\n".join(shown), [[forget, back]]


def _line(user: User, file: Artifact) -> str:
    day = file.added_at.astimezone(ZoneInfo(user.tz))
    size = max(1, round((file.size or 0) / 1024))
    return phrase(user.lang, "files-line", name=file.name, date=f"{day:%d.%m.%Y}", size=size, pages=file.pages or 0)


def router() -> Router:
    built = Router(name="files")
    built.message.register(files, Command("files", ignore_mention=True, ignore_case=True))
    built.callback_query.register(page_pressed, FilesButton.filter())
    built.callback_query.register(file_pressed, FileButton.filter())
    built.callback_query.register(import_pressed, ImportFileButton.filter())
    built.callback_query.register(forget_pressed, ForgetFileButton.filter())
    return built
