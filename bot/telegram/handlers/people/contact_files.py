"""Files of contacts (.vcf or Google's CSV) in the chat: shows the outcome for each, then imports on a tap."""

from io import BytesIO
from typing import Final

from aiogram import Bot, Router
from aiogram.exceptions import TelegramAPIError
from aiogram.types import CallbackQuery, Message

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.awaited_answers import expect
from bot.telegram.handlers.buttons import Owned, button
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from bot.telegram.message_reader import holds_contacts
from bot.telegram.rendering import escape
from internal.access import service as access
from internal.access.model import AwaitedAnswer, Language, User
from internal.flows.contacts.review import BookCard, ImportReport, Reviewed, cards_of
from internal.import_formats.google_contacts import is_google_csv
from internal.import_formats.model import Unreadable
from internal.import_formats.vcard import decoded, is_vcard

QUESTION: Final = "contacts"
"""The question whether to import a file; it is open as long as other questions."""

_CARDS_SHOWN: Final = 15
_LARGEST: Final = 20_000_000


class ImportContactsButton(Owned, prefix="ic", command="/people"):
    """Imports the file that was shown last, or drops it."""

    sure: bool


async def dropped(message: Message, chat: Chat, services: Services, bot: Bot) -> None:
    if message.document is None:
        return
    file = {"id": message.document.file_id, "name": message.document.file_name or "contacts.vcf"}
    report = await _review_file(chat.user, services, bot, file, dry_run=True)
    if report is None:
        await chat.say(phrase(chat.user.lang, "contacts-unreadable"))
        return
    text, some = review_text(chat.user.lang, report), report.count("new", "updated")
    if not some:
        await chat.say(text)
        return
    await expect(chat.user, services, AwaitedAnswer(QUESTION, file))
    yes, no = (ImportContactsButton(owner=chat.user.user_id, sure=sure) for sure in (True, False))
    words = label(chat.user.lang, "contacts-button-yes", count=some)
    await chat.say(text, [[button(words, yes), button(label(chat.user.lang, "button-cancel"), no)]])


async def pressed(
    query: CallbackQuery, callback_data: ImportContactsButton, chat: Chat, services: Services, bot: Bot
) -> None:
    user = chat.user
    asked = access.awaited(user, services.clock.now())
    if not callback_data.sure:
        await chat.edit(phrase(user.lang, "contacts-left"))
        return
    if asked is None or asked.kind != QUESTION:
        await chat.edit(phrase(user.lang, "contacts-again"))
        return
    report = await _review_file(user, services, bot, asked.details, dry_run=False)
    await chat.edit(phrase(user.lang, "contacts-again") if report is None else done_text(user.lang, report))


def done_text(lang: Language, report: ImportReport) -> str:
    """The numbers of what was imported, and whether there are people to merge."""
    asked = sum(bool(one.perhaps) for one in report.reviewed)
    text = phrase(lang, "contacts-done", new=report.count("new"), updated=report.count("updated"))
    return f"{text} {phrase(lang, 'contacts-ask', count=asked)}" if asked else text


def review_text(lang: Language, report: ImportReport) -> str:
    """The outcome for each contact, those that change something first."""
    changed = [one for one in report.reviewed if one.outcome in ("new", "updated")]
    lines = [f"• {_line(lang, one)}" for one in changed[:_CARDS_SHOWN]]
    counts = {"new": report.count("new"), "updated": report.count("updated"), "same": report.count("same")}
    left = report.count("forgotten", "self", "nameless", "refused")
    more = [phrase(lang, "contacts-more", count=len(changed) - _CARDS_SHOWN)] if len(changed) > _CARDS_SHOWN else []
    return "\n".join([phrase(lang, "contacts-review", **counts, left=left), *lines, *more])


def _line(lang: Language, one: Reviewed) -> str:
    adds = ", ".join(one.adds)[:120]
    if one.outcome == "updated":
        return phrase(lang, "contacts-updates", name=one.person, adds=adds or one.name)
    perhaps = phrase(lang, "contacts-perhaps", names=", ".join(one.perhaps)) if one.perhaps else ""
    words = f"{phrase(lang, 'contacts-new', name=one.name)} {perhaps}".strip()
    return f"{words}: {escape(adds)}" if adds else words


async def _review_file(
    user: User, services: Services, bot: Bot, file: dict[str, str], *, dry_run: bool
) -> ImportReport | None:
    """The review of a file; None if it cannot be fetched or read."""
    content = BytesIO()
    try:
        await bot.download(file["id"], content)
        text = decoded(content.getvalue()[:_LARGEST])
        cards = [BookCard(card) for card in cards_of(text)] if is_vcard(text) or is_google_csv(text) else []
    except (TelegramAPIError, Unreadable, OSError):
        return None
    if not cards:
        return None
    return await services.contacts.take(user.user_id, cards, source=file["name"], dry_run=dry_run)


def router() -> Router:
    built = Router(name="contact files")
    built.message.register(dropped, holds_contacts)
    built.callback_query.register(pressed, ImportContactsButton.filter())
    return built
