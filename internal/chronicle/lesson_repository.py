"""The lessons of closed sessions, which are stored in their Analyses only."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, bindparam, not_, select

from internal.chronicle.model import EventLabel
from internal.storage.forgetting import forgettings, hidings
from internal.storage.tables import chronicle

_NONE: Final = "[]"

# Runs for every prompt and is built once: building a statement takes longer than running it.
_TAUGHT: Final = (
    select(chronicle.c.session_id, chronicle.c.at, chronicle.c.attrs["lessons"].label("lessons"))
    .where(chronicle.c.user_id == bindparam("owner"), chronicle.c.label == EventLabel.ANALYSIS.value)
    .where(chronicle.c.attrs["lessons"].as_string() != _NONE)
    .order_by(chronicle.c.n.desc())
    .limit(bindparam("most"))
)


@dataclass(frozen=True, slots=True)
class Taught:
    """The lessons of one Analysis. `at` is when it was written."""

    session_id: str
    at: datetime
    lessons: tuple[str, ...]


def taught(connection: Connection, user_id: int, *, limit: int) -> list[Taught]:
    """The newest Analyses of an owner that hold lessons, newest first.

    A session with a pending forgetting is left out: its lessons may reveal hidden messages.
    """
    asked = {"owner": user_id, "most": limit}
    rows = connection.execute(_TAUGHT, asked).all()
    if rows and (hidden := _hidden(connection, user_id)):
        rows = connection.execute(_TAUGHT.where(*map(not_, hidden)), asked).all()
    found = [Taught(row.session_id, row.at, _texts(row.lessons)) for row in rows]
    return [one for one in found if one.lessons]


def _hidden(connection: Connection, user_id: int) -> list[ColumnElement[bool]]:
    """The Analyses that are hidden while a forgetting in their session is pending."""
    found: list[ColumnElement[bool]] = []
    pending = forgettings.pending(connection, user_id)
    found += [chronicle.c.at <= one.created_at for one in pending if one.kind == forgettings.EVERYTHING]
    if len(pending) > len(found):
        line = chronicle.alias("said")
        lost = (line.c.user_id == user_id) & hidings.hidden(line.c.message_id)
        found.append(chronicle.c.session_id.in_(select(line.c.session_id).where(lost)))
    return found


def _texts(lessons: Any) -> tuple[str, ...]:
    return tuple(lesson for lesson in lessons or () if isinstance(lesson, str) and lesson)
