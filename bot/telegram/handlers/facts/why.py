"""/why: the sources of an answer, with buttons to open, correct and forget them."""

from aiogram import Router
from aiogram.filters import Command
from aiogram.types import CallbackQuery, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers import buttons
from bot.telegram.handlers.facts.fact_text import episode_line, fact_line, message_line, number_rows, numbered, shorten
from bot.telegram.handlers.memories.memory_text import memory_line
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from bot.telegram.rendering import escape, render
from internal.access.model import User
from internal.dialogue.model import Message as Said
from internal.flows.turn import explain
from internal.flows.turn.explain import AnswerSources, Source
from internal.flows.turn.tools.web_pages import WebPage
from internal.graph.model import Node
from internal.knowledge.model import Episode, Fact
from internal.people.model import Person

_MOST_CITED = 10
_MOST_GIVEN = 6
_MOST_ROWS = 5
"""The most facts with a row of their own; further ones get a number button."""

_MOST_PEOPLE = 8
_QUOTE = 160


async def why(message: Message, chat: Chat, services: Services) -> None:
    reply = await services.read(lambda c: target_reply(c, message, chat))
    if reply is None:
        key = "why-no-answer" if message.reply_to_message is None else "why-not-answer"
        await chat.say(phrase(chat.user.lang, key))
        return
    await chat.say(*await _explanation(chat.user, services, reply.id))


async def pressed(query: CallbackQuery, callback_data: buttons.WhyButton, chat: Chat, services: Services) -> None:
    shown = await _explanation(chat.user, services, callback_data.reply)
    await chat.edit(*shown)


def target_reply(connection: Connection, message: Message, chat: Chat) -> Said | None:
    """The answer that a command is about: the one it replies to, else the latest."""
    to = message.reply_to_message
    if to is None:
        return explain.last_reply(connection, chat.user.user_id)
    return explain.reply_at(connection, chat.user.user_id, chat.bot_id, chat.chat_id, to.message_id)


async def _explanation(user: User, services: Services, reply_id: str) -> tuple[str, buttons.Rows]:
    now = services.clock.now()
    found = await services.read(lambda c: explain.explain(c, user.user_id, reply_id, now=now))
    return _text(user, found), _rows(user, found)


def _text(user: User, found: AnswerSources) -> str:
    lang = user.lang
    said = " ".join(part.text for part in render(found.reply.content))
    quote = f"> {escape(shorten(said, _QUOTE))}"
    if found.empty:
        return f"{quote}\n\n{phrase(lang, 'why-none')}"
    cited = [_source_line(user, one) if one else phrase(lang, "why-gone") for one in found.cited[:_MOST_CITED]]
    given = [_source_line(user, one) for one in found.given[:_MOST_GIVEN]]
    parts = [f"{phrase(lang, 'why-title')}\n{quote}"]
    if cited:
        parts.append(numbered(cited))
    if given:
        title = phrase(lang, "why-given" if found.cited else "why-uncited")
        parts.append(f"{title}\n{numbered(given, len(found.cited) + 1)}")
    if found.people:
        names = ", ".join(person.display_name for person in found.people[:_MOST_PEOPLE])
        parts.append(phrase(lang, "why-people", names=names))
    return "\n\n".join(parts)


def _source_line(user: User, one: Source) -> str:
    match one:
        case Node():
            return memory_line(user, one)
        case Fact():
            return fact_line(user, one)
        case Said():
            return message_line(user, one)
        case Episode():
            return episode_line(user, one)
        case WebPage():
            return escape(one.url)


def _rows(user: User, found: AnswerSources) -> buttons.Rows:
    listed = enumerate((*found.cited[:_MOST_CITED], *found.given[:_MOST_GIVEN]), start=1)
    shown = [(number, one) for number, one in listed if isinstance(one, Fact | Node)]
    whole = [(number, one) for number, one in shown if number <= min(len(found.cited), _MOST_ROWS)]
    short = [(number, one) for number, one in shown if number > min(len(found.cited), _MOST_ROWS)]
    rows: buttons.Rows = [_row(user, found.reply.id, number, one) for number, one in whole]
    rows += number_rows([_open_row(user, found.reply.id, str(number), one) for number, one in short])
    said = [(number, one) for number, one in enumerate(found.cited[:_MOST_CITED], start=1) if isinstance(one, Said)]
    rows += number_rows([_forget_row(user, found.reply.id, number, one) for number, one in said], 2)
    return rows + number_rows([_person(user, person) for person in found.people[:_MOST_PEOPLE]], 2)


def _row(user: User, reply_id: str, number: int, one: Fact | Node) -> list[buttons.Button]:
    way = {"owner": user.user_id, "origin": reply_id, "back_to": buttons.FROM_REPLY}
    correct: buttons.FactButton | buttons.MemoryButton
    forget: buttons.FactButton | buttons.MemoryButton
    if isinstance(one, Node):
        correct, forget = (
            buttons.CorrectMemoryButton(**way, node=one.id),
            buttons.ForgetMemoryButton(**way, node=one.id),
        )
    else:
        correct, forget = buttons.CorrectButton(**way, fact=one.id), buttons.ForgetFactButton(**way, fact=one.id)
    return [
        _open_row(user, reply_id, label(user.lang, "fact-button-open", n=number), one),
        buttons.button(label(user.lang, "fact-button-correct"), correct),
        buttons.button(label(user.lang, "fact-button-forget"), forget),
    ]


def _forget_row(user: User, reply_id: str, number: int, said: Said) -> buttons.Button:
    """The button to forget a past message, which cannot be corrected."""
    data = buttons.ForgetSaidButton(owner=user.user_id, message=said.id, origin=reply_id)
    return buttons.button(label(user.lang, "said-button-forget", n=number), data)


def _open_row(user: User, reply_id: str, text: str, one: Fact | Node) -> buttons.Button:
    if isinstance(one, Node):
        return buttons.button(
            text, buttons.MemoryButton(owner=user.user_id, node=one.id, origin=reply_id, back_to=buttons.FROM_REPLY)
        )
    return buttons.button(
        text, buttons.FactButton(owner=user.user_id, fact=one.id, origin=reply_id, back_to=buttons.FROM_REPLY)
    )


def _person(user: User, person: Person) -> buttons.Button:
    return buttons.button(person.display_name, buttons.PersonButton(owner=user.user_id, person=person.id))


def router() -> Router:
    built = Router(name="why")
    built.message.register(why, Command("why", ignore_mention=True))
    built.callback_query.register(pressed, buttons.WhyButton.filter())
    return built
