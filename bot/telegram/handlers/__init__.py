"""Commands, buttons and answers. `build_router` puts them together."""

from aiogram import Router

from bot.telegram.handlers import errors, inline, transcripts
from bot.telegram.handlers.account import (
    access,
    console,
    data,
    forget,
    overview,
    quiet,
    sessions,
    settings,
    start,
    undo,
)
from bot.telegram.handlers.awaited_answers import TakeAnswer, WithdrawQuestion
from bot.telegram.handlers.companion import birthdays, reflections, rhythms, today
from bot.telegram.handlers.facts import as_of, audience, contradictions, correct, facts, merge_entities, why
from bot.telegram.handlers.files import files
from bot.telegram.handlers.groups import settings as group_settings, share
from bot.telegram.handlers.memories import memories, questions
from bot.telegram.handlers.people import contact_files, contacts, map, merge, people, person, suggestions
from bot.telegram.handlers.services import Services
from bot.telegram.handlers.tasks import tasks, team


def build_router(services: Services) -> Router:
    """The router of every command, button press, contact card and awaited answer of an admitted user in private.

    Feed updates with `chat=` (a `Chat` of the writer) as workflow data. Other messages are UNHANDLED and left
    to the companion, including those that could have answered a question but do not.
    """
    router = Router(name="handlers")
    give = errors.GiveServices(services)
    router.message.outer_middleware(give)
    router.message.outer_middleware(TakeAnswer())
    router.callback_query.outer_middleware(give)
    router.inline_query.outer_middleware(give)
    router.callback_query.outer_middleware(errors.AnswerPress())
    router.callback_query.outer_middleware(WithdrawQuestion())
    # Answers before contacts: a contact card may answer the question whom to admit.
    first = (
        group_settings, share, start, settings, overview, undo, people, person, map, contact_files, merge,
        merge_entities, forget, facts, audience, why, as_of, correct, memories, files, data, sessions, console, tasks,
        transcripts, birthdays, today, reflections, rhythms, quiet, suggestions, contradictions, questions, team,
        inline, access,
    )  # fmt: skip
    router.include_routers(*(one.router() for one in first), start.unknown_router(), contacts.router(), errors.router())
    return router
