"""/asof: a question about another time, answered from the facts of that time."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from aiogram import Router
from aiogram.filters import Command, CommandObject
from aiogram.types import Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.awaited_answers import Answers, ask
from bot.telegram.handlers.facts.fact_text import fact_lines, local, numbered, shorten
from bot.telegram.handlers.facts.facts import open_buttons
from bot.telegram.handlers.people.find import answer_text
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import Markdown, phrase
from internal.access import limits
from internal.access.model import AwaitedAnswer, User
from internal.agents.model import RecalledFact
from internal.knowledge import service as knowledge
from internal.knowledge.model import Fact
from internal.language.dates.questions import DatedQuestion

_SHOWN = 8


async def asof(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    user, now = chat.user, services.clock.now()
    if not command.args:
        await chat.say(phrase(user.lang, "asof-usage"))
        return
    asked = await services.dates.question(command.args, user, now)
    if asked is None:
        await chat.say(phrase(user.lang, "asof-unreadable", text=shorten(command.args, 64)))
    elif asked.begins > now:
        await chat.say(phrase(user.lang, "asof-future", period=_period(user, asked)))
    elif not asked.question:
        details = {"begins": asked.begins.isoformat(), "ends": asked.ends.isoformat() if asked.ends else None}
        question = phrase(user.lang, "asof-ask", period=_period(user, asked))
        await ask(chat, services, AwaitedAnswer("asof", details), question)
    else:
        await _answer_in_background(asked, chat, services)


async def question_typed(message: Message, awaiting: AwaitedAnswer, chat: Chat, services: Services) -> None:
    """Answers the question for a date that was sent without one."""
    begins, ends = awaiting.details["begins"], awaiting.details["ends"]
    until = datetime.fromisoformat(ends) if ends else None
    await _answer_in_background(
        DatedQuestion(datetime.fromisoformat(begins), until, answer_text(message)), chat, services
    )


async def _answer_in_background(asked: DatedQuestion, chat: Chat, services: Services) -> None:
    """Answers in the background: a model may take long, and the chat goes on meanwhile."""
    await chat.beside(lambda: _answer(asked, chat, services))


async def _answer(asked: DatedQuestion, chat: Chat, services: Services) -> None:
    user, now = chat.user, services.clock.now()
    limit = services.config.access.daily_cost_usd
    if not await services.read(lambda c: limits.within_daily_cost(c, user.user_id, now, limit)):
        await chat.say(phrase(user.lang, "daily-cost-reached", limit=limit))
        return
    until = None if asked.ends is None else min(asked.ends, now)
    async with chat.working():
        found = await services.past.answer(user.user_id, asked.question, asked.begins, until=until)
    rests_on = found.facts[: found.cited] or found.facts[:_SHOWN]
    facts = await services.read(lambda c: _facts(c, user, rests_on, now))
    period = _period(user, asked)
    if not facts:
        await chat.say(phrase(user.lang, "asof-nothing", period=period))
        return
    lines = numbered(fact_lines(user, facts))
    title = phrase(user.lang, "asof-title", period=period)
    if found.text is None:
        text = f"{title}\n{phrase(user.lang, 'asof-without-words')}\n\n{lines}"
    else:
        text = f"{title}\n\n{Markdown(found.text)}\n\n{phrase(user.lang, 'asof-rests')}\n{lines}"
    await chat.say(text, open_buttons(user, facts))


def _facts(connection: Connection, user: User, recalled: Sequence[RecalledFact], now: datetime) -> list[Fact]:
    """The stored facts, in the order of the answer's numbers."""
    found = knowledge.facts(connection, user.user_id, [one.fact_id for one in recalled], now=now)
    return [found[one.fact_id] for one in recalled if one.fact_id in found]


def _period(user: User, asked: DatedQuestion) -> Markdown:
    """The date as it was understood: whole days of the owner's, or a moment to the minute."""
    first = local(user, asked.begins)
    if asked.ends is None:
        return Markdown(phrase(user.lang, "period-moment", first=first))
    last = local(user, asked.ends) - timedelta(days=1)
    key = "period-day" if last.date() <= first.date() else "period-span"
    values = {"first": first} | ({} if key == "period-day" else {"last": last})
    return Markdown(phrase(user.lang, key, **values))


def router() -> Router:
    built = Router(name="asof")
    built.message.register(asof, Command("asof", ignore_mention=True))
    built.message.register(question_typed, Answers("asof"))
    return built
