"""Sessions and events in the database. The text of an event is its message's own, read with the row."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import BigInteger, Connection, Row, Select, bindparam, delete, exists, func, insert, select, update

from internal.chronicle.model import ChronicleEvent, EventLabel, Mention, Session
from internal.graph import mention_repository
from internal.storage.change_log import record_change, record_changes
from internal.storage.chunks import delete_with, rows_with
from internal.storage.owner_counters import next_rev
from internal.storage.rows import owner_lookup, read_one, reader
from internal.storage.tables import chronicle, event_mentions, messages, sessions

SESSION_CHANGE: Final = "session"
EVENT_CHANGE: Final = mention_repository.EVENT_CHANGE
"""Kinds in the change log, which the mirror follows."""


_user: Final = bindparam("owner", type_=BigInteger)
_said = (messages.c.user_id == chronicle.c.user_id) & (messages.c.id == chronicle.c.message_id)
_EVENTS: Final = select(chronicle, messages.c.content, messages.c.reply_to).outerjoin(messages, _said)

# Runs at every turn and is built once: building a statement takes several times as long as running it.
_ALL_OPEN: Final = select(sessions).where(sessions.c.user_id == _user, sessions.c.closed_at.is_(None))
_OPEN: Final = _ALL_OPEN.where(sessions.c.thread_id == bindparam("thread"))
_SESSION: Final = select(sessions).where(sessions.c.user_id == _user, sessions.c.id == bindparam("session"))
_ADD: Final = insert(chronicle)
_OF_MESSAGE: Final = _EVENTS.where(chronicle.c.user_id == _user, chronicle.c.message_id == bindparam("message"))
_IN_SESSION: Final = _OF_MESSAGE.add_columns(
    select(sessions.c.closed_at.is_not(None))
    .where(sessions.c.user_id == _user, sessions.c.id == chronicle.c.session_id)
    .scalar_subquery()
    .label("closed")
)
_REQUEST: Final = exists().where(
    chronicle.c.user_id == _user, chronicle.c.session_id == sessions.c.id, chronicle.c.label == EventLabel.REQUEST.value
)
_OPEN_ASKED: Final = _OPEN.add_columns(_REQUEST.label("asked"))


def add_session(connection: Connection, session: Session) -> Session:
    """Stores a new session."""
    values = asdict(session) | {"rev": next_rev(connection, session.user_id)}
    row = connection.execute(insert(sessions).values(values).returning(*sessions.c)).one()
    record_change(connection, session.user_id, SESSION_CHANGE, session.id)
    return _session(row)


def change_session(connection: Connection, user_id: int, session_id: str, **values: Any) -> Session | None:
    """Updates columns of a session. Returns None if there is no such session."""
    values |= {"rev": next_rev(connection, user_id)}
    one = (sessions.c.user_id == user_id) & (sessions.c.id == session_id)
    row = connection.execute(update(sessions).where(one).values(values).returning(*sessions.c)).one_or_none()
    if row is None:
        return None
    record_change(connection, user_id, SESSION_CHANGE, session_id)
    return _session(row)


def drop_session(connection: Connection, user_id: int, session_id: str) -> None:
    """Deletes a session without events."""
    connection.execute(delete(sessions).where(sessions.c.user_id == user_id, sessions.c.id == session_id))
    record_change(connection, user_id, SESSION_CHANGE, session_id, "delete")


def open_sessions(connection: Connection, user_id: int) -> list[Session]:
    """The open sessions of an owner's topics."""
    return [_session(row) for row in connection.execute(_ALL_OPEN, {"owner": user_id})]


def open_session(connection: Connection, user_id: int, thread_id: int = 0) -> Session | None:
    """The open session of one topic, 0 outside of topics."""
    return read_one(connection.execute(_OPEN, {"owner": user_id, "thread": thread_id}), _session)


