"""Contradictions: facts that cannot both be true, between which only the owner can decide."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from aiogram import Router
from aiogram.types import CallbackQuery
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers import buttons
from bot.telegram.handlers.facts.fact_text import QUOTE, fact_line, numbered, quotable, shorten
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from internal.access.model import User
from internal.knowledge import service as knowledge
from internal.knowledge.claims.changes import BOTH, NEITHER, OpenContradiction
from internal.knowledge.model import EvidenceLine, Fact

_ON_BUTTON = 40
_SIDES = 8
"""The most facts of one question: with their quotes they fit one message."""

_CHOICE = {buttons.ContradictionAnswer.BOTH: BOTH, buttons.ContradictionAnswer.NEITHER: NEITHER}


@dataclass(frozen=True, slots=True)
class ContradictionQuestion:
    """A question that only the owner can decide. `id` is the suggestion that it answers."""

    id: str
    text: str
    rows: buttons.Rows


def first_question(connection: Connection, user: User) -> ContradictionQuestion | None:
    """The oldest contradiction that waits for the owner's answer."""
    waiting = knowledge.open_contradictions(connection, user.user_id)
    if not waiting:
        return None
    return ContradictionQuestion(waiting[0].suggestion_id or waiting[0].id, *_card(connection, user, waiting[0]))


def _card(connection: Connection, user: User, asked: OpenContradiction) -> tuple[str, buttons.Rows]:
    sides = [knowledge.fact(connection, user.user_id, fact_id) for fact_id in asked.facts[:_SIDES]]
    lines = [_side(user, one, knowledge.evidence_of_fact(connection, user.user_id, one.id)) for one in sides]
    text = f"{phrase(user.lang, 'contradiction-ask')}\n\n{numbered(lines)}"
    return text, _answers(user, asked.id, sides)


def _side(user: User, fact: Fact, lines: Sequence[EvidenceLine]) -> str:
    """The fact, and the quotes that say more than the fact itself."""
    said = shorten(lines[-1].quote, QUOTE // 2) if lines else ""
    line = fact_line(user, fact)
    if not said or said.removesuffix(".") == fact.fact.removesuffix("."):
        return line
    return f"{line}\n{phrase(user.lang, 'source-quote', text=said)}"


def _answers(user: User, contradiction_id: str, sides: Sequence[Fact]) -> buttons.Rows:
    def answer(text: str, which: buttons.ContradictionAnswer, fact_id: str | None = None) -> buttons.Button:
        data = buttons.ContradictionButton(
            owner=user.user_id, contradiction=contradiction_id, answer=which, fact=fact_id
        )
        return buttons.button(text, data)

    named = {side.target_name for side in sides}
    distinct = len(named) == len(sides) and all(named)
    rows: buttons.Rows = []
    for number, side in enumerate(sides, start=1):
        text = f"{number} · {shorten(side.target_name if distinct else side.fact, _ON_BUTTON)}"
        rows.append([answer(text, buttons.ContradictionAnswer.ONE, side.id)])
    both = label(user.lang, "contradiction-button-both", count=len(sides))
    neither = label(user.lang, "contradiction-button-neither", count=len(sides))
    return [
        *rows,
        [answer(both, buttons.ContradictionAnswer.BOTH), answer(neither, buttons.ContradictionAnswer.NEITHER)],
    ]


async def first_pressed(
    query: CallbackQuery, callback_data: buttons.ContradictionsButton, chat: Chat, services: Services
) -> None:
    question = await services.read(lambda c: first_question(c, chat.user))
    if question is None:
        await chat.toast(label(chat.user.lang, "suggestion-none"))
    else:
        await chat.say(question.text, question.rows)


async def answer_pressed(
    query: CallbackQuery, callback_data: buttons.ContradictionButton, chat: Chat, services: Services
) -> None:
    user, now, contradiction_id = chat.user, services.clock.now(), callback_data.contradiction
    choice = _CHOICE.get(callback_data.answer, callback_data.fact or "")

    def work(connection: Connection) -> tuple[str, buttons.Rows]:
        waiting = {one.id: one for one in knowledge.open_contradictions(connection, user.user_id)}
        asked = waiting.get(contradiction_id)
        if asked is None:  # pressed twice, or handled again after a crash: the earlier answer stands
            answer = knowledge.answer_given(connection, user.user_id, contradiction_id)
            return _outcome(connection, user, answer, now)
        if choice not in {BOTH, NEITHER, *asked.facts}:  # the facts have other texts by now
            return _card(connection, user, asked)
        knowledge.resolve_contradiction(connection, user.user_id, contradiction_id, choice, now=now)
        return _outcome(connection, user, choice, now)

    shown = await services.write(work)
    await chat.edit(*shown)
    following = await services.read(lambda c: first_question(c, user))
    if following is not None and following.rows != shown[1]:
        await chat.say(following.text, following.rows)


def _outcome(connection: Connection, user: User, answer: str | None, now: datetime) -> tuple[str, buttons.Rows]:
    if answer == BOTH:
        return phrase(user.lang, "contradiction-both"), []
    if answer == NEITHER:
        return phrase(user.lang, "contradiction-neither"), []
    if not answer or not knowledge.facts(connection, user.user_id, [answer], now=now):
        return phrase(user.lang, "contradiction-gone"), []
    chosen = knowledge.history(connection, user.user_id, answer)[-1]
    opened = buttons.FactButton(owner=user.user_id, fact=chosen.id, back_to=buttons.NEW_MESSAGE)
    text = phrase(user.lang, "contradiction-one", fact=quotable(chosen.fact))
    return text, [[buttons.button(label(user.lang, "fact-button-look"), opened)]]


def router() -> Router:
    built = Router(name="contradictions")
    built.callback_query.register(first_pressed, buttons.ContradictionsButton.filter())
    built.callback_query.register(answer_pressed, buttons.ContradictionButton.filter())
    return built
