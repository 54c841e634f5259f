"""/people: all known people by circle, in pages."""

from aiogram import Router
from aiogram.filters import Command
from aiogram.types import CallbackQuery, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.buttons import Button, PeopleButton, PersonButton, Rows, SuggestionsButton, button
from bot.telegram.handlers.empty_lists import nothing_yet
from bot.telegram.handlers.paging import PAGE, clamp, page_row
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from internal.access import groups
from internal.access.model import User
from internal.dialogue import repository as dialogue
from internal.people import repository, suggestion_repository
from internal.people.model import Circle, Person


async def people(message: Message, chat: Chat, services: Services) -> None:
    await chat.say(*await _overview(chat.user, services))


async def page_pressed(query: CallbackQuery, callback_data: PeopleButton, chat: Chat, services: Services) -> None:
    if callback_data.circle is None:
        await chat.edit(*await _overview(chat.user, services))
    else:
        await chat.edit(*await _circle(chat.user, services, callback_data.circle, callback_data.page))


async def _overview(user: User, services: Services) -> tuple[str, Rows]:
    def work(connection: Connection) -> tuple[dict[Circle, int], int, str]:
        counts = repository.counts(connection, user.user_id)
        total, questions = sum(counts.values()), len(suggestion_repository.pending(connection, user.user_id))
        if total and groups.is_group(user.user_id):
            known = repository.listing(connection, user.user_id)
            members = sum(bool(dialogue.said_by(connection, user.user_id, one.telegram_id or 0)) for one in known)
            summary = phrase(user.lang, "people-overview-group", members=members, others=total - members)
            return counts, questions, summary
        if total:
            return counts, questions, phrase(user.lang, "people-overview", count=total)
        return counts, questions, nothing_yet(connection, user, phrase(user.lang, "people-none"))

    counts, questions, text = await services.read(work)
    rows = [[_circle_button(user, circle, count)] for circle, count in counts.items() if count]
    if questions:
        ask = label(user.lang, "people-suggestions-button", count=questions)
        rows.append([button(ask, SuggestionsButton(owner=user.user_id))])
    return text, rows


def _circle_button(user: User, circle: Circle, count: int) -> tuple[str, str]:
    name = label(user.lang, "circle", circle=circle.value)
    text = label(user.lang, "people-circle-button", circle=name, count=count)
    return button(text, PeopleButton(owner=user.user_id, circle=circle))


async def _circle(user: User, services: Services, circle: Circle, page: int) -> tuple[str, Rows]:
    def work(connection: Connection) -> tuple[int, list[Person]]:
        count = repository.counts(connection, user.user_id)[circle]
        offset = clamp(page, count) * PAGE
        shown = repository.listing(connection, user.user_id, circles=[circle], limit=PAGE, offset=offset)
        return count, shown

    count, shown = await services.read(work)
    rows = [[person_button(user, person)] for person in shown]
    here = clamp(page, count)
    rows += page_row(user.lang, here, count, lambda to: PeopleButton(owner=user.user_id, circle=circle, page=to))
    rows.append([button(label(user.lang, "button-back"), PeopleButton(owner=user.user_id))])
    name = label(user.lang, "circle", circle=circle.value)
    return phrase(user.lang, "people-circle-title", circle=name, count=count), rows


def person_button(user: User, person: Person) -> tuple[str, str]:
    return button(person.display_name, PersonButton(owner=user.user_id, person=person.id))


def choice(user: User, person: Person) -> Button:
    """A button for one of several people; namesakes are distinguished by circle or username."""
    detail = f"@{person.username}" if person.username else label(user.lang, "circle", circle=person.circle.value)
    return button(f"{person.display_name} · {detail}", PersonButton(owner=user.user_id, person=person.id))


def router() -> Router:
    built = Router(name="people")
    built.message.register(people, Command("people", ignore_mention=True))
    built.callback_query.register(page_pressed, PeopleButton.filter())
    return built