def open_session_asked(connection: Connection, user_id: int, thread_id: int) -> tuple[Session | None, bool]:
    """The open session of one topic, and whether it has a Request (the user's first message) yet."""
    row = connection.execute(_OPEN_ASKED, {"owner": user_id, "thread": thread_id}).one_or_none()
    return (None, False) if row is None else (_session(row), bool(row.asked))


def session(connection: Connection, user_id: int, session_id: str) -> Session | None:
    return read_one(connection.execute(_SESSION, {"owner": user_id, "session": session_id}), _session)


owner_of_session = owner_lookup(sessions)


def listing(
    connection: Connection, user_id: int, *, limit: int | None = None, offset: int = 0, newest_first: bool = False
) -> list[Session]:
    """Sessions of an owner, oldest first unless asked otherwise."""
    order = (sessions.c.opened_at, sessions.c.rev, sessions.c.id)
    query = select(sessions).where(sessions.c.user_id == user_id)
    query = query.order_by(*(column.desc() if newest_first else column for column in order))
    return [_session(row) for row in connection.execute(query.limit(limit).offset(offset))]


def without_topic(connection: Connection, user_id: int) -> list[Session]:
    query = select(sessions).where(sessions.c.user_id == user_id, sessions.c.topic == "")
    return [_session(row) for row in connection.execute(query)]


def count_sessions(connection: Connection, user_id: int) -> int:
    query = select(func.count()).select_from(sessions).where(sessions.c.user_id == user_id)
    return connection.execute(query).scalar_one()


def add_event(connection: Connection, event: ChronicleEvent) -> None:
    """Stores an event without its text."""
    values = {
        "user_id": event.user_id,
        "n": event.n,
        "id": event.id,
        "session_id": event.session_id,
        "label": event.label.value,
        "message_id": event.message_id,
        "answers_n": event.answers_n,
        "attrs": dict(event.attrs),
        "at": event.at,
        "run_id": event.run_id,
    }
    connection.execute(_ADD, values)
    record_change(connection, event.user_id, EVENT_CHANGE, event.id)


def change_event(connection: Connection, event: ChronicleEvent, **values: Any) -> None:
    """Updates columns of an event. Raises ValueError for `n`, which `renumber` changes."""
    if "n" in values:
        raise ValueError("the place of an event is not changed alone")
    one = (chronicle.c.user_id == event.user_id) & (chronicle.c.n == event.n)
    connection.execute(update(chronicle).where(one).values(values))
    record_change(connection, event.user_id, EVENT_CHANGE, event.id)


def mark_changed(connection: Connection, user_id: int, event_ids: Iterable[str]) -> None:
    """Records for the mirror that events changed without their rows: their text or their neighbours."""
    for event_id in event_ids:
        record_change(connection, user_id, EVENT_CHANGE, event_id)


def drop_events(connection: Connection, user_id: int, event_ids: Collection[str]) -> None:
    """Deletes events with their mentions."""
    delete_with(connection, chronicle, user_id, chronicle.c.id, event_ids)
    delete_with(connection, event_mentions, user_id, event_mentions.c.event_id, event_ids)
    record_changes(connection, user_id, EVENT_CHANGE, event_ids, "delete")


def event_of_message(connection: Connection, user_id: int, message_id: str) -> ChronicleEvent | None:
    return read_one(connection.execute(_OF_MESSAGE, {"owner": user_id, "message": message_id}), _event)


def event_in_session(connection: Connection, user_id: int, message_id: str) -> tuple[ChronicleEvent, bool] | None:
    """`event_of_message`, and whether its session is closed."""
    row = connection.execute(_IN_SESSION, {"owner": user_id, "message": message_id}).one_or_none()
    return None if row is None else (_event(row), bool(row.closed))


def events_of_messages(connection: Connection, user_id: int, message_ids: Collection[str]) -> list[ChronicleEvent]:
    """The events of these messages, in the order of NEXT."""
    found = rows_with(connection, _events(user_id), chronicle.c.message_id, message_ids)
    return sorted(map(_event, found), key=lambda event: event.n)


