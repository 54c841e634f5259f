"""/goals, /decisions, /questions, /preferences, /instructions, /memories: pages, a memory's card and its actions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from aiogram import Router
from aiogram.filters import Command, CommandObject
from aiogram.types import CallbackQuery, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.awaited_answers import Answers, ask
from bot.telegram.handlers.buttons import (
    NEW_MESSAGE,
    NO_WAY_BACK,
    AnsweredButton,
    CorrectMemoryButton,
    ForgetMemoryButton,
    GivenUpButton,
    MemoriesButton,
    MemoryButton,
    MemorySourcesButton,
    ReachedButton,
    ReopenedButton,
    Rows,
    SurelyForgetMemoryButton,
    UndoButton,
    button,
)
from bot.telegram.handlers.empty_lists import nothing_yet
from bot.telegram.handlers.facts.fact_text import LISTED_SOURCES, number_rows, numbered, quotable, shorten, sources_text
from bot.telegram.handlers.memories.memory_text import (
    KINDS,
    MemoryKind,
    back_to_memory,
    memory_line,
    memory_rows,
    memory_text,
)
from bot.telegram.handlers.paging import PAGE, clamp, page_row
from bot.telegram.handlers.people.find import answer_text
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from internal.access.model import AwaitedAnswer, User
from internal.errors import Refused, expect_found
from internal.flows.forgetting import requests
from internal.flows.views.memory import MemoryView, memory_view, naming_text
from internal.graph.model import Node
from internal.memory import service as memory
from internal.memory.model import NAMING
from internal.memory.queries import repository
from internal.storage.forgetting.forgettings import Forgetting

LONGEST: Final = 2_000
"""The most characters of a corrected text; a longer one is not a memory."""

_UNDO_MINUTES: Final = round(requests.UNDO_WINDOW.total_seconds() / 60)
_COMMANDS: Final = {kind.command: kind for kind in KINDS.values()}


@dataclass(frozen=True, slots=True)
class _Page:
    """One page; `other` counts those of the other list: settled or open."""

    nodes: Sequence[Node]
    count: int
    other: int
    number: int


async def list_command(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    kind = _COMMANDS[command.command.lower()]
    if command.args:
        await chat.say(*await _found(chat.user, services, kind, command.args))
    else:
        await show_list(kind.command, chat, services)


async def show_list(command: str, chat: Chat, services: Services) -> None:
    """Shows the first page of a command's list, such as `instructions`."""
    await chat.say(*await _listing(chat.user, services, _COMMANDS[command]))


async def page_pressed(query: CallbackQuery, callback_data: MemoriesButton, chat: Chat, services: Services) -> None:
    kind = expect_found(KINDS.get(callback_data.kind), "there is no such list")
    shown = await _listing(chat.user, services, kind, callback_data.page, past=callback_data.past)
    await chat.edit(*shown)


async def _found(user: User, services: Services, kind: MemoryKind, words: str) -> tuple[str, Rows]:
    """Memories of a kind that match the words; for /memories, those of every kind."""
    labels = tuple(one.label for one in KINDS.values()) if kind.label == "Memory" else (kind.label,)
    hits = await services.knowledge.memories(user.user_id, words, PAGE, labels=labels)
    nodes = [hit.node for hit in hits if hit.reasons.relevant(services.knowledge.threshold)]
    if not nodes:
        return phrase(user.lang, "memories-not-found", text=shorten(words, 64)), []
    memory_pressed = [MemoryButton(owner=user.user_id, node=one.id, back_to=NEW_MESSAGE) for one in nodes]
    rows = number_rows([button(str(number), one) for number, one in enumerate(memory_pressed, start=1)])
    title = phrase(user.lang, "memories-found", text=shorten(words, 64))
    return f"{title}\n\n{numbered([memory_line(user, one, kind=len(labels) > 1) for one in nodes])}", rows


