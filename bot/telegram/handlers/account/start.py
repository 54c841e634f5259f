"""/start, /help and /cancel: the greeting, the help, and the withdrawal of a question."""

import re
from typing import Any

from aiogram import Router
from aiogram.dispatcher.event.bases import UNHANDLED
from aiogram.filters import Command, CommandObject
from aiogram.types import Message

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.account.settings import ask_zone
from bot.telegram.handlers.deep_links import open_link
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import phrase
from bot.telegram.message_reader import author_of, forward_of, session_command
from internal.access import service as access
from internal.access.model import Role

_START = re.compile(r"/start(?:@\w+)?\s+(\S.*)", re.DOTALL)


def start_code(message: Message) -> str | None:
    """The code of `/start CODE`, with which a stranger may become the bot owner; None for other texts."""
    words = _words_of_link(message)
    return words if access.looks_like_code(words) else None


def _words_of_link(message: Message) -> str:
    """The text after /start, where Telegram puts the parameter of a link."""
    match = _START.match(message.text or "")
    return match[1].strip() if match and forward_of(message) is None else ""


async def start(message: Message, chat: Chat, services: Services) -> None:
    code, author = start_code(message), message.from_user
    if code is not None and author is not None:
        now = services.clock.now()
        owner = await services.write(lambda c: access.claim_ownership(c, author_of(author), code, now))
        await chat.say(phrase(chat.user.lang, "greeting-owner" if owner else "owner-code-bad"))
        if owner is not None:
            await services.menu.show(owner)
    if not await open_link(_words_of_link(message), chat, services):
        await greet(chat, services)


async def greet(chat: Chat, services: Services) -> None:
    """Greets, and asks for the time zone the first time."""
    user = chat.user
    if user.tz_asked:
        await chat.say(phrase(user.lang, "greeting-again", name=user.name))
        return
    await chat.say(phrase(user.lang, "greeting", name=user.name, persona=services.config.persona.name))
    await ask_zone(chat, services)
    await services.write(lambda c: access.mark_zone_asked(c, user.user_id))


async def show_help(message: Message, chat: Chat) -> None:
    lang = chat.user.lang
    text = phrase(lang, "help")
    if chat.user.role is Role.OWNER:
        text += "\n" + phrase(lang, "help-owner")
    await chat.say(text)


async def cancel(message: Message, chat: Chat, services: Services) -> None:
    """Confirms that the question was withdrawn, as every command does before it runs; `chat.user` is from before."""
    asked = access.awaited(chat.user, services.clock.now())
    await chat.say(phrase(chat.user.lang, "cancelled" if asked else "cancelled-nothing"))


async def unknown(message: Message, command: CommandObject, chat: Chat) -> Any:
    """Answers an unknown command; text after /db or /sa and a /correct with news is left to the companion."""
    if session_command(message)[0] is not None or command.command == "correct":
        return UNHANDLED
    await chat.say(phrase(chat.user.lang, "unknown-command", command=f"/{command.command[:64]}"))
    return None


def router() -> Router:
    built = Router(name="start")
    built.message.register(start, Command("start", ignore_mention=True))
    built.message.register(show_help, Command("help", ignore_mention=True))
    built.message.register(cancel, Command("cancel", ignore_mention=True))
    return built


def unknown_router() -> Router:
    """The router for unknown commands. Comes last."""
    built = Router(name="unknown")
    built.message.register(unknown, Command(re.compile(r"\w+"), ignore_mention=True))
    return built
