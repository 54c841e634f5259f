"""The choice of a fact's audience on its card: by the rules, the owner alone, the person it is about, teams, groups."""

from typing import Final

from aiogram import Router
from aiogram.types import CallbackQuery
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.buttons import Button, FactButton, Id, Owned, Rows, button
from bot.telegram.handlers.facts.fact_text import quotable
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from internal.access.model import User
from internal.knowledge import service as knowledge
from internal.knowledge.model import AUDIENCE, TEAM
from internal.people import repository as people_repository, service as people
from internal.tasks.teams import repository as teams

_RULES, _PRIVATE, _ASK = "rules", "private", "?"
_PERSON: Final = "person:"


class AudienceButton(Owned, prefix="AU", command="/facts"):
    """Asks for the audience of a fact, or stores it: `to` is a person's number, or one of the words above."""

    fact: Id
    to: str = _ASK


def audience_button(user: User, fact_id: str) -> Button:
    return button(label(user.lang, "audience-button"), AudienceButton(owner=user.user_id, fact=fact_id))


async def pressed(query: CallbackQuery, callback_data: AudienceButton, chat: Chat, services: Services) -> None:
    user, chosen, now = chat.user, callback_data.to, services.clock.now()
    if chosen == _ASK:
        await chat.edit(*await services.read(lambda c: _question(c, user, callback_data.fact)))
        return
    audience = f"{_PERSON}{chosen}" if chosen.isdecimal() else chosen if chosen != _RULES else None

    def work(connection: Connection) -> str:
        words, values = knowledge.fact(connection, user.user_id, callback_data.fact).fact, {AUDIENCE: audience}
        return knowledge.update_fact(
            connection, user.user_id, callback_data.fact, words, attributes=values, now=now
        )[1].id  # fmt: skip

    kept = FactButton(owner=user.user_id, fact=await services.write(work))
    await chat.edit(phrase(user.lang, "audience-kept"), [[button(label(user.lang, "button-back"), kept)]])


def _question(connection: Connection, user: User, fact_id: str) -> tuple[str, Rows]:
    fact = knowledge.fact(connection, user.user_id, fact_id)
    about = people_repository.people_at(connection, user.user_id, {fact.source, fact.target})
    known = [people.person(connection, user.user_id, one) for one in about.values()]
    choices = [(label(user.lang, f"audience-{one}"), one) for one in (_RULES, _PRIVATE)]
    choices += [(one.display_name, str(one.id)) for one in known]
    choices += [(label(user.lang, "audience-team"), TEAM)] if teams.teams_of(connection, user.user_id) else []
    now = str(fact.attributes.get(AUDIENCE) or _RULES)
    named = next((name for name, one in choices if one == now.removeprefix(_PERSON)), now)
    rows = [[button(name, AudienceButton(owner=user.user_id, fact=fact_id, to=one))] for name, one in choices]
    return phrase(user.lang, "audience-ask", text=quotable(fact.fact), now=named), rows


def router() -> Router:
    built = Router(name="audience")
    built.callback_query.register(pressed, AudienceButton.filter())
    return built