async def _listing(
    user: User, services: Services, kind: MemoryKind, page: int = 0, *, past: bool = False
) -> tuple[str, Rows]:
    def work(connection: Connection) -> tuple[_Page, str]:
        found = _page(connection, user.user_id, kind, page, past=past)
        none = phrase(user.lang, f"memories-none-{kind.command}")
        return found, "" if found.count else nothing_yet(connection, user, none)

    found, text = await services.read(work)
    if found.count:
        title = phrase(user.lang, f"memories-title-{kind.command}{'-past' if past else ''}", count=found.count)
        lines = [memory_line(user, one) for one in found.nodes]
        text = f"{title}\n\n{numbered(lines, found.number * PAGE + 1)}"
    return text, _page_rows(user, kind, found, past=past)


def _page(connection: Connection, user_id: int, kind: MemoryKind, page: int, *, past: bool) -> _Page:
    states, others = (kind.past, kind.current) if past else (kind.current, kind.past)
    count = repository.count(connection, user_id, kind.label, states)
    other = repository.count(connection, user_id, kind.label, others) if others else 0
    here = clamp(page, count)
    nodes = repository.listing(connection, user_id, kind.label, states, limit=PAGE, offset=here * PAGE)
    return _Page(nodes, count, other, here)


def _page_rows(user: User, kind: MemoryKind, found: _Page, *, past: bool) -> Rows:
    lang, data = user.lang, MemoriesButton(owner=user.user_id, kind=kind.letter, past=past)
    back_to = f"{kind.letter}{'p' if past else ''}{found.number}"
    memory_pressed = [MemoryButton(owner=user.user_id, node=one.id, back_to=back_to) for one in found.nodes]
    first = found.number * PAGE + 1
    rows: Rows = number_rows([button(str(number), one) for number, one in enumerate(memory_pressed, start=first)])
    rows += page_row(lang, found.number, found.count, lambda to: data.model_copy(update={"page": to}))
    if kind.past and (found.other or past):
        text = label(lang, "memories-button-current" if past else "memories-button-past", count=found.other)
        rows.append([button(text, MemoriesButton(owner=user.user_id, kind=kind.letter, past=not past))])
    return rows


async def memory_pressed(query: CallbackQuery, callback_data: MemoryButton, chat: Chat, services: Services) -> None:
    card = await _card(callback_data, chat, services)
    if callback_data.back_to == NEW_MESSAGE:
        here = callback_data.model_copy(update={"back_to": NO_WAY_BACK})
        await chat.say(memory_text(chat.user, card), memory_rows(chat.user, card, here))
    else:
        await chat.edit(memory_text(chat.user, card), memory_rows(chat.user, card, callback_data))


async def sources_pressed(
    query: CallbackQuery, callback_data: MemorySourcesButton, chat: Chat, services: Services
) -> None:
    card = await _card(callback_data, chat, services)
    await chat.edit(sources_text(chat.user, card, LISTED_SOURCES), [back_to_memory(chat.user, callback_data)])


async def reached_pressed(query: CallbackQuery, callback_data: ReachedButton, chat: Chat, services: Services) -> None:
    await _settle(callback_data, "achieved", chat, services)


async def given_up_pressed(query: CallbackQuery, callback_data: GivenUpButton, chat: Chat, services: Services) -> None:
    card = await _card(callback_data, chat, services)
    await _settle(callback_data, "abandoned" if card.node.label == "Goal" else "ended", chat, services)


async def answered_pressed(query: CallbackQuery, callback_data: AnsweredButton, chat: Chat, services: Services) -> None:
    await _settle(callback_data, "answered", chat, services)


async def reopened_pressed(query: CallbackQuery, callback_data: ReopenedButton, chat: Chat, services: Services) -> None:
    card = await _card(callback_data, chat, services)
    await _settle(callback_data, "open" if card.node.label == "Question" else "active", chat, services)


async def _settle(data: MemoryButton, status: str, chat: Chat, services: Services) -> None:
    user, now = chat.user, services.clock.now()

    def work(connection: Connection) -> MemoryView:
        node = memory.set_status(connection, user.user_id, data.node, status, now=now)
        return memory_view(connection, user.user_id, node.id)

    card = await services.write(work)
    await chat.toast(label(user.lang, f"memory-now-{status}"))
    await chat.edit(memory_text(user, card), memory_rows(user, card, data))


