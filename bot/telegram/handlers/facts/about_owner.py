"""The card about the owner: facts, likes, goals and decisions, tasks, people, and his own words about himself."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from bot.telegram.handlers.buttons import Rows
from bot.telegram.handlers.facts.fact_text import quotable
from bot.telegram.handlers.facts.facts import facts_shown
from bot.telegram.handlers.facts.subjects import owner
from bot.telegram.handlers.memories.memory_text import KINDS, memory_line
from bot.telegram.handlers.tasks.task_text import task_line
from bot.telegram.i18n import phrase
from bot.telegram.rendering import escape
from internal.access.model import User
from internal.dialogue import repository as dialogue
from internal.flows.visibility.messages import messages_shown
from internal.language.text.spelling import sentence_spans
from internal.memory.queries import repository as memories
from internal.people import repository as people
from internal.storage.forgetting.tombstone_repository import any_forgotten
from internal.tasks import repository as tasks

_MOST_QUOTES: Final = 5
"""Lines of each kind; the commands list all."""
_LATEST: Final = 200
"""The most messages in which the owner's words about himself are looked for; archived ones are among the facts."""
_OF_ONESELF: Final = re.compile(r"\W*(?:я|i(?:['’]m)?|мы|ми|we|у (?:меня|мене)|в мене)\b", re.IGNORECASE)
_LONGEST: Final = 120


def about_owner(connection: Connection, user: User, now: datetime) -> tuple[str, Rows]:
    """The text and buttons of the card, within a transaction."""
    text, rows = facts_shown(connection, user, owner(user), now)
    return "\n\n".join([text, *_besides(connection, user, text, now)]), rows


def _besides(connection: Connection, user: User, known: str, now: datetime) -> Iterator[str]:
    for kind in (KINDS["p"], KINDS["i"], KINDS["g"], KINDS["d"]):
        nodes = memories.listing(connection, user.user_id, kind.label, kind.current, limit=_MOST_QUOTES)
        if nodes:
            title = phrase(user.lang, f"memories-title-{kind.command}", count=len(nodes))
            yield _section(title, [memory_line(user, one) for one in nodes])
    if pending := tasks.pending(connection, user.user_id):
        title = phrase(user.lang, "tasks-title", count=len(pending))
        yield _section(title, [task_line(user, one, now) for one in pending[:_MOST_QUOTES]])
    if near := people.listing(connection, user.user_id, limit=3 * _MOST_QUOTES):
        yield f"{phrase(user.lang, 'about-owner-people')} {', '.join(escape(one.display_name) for one in near)}"
    if any_forgotten(connection, user.user_id, or_asked=True):
        return  # a message may name somebody who must not be quoted any more
    recent = messages_shown(connection, user.user_id, dialogue.recent(connection, user.user_id, limit=_LATEST))
    own = [one.content for one in recent if one.role == "user" and one.forward is None and not one.hidden]
    said = [text[start:end].strip() for text in own for start, end in sentence_spans(text)]
    said = [one for one in said if _OF_ONESELF.match(one) and "?" not in one and len(one) <= _LONGEST]
    if quotes := [
        phrase(user.lang, "source-quote", text=quotable(one)) for one in dict.fromkeys(said) if one not in known
    ]:
        yield _section(phrase(user.lang, "about-owner-said"), quotes[-_MOST_QUOTES:])


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([title, *(f"• {line}" for line in lines)])