def events_of_session(connection: Connection, user_id: int, session_id: str) -> list[ChronicleEvent]:
    """Every event of a session, in the order of NEXT."""
    query = _events(user_id).where(chronicle.c.session_id == session_id)
    return [_event(row) for row in connection.execute(query.order_by(chronicle.c.n))]


def events_around(connection: Connection, user_id: int, session_id: str) -> list[ChronicleEvent]:
    """The events from the first to the last of a session, those of other sessions included."""
    ours = (chronicle.c.user_id == user_id) & (chronicle.c.session_id == session_id)
    first, last = connection.execute(select(func.min(chronicle.c.n), func.max(chronicle.c.n)).where(ours)).one()
    if first is None:
        return []
    within = _events(user_id).where(chronicle.c.n >= first, chronicle.c.n <= last).order_by(chronicle.c.n)
    return [_event(row) for row in connection.execute(within)]


def events(connection: Connection, user_id: int) -> list[ChronicleEvent]:
    """Every event of an owner, in the order of NEXT."""
    return [_event(row) for row in connection.execute(_events(user_id).order_by(chronicle.c.n))]


def emptied(connection: Connection, user_id: int) -> list[ChronicleEvent]:
    """The Analyses of an owner that have lost their verdict, in the order of NEXT."""
    verdict = chronicle.c.attrs["verdict"].as_string()
    query = _events(user_id).where(chronicle.c.label == EventLabel.ANALYSIS.value, verdict.is_(None))
    return [_event(row) for row in connection.execute(query.order_by(chronicle.c.n))]


def events_by_ids(connection: Connection, user_id: int, event_ids: Collection[str]) -> list[ChronicleEvent]:
    """The existing events with these ids, in the order of NEXT."""
    found = rows_with(connection, _events(user_id), chronicle.c.id, event_ids)
    return sorted(map(_event, found), key=lambda event: event.n)


def event_before(connection: Connection, user_id: int, n: int) -> ChronicleEvent | None:
    """The event whose NEXT leads to the one numbered `n`."""
    query = _events(user_id).where(chronicle.c.n < n).order_by(chronicle.c.n.desc()).limit(1)
    return read_one(connection.execute(query), _event)


def after(connection: Connection, user_id: int, n: int) -> ChronicleEvent | None:
    """The event to which NEXT leads from the one numbered `n`."""
    query = _events(user_id).where(chronicle.c.n > n).order_by(chronicle.c.n).limit(1)
    return read_one(connection.execute(query), _event)


def session_of_messages(connection: Connection, user_id: int, message_ids: Collection[str]) -> dict[str, str]:
    """The session id of each message; messages without an event are left out."""
    wanted = select(chronicle.c.message_id, chronicle.c.session_id).where(chronicle.c.user_id == user_id)
    return {
        row.message_id: row.session_id for row in rows_with(connection, wanted, chronicle.c.message_id, message_ids)
    }


def events_numbered(connection: Connection, user_id: int, numbers: Collection[int]) -> list[ChronicleEvent]:
    """The events with these numbers in the line."""
    return [_event(row) for row in rows_with(connection, _events(user_id), chronicle.c.n, numbers)]


def pointing_at(connection: Connection, user_id: int, numbers: Collection[int]) -> list[ChronicleEvent]:
    """The events that answer or analyse one of these, or are about it, in the order of NEXT."""
    found = rows_with(connection, _events(user_id), chronicle.c.answers_n, numbers)
    return sorted(map(_event, found), key=lambda event: event.n)


def turn_of_messages(connection: Connection, user_id: int, message_ids: Collection[str]) -> dict[str, str]:
    """The turn of each message that has one."""
    wanted = select(messages.c.id, messages.c.turn_id).where(
        messages.c.user_id == user_id, messages.c.turn_id.is_not(None)
    )
    return {row.id: row.turn_id for row in rows_with(connection, wanted, messages.c.id, message_ids)}


