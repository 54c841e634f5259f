"""/db, /sa and /ss without text, which open, continue and close a session; /sessions, which lists them."""

from functools import partial

from aiogram import F, Router
from aiogram.filters import Command, CommandObject
from aiogram.types import CallbackQuery, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.buttons import Rows, SessionButton, SessionsButton, button
from bot.telegram.handlers.facts.fact_text import local, number_rows, numbered, shorten
from bot.telegram.handlers.paging import PAGE, clamp, page_row
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from bot.telegram.rendering import escape
from internal.access.model import User
from internal.chronicle import repository as chronicle
from internal.chronicle.model import Session
from internal.chronicle.service import CLOSING
from internal.errors import expect_found
from internal.flows.sessions.lifecycle import closed_by
from internal.flows.visibility import sessions

SHOWN = 3_500
"""The most characters of a transcript in the chat; a longer one is sent as a file."""

_TOPIC = 60


async def start_command(message: Message, chat: Chat, services: Services) -> None:
    """Closes the open session; the next message opens a new one."""
    await services.sessions.close_session(chat.user.user_id, None, chat.thread_id or 0)
    await chat.say(phrase(chat.user.lang, "session-begins"))


async def continue_command(message: Message, chat: Chat, services: Services) -> None:
    lang = chat.user.lang
    session = await services.read(lambda c: chronicle.open_session(c, chat.user.user_id, chat.thread_id or 0))
    if session is None:
        await chat.say(phrase(lang, "session-none"))
    else:
        await chat.say(phrase(lang, "session-goes-on", topic=_topic(chat.user, session)))


async def close_command(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    user, topic = chat.user, chat.thread_id or 0
    closed = await services.sessions.close_session(user.user_id, CLOSING, topic)
    # A handler may run again after a crash: then the session that it closed is the last one.
    closed = closed or await services.read(lambda c: _closed_last(c, user, topic))
    if closed is None:
        await chat.say(phrase(user.lang, "session-none"))
        return
    judged = services.config.agents.analyst.enabled
    text = phrase(user.lang, "session-closed" if judged else "session-closed-unjudged", topic=_topic(user, closed))
    words = phrase(user.lang, "session-closed-words") if command.args else ""
    await chat.say("\n".join(filter(None, (text, words))))


def _closed_last(connection: Connection, user: User, topic: int) -> Session | None:
    newest = chronicle.listing(connection, user.user_id, limit=PAGE, newest_first=True)
    last = next((one for one in newest if one.thread_id == topic), None)
    return last if last is not None and closed_by(connection, last) == CLOSING else None


async def list_command(message: Message, chat: Chat, services: Services) -> None:
    await chat.say(*await _page(chat.user, services, 0))


async def page_pressed(query: CallbackQuery, callback_data: SessionsButton, chat: Chat, services: Services) -> None:
    shown = await _page(chat.user, services, callback_data.page)
    await chat.edit(*shown)


async def session_pressed(query: CallbackQuery, callback_data: SessionButton, chat: Chat, services: Services) -> None:
    user, persona = chat.user, services.config.persona.name
    transcript = partial(
        sessions.transcript, user_id=user.user_id, session_id=callback_data.session, lang=user.lang, agent=persona
    )
    transcript_text = expect_found(await services.read(transcript), "the conversation is not there any more")
    if len(transcript_text.markdown) <= SHOWN:
        shown = await services.read(partial(transcript, plain=_as_typed))
        await chat.say(shown.markdown if shown is not None else transcript_text.markdown)
        return
    day = local(user, transcript_text.session.opened_at).date()
    caption = label(user.lang, "session-caption", topic=_topic(user, transcript_text.session))
    await chat.document(f"{day.isoformat()}-{transcript_text.session.id[-4:]}.md", transcript_text.markdown, caption)


async def _page(user: User, services: Services, page: int) -> tuple[str, Rows]:
    """A page of the sessions, the latest first."""
    count = await services.read(lambda c: sessions.count_sessions(c, user.user_id))
    here = clamp(page, count)
    found = await services.read(
        lambda c: sessions.sessions(c, user.user_id, limit=PAGE, offset=here * PAGE, newest_first=True)
    )
    if not found:
        return phrase(user.lang, "sessions-nothing"), []
    first = here * PAGE + 1
    lines = numbered([_session_line(user, session) for session in found], first)
    text = f"{phrase(user.lang, 'sessions-title', count=count)}\n\n{lines}"
    opening = [
        button(str(number), SessionButton(owner=user.user_id, session=one.id))
        for number, one in enumerate(found, first)
    ]
    turns = page_row(user.lang, here, count, lambda number: SessionsButton(owner=user.user_id, page=number))
    return text, [*number_rows(opening), *turns]


def _as_typed(text: str) -> str:
    """The text exactly as it was typed, line by line."""
    return "\\\n".join(escape(line) for line in text.splitlines())


def _session_line(user: User, session: Session) -> str:
    key = "session-line-open" if session.closed_at is None else "session-line"
    return phrase(user.lang, key, at=local(user, session.opened_at), topic=_topic(user, session))


def _topic(user: User, session: Session) -> str:
    return shorten(session.topic, _TOPIC) or label(user.lang, "session-untitled")


def router() -> Router:
    built = Router(name="sessions")
    # With text after them, these two are messages that get an answer: see `message_reader.session_command`.
    built.message.register(start_command, Command("db", ignore_mention=True, magic=~F.args))
    built.message.register(continue_command, Command("sa", ignore_mention=True, magic=~F.args))
    built.message.register(close_command, Command("ss", ignore_mention=True))
    built.message.register(list_command, Command("sessions", ignore_mention=True))
    built.callback_query.register(page_pressed, SessionsButton.filter())
    built.callback_query.register(session_pressed, SessionButton.filter())
    return built
