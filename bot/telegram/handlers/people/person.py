"""/person NAME: one profile, and what its owner can change in it."""

import re
from datetime import datetime
from functools import partial
from zoneinfo import ZoneInfo

from aiogram import F, Router
from aiogram.filters import Command, CommandObject
from aiogram.types import CallbackQuery, Message

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.awaited_answers import Answers, ask
from bot.telegram.handlers.buttons import (
    CircleButton,
    FactsButton,
    FieldButton,
    KeepButton,
    PersonAction,
    PersonButton,
    Rows,
    button,
)
from bot.telegram.handlers.companion.rhythms import RhythmButton
from bot.telegram.handlers.people.find import answer_text, find, find_answer, the_one
from bot.telegram.handlers.people.people import choice
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from bot.telegram.rendering import escape
from internal.access.model import AwaitedAnswer, User
from internal.flows.merging import people
from internal.people import service
from internal.people.bio import bio_from_names
from internal.people.model import Circle, Person

FIELDS = ("display_name", "bio", "aliases")
"""Fields edited by typing; the circle has buttons."""

_CLEAR = frozenset({"-", "–", "—"})


async def person(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    if command.args:
        await _show(command.args, await find(command.args, chat.user, services), chat)
    else:
        await ask(chat, services, AwaitedAnswer("person"), phrase(chat.user.lang, "person-ask"))


async def name_typed(message: Message, chat: Chat, services: Services) -> None:
    await _show(answer_text(message), await find_answer(message, chat.user, services), chat)


async def _show(name: str, found: list[Person], chat: Chat) -> None:
    if one := await the_one(name, found, chat, partial(choice, chat.user)):
        await chat.say(profile(chat.user, one), actions(chat.user, one))


async def show_pressed(query: CallbackQuery, callback_data: PersonButton, chat: Chat, services: Services) -> None:
    known = await _person(chat.user, callback_data.person, services)
    await chat.edit(profile(chat.user, known), actions(chat.user, known))


async def circle_pressed(query: CallbackQuery, callback_data: PersonButton, chat: Chat, services: Services) -> None:
    user, known = chat.user, await _person(chat.user, callback_data.person, services)
    rows: Rows = [
        [
            button(
                label(user.lang, "circle", circle=circle.value),
                CircleButton(owner=user.user_id, person=known.id, circle=circle),
            )
        ]
        for circle in Circle
    ]
    await chat.edit(phrase(user.lang, "person-choose-circle", name=known.display_name), [*rows, _back(user, known)])


async def circle_chosen(query: CallbackQuery, callback_data: CircleButton, chat: Chat, services: Services) -> None:
    user, now = chat.user, services.clock.now()
    moved = await services.write(
        lambda c: people.edit(c, user.user_id, callback_data.person, {"circle": callback_data.circle}, now=now)
    )
    await chat.edit(profile(user, moved), actions(user, moved))


async def edit_pressed(query: CallbackQuery, callback_data: PersonButton, chat: Chat, services: Services) -> None:
    user, known = chat.user, await _person(chat.user, callback_data.person, services)
    rows: Rows = [
        [
            button(
                label(user.lang, f"person-button-{field}"),
                FieldButton(owner=user.user_id, person=known.id, field=field),
            )
        ]
        for field in FIELDS
    ]
    await chat.edit(phrase(user.lang, "person-choose-field", name=known.display_name), [*rows, _back(user, known)])


async def field_pressed(query: CallbackQuery, callback_data: FieldButton, chat: Chat, services: Services) -> None:
    user, known = chat.user, await _person(chat.user, callback_data.person, services)
    question = AwaitedAnswer("edit", {"person": known.id, "field": callback_data.field})
    await ask(chat, services, question, _edit_question(user, known, callback_data.field))


async def field_typed(message: Message, awaiting: AwaitedAnswer, chat: Chat, services: Services) -> None:
    user, now = chat.user, services.clock.now()
    field, text = awaiting.details["field"], answer_text(message)
    changes = {field: _value(field, text)}
    known = await services.write(lambda c: people.edit(c, user.user_id, awaiting.details["person"], changes, now=now))
    await chat.say(f"{phrase(user.lang, 'person-saved')}\n\n{profile(user, known)}", actions(user, known))


async def keep_pressed(query: CallbackQuery, chat: Chat) -> None:
    await chat.edit(phrase(chat.user.lang, "kept"))


def profile(user: User, person: Person) -> str:
    """Everything known of a person, as Markdown."""
    lang = user.lang
    circle = label(lang, "circle", circle=person.circle.value)
    lines = [phrase(lang, "person-title", name=person.display_name), phrase(lang, "person-circle", circle=circle)]
    if person.aliases:
        lines.append(phrase(lang, "person-aliases", aliases=", ".join(person.aliases)))
    if person.username:
        lines.append(phrase(lang, "person-username", username=person.username))
    if person.mention_count:
        lines.append(phrase(lang, "person-mentions", count=person.mention_count))
    lines.append(_last_seen(user, person))
    if person.bio != bio_from_names(person.names):
        lines += ["", escape(person.bio)]
    return "\n".join(lines)


def _last_seen(user: User, person: Person) -> str:
    first, last = _day(user, person.first_seen), _day(user, person.last_seen)
    if first.date() == last.date():
        return phrase(user.lang, "person-seen-once", first=first)
    return phrase(user.lang, "person-seen", first=first, last=last)


def actions(user: User, person: Person) -> Rows:
    def action(key: str, which: PersonAction) -> tuple[str, str]:
        return button(label(user.lang, key), PersonButton(owner=user.user_id, person=person.id, action=which))

    return [
        [action("person-button-circle", PersonAction.CIRCLE), action("person-button-edit", PersonAction.EDIT)],
        [action("person-button-merge", PersonAction.MERGE), action("person-button-forget", PersonAction.FORGET)],
        [
            button(label(user.lang, "facts-button-person"), FactsButton(owner=user.user_id, about=person.entity_id)),
            button(label(user.lang, "rhythm-button"), RhythmButton(owner=user.user_id, person=person.id)),
        ],
    ]


async def _person(user: User, person_id: int, services: Services) -> Person:
    return await services.read(lambda c: service.person(c, user.user_id, person_id))


def _edit_question(user: User, person: Person, field: str) -> str:
    if field == "bio":
        return f"{phrase(user.lang, 'person-edit-bio')}\n\n> {escape(person.bio)}"
    value = person.display_name if field == "display_name" else ", ".join(person.aliases)
    return phrase(user.lang, f"person-edit-{field}", value=value or label(user.lang, "person-nothing-yet"))


def _value(field: str, text: str) -> object:
    cleared = "" if text.strip() in _CLEAR else text
    if field == "aliases":
        return [part for part in (alias.strip() for alias in re.split(r"[,;\n]", cleared)) if part]
    return text if field == "display_name" else cleared


def _day(user: User, moment: datetime) -> datetime:
    return moment.astimezone(ZoneInfo(user.tz))


def _back(user: User, person: Person) -> list[tuple[str, str]]:
    return [button(label(user.lang, "button-back"), PersonButton(owner=user.user_id, person=person.id))]


def router() -> Router:
    built = Router(name="person")
    built.message.register(person, Command("person", ignore_mention=True))
    built.message.register(name_typed, Answers("person"))
    built.message.register(field_typed, Answers("edit"))
    for action, handler in (
        (PersonAction.SHOW, show_pressed),
        (PersonAction.CIRCLE, circle_pressed),
        (PersonAction.EDIT, edit_pressed),
    ):
        built.callback_query.register(handler, PersonButton.filter(F.action == action))
    built.callback_query.register(circle_chosen, CircleButton.filter())
    built.callback_query.register(field_pressed, FieldButton.filter(F.field.in_(FIELDS)))
    built.callback_query.register(keep_pressed, KeepButton.filter())
    return built
