"""Merges two things that are the same, with a button among the facts about one of them, and undoes that."""

from aiogram import F, Router
from aiogram.types import CallbackQuery, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.awaited_answers import Answers, ask
from bot.telegram.handlers.buttons import (
    FactsButton,
    KeepButton,
    MergeThingsButton,
    Rows,
    SplitThingsButton,
    button,
)
from bot.telegram.handlers.facts.fact_text import shorten
from bot.telegram.handlers.facts.subjects import find_subjects
from bot.telegram.handlers.people.find import answer_text
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from internal.access.model import AwaitedAnswer, User
from internal.errors import expect_found
from internal.flows.merging import entities
from internal.graph import store
from internal.graph.model import Node

_NAME = 48
"""The most characters of a name on a button."""


async def merge_pressed(query: CallbackQuery, callback_data: MergeThingsButton, chat: Chat, services: Services) -> None:
    """Asks for the name of the other thing: there may be thousands."""
    source = await services.read(lambda c: _thing(c, chat.user, callback_data.source))
    question = AwaitedAnswer("join", {"source": source.id})
    await ask(chat, services, question, phrase(chat.user.lang, "join-choose", name=source.name))


async def target_typed(message: Message, awaiting: AwaitedAnswer, chat: Chat, services: Services) -> None:
    user, name = chat.user, answer_text(message)
    source = await services.read(lambda c: _thing(c, user, awaiting.details["source"]))
    named = [one.node_id for one in await find_subjects(name, user, services)]
    others = await services.read(lambda c: entities.candidates(c, user.user_id, source.id, named))
    if len(others) == 1:
        await chat.say(*_confirmation(user, source, others[0]))
    elif others:
        rows: Rows = [
            [button(shorten(one.name, _NAME), MergeThingsButton(owner=user.user_id, source=source.id, target=one.id))]
            for one in others
        ]
        await chat.say(phrase(user.lang, "join-which", name=shorten(name, 64)), rows)
    else:
        await chat.say(phrase(user.lang, "join-unknown", name=shorten(name, 64)))


async def target_pressed(
    query: CallbackQuery, callback_data: MergeThingsButton, chat: Chat, services: Services
) -> None:
    source, target = await services.read(
        lambda c: (_thing(c, chat.user, callback_data.source), _thing(c, chat.user, callback_data.target or ""))
    )
    await chat.edit(*_confirmation(chat.user, source, target))


async def confirmed(query: CallbackQuery, callback_data: MergeThingsButton, chat: Chat, services: Services) -> None:
    user, now = chat.user, services.clock.now()
    source_id, target_id = callback_data.source, callback_data.target or ""

    def work(connection: Connection) -> tuple[str, Node]:
        source, target = _thing(connection, user, source_id), _thing(connection, user, target_id)
        if source.id == target.id:
            # Merged before: pressed twice, or handled again after a crash. The redirect has the name.
            behind = store.get_node(connection, user.user_id, source_id, hidden=True)
            return (behind or source).name, target
        return source.name, entities.merge(connection, user.user_id, source_id, target_id, now=now)

    name, target = await services.write(work)
    text = phrase(user.lang, "join-done", source=name, target=target.name)
    undo = button(label(user.lang, "merge-button-undo"), SplitThingsButton(owner=user.user_id, source=source_id))
    known = button(shorten(target.name, _NAME), FactsButton(owner=user.user_id, about=target.id))
    await chat.edit(text, [[known], [undo]])


async def undo_pressed(query: CallbackQuery, callback_data: SplitThingsButton, chat: Chat, services: Services) -> None:
    user, now = chat.user, services.clock.now()
    both = await services.write(lambda c: entities.split(c, user.user_id, callback_data.source, now=now))
    there = [one for one in both if one is not None]
    rows: Rows = [[button(shorten(one.name, _NAME), FactsButton(owner=user.user_id, about=one.id))] for one in there]
    await chat.edit(phrase(user.lang, "join-undone"), rows)


def _thing(connection: Connection, user: User, node_id: str) -> Node:
    return expect_found(store.resolve_node(connection, user.user_id, node_id), "nothing is known of it any more")


def _confirmation(user: User, source: Node, target: Node) -> tuple[str, Rows]:
    sure = MergeThingsButton(owner=user.user_id, source=source.id, target=target.id, sure=True)
    yes = button(label(user.lang, "merge-button-yes"), sure)
    no = button(label(user.lang, "button-cancel"), KeepButton(owner=user.user_id))
    return phrase(user.lang, "join-confirm", source=source.name, target=target.name), [[yes, no]]


def router() -> Router:
    built = Router(name="joining")
    built.message.register(target_typed, Answers("join"))
    built.callback_query.register(confirmed, MergeThingsButton.filter(F.sure))
    built.callback_query.register(target_pressed, MergeThingsButton.filter(F.target))
    built.callback_query.register(merge_pressed, MergeThingsButton.filter())
    built.callback_query.register(undo_pressed, SplitThingsButton.filter())
    return built
