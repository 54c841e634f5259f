"""/facts: pages of facts about the owner, a person or a thing; and a single fact."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from aiogram import Router
from aiogram.filters import Command, CommandObject
from aiogram.types import CallbackQuery, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.buttons import (
    FROM_REPLY,
    NEW_MESSAGE,
    NO_WAY_BACK,
    Button,
    ContradictionsButton,
    CorrectButton,
    FactButton,
    FactsButton,
    ForgetFactButton,
    MergeThingsButton,
    Rows,
    SourcesButton,
    VersionsButton,
    WhyButton,
    button,
)
from bot.telegram.handlers.empty_lists import nothing_yet
from bot.telegram.handlers.facts.audience import audience_button
from bot.telegram.handlers.facts.fact_text import (
    LISTED_SOURCES,
    SHOWN_SOURCES,
    Card,
    card_text,
    fact_lines,
    fact_sources,
    number_rows,
    numbered,
    read_card,
    shorten,
    versions_text,
)
from bot.telegram.handlers.facts.subjects import FactSubject, find_subjects, subject
from bot.telegram.handlers.paging import PAGE, clamp, page_row
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from internal.access.model import User
from internal.errors import expect_found
from internal.flows.merging import entities
from internal.graph import store
from internal.knowledge import service as knowledge
from internal.knowledge.model import Fact, FactFilter

_NAME_ON_BUTTON = 24


@dataclass(frozen=True, slots=True)
class _Page:
    """Facts of one page, the newest first. `other` counts those of the other list: past or current.

    `is_thing`: it can be merged with another.
    """

    facts: Sequence[Fact]
    count: int
    other: int
    questions: int
    number: int
    is_thing: bool


async def facts(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    user, name = chat.user, command.args or ""
    found = await find_subjects(name, user, services)
    if len(found) == 1:
        await chat.say(*await facts_page(user, services, found[0]))
    elif found:
        rows = [
            [button(_subject_label(user, one), FactsButton(owner=user.user_id, about=one.node_id))] for one in found
        ]
        await chat.say(phrase(user.lang, "facts-choose", name=shorten(name, 64)), rows)
    else:
        await chat.say(*await _mentioned(name, user, services))


def _subject_label(user: User, one: FactSubject) -> str:
    return f"{one.name} · {label(user.lang, 'facts-kind', kind=one.kind)}"


async def _mentioned(name: str, user: User, services: Services) -> tuple[str, Rows]:
    """Shows facts that match the words if nothing has that name."""
    hits = await services.knowledge.facts(user.user_id, name, PAGE)
    found = [hit.fact for hit in hits if hit.reasons.relevant(services.knowledge.threshold)]
    if not found:
        return phrase(user.lang, "facts-unknown", name=shorten(name, 64)), []
    title = phrase(user.lang, "facts-found", name=shorten(name, 64))
    return f"{title}\n\n{numbered(fact_lines(user, found))}", open_buttons(user, found)


def open_buttons(user: User, found: Sequence[Fact]) -> Rows:
    """Numbered buttons that open each fact in a new message."""
    ids = [FactButton(owner=user.user_id, fact=one.id, back_to=NEW_MESSAGE) for one in found]
    return number_rows([button(str(number), one) for number, one in enumerate(ids, start=1)])


async def page_pressed(query: CallbackQuery, callback_data: FactsButton, chat: Chat, services: Services) -> None:
    known = expect_found(await subject(chat.user, services, callback_data.about), "nothing is known of it any more")
    shown = await facts_page(chat.user, services, known, callback_data.page, past=callback_data.past)
    await chat.edit(*shown)


async def facts_page(
    user: User, services: Services, about: FactSubject, page: int = 0, *, past: bool = False
) -> tuple[str, Rows]:
    """A page of the facts about a person or thing, with its buttons."""
    now = services.clock.now()
    return await services.read(lambda c: facts_shown(c, user, about, now, page, past=past))


def facts_shown(
    connection: Connection, user: User, about: FactSubject, now: datetime, page: int = 0, *, past: bool = False
) -> tuple[str, Rows]:
    """`facts_page` within a transaction."""
    found, text = _page(connection, user, about, now, page, past=past)
    if found.facts:
        first = found.number * PAGE + 1
        text = f"{text}\n\n{numbered(fact_lines(user, found.facts), first)}"
    return text, _page_rows(user, about.node_id, found, past=past)


def _page(
    connection: Connection, user: User, about: FactSubject, now: datetime, page: int, *, past: bool
) -> tuple[_Page, str]:
    """The page and its title."""
    user_id, node_id = user.user_id, about.node_id
    wanted, others = FactFilter(node_id=node_id, ended=past), FactFilter(node_id=node_id, ended=not past)

    count = knowledge.count_facts(connection, user_id, wanted, now=now)
    here = clamp(page, count)
    # They are stored in the order in which they began; the latest must be on top.
    end = count - here * PAGE
    offset = max(0, end - PAGE)
    shown = knowledge.facts_about(connection, user_id, wanted, now=now, limit=max(0, end - offset), offset=offset)
    other = knowledge.count_facts(connection, user_id, others, now=now)
    questions = len(knowledge.open_contradictions(connection, user_id))
    title = _title(user, about, count, past=past)
    title = title if count or past else nothing_yet(connection, user, title)
    found = _Page(shown[::-1], count, other, questions, here, entities.is_thing(connection, user_id, node_id))
    return found, title


def _title(user: User, about: FactSubject, count: int, *, past: bool) -> str:
    own = "-own" if about.kind == "owner" else ""
    if not count and not past:
        return phrase(user.lang, f"facts-none{own}", **({} if own else {"name": about.name}))
    key = f"facts-title{own}{'-past' if past else ''}"
    return phrase(user.lang, key, count=count, **({} if own else {"name": about.name}))


def _page_rows(user: User, node_id: str, found: _Page, *, past: bool) -> Rows:
    lang, data = user.lang, FactsButton(owner=user.user_id, about=node_id, past=past)
    back_to = f"p{found.number}" if past else str(found.number)
    first = found.number * PAGE + 1
    fact_pressed = [FactButton(owner=user.user_id, fact=one.id, origin=node_id, back_to=back_to) for one in found.facts]
    rows: Rows = number_rows([button(str(number), one) for number, one in enumerate(fact_pressed, start=first)])
    rows += page_row(lang, found.number, found.count, lambda to: data.model_copy(update={"page": to}))
    if found.other or past:
        text = label(lang, "facts-button-current" if past else "facts-button-past", count=found.other)
        rows.append([button(text, FactsButton(owner=user.user_id, about=node_id, past=not past))])
    if found.questions:
        text = label(lang, "people-suggestions-button", count=found.questions)
        rows.append([button(text, ContradictionsButton(owner=user.user_id))])
    if found.is_thing and not past:
        rows.append([button(label(lang, "person-button-merge"), MergeThingsButton(owner=user.user_id, source=node_id))])
    return rows


async def fact_pressed(query: CallbackQuery, callback_data: FactButton, chat: Chat, services: Services) -> None:
    card = await _card(callback_data, chat, services)
    if callback_data.back_to == NEW_MESSAGE:
        here = callback_data.model_copy(update={"back_to": NO_WAY_BACK})
        await chat.say(card_text(chat.user, card), card_rows(chat.user, card, here))
    else:
        await chat.edit(card_text(chat.user, card), card_rows(chat.user, card, callback_data))


async def sources_pressed(query: CallbackQuery, callback_data: SourcesButton, chat: Chat, services: Services) -> None:
    card = await _card(callback_data, chat, services)
    await chat.edit(fact_sources(chat.user, card, LISTED_SOURCES), [_back_to_card(chat.user, callback_data)])


async def versions_pressed(query: CallbackQuery, callback_data: VersionsButton, chat: Chat, services: Services) -> None:
    card = await _card(callback_data, chat, services)
    await chat.edit(versions_text(chat.user, card), [_back_to_card(chat.user, callback_data)])


async def _card(data: FactButton, chat: Chat, services: Services) -> Card:
    return await services.read(lambda c: read_card(c, chat.user.user_id, data.fact))


def card_rows(user: User, card: Card, data: FactButton) -> Rows:
    """The buttons of a fact: its actions, its ends, and the way back."""
    lang, way = user.lang, {"owner": user.user_id, "fact": card.fact.id, "origin": data.origin, "back_to": data.back_to}
    rows: Rows = []
    if card.newest.id != card.fact.id:
        newest = FactButton(**(way | {"fact": card.newest.id}))
        rows.append([button(label(lang, "fact-button-newest"), newest)])
    elif card.fact.expired_at is None:
        correct, forget = CorrectButton(**way), ForgetFactButton(**way)
        rows.append(
            [button(label(lang, "fact-button-correct"), correct), button(label(lang, "fact-button-forget"), forget)]
        )
        rows.append([audience_button(user, card.fact.id)])
    if len(card.lines) > SHOWN_SOURCES:
        text = label(lang, "fact-button-sources", count=len(card.lines))
        rows.append([button(text, SourcesButton(**way))])
    if len(card.versions) > 1:
        text = label(lang, "fact-button-versions", count=len(card.versions))
        rows.append([button(text, VersionsButton(**way))])
    ends = _ends(user, card.fact, data)
    return [*rows, *([ends] if ends else []), *_back_button(user, data)]


def _ends(user: User, fact: Fact, data: FactButton) -> list[Button]:
    """Buttons for the facts about either end, except the list the user came from."""
    ends = {fact.source: fact.source_name, fact.target: fact.target_name}
    shown = {one: name for one, name in ends.items() if one not in (data.origin, store.owner_node_id(user.user_id))}
    return [
        button(shorten(name, _NAME_ON_BUTTON), FactsButton(owner=user.user_id, about=one))
        for one, name in shown.items()
        if name
    ]


def _back_button(user: User, data: FactButton) -> Rows:
    if data.origin is None:
        return []
    text = label(user.lang, "button-back")
    if data.back_to == FROM_REPLY:
        return [[button(text, WhyButton(owner=user.user_id, reply=data.origin))]]
    past, page = data.back_to.startswith("p"), data.back_to.removeprefix("p")
    number = int(page) if page.isdigit() else 0
    return [[button(text, FactsButton(owner=user.user_id, about=data.origin, page=number, past=past))]]


def _back_to_card(user: User, data: FactButton) -> list[Button]:
    to = FactButton(owner=user.user_id, fact=data.fact, origin=data.origin, back_to=data.back_to)
    return [button(label(user.lang, "button-back"), to)]


def router() -> Router:
    built = Router(name="facts")
    built.message.register(facts, Command("facts", ignore_mention=True))
    built.callback_query.register(page_pressed, FactsButton.filter())
    built.callback_query.register(fact_pressed, FactButton.filter())
    built.callback_query.register(sources_pressed, SourcesButton.filter())
    built.callback_query.register(versions_pressed, VersionsButton.filter())
    return built
