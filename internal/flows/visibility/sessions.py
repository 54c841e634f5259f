"""The visible chronicle: sessions, one session as a graph, and its transcript, without what is being forgotten."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection

from internal.chronicle import repository, view
from internal.chronicle.model import AGENT, ChronicleEvent, Session
from internal.chronicle.transcript import Language, markdown
from internal.chronicle.view import HiddenMessages, View
from internal.flows.visibility.pending_forgettings import hidden_messages


@dataclass(frozen=True, slots=True)
class ShownSession:
    """A session with its events in the order of NEXT, and both as a graph."""

    session: Session
    events: list[ChronicleEvent]
    view: View


@dataclass(frozen=True, slots=True)
class Transcript:
    session: Session
    markdown: str


def sessions(
    connection: Connection, user_id: int, *, limit: int, offset: int = 0, newest_first: bool = False
) -> list[Session]:
    """An owner's sessions, oldest first by default."""
    hidden = hidden_messages(connection, user_id)
    if hidden == HiddenMessages():
        return repository.listing(connection, user_id, limit=limit, offset=offset, newest_first=newest_first)
    shown = _visible_sessions(connection, user_id, hidden)
    return (shown[::-1] if newest_first else shown)[offset : offset + limit]


def count_sessions(connection: Connection, user_id: int) -> int:
    hidden = hidden_messages(connection, user_id)
    if hidden == HiddenMessages():
        return repository.count_sessions(connection, user_id)
    return len(_visible_sessions(connection, user_id, hidden))


def session(connection: Connection, user_id: int, session_id: str) -> ShownSession | None:
    """A session; None if it does not exist, belongs to another owner, or is about to be forgotten as a whole."""
    known, hidden = repository.session(connection, user_id, session_id), hidden_messages(connection, user_id)
    shown = view.of_session(connection, user_id, session_id, hidden=hidden)
    if known is None or shown is None:
        return None
    stored = repository.events_of_session(connection, user_id, session_id)
    return ShownSession(view.topic_shown(known, stored, hidden), view.visible(stored, hidden), shown)


def transcript(
    connection: Connection,
    user_id: int,
    session_id: str,
    *,
    lang: Language = "en",
    agent: str = AGENT,
    plain: Callable[[str], str] = str,
) -> Transcript | None:
    """The Markdown of one session (`plain` as in `markdown`); None in the same cases as `session`."""
    found = session(connection, user_id, session_id)
    if found is None:
        return None
    names = [node.name for node in found.view.entities]
    return Transcript(found.session, markdown(found.session, found.events, names, lang=lang, agent=agent, plain=plain))


def _visible_sessions(connection: Connection, user_id: int, hidden: HiddenMessages) -> list[Session]:
    events: dict[str, list[ChronicleEvent]] = {}
    for event in repository.events(connection, user_id):
        events.setdefault(event.session_id, []).append(event)
    return [
        view.topic_shown(one, events[one.id], hidden)
        for one in repository.listing(connection, user_id)
        if view.visible(events.get(one.id, ()), hidden)
    ]
