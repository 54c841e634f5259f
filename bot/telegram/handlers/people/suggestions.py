"""Suggestions: an agent proposes to change what the owner has set, and only the owner may accept it."""

from aiogram import Router
from aiogram.types import CallbackQuery
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.buttons import Rows, SuggestionButton, SuggestionsButton, button
from bot.telegram.handlers.facts.contradictions import ContradictionQuestion, first_question
from bot.telegram.handlers.people.person import actions, profile
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from internal.access.model import Language, User
from internal.flows.merging import people
from internal.language.text.spelling import name_key
from internal.people import repository, service, suggestion_repository
from internal.people.model import Person
from internal.people.suggestion_repository import Suggestion


def suggestion_card(
    connection: Connection, user: User, suggestion: Suggestion
) -> tuple[str, list[list[tuple[str, str]]]]:
    """The question as Markdown, with its buttons. Raises NotFound if a person it is about is gone."""
    person = service.person(connection, user.user_id, suggestion.person_id)
    target = None
    if suggestion.kind == "merge":
        person = service.person(connection, user.user_id, suggestion.payload["source_id"])
        target = service.person(connection, user.user_id, suggestion.payload["target_id"])
    return _question(user.lang, suggestion, person, target), _answers(user, suggestion)


async def first_pressed(query: CallbackQuery, callback_data: SuggestionsButton, chat: Chat, services: Services) -> None:
    await chat.edit(*await services.read(lambda c: _first(c, chat.user)))


async def answer_pressed(query: CallbackQuery, callback_data: SuggestionButton, chat: Chat, services: Services) -> None:
    user, now, suggestion_id = chat.user, services.clock.now(), callback_data.suggestion

    def work(connection: Connection) -> Person | None:
        if not callback_data.accept:
            service.decline(connection, user.user_id, suggestion_id, now=now)
            return None
        return people.accept(connection, user.user_id, suggestion_id, now=now)

    person = await services.write(work)
    if person is None:
        await chat.edit(phrase(user.lang, "suggestion-kept"))
    else:
        applied = phrase(user.lang, "suggestion-applied", name=person.display_name)
        await chat.edit(f"{applied}\n\n{profile(user, person)}", actions(user, person))
    following = await services.read(lambda c: next_question(c, user))
    if following is not None:
        await chat.say(following.text, following.rows)


def next_question(connection: Connection, user: User) -> ContradictionQuestion | None:
    """The owner's next question: about people first, since facts depend on who is who, then about facts."""
    best = _best(connection, user.user_id)
    return (
        ContradictionQuestion(best.id, *suggestion_card(connection, user, best))
        if best
        else first_question(connection, user)
    )


def _first(connection: Connection, user: User) -> tuple[str, Rows]:
    best = _best(connection, user.user_id)
    return suggestion_card(connection, user, best) if best else (phrase(user.lang, "suggestion-none"), [])


def _best(connection: Connection, user_id: int) -> Suggestion | None:
    """The suggestion that is most likely right: the merge whose names share the most words, else the oldest."""
    waiting = suggestion_repository.pending(connection, user_id)
    ids = {one.payload[side] for one in waiting if one.kind == "merge" for side in ("source_id", "target_id")}
    known = repository.by_ids(connection, user_id, sorted(ids))
    words = {id: {name_key(word) for name in one.names for word in name.split()} for id, one in known.items()}

    def likeness(one: Suggestion) -> float:
        ends = [words.get(one.payload.get(side, 0), set()) for side in ("source_id", "target_id")]
        return len(ends[0] & ends[1]) / max(len(ends[0] | ends[1]), 1)

    return max(waiting, key=likeness, default=None)


def _question(lang: Language, suggestion: Suggestion, person: Person, target: Person | None) -> str:
    if target is not None:
        return phrase(lang, "suggestion-merge", source=person.display_name, target=target.display_name)
    field, payload = suggestion.payload["field"], suggestion.payload
    value, current = _shown(lang, field, payload["value"]), _shown(lang, field, payload.get("current"))
    key = "suggestion-username-other" if field == "username" and payload.get("current") else f"suggestion-{field}"
    return phrase(lang, key, name=person.display_name, value=value, current=current)


def _shown(lang: Language, field: str, value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    if field == "circle" and value:
        return label(lang, "circle", circle=str(value))
    return str(value) if value else label(lang, "person-nothing-yet")


def _answers(user: User, suggestion: Suggestion) -> Rows:
    def answer(key: str, *, accept: bool) -> tuple[str, str]:
        data = SuggestionButton(owner=user.user_id, suggestion=suggestion.id, accept=accept)
        return button(label(user.lang, key), data)

    return [[answer("suggestion-button-apply", accept=True), answer("suggestion-button-keep", accept=False)]]


def router() -> Router:
    built = Router(name="suggestions")
    built.callback_query.register(first_pressed, SuggestionsButton.filter())
    built.callback_query.register(answer_pressed, SuggestionButton.filter())
    return built
