"""/console: a one-time link to the pages that show everything stored about this user."""

from aiogram import Router
from aiogram.filters import Command
from aiogram.types import Message

from bot.shared.hosts import local_address
from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import phrase
from bot.telegram.rendering import escape
from internal.access.console import service as links


async def console(message: Message, chat: Chat, services: Services) -> None:
    config, user = services.config, chat.user
    if not config.console.enabled:
        await chat.say(phrase(user.lang, "console-off"))
        return
    lifetime, now = config.console.link_lifetime, services.clock.now()
    secret = await services.write(lambda c: links.issue_link(c, user.user_id, lifetime=lifetime, now=now))
    address = config.console.url or local_address(config.server.host, config.server.console_port)
    # The part after # reaches no server, log or link preview, only the page that logs in with it.
    link = f"{address.rstrip('/')}/login#link={secret}"
    text = phrase(user.lang, "console-link", minutes=int(lifetime.total_seconds() // 60))
    await chat.say(f"{text}\n\n[{escape(link)}]({link})")


def router() -> Router:
    built = Router(name="console")
    built.message.register(console, Command("console", ignore_mention=True))
    return built
