"""/access: the owner admits and removes users."""

from aiogram import F, Router
from aiogram.dispatcher.event.bases import SkipHandler
from aiogram.filters import Command, CommandObject
from aiogram.types import CallbackQuery, Message

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.awaited_answers import ADMISSION, Answers, ask
from bot.telegram.handlers.buttons import AccessButton, KeepButton, Rows, button
from bot.telegram.handlers.people.contacts import contact_name
from bot.telegram.handlers.people.find import answer_text, reads_like_sentence
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import Markdown, label, phrase
from bot.telegram.message_reader import forward_of
from internal.access import service
from internal.access.model import AwaitedAnswer, Language, Role, User

_ADMIT = AwaitedAnswer(ADMISSION)
_LONGEST_ID = 16


async def access(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    if chat.user.role is not Role.OWNER:
        await chat.say(phrase(chat.user.lang, "access-not-owner"))
    elif command.args:
        await _admit(_typed_id(command.args), "", chat, services)
    else:
        present = await services.read(service.members)
        await ask(chat, services, _ADMIT, _member_lines(chat.user.lang, present), _remove_buttons(chat.user, present))


async def name_typed(message: Message, chat: Chat, services: Services) -> None:
    user_id, name = _candidate(message)
    pointing = message.contact is not None or message.forward_origin is not None
    if user_id is None and not pointing and reads_like_sentence(answer_text(message)):
        raise SkipHandler
    await _admit(user_id, name, chat, services)


async def _admit(user_id: int | None, name: str, chat: Chat, services: Services) -> None:
    owner, now = chat.user, services.clock.now()
    if user_id is None:
        await ask(chat, services, _ADMIT, phrase(owner.lang, "access-unreadable"))
        return
    admitted = await services.write(lambda c: service.invite(c, user_id, name, now, by=owner))
    await chat.say(phrase(owner.lang, "access-admitted", name=admitted.name, id=str(admitted.user_id)))


async def remove_pressed(query: CallbackQuery, callback_data: AccessButton, chat: Chat, services: Services) -> None:
    owner = chat.user
    member = await services.read(lambda c: service.member(c, callback_data.user, by=owner))
    sure = AccessButton(owner=owner.user_id, user=member.user_id, sure=True)
    yes = button(label(owner.lang, "access-button-yes"), sure)
    no = button(label(owner.lang, "button-cancel"), KeepButton(owner=owner.user_id))
    await chat.edit(phrase(owner.lang, "access-remove-confirm", name=member.name), [[yes, no]])


async def remove_confirmed(query: CallbackQuery, callback_data: AccessButton, chat: Chat, services: Services) -> None:
    owner, now = chat.user, services.clock.now()
    removed = await services.write(lambda c: service.remove(c, callback_data.user, now, by=owner))
    await chat.edit(phrase(owner.lang, "access-removed", name=removed.name))


async def by_owner(query: CallbackQuery, chat: Chat) -> bool:
    """Whether the bot owner pressed the button. Checked here, since a modified client can send any data."""
    return chat.user.role is Role.OWNER


def _member_lines(lang: Language, present: list[User]) -> str:
    lines = [
        phrase(
            lang,
            "access-member-owner" if user.role is Role.OWNER else "access-member",
            name=user.name,
            id=str(user.user_id),
        )
        for user in present
    ]
    return phrase(lang, "access-members", members=Markdown("\n".join(lines)))


def _remove_buttons(owner: User, present: list[User]) -> Rows:
    return [
        [
            button(
                label(owner.lang, "access-button-remove", name=user.name),
                AccessButton(owner=owner.user_id, user=user.user_id),
            )
        ]
        for user in present
        if user.role is not Role.OWNER
    ]


def _candidate(message: Message) -> tuple[int | None, str]:
    """The user id and name in a contact card, a forwarded message or a typed id; the id is None if there is none."""
    if message.contact is not None:
        return message.contact.user_id, contact_name(message.contact)
    origin = forward_of(message)
    if origin is not None:
        return origin.user_id, origin.name
    return _typed_id(message.text or ""), ""


def _typed_id(text: str) -> int | None:
    digits = text.strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= _LONGEST_ID else None


def router() -> Router:
    built = Router(name="admission")
    built.message.register(access, Command("access", ignore_mention=True))
    built.message.register(name_typed, Answers(ADMISSION))
    built.callback_query.register(remove_confirmed, AccessButton.filter(F.sure), by_owner)
    built.callback_query.register(remove_pressed, AccessButton.filter(), by_owner)
    return built