def mentions(connection: Connection, user_id: int, event_ids: Collection[str] | None = None) -> list[Mention]:
    """The mentions of these events (None: all), each entity once for an event, with its highest relevance."""
    columns = (event_mentions.c.event_id, event_mentions.c.entity_id, func.max(event_mentions.c.relevance))
    query = select(*columns).where(event_mentions.c.user_id == user_id)
    query = query.group_by(event_mentions.c.event_id, event_mentions.c.entity_id)
    query = query.order_by(event_mentions.c.event_id, event_mentions.c.entity_id)
    if event_ids is None:
        return [Mention(*row) for row in connection.execute(query)]
    return [Mention(*row) for row in rows_with(connection, query, event_mentions.c.event_id, event_ids)]


def words_since(connection: Connection, user_id: int, since: datetime) -> list[Row[Any]]:
    """Mentions in users' own messages (no forwards) since a moment, as rows (message_id, at, content, entity_id)."""
    same = (event_mentions.c.user_id == chronicle.c.user_id) & (event_mentions.c.event_id == chronicle.c.id)
    columns = (chronicle.c.message_id, chronicle.c.at, messages.c.content, event_mentions.c.entity_id)
    query = select(*columns).select_from(chronicle).join(messages, _said).join(event_mentions, same).distinct()
    own = (messages.c.role == "user", messages.c.forward.is_(None))
    query = query.where(chronicle.c.user_id == user_id, chronicle.c.at >= since, *own)
    ordered = query.order_by(chronicle.c.at, chronicle.c.message_id, event_mentions.c.entity_id)
    return list(connection.execute(ordered))


def sessions_mentioning(connection: Connection, user_id: int, entity_ids: Collection[str]) -> set[str]:
    """The ids of the sessions in which one of these entities is mentioned."""
    same = (event_mentions.c.user_id == chronicle.c.user_id) & (event_mentions.c.event_id == chronicle.c.id)
    query = select(chronicle.c.session_id).join(event_mentions, same).where(event_mentions.c.user_id == user_id)
    return {row.session_id for row in rows_with(connection, query.distinct(), event_mentions.c.entity_id, entity_ids)}


def latest_sessions_mentioning(
    connection: Connection, user_id: int, entity_id: str, *, until: datetime | None = None
) -> list[Session]:
    """The sessions in which an entity is mentioned, newest first; with `until` those opened by then."""
    same = (event_mentions.c.user_id == chronicle.c.user_id) & (event_mentions.c.event_id == chronicle.c.id)
    mentioning = select(chronicle.c.session_id).join(event_mentions, same)
    mentioning = mentioning.where(event_mentions.c.user_id == user_id, event_mentions.c.entity_id == entity_id)
    query = select(sessions).where(sessions.c.user_id == user_id, sessions.c.id.in_(mentioning))
    if until is not None:
        query = query.where(sessions.c.opened_at <= until)
    rows = connection.execute(query.order_by(sessions.c.opened_at.desc(), sessions.c.id))
    return [_session(row) for row in rows]


def renumber(connection: Connection, user_id: int, numbers: Mapping[int, int]) -> None:
    """Gives events other numbers in the line, with what points at them; the new numbers must be unused."""
    for old, new in sorted(numbers.items()):
        connection.execute(update(chronicle).where(chronicle.c.user_id == user_id, chronicle.c.n == old).values(n=new))
        pointing = (chronicle.c.user_id == user_id) & (chronicle.c.answers_n == old)
        connection.execute(update(chronicle).where(pointing).values(answers_n=new))


def _events(user_id: int) -> Select[Any]:
    return _EVENTS.where(chronicle.c.user_id == user_id)


_session = reader(Session)


_read_event = reader(
    ChronicleEvent,
    {"text": "content", "replies": "reply_to"},
    label=EventLabel,
    attrs=lambda attrs: attrs or {},
    replies=lambda message: message is not None,
)


def _event(row: Row[Any]) -> ChronicleEvent:
    event = _read_event(row)
    return event if event.text else replace(event, text=event.attrs.get("reaction", ""))
