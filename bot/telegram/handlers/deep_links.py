"""Links that open one thing in the bot's chat: `t.me/BOT?start=p_ID` a person, `f_ID` a fact, `t_ID` a task."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.buttons import NO_WAY_BACK, FactButton
from bot.telegram.handlers.facts.fact_text import card_text, read_card
from bot.telegram.handlers.facts.facts import card_rows
from bot.telegram.handlers.people import person
from bot.telegram.handlers.services import Services
from bot.telegram.handlers.tasks import task_text
from internal.flows.tasks import actions
from internal.people import service as people
from internal.tasks import service as tasks

_LINK: Final = re.compile(r"([pft])_([\w-]{1,60})", re.ASCII)

_LONGEST_NUMBER: Final = 18
"""The most digits of a number that fits a database column."""


def link(bot_name: str | None, kind: str, thing: int | str) -> str:
    """The address that opens a thing of this kind (`p`, `f` or `t`)."""
    return f"https://t.me/{bot_name}?start={kind}_{thing}"


async def open_link(words: str, chat: Chat, services: Services) -> bool:
    """Shows the thing that the words after /start name. Returns False if they name nothing.

    Raises NotFound for a thing that is gone or belongs to another user.
    """
    match = _LINK.fullmatch(words.strip())
    if match is None:
        return False
    await _OPEN[match[1]](match[2], chat, services)
    return True


async def _person(number: str, chat: Chat, services: Services) -> None:
    user, wanted = chat.user, int(number) if number.isdigit() and len(number) <= _LONGEST_NUMBER else 0
    known = await services.read(lambda c: people.person(c, user.user_id, wanted))
    await chat.say(person.profile(user, known), person.actions(user, known))


async def _fact(fact_id: str, chat: Chat, services: Services) -> None:
    card = await services.read(lambda c: read_card(c, chat.user.user_id, fact_id))
    data = FactButton(owner=chat.user.user_id, fact=fact_id, back_to=NO_WAY_BACK)
    await chat.say(card_text(chat.user, card), card_rows(chat.user, card, data))


async def _task(task_id: str, chat: Chat, services: Services) -> None:
    user, now = chat.user, services.clock.now()
    task = await services.read(lambda c: tasks.task(c, user.user_id, task_id))
    context = await services.read(lambda c: actions.context_of(c, task))
    await chat.say(*task_text.card(user, task, now, context))


_OPEN: Final[Mapping[str, Callable[[str, Chat, Services], Awaitable[None]]]] = {
    "p": _person, "f": _fact, "t": _task,
}  # fmt: skip
