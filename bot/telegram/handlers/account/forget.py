"""/forget: forgets a person, a fact, a message or everything, after a confirmation and with ten minutes to undo it."""

from collections.abc import Sequence
from functools import partial

from aiogram import F, Router
from aiogram.filters import Command, CommandObject
from aiogram.types import CallbackQuery, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.awaited_answers import Answers, ask
from bot.telegram.handlers.buttons import (
    Button,
    FactButton,
    ForgetAboutButton,
    ForgetButton,
    ForgetFactButton,
    ForgetSaidButton,
    KeepButton,
    MessagesButton,
    PersonAction,
    PersonButton,
    Rows,
    SentenceButton,
    SurelyForgetFactButton,
    UndoButton,
    WhyButton,
    button,
)
from bot.telegram.handlers.facts.fact_text import LINE, number_rows, numbered, quotable, shorten
from bot.telegram.handlers.people.find import answer_text, find, find_answer, the_one
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from internal.access.model import AwaitedAnswer, User
from internal.dialogue import repository as dialogue
from internal.errors import NotFound
from internal.flows.forgetting import bio_sentences, erase, requests
from internal.flows.forgetting.bio_sentences import Remaining
from internal.flows.forgetting.messages_about import messages_about
from internal.flows.visibility.lines import own_messages
from internal.knowledge import fact_repository, service as knowledge
from internal.knowledge.model import Fact
from internal.people import removal_repository, service
from internal.people.model import Person
from internal.storage.backup.backup import HELD
from internal.storage.forgetting import forgettings, hidings
from internal.storage.forgetting.forgettings import Forgetting

_EVERYTHING = frozenset({"всё", "все", "усе", "геть усе", "everything", "all"})
_OFFERED = 6
_PART = 8
"""Hexadecimal digits of a sentence's key on a button, whose data is limited to 64 bytes."""
_UNDO_MINUTES = round(requests.UNDO_WINDOW.total_seconds() / 60)


