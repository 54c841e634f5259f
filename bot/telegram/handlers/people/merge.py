"""Merges two profiles of the same person, and undoes that."""

from functools import partial

from aiogram import F, Router
from aiogram.types import CallbackQuery, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.awaited_answers import Answers, expect
from bot.telegram.handlers.buttons import (
    Button,
    KeepButton,
    MergeButton,
    MergePageButton,
    PersonAction,
    PersonButton,
    Rows,
    SplitButton,
    button,
)
from bot.telegram.handlers.paging import PAGE, clamp, page_row
from bot.telegram.handlers.people.find import answer_text, find_answer, name_similarities, the_one
from bot.telegram.handlers.people.person import actions, profile
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from internal.access.model import AwaitedAnswer, User
from internal.flows.merging import people
from internal.people import removal_repository, repository, service
from internal.people.model import Person


async def merge_pressed(query: CallbackQuery, callback_data: PersonButton, chat: Chat, services: Services) -> None:
    await _offer(callback_data.person, 0, chat, services)


async def page_pressed(query: CallbackQuery, callback_data: MergePageButton, chat: Chat, services: Services) -> None:
    await _offer(callback_data.source, callback_data.page, chat, services)


async def _offer(source_id: int, page: int, chat: Chat, services: Services) -> None:
    """Shows a page of people to merge with; the name may be typed instead."""
    text, candidates, leaving = await _candidates(chat.user, services, source_id, page)
    if candidates:
        await expect(chat.user, services, AwaitedAnswer("merge", {"source": source_id}))
    await chat.edit(text, [*candidates, leaving])


async def target_typed(message: Message, awaiting: AwaitedAnswer, chat: Chat, services: Services) -> None:
    user, source_id = chat.user, awaiting.details["source"]
    name, found = answer_text(message), await find_answer(message, user, services)
    others = [person for person in found if person.id != source_id]
    if target := await the_one(name, others, chat, partial(_target_button, user, source_id)):
        await chat.say(*await _confirmation(user, services, source_id, target.id))


async def target_pressed(query: CallbackQuery, callback_data: MergeButton, chat: Chat, services: Services) -> None:
    confirmation = await _confirmation(chat.user, services, callback_data.source, callback_data.target)
    await chat.edit(*confirmation)


async def merge_confirmed(query: CallbackQuery, callback_data: MergeButton, chat: Chat, services: Services) -> None:
    user, now = chat.user, services.clock.now()
    source_id, target_id = callback_data.source, callback_data.target

    def work(connection: Connection) -> tuple[str, Person]:
        source = service.person(connection, user.user_id, source_id)
        target = service.person(connection, user.user_id, target_id)
        if repository.get(connection, user.user_id, source_id) is None and source.id == target.id:
            # Merged before: pressed twice, or handled again after a crash. The redirect has the name.
            [source] = removal_repository.profiles(connection, user.user_id, [source_id])
            return source.display_name, target
        return source.display_name, people.merge(connection, user.user_id, source_id, target_id, now=now)

    source_name, target = await services.write(work)
    done = phrase(user.lang, "merge-done", source=source_name, target=target.display_name)
    undo = button(label(user.lang, "merge-button-undo"), SplitButton(owner=user.user_id, source=source_id))
    await chat.edit(f"{done}\n\n{profile(user, target)}", [*actions(user, target), [undo]])


async def undo_pressed(query: CallbackQuery, callback_data: SplitButton, chat: Chat, services: Services) -> None:
    user, now = chat.user, services.clock.now()
    source, target = await services.write(lambda c: people.undo_merge(c, user.user_id, callback_data.source, now=now))
    text = phrase(user.lang, "merge-undone", source=source.display_name, target=target.display_name)
    rows = [[button(one.display_name, PersonButton(owner=user.user_id, person=one.id))] for one in (source, target)]
    await chat.edit(text, rows)


async def _candidates(user: User, services: Services, source_id: int, page: int) -> tuple[str, Rows, list[Button]]:
    """The question, its candidates (similar names first) with the paging row, and the row that leads back."""

    def work(connection: Connection) -> tuple[Person, list[Person]]:
        source = service.person(connection, user.user_id, source_id)
        return source, [one for one in repository.listing(connection, user.user_id) if one.id != source.id]

    source, others = await services.read(work)
    alike = await name_similarities(source.display_name, user, services)
    count, first = len(others), clamp(page, len(others)) * PAGE
    shown = sorted(others, key=lambda one: -alike.get(one.id, 0.0))[first : first + PAGE]
    back = [button(label(user.lang, "button-back"), PersonButton(owner=user.user_id, person=source.id))]
    if not shown:
        return phrase(user.lang, "merge-nobody"), [], back
    rows = [[_target_button(user, source.id, person)] for person in shown]
    here = clamp(page, count)
    rows += page_row(user.lang, here, count, lambda to: MergePageButton(owner=user.user_id, source=source.id, page=to))
    return phrase(user.lang, "merge-choose", name=source.display_name), rows, back


async def _confirmation(user: User, services: Services, source_id: int, target_id: int) -> tuple[str, Rows]:
    def work(connection: Connection) -> tuple[Person, Person]:
        return (
            service.person(connection, user.user_id, source_id),
            service.person(connection, user.user_id, target_id),
        )

    source, target = await services.read(work)
    text = phrase(user.lang, "merge-confirm", source=source.display_name, target=target.display_name)
    sure = MergeButton(owner=user.user_id, source=source.id, target=target.id, sure=True)
    yes = button(label(user.lang, "merge-button-yes"), sure)
    no = button(label(user.lang, "button-cancel"), KeepButton(owner=user.user_id))
    return text, [[yes, no]]


def _target_button(user: User, source_id: int, person: Person) -> Button:
    return button(person.display_name, MergeButton(owner=user.user_id, source=source_id, target=person.id))


def router() -> Router:
    built = Router(name="merging")
    built.message.register(target_typed, Answers("merge"))
    built.callback_query.register(merge_pressed, PersonButton.filter(F.action == PersonAction.MERGE))
    built.callback_query.register(page_pressed, MergePageButton.filter())
    built.callback_query.register(merge_confirmed, MergeButton.filter(F.sure))
    built.callback_query.register(target_pressed, MergeButton.filter())
    built.callback_query.register(undo_pressed, SplitButton.filter())
    return built
