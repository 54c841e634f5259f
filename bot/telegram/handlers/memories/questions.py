"""The bot's own questions about memories, and the owner's answers: one button each; pressing again changes nothing."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from aiogram import Router
from aiogram.types import CallbackQuery
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.buttons import AskedButton, Button, QuestionAnswer, Rows, UndoButton, button
from bot.telegram.handlers.facts.contradictions import ContradictionQuestion
from bot.telegram.handlers.facts.fact_text import local, number_rows, numbered, quotable, shorten
from bot.telegram.handlers.memories.memory_text import memory_line
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from internal.access.model import User
from internal.errors import Conflict, NotFound, Refused, expect_found
from internal.flows.forgetting import requests
from internal.flows.views.memory import naming_text
from internal.graph import store
from internal.graph.model import Node
from internal.memory import service as memory
from internal.memory.observations.owner_changes import Choice
from internal.memory.questions import repository as asking
from internal.memory.questions.repository import About, AskedQuestion

_ON_BUTTON = 40
_UNDO_MINUTES = round(requests.UNDO_WINDOW.total_seconds() / 60)


def question(connection: Connection, user: User, asked: AskedQuestion) -> ContradictionQuestion:
    """The question with its buttons. Raises NotFound if its subject is gone."""
    match asked.about:
        case "contradiction":
            text, rows = _contradiction(connection, user, asked)
        case "suggestion":
            text, rows = _suggestion(connection, user, asked)
        case "question":
            text, rows = _open_question(connection, user, asked)
        case "fading":
            text, rows = _fading(connection, user, asked)
    return ContradictionQuestion(asked.id, text, [*rows, [_tap(user, asked, "ask-button-never", QuestionAnswer.NEVER)]])


def _contradiction(connection: Connection, user: User, asked: AskedQuestion) -> tuple[str, Rows]:
    sides = memory.contradiction_sides(connection, user.user_id, asked.refs[0])
    lines = numbered([memory_line(user, side) for side in sides])
    ends = ((1, sides[0], QuestionAnswer.OLDER), (len(sides), sides[-1], QuestionAnswer.NEWER))
    rows: Rows = [
        [_answer(user, asked, f"{n} · {shorten(naming_text(side), _ON_BUTTON)}", tap)] for n, side, tap in ends
    ]
    both = label(user.lang, "contradiction-button-both", count=len(sides))
    return f"{phrase(user.lang, 'ask-contradiction')}\n\n{lines}", [
        *rows,
        [_answer(user, asked, both, QuestionAnswer.BOTH)],
    ]


def _suggestion(connection: Connection, user: User, asked: AskedQuestion) -> tuple[str, Rows]:
    waiting = memory.suggestions(connection, user.user_id)
    one = expect_found(next((one for one in waiting if one.id == asked.refs[0]), None), "that suggestion is gone")
    node = _node(connection, user, one.node_id)
    current, value = (quotable(str(words)) for words in (one.current, one.value))
    words = quotable(naming_text(node))
    text = phrase(user.lang, "ask-suggestion", current=current, value=value, text=words)
    apply = _tap(user, asked, "suggestion-button-apply", QuestionAnswer.APPLY)
    return text, [[apply, _tap(user, asked, "suggestion-button-keep", QuestionAnswer.KEEP)]]


def _open_question(connection: Connection, user: User, asked: AskedQuestion) -> tuple[str, Rows]:
    node = _node(connection, user, asked.refs[0])
    since = local(user, node.dated)
    text = phrase(user.lang, "ask-question", text=quotable(naming_text(node)), at=since)
    answered = _tap(user, asked, "ask-button-answered", QuestionAnswer.ANSWERED)
    return text, [[answered, _tap(user, asked, "ask-button-open", QuestionAnswer.OPEN)]]


def _fading(connection: Connection, user: User, asked: AskedQuestion) -> tuple[str, Rows]:
    nodes = [_node(connection, user, one) for one in asked.refs]
    text = f"{phrase(user.lang, 'ask-fading')}\n\n{numbered([memory_line(user, node) for node in nodes])}"
    numbers = range(1, len(nodes) + 1)
    forget = [
        _answer(user, asked, label(user.lang, "ask-button-forget", n=n), QuestionAnswer.FORGET, n) for n in numbers
    ]
    return text, [*number_rows(forget, 2), [_tap(user, asked, "ask-button-keep", QuestionAnswer.KEEP)]]


async def answer_pressed(query: CallbackQuery, callback_data: AskedButton, chat: Chat, services: Services) -> None:
    user, now, data = chat.user, services.clock.now(), callback_data

    def work(connection: Connection) -> tuple[str, Rows, bool]:
        asked = asking.get(connection, user.user_id, data.asked)
        if asked is None:
            return phrase(user.lang, "ask-gone"), [], True
        if data.tap is QuestionAnswer.FORGET:
            return *_forget(connection, user, asked, data.n, now), False
        return phrase(user.lang, _decide(connection, user, asked, data.tap, now)), [], True

    text, rows, in_place = await services.write(work)
    if in_place:
        await chat.edit(text, rows)
    else:  # the other ones of the list may still be forgotten or kept
        await chat.say(text, rows)


def _decide(connection: Connection, user: User, asked: AskedQuestion, tap: QuestionAnswer, now: datetime) -> str:
    """Carries out and records the answer. Returns the key of the reply; the same one when pressed again."""
    if asked.state in ("answered", "declined") and asked.answer != tap:
        return "ask-gone"
    try:
        key = "ask-never" if tap is QuestionAnswer.NEVER else _carry_out(connection, user.user_id, asked, tap, now)
    except (NotFound, Refused, Conflict):  # forgotten, or settled elsewhere, since it was asked
        key = "ask-gone"
    asking.close(connection, user.user_id, asked, "declined" if tap is QuestionAnswer.NEVER else "answered", tap, now)
    return key


def _carry_out(connection: Connection, user_id: int, asked: AskedQuestion, tap: QuestionAnswer, now: datetime) -> str:
    ref = asked.refs[0]
    match asked.about, tap:
        case "question", QuestionAnswer.ANSWERED:
            memory.set_status(connection, user_id, ref, "answered", now=now)
        case "contradiction", QuestionAnswer.NEWER | QuestionAnswer.OLDER | QuestionAnswer.BOTH:
            memory.resolve_contradiction(connection, user_id, ref, _CHOICES[tap], now=now)
        case "suggestion", QuestionAnswer.APPLY:
            memory.accept_suggestion(connection, user_id, ref, now=now)
        case "suggestion", QuestionAnswer.KEEP:
            memory.decline_suggestion(connection, user_id, ref, now=now)
        case "fading", QuestionAnswer.KEEP:
            store.touch_nodes(connection, user_id, _record_use(connection, user_id, asked.refs), now)
    return _SAID.get((asked.about, tap), "ask-gone")


_CHOICES: Final[Mapping[QuestionAnswer, Choice]] = {
    QuestionAnswer.NEWER: "newer",
    QuestionAnswer.OLDER: "older",
    QuestionAnswer.BOTH: "both",
}
_SAID: Final[Mapping[tuple[About, QuestionAnswer], str]] = {
    ("question", QuestionAnswer.ANSWERED): "ask-answered",
    ("question", QuestionAnswer.OPEN): "ask-open",
    ("contradiction", QuestionAnswer.NEWER): "ask-held",
    ("contradiction", QuestionAnswer.OLDER): "ask-held",
    ("contradiction", QuestionAnswer.BOTH): "ask-both",
    ("suggestion", QuestionAnswer.APPLY): "suggestion-applied-memory",
    ("suggestion", QuestionAnswer.KEEP): "suggestion-kept",
    ("fading", QuestionAnswer.KEEP): "ask-kept",
}


def _record_use(connection: Connection, user_id: int, refs: Sequence[str]) -> list[str]:
    """Counts keeping a memory as a use, so that it does not fade on the next day."""
    return list(store.nodes_by_ids(connection, user_id, refs))


def _forget(connection: Connection, user: User, asked: AskedQuestion, n: int, now: datetime) -> tuple[str, Rows]:
    if asked.about != "fading" or not 1 <= n <= len(asked.refs):
        return phrase(user.lang, "ask-gone"), []
    try:
        forgetting = requests.ask(connection, user.user_id, "memory", asked.refs[n - 1], now=now)
    except NotFound:
        return phrase(user.lang, "ask-gone"), []
    undo = button(label(user.lang, "forget-button-undo"), UndoButton(owner=user.user_id, forgetting=forgetting.id))
    return phrase(user.lang, "ask-forgetting", n=n, minutes=_UNDO_MINUTES), [[undo]]


def _node(connection: Connection, user: User, node_id: str) -> Node:
    return expect_found(store.resolve_node(connection, user.user_id, node_id), "that is gone")


def _tap(user: User, asked: AskedQuestion, key: str, tap: QuestionAnswer) -> Button:
    return _answer(user, asked, label(user.lang, key), tap)


def _answer(user: User, asked: AskedQuestion, text: str, tap: QuestionAnswer, n: int = 0) -> Button:
    return button(text, AskedButton(owner=user.user_id, asked=asked.id, tap=tap, n=n))


def router() -> Router:
    built = Router(name="wondering")
    built.callback_query.register(answer_pressed, AskedButton.filter())
    return built