async def correct_pressed(
    query: CallbackQuery, callback_data: CorrectMemoryButton, chat: Chat, services: Services
) -> None:
    card = await _card(callback_data, chat, services)
    question = phrase(chat.user.lang, "correct-ask", text=quotable(naming_text(card.node)))
    await ask(chat, services, AwaitedAnswer("memory", {"node": card.node.id}), question)


async def correction_typed(message: Message, awaiting: AwaitedAnswer, chat: Chat, services: Services) -> None:
    user, now, words = chat.user, services.clock.now(), " ".join(answer_text(message).split())
    if not words:
        raise Refused("empty_fact", "words are expected")
    if len(words) > LONGEST:
        raise Refused("too_long", f"at most {LONGEST} characters are expected")

    def work(connection: Connection) -> MemoryView:
        before = memory_view(connection, user.user_id, awaiting.details["node"]).node
        summary = {"summary": None} if before.label == "Memory" else {}  # it is derived from the new words
        changes = {NAMING[before.label]: words} | summary
        return memory_view(
            connection, user.user_id, memory.change_node(connection, user.user_id, before.id, changes, now=now).id
        )

    card = await services.write(work)
    here = MemoryButton(owner=user.user_id, node=card.node.id)
    done = phrase(user.lang, "correct-done")
    await chat.say(f"{done}\n\n{memory_text(user, card)}", memory_rows(user, card, here))


async def forget_pressed(
    query: CallbackQuery, callback_data: ForgetMemoryButton, chat: Chat, services: Services
) -> None:
    user = chat.user
    card = await _card(callback_data, chat, services)
    way = callback_data.model_dump()
    yes = button(label(user.lang, "forget-button-yes"), SurelyForgetMemoryButton(**way))
    no = button(label(user.lang, "button-cancel"), MemoryButton(**way))
    await chat.edit(phrase(user.lang, "forget-memory-confirm", text=quotable(naming_text(card.node))), [[yes, no]])


async def forget_confirmed(
    query: CallbackQuery, callback_data: SurelyForgetMemoryButton, chat: Chat, services: Services
) -> None:
    now = services.clock.now()
    list_command = await services.write(
        lambda c: requests.ask(c, chat.user.user_id, "memory", callback_data.node, now=now)
    )
    await chat.edit(*forget_card(chat.user, list_command))


def forget_card(user: User, list_command: Forgetting) -> tuple[str, Rows]:
    """A memory that is being forgotten, while that can be undone."""
    undo = button(label(user.lang, "forget-button-undo"), UndoButton(owner=user.user_id, forgetting=list_command.id))
    return phrase(user.lang, "forget-memory-done", minutes=_UNDO_MINUTES), [[undo]]


async def _card(data: MemoryButton, chat: Chat, services: Services) -> MemoryView:
    return await services.read(lambda c: memory_view(c, chat.user.user_id, data.node))


def router() -> Router:
    built = Router(name="memories")
    built.message.register(list_command, Command(*_COMMANDS, ignore_mention=True, ignore_case=True))
    built.message.register(correction_typed, Answers("memory"))
    built.callback_query.register(page_pressed, MemoriesButton.filter())
    built.callback_query.register(memory_pressed, MemoryButton.filter())
    built.callback_query.register(sources_pressed, MemorySourcesButton.filter())
    built.callback_query.register(reached_pressed, ReachedButton.filter())
    built.callback_query.register(given_up_pressed, GivenUpButton.filter())
    built.callback_query.register(answered_pressed, AnsweredButton.filter())
    built.callback_query.register(reopened_pressed, ReopenedButton.filter())
    built.callback_query.register(correct_pressed, CorrectMemoryButton.filter())
    built.callback_query.register(forget_pressed, ForgetMemoryButton.filter())
    built.callback_query.register(forget_confirmed, SurelyForgetMemoryButton.filter())
    return built
