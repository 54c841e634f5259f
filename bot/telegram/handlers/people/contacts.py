"""Contact cards, which add or update a person; other attachments without text get an explanation."""

from typing import Final

from aiogram import F, Router
from aiogram.types import Contact, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.people.person import actions, profile
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import phrase
from bot.telegram.message_reader import attachments_of
from internal.flows.contacts.review import BookCard, cards_of
from internal.flows.merging import people
from internal.import_formats.vcard import escaped, is_vcard
from internal.people import repository
from internal.people.model import Person
from internal.people.service import TelegramAccount

SHARED: Final = "contact"
"""The source of what is known from a contact that was shared in the chat."""


def describe_unreadable(message: Message) -> str | None:
    """The kind of a message without text ("voice", "photo", ...); None if it has text."""
    if message.text or message.caption:
        return None
    kinds = [str(item["kind"]) for item in attachments_of(message)]
    return kinds[0] if kinds else "other"


async def contact(message: Message, chat: Chat, services: Services) -> None:
    card = message.contact
    if card is None:
        return
    name = contact_name(card)
    if card.user_id is None:
        await _import_contact(card, name, chat, services)
    elif card.user_id == chat.user.user_id:
        await chat.say(phrase(chat.user.lang, "contact-self"))
    else:
        await _remember(TelegramAccount(card.user_id, name), message, chat, services)


async def _import_contact(card: Contact, name: str, chat: Chat, services: Services) -> None:
    """Imports a contact without an account like one from a file of contacts."""
    text, user = card.vcard or "", chat.user
    if not is_vcard(text):
        text = f"BEGIN:VCARD\nVERSION:4.0\nFN:{escaped(name)}\nTEL:{escaped(card.phone_number)}\nEND:VCARD"
    cards = [BookCard(one) for one in cards_of(text)[:1]]
    [taken] = (await services.contacts.take(user.user_id, cards, source=SHARED)).reviewed
    person = await services.read(lambda c: repository.resolve(c, user.user_id, taken.person_id or 0))
    if person is None:
        await chat.say(phrase(user.lang, "contact-without-account", name=name))
    else:
        await _show(person, "contact-added" if taken.outcome == "new" else "contact-updated", chat)


async def _remember(sender: TelegramAccount, message: Message, chat: Chat, services: Services) -> None:
    user, now = chat.user, services.clock.now()

    def work(connection: Connection) -> tuple[bool, Person]:
        known = repository.by_telegram_id(connection, user.user_id, sender.telegram_id)
        seen_at = message.date
        return known is not None, people.note_contact(connection, user.user_id, sender, seen_at=seen_at, now=now)

    known, person = await services.write(work)
    await _show(person, "contact-updated" if known else "contact-added", chat)


async def _show(person: Person, key: str, chat: Chat) -> None:
    text = f"{phrase(chat.user.lang, key, name=person.display_name)}\n\n{profile(chat.user, person)}"
    await chat.say(text, actions(chat.user, person))


async def unreadable(message: Message, chat: Chat) -> None:
    """Answers an attachment if an answer in words was awaited; the question stays open."""
    await chat.say(phrase(chat.user.lang, "cannot-read", kind=describe_unreadable(message) or "other"))


def contact_name(card: Contact) -> str:
    return " ".join(part for part in (card.first_name, card.last_name) if part)


def router() -> Router:
    built = Router(name="contacts")
    built.message.register(contact, F.contact)
    built.message.register(unreadable, ~F.text, ~F.caption)
    return built
