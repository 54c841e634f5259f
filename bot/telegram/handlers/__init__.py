"""Commands, buttons and answers. `build_router` puts them together."""

from __future__ import annotations

from aiogram import Router

from bot.telegram.handlers import (
    admission,
    asof,
    border,
    console,
    contacts,
    contradictions,
    correct,
    facts,
    forgetting,
    joining,
    memories,
    memory,
    merging,
    people,
    person,
    quiet,
    sessions,
    settings,
    start,
    suggestions,
    tasks,
    team,
    why,
    wondering,
)
from bot.telegram.handlers.asking import TakeAnswer, WithdrawQuestion
from bot.telegram.handlers.services import Services


def build_router(services: Services) -> Router:
    """Handles every command, button press, contact card and awaited answer of an admitted user in private.

    Feed updates with `chat=` (a `Chat` for whoever wrote) as workflow data. Other messages are UNHANDLED, also such as
    might have answered a question and do not: they are words for the companion.
    """
    router = Router(name="handlers")
    give = border.GiveServices(services)
    router.message.outer_middleware(give)
    router.message.outer_middleware(TakeAnswer())
    router.callback_query.outer_middleware(give)
    router.callback_query.outer_middleware(border.OnlyOwnButtons())
    router.callback_query.outer_middleware(WithdrawQuestion())
    # Answers before contacts: a contact card may answer whom to admit.
    router.include_routers(
        start.router(),
        settings.router(),
        people.router(),
        person.router(),
        merging.router(),
        joining.router(),
        forgetting.router(),
        facts.router(),
        why.router(),
        asof.router(),
        correct.router(),
        memories.router(),
        memory.router(),
        sessions.router(),
        console.router(),
        tasks.router(),
        quiet.router(),
        suggestions.router(),
        contradictions.router(),
        wondering.router(),
        team.router(),
        admission.router(),
        start.unknown_router(),
        contacts.router(),
        border.router(),
    )
    return router
