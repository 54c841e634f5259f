"""/correct: the owner corrects a fact. Nothing changes without asking, and the earlier version is kept."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from aiogram import Router
from aiogram.dispatcher.event.bases import UNHANDLED
from aiogram.filters import Command, CommandObject
from aiogram.types import CallbackQuery, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.awaited_answers import Answers, ask, expect
from bot.telegram.handlers.buttons import (
    CorrectButton,
    FactButton,
    KeepButton,
    Rows,
    SureCorrectButton,
    UndoCorrectButton,
    button,
)
from bot.telegram.handlers.facts.fact_text import card_text, fact_lines, number_rows, numbered, quotable, read_card
from bot.telegram.handlers.facts.facts import card_rows
from bot.telegram.handlers.facts.why import target_reply
from bot.telegram.handlers.people.find import answer_text
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from internal.access import service as access
from internal.access.model import AwaitedAnswer, User
from internal.flows.correcting.facts import CorrectedFact, Outcome
from internal.flows.turn import explain
from internal.flows.turn.commands.apply import WAITING
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


async def correct(message: Message, command: CommandObject, chat: Chat, services: Services) -> object:
    """Corrects a fact that an answer cites. A sentence about something else is treated as news, like any message."""
    now, user, words = services.clock.now(), chat.user, command.args

    def work(connection: Connection) -> AnswerSources | None:
        reply = target_reply(connection, message, chat)
        return None if reply is None else explain.explain(connection, user.user_id, reply.id, now=now)

    found = await services.read(work)
    if found is None:
        key = "why-no-answer" if message.reply_to_message is None else "why-not-answer"
        await chat.say(phrase(user.lang, key))
        return None
    if not words:
        await _offer(
            await services.read(lambda c: _newest(c, user, _facts(found.cited) or _facts(found.given))), chat, services
        )
        return None
    cited = await services.read(lambda c: _newest(c, user, _facts(found.cited)))

    async def known() -> Sequence[Fact]:
        return [hit.fact for hit in await services.knowledge.facts(user.user_id, words, _OFFERED)]

    meant = (await services.corrections.meant(user, cited, known, words))[:_OFFERED]
    if not meant:
        await chat.say(phrase(user.lang, "correct-news"))
        return UNHANDLED
    if len(meant) == 1:
        await _preview(meant[0].id, words, chat, services)
    else:
        await expect(user, services, AwaitedAnswer(WAITING, {"words": words}))
        await _choose(meant, chat)
    return None


def _newest(connection: Connection, user: User, facts: Sequence[Fact]) -> Sequence[Fact]:
    """The current versions of the facts: they may have been corrected since they were cited."""
    newest = [knowledge.history(connection, user.user_id, fact.id)[-1] for fact in facts]
    return list({fact.id: fact for fact in newest}.values())[:_OFFERED]


def _facts(rests_on: Sequence[Source | None]) -> list[Fact]:
    """The facts among the sources of an answer. Memories are corrected on their own card, messages never."""
    return [one for one in rests_on if isinstance(one, Fact)]


async def _offer(offered: Sequence[Fact], chat: Chat, services: Services) -> None:
    if not offered:
        await chat.say(phrase(chat.user.lang, "correct-nothing"))
    elif len(offered) > 1:
        await _choose(offered, chat)
    else:
        await _ask(offered[0], chat, services)


async def _choose(offered: Sequence[Fact], chat: Chat) -> None:
    await chat.say(*choose_fact(chat.user, offered))


def choose_fact(user: User, offered: Sequence[Fact]) -> tuple[str, Rows]:
    """Asks which of several facts is to be corrected."""
    ids = [CorrectButton(owner=user.user_id, fact=one.id) for one in offered]
    rows = number_rows([button(str(number), one) for number, one in enumerate(ids, start=1)])
    return f"{phrase(user.lang, 'correct-choose')}\n\n{numbered(fact_lines(user, offered))}", rows


async def correct_pressed(query: CallbackQuery, callback_data: CorrectButton, chat: Chat, services: Services) -> None:
    fact = await services.read(lambda c: knowledge.history(c, chat.user.user_id, callback_data.fact)[-1])
    words = _words(chat.user, services)
    await (_preview(fact.id, words, chat, services) if words else _ask(fact, chat, services))


def _words(user: User, services: Services) -> str | None:
    """The owner's sentence that waits for a button."""
    waiting = access.awaited(user, services.clock.now())
    return waiting.details["words"] if waiting is not None and waiting.kind == WAITING else None