async def forget(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    if command.args:
        found = [] if _is_everything(command.args) else await find(command.args, chat.user, services)
        await _confirm_named(command.args, found, chat, services)
        return
    user = chat.user
    everything = button(label(user.lang, "forget-button-everything"), ForgetButton(owner=user.user_id))
    await ask(chat, services, AwaitedAnswer("forget"), phrase(user.lang, "forget-ask"), [[everything]])


async def name_typed(message: Message, chat: Chat, services: Services) -> None:
    name = answer_text(message)
    found = [] if _is_everything(name) else await find_answer(message, chat.user, services)
    await _confirm_named(name, found, chat, services)


async def _confirm_named(name: str, found: list[Person], chat: Chat, services: Services) -> None:
    user = chat.user
    if _is_everything(name):
        await chat.say(*await _confirmation(user, None, services))
    elif one := await the_one(name, found, chat, partial(_choice, user)):
        await chat.say(*await _confirmation(user, one, services))


def choose_person(user: User, name: str, found: Sequence[Person]) -> tuple[str, Rows]:
    """Asks which of several people is to be forgotten."""
    return phrase(user.lang, "person-choose", name=name[:64]), [[_choice(user, one)] for one in found]


def _choice(user: User, one: Person) -> Button:
    return button(one.display_name, ForgetButton(owner=user.user_id, person=one.id))


async def person_pressed(query: CallbackQuery, callback_data: PersonButton, chat: Chat, services: Services) -> None:
    known = await services.read(lambda c: service.person(c, chat.user.user_id, callback_data.person))
    await chat.edit(*await _confirmation(chat.user, known, services))


async def everything_or_person_pressed(
    query: CallbackQuery, callback_data: ForgetButton, chat: Chat, services: Services
) -> None:
    known = None
    if callback_data.person:
        known = await services.read(lambda c: service.person(c, chat.user.user_id, callback_data.person))
    await chat.edit(*await _confirmation(chat.user, known, services))


async def forget_confirmed(
    query: CallbackQuery, callback_data: ForgetButton | ForgetAboutButton, chat: Chat, services: Services
) -> None:
    user, person_id, now = chat.user, callback_data.person or None, services.clock.now()
    messages: set[str] = set()
    if isinstance(callback_data, ForgetAboutButton):
        messages = await messages_about(services.database, user.user_id, callback_data.person, now=now)

    def work(connection: Connection) -> tuple[Forgetting, str]:
        asked = requests.ask_forget(connection, user.user_id, person_id, now=now, messages=messages)
        return asked, _name(connection, asked)

    asked, name = await services.write(work)
    undo = button(label(user.lang, "forget-button-undo"), UndoButton(owner=user.user_id, forgetting=asked.id))
    if person_id is None:
        text = phrase(user.lang, "forget-everything-done", minutes=_UNDO_MINUTES)
    else:
        text = phrase(user.lang, "forget-person-done", name=name, minutes=_UNDO_MINUTES)
        if messages:
            text = f"{text}\n{phrase(user.lang, 'forget-person-messages-done', count=len(messages))}"
    await chat.edit(text, [[undo]])


async def fact_pressed(query: CallbackQuery, callback_data: ForgetFactButton, chat: Chat, services: Services) -> None:
    user = chat.user
    fact = await services.read(lambda c: knowledge.fact(c, user.user_id, callback_data.fact))
    await chat.edit(*fact_confirmation(user, fact, callback_data))


def fact_confirmation(user: User, fact: Fact, asked: ForgetFactButton) -> tuple[str, Rows]:
    """Asks whether to forget a fact."""
    way = asked.model_dump()
    yes = button(label(user.lang, "forget-button-yes"), SurelyForgetFactButton(**way))
    no = button(label(user.lang, "button-cancel"), FactButton(**way))
    return phrase(user.lang, "forget-fact-confirm", text=quotable(fact.fact)), [[yes, no]]


async def fact_confirmed(
    query: CallbackQuery, callback_data: SurelyForgetFactButton, chat: Chat, services: Services
) -> None:
    user, now = chat.user, services.clock.now()

    def work(connection: Connection) -> tuple[str, Rows]:
        requests.ask(connection, user.user_id, "fact", callback_data.fact, now=now)
        return _forgotten_fact(connection, user, callback_data.fact)

    await chat.edit(*await services.write(work))


def _forgotten_fact(connection: Connection, user: User, fact_id: str) -> tuple[str, Rows]:
    """A fact that is being forgotten, and the profile sentences from the same messages."""
    asked = _pending(connection, user, fact_id)
    hidden = fact_repository.version(connection, user.user_id, fact_id, hidden=True)
    words = quotable(hidden.fact.fact) if hidden else ""
    text = phrase(user.lang, "forget-fact-done", text=words, minutes=_UNDO_MINUTES)
    rows = [] if asked is None else [_undo(user, asked)]
    lines = own_messages(connection, user.user_id, fact_id)
    taken = hidings.of_requests(connection, user.user_id, [asked.id] if asked else [], "message")
    staying = [one for one in lines if one not in taken]
    if asked is not None and staying:
        offer = label(user.lang, "forget-button-messages", count=len(staying))
        rows.append([button(offer, MessagesButton(owner=user.user_id, fact=fact_id))])
    elif lines:
        text = f"{text}\n{phrase(user.lang, 'forget-messages-done', count=len(lines))}"
    left = bio_sentences.remaining(connection, user.user_id, fact_id)[:_OFFERED]
    if left:
        sentences = numbered(
            [phrase(user.lang, "forget-fact-left", name=one.name, text=shorten(one.sentence, LINE)) for one in left]
        )
        text = f"{text}\n\n{phrase(user.lang, 'forget-fact-remaining', count=len(left))}\n{sentences}"
        rows += number_rows([_remove_button(user, fact_id, one, number) for number, one in enumerate(left, start=1)], 2)
    return text, rows


def _undo(user: User, asked: Forgetting) -> list[Button]:
    return [button(label(user.lang, "forget-button-undo"), UndoButton(owner=user.user_id, forgetting=asked.id))]


def _remove_button(user: User, fact_id: str, one: Remaining, number: int) -> Button:
    data = SentenceButton(owner=user.user_id, fact=fact_id, person=one.person_id, part=one.key[:_PART])
    return button(label(user.lang, "forget-button-sentence", n=number), data)


def _pending(connection: Connection, user: User, fact_id: str) -> Forgetting | None:
    return forgettings.pending_of(connection, user.user_id, "fact", fact_id)


async def message_pressed(
    query: CallbackQuery, callback_data: ForgetSaidButton, chat: Chat, services: Services
) -> None:
    """Asks whether to forget a past message that an answer was based on."""
    user, data = chat.user, callback_data
    found = await services.read(lambda c: dialogue.by_ids(c, user.user_id, [data.message]))
    if not found:
        raise NotFound("the message is gone")
    yes = button(label(user.lang, "forget-button-yes"), data.model_copy(update={"sure": True}))
    no = button(label(user.lang, "button-cancel"), WhyButton(owner=user.user_id, reply=data.origin))
    await chat.edit(phrase(user.lang, "forget-said-confirm", text=quotable(found[0].content)), [[yes, no]])


async def message_confirmed(
    query: CallbackQuery, callback_data: ForgetSaidButton, chat: Chat, services: Services
) -> None:
    user, now = chat.user, services.clock.now()
    asked = await services.write(lambda c: requests.ask(c, user.user_id, "message", callback_data.message, now=now))
    await chat.edit(phrase(user.lang, "forget-said-done", minutes=_UNDO_MINUTES), [_undo(user, asked)])


async def messages_pressed(query: CallbackQuery, callback_data: MessagesButton, chat: Chat, services: Services) -> None:
    user, fact_id, now = chat.user, callback_data.fact, services.clock.now()

    def work(connection: Connection) -> tuple[str, Rows]:
        if _pending(connection, user, fact_id) is None:
            return phrase(user.lang, "forget-messages-late"), []
        requests.ask_messages(connection, user.user_id, fact_id, now=now)
        return _forgotten_fact(connection, user, fact_id)

    await chat.edit(*await services.write(work))


async def sentence_pressed(query: CallbackQuery, callback_data: SentenceButton, chat: Chat, services: Services) -> None:
    user, now, data = chat.user, services.clock.now(), callback_data

    def work(connection: Connection) -> tuple[str, Rows]:
        if _pending(connection, user, data.fact) is not None:
            bio_sentences.hide(connection, user.user_id, data.person, data.part, data.fact, now=now)
            return _forgotten_fact(connection, user, data.fact)
        erase.erase_sentence(connection, user.user_id, data.person, data.part, now=now)
        return phrase(user.lang, "forget-sentence-done"), []

    await chat.edit(*await services.write(work))


async def undo_pressed(query: CallbackQuery, callback_data: UndoButton, chat: Chat, services: Services) -> None:
    user_id, now = chat.user.user_id, services.clock.now()

    def work(connection: Connection) -> bool:
        state = forgettings.forgetting_state(connection, user_id, callback_data.forgetting)
        if state == "pending":
            asked = requests.undo(connection, user_id, callback_data.forgetting)
            requests.append_event(connection, requests.UNDONE, asked, now)
        return state in ("pending", "undone")

    in_time = await services.write(work)
    await chat.edit(phrase(chat.user.lang, "forget-undone" if in_time else "forget-too-late"))


def _is_everything(name: str) -> bool:
    return name.strip().casefold() in _EVERYTHING


async def _confirmation(user: User, person: Person | None, services: Services) -> tuple[str, Rows]:
    """`confirmation` with the number of messages about the person."""
    if person is None:
        return confirmation(user, None, 0)
    about = await messages_about(services.database, user.user_id, person.id, now=services.clock.now())
    return confirmation(user, person, len(about))


def confirmation(user: User, person: Person | None, count: int) -> tuple[str, Rows]:
    """Says what goes and what stays, and offers to erase the `count` messages about a person too."""
    sure = ForgetButton(owner=user.user_id, person=person.id if person else 0, sure=True)
    yes = button(label(user.lang, "forget-button-yes"), sure)
    no = button(label(user.lang, "button-cancel"), KeepButton(owner=user.user_id))
    if person is None:
        return phrase(user.lang, "forget-everything-confirm", days=HELD.days), [[yes, no]]
    text = phrase(user.lang, "forget-person-confirm", name=person.display_name, count=count, days=HELD.days)
    too = ForgetAboutButton(owner=user.user_id, person=person.id)
    offer = button(label(user.lang, "forget-button-about", count=count), too)
    return text, [[yes], [offer], [no]] if count else [[yes, no]]


def _name(connection: Connection, asked: Forgetting) -> str:
    ids = [] if asked.person_id is None else [asked.person_id]
    return "".join(person.display_name for person in removal_repository.profiles(connection, asked.user_id, ids))


def router() -> Router:
    built = Router(name="forgetting")
    built.message.register(forget, Command("forget", ignore_mention=True))
    built.message.register(name_typed, Answers("forget"))
    built.callback_query.register(person_pressed, PersonButton.filter(F.action == PersonAction.FORGET))
    built.callback_query.register(forget_confirmed, ForgetButton.filter(F.sure))
    built.callback_query.register(forget_confirmed, ForgetAboutButton.filter())
    built.callback_query.register(everything_or_person_pressed, ForgetButton.filter())
    built.callback_query.register(fact_confirmed, SurelyForgetFactButton.filter())
    built.callback_query.register(fact_pressed, ForgetFactButton.filter())
    built.callback_query.register(message_confirmed, ForgetSaidButton.filter(F.sure))
    built.callback_query.register(message_pressed, ForgetSaidButton.filter())
    built.callback_query.register(messages_pressed, MessagesButton.filter())
    built.callback_query.register(sentence_pressed, SentenceButton.filter())
    built.callback_query.register(undo_pressed, UndoButton.filter())
    return built
