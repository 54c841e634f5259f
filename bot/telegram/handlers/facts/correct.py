"""/correct: the owner says how something really is; the earlier version is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aiogram import Router
from aiogram.filters import Command, CommandObject
from aiogram.types import CallbackQuery, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.awaited_answers import Answers, ask
from bot.telegram.handlers.buttons import CorrectButton, FactButton, Rows, button
from bot.telegram.handlers.facts.fact_text import card_text, fact_lines, number_rows, numbered, quotable, read_card
from bot.telegram.handlers.facts.facts import card_rows
from bot.telegram.handlers.facts.why import target_reply
from bot.telegram.handlers.people.find import answer_text
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import phrase
from internal.access.model import AwaitedAnswer, User
from internal.flows.correcting.facts import Outcome
from internal.flows.turn import explain
from internal.flows.turn.explain import AnswerSources, Source
from internal.knowledge import service as knowledge
from internal.knowledge.model import Fact

_OFFERED = 8
_OUTCOMES: Mapping[Outcome, str] = {
    "same": "correct-same",
    "changed": "correct-done",
    "ended": "correct-ended",
    "denied": "correct-denied",
}


async def correct(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    now = services.clock.now()

    def work(connection: Connection) -> Sequence[Fact] | None:
        reply = target_reply(connection, message, chat)
        if reply is None:
            return None
        found = explain.explain(connection, chat.user.user_id, reply.id, now=now)
        return _newest(connection, chat.user.user_id, found)

    offered = await services.read(work)
    if offered is None:
        key = "why-no-answer" if message.reply_to_message is None else "why-not-answer"
        await chat.say(phrase(chat.user.lang, key))
        return
    await _offer(offered[:_OFFERED], command.args, chat, services)


def _newest(connection: Connection, user_id: int, found: AnswerSources) -> Sequence[Fact]:
    """What an answer rests on, as it stands now: it may have been corrected since that answer."""
    offered = _facts(found.cited) or _facts(found.given)
    newest = [knowledge.history(connection, user_id, fact.id)[-1] for fact in offered]
    return list({fact.id: fact for fact in newest}.values())


def _facts(rests_on: Sequence[Source | None]) -> list[Fact]:
    """The facts among what an answer is based on. Memories are corrected from their own card, messages never."""
    return [one for one in rests_on if isinstance(one, Fact)]


async def _offer(offered: Sequence[Fact], words: str | None, chat: Chat, services: Services) -> None:
    user = chat.user
    if not offered:
        await chat.say(phrase(user.lang, "correct-nothing"))
    elif len(offered) > 1:
        title = phrase(user.lang, "correct-choose")
        await chat.say(f"{title}\n\n{numbered(fact_lines(user, offered))}", _choice(user, offered))
    elif words:
        await _take(offered[0].id, words, chat, services)
    else:
        await _ask(offered[0], chat, services)


def _choice(user: User, offered: Sequence[Fact]) -> Rows:
    ids = [CorrectButton(owner=user.user_id, fact=one.id) for one in offered]
    return number_rows([button(str(number), one) for number, one in enumerate(ids, start=1)])


async def correct_pressed(query: CallbackQuery, callback_data: CorrectButton, chat: Chat, services: Services) -> None:
    fact = await services.read(lambda c: knowledge.history(c, chat.user.user_id, callback_data.fact)[-1])
    await chat.toast()
    await _ask(fact, chat, services)


async def _ask(fact: Fact, chat: Chat, services: Services) -> None:
    question = phrase(chat.user.lang, "correct-ask", text=quotable(fact.fact))
    await ask(chat, services, AwaitedAnswer("correct", {"fact": fact.id}), question)


async def correction_typed(message: Message, awaiting: AwaitedAnswer, chat: Chat, services: Services) -> None:
    await _take(awaiting.details["fact"], answer_text(message), chat, services)


async def _take(fact_id: str, words: str, chat: Chat, services: Services) -> None:
    user = chat.user
    restated = await services.corrections.restate(user, fact_id, words)
    card = await services.read(lambda c: read_card(c, user.user_id, restated.fact.id))
    here = FactButton(owner=user.user_id, fact=card.fact.id)
    outcome = phrase(user.lang, _OUTCOMES[restated.outcome])
    await chat.say(f"{outcome}\n\n{card_text(user, card)}", card_rows(user, card, here))


def router() -> Router:
    built = Router(name="correct")
    built.message.register(correct, Command("correct", ignore_mention=True))
    built.message.register(correction_typed, Answers("correct"))
    built.callback_query.register(correct_pressed, CorrectButton.filter())
    return built