async def _ask(fact: Fact, chat: Chat, services: Services) -> None:
    question = phrase(chat.user.lang, "correct-ask", text=quotable(fact.fact))
    await ask(chat, services, AwaitedAnswer("correct", {"fact": fact.id}), question)


async def correction_typed(message: Message, awaiting: AwaitedAnswer, chat: Chat, services: Services) -> object:
    """Shows what a typed sentence will change. A message that comes while a button is awaited is no correction,
    unless it is that very sentence, handled again after a crash.
    """
    words = answer_text(message)
    if awaiting.kind == WAITING and (awaiting.details["words"] != words or "fact" not in awaiting.details):
        return UNHANDLED
    await _preview(awaiting.details["fact"], words, chat, services)
    return None


async def _preview(fact_id: str, words: str, chat: Chat, services: Services) -> None:
    """Shows the fact as it is and as it will be, and asks."""
    user = chat.user
    coming = await services.corrections.preview(user, fact_id, words)
    if coming.outcome == "same":
        await _show(coming.fact.id, "correct-same", chat.say, chat, services)
        return
    await expect(user, services, AwaitedAnswer(WAITING, {"fact": fact_id, "words": words}))
    await chat.say(*sure_question(user, coming, words))


def sure_question(user: User, coming: CorrectedFact, words: str) -> tuple[str, Rows]:
    """The fact as it is and as it will be, with the question whether to change it."""
    text = phrase(user.lang, "correct-sure", how=coming.outcome, old=quotable(coming.fact.fact), new=quotable(words))
    yes = button(label(user.lang, "correct-button-yes"), SureCorrectButton(owner=user.user_id, fact=coming.fact.id))
    no = button(label(user.lang, "correct-button-no"), KeepButton(owner=user.user_id))
    return text, [[yes, no]]


async def sure_pressed(query: CallbackQuery, callback_data: SureCorrectButton, chat: Chat, services: Services) -> None:
    """Applies the correction; a button whose sentence is gone only shows the current fact."""
    user, words = chat.user, _words(chat.user, services)
    if words is None:
        newest = await services.read(lambda c: knowledge.history(c, user.user_id, callback_data.fact)[-1])
        await _show(newest.id, "correct-lapsed", chat.edit, chat, services)
    else:
        done = await services.corrections.restate(user, callback_data.fact, words)
        undo = UndoCorrectButton(owner=user.user_id, fact=done.fact.id)
        rows = [] if done.outcome == "denied" else [[button(label(user.lang, "correct-button-undo"), undo)]]
        await _show(done.fact.id, _OUTCOMES[done.outcome], chat.edit, chat, services, rows)


async def undo_pressed(query: CallbackQuery, callback_data: UndoCorrectButton, chat: Chat, services: Services) -> None:
    restored = await services.corrections.undo(chat.user, callback_data.fact)
    await _show(restored.id, "correct-undone", chat.edit, chat, services)


async def _show(
    fact_id: str,
    key: str,
    write: Callable[[str, Rows], Awaitable[None]],
    chat: Chat,
    services: Services,
    rows: Rows | None = None,
) -> None:
    user = chat.user
    card = await services.read(lambda c: read_card(c, user.user_id, fact_id))
    here = FactButton(owner=user.user_id, fact=card.fact.id)
    await write(f"{phrase(user.lang, key)}\n\n{card_text(user, card)}", [*(rows or []), *card_rows(user, card, here)])


def router() -> Router:
    built = Router(name="correct")
    built.message.register(correct, Command("correct", ignore_mention=True))
    built.message.register(correction_typed, Answers("correct"))
    built.message.register(correction_typed, Answers(WAITING))
    built.callback_query.register(correct_pressed, CorrectButton.filter())
    built.callback_query.register(sure_pressed, SureCorrectButton.filter())
    built.callback_query.register(undo_pressed, UndoCorrectButton.filter())
    return built
