"""Writes the line of events: messages, answers, edits, erasures, and the ends of sessions.

Every function runs in the transaction of the message that it records, so the line cannot lack what the log has.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from internal.chronicle import repository
from internal.chronicle.model import AnalysisType, ChronicleEvent, EventLabel, Session, SessionCommand
from internal.errors import expect_found
from internal.language.text.titles import title_of
from internal.storage.owner_counters import next_rev
from internal.storage.types import new_id

OPENING: Final[SessionCommand] = "/db"
CLOSING: Final[SessionCommand] = "/ss"

TOPIC: Final = 80
"""Most characters of a Request that are its session's topic until the analyst names it: one line of a list."""

_USERS: Final = (EventLabel.REQUEST, EventLabel.FEEDBACK)


@dataclass(frozen=True, slots=True)
class ChronicleMessage:
    """The fields of a message of the log, or a reaction, that the chronicle needs. `at` is its time.

    `n` is its number, the one that the message got when it was stored; without one it gets the next.
    """

    user_id: int
    message_id: str | None
    text: str
    at: datetime
    n: int | None = None
    thread_id: int = 0


@dataclass(frozen=True, slots=True)
class RemovedEvents:
    """The sessions changed by an erasure: `gone` have no message left, `touched` lost one and stay."""

    gone: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()


def hear(
    connection: Connection,
    spoken: ChronicleMessage,
    *,
    tz: str,
    command: SessionCommand | None = None,
    about: str | None = None,
) -> ChronicleEvent:
    """C2: adds the user's message: the Request of a session that it opens, else Feedback.

    `tz` is the owner's zone now, for a session that opens. `command` stood before the text: `/db` opens a session
    (call `close` for the previous one first), `/sa` continues one. `about` is the id of the answer it replies to.
    """
    session, asked = repository.open_session_asked(connection, spoken.user_id, spoken.thread_id)
    label = EventLabel.FEEDBACK if asked else EventLabel.REQUEST
    session = _open(connection, spoken, tz, command) if session is None else _continue(connection, session, spoken.text)
    attrs = {"type": "command"} if command is not None and label is EventLabel.REQUEST else {}
    response = _response(connection, spoken.user_id, about) if label is EventLabel.FEEDBACK else None
    answers_n = None if response is None else response.n
    return _append(connection, spoken, session.id, label, answers_n=answers_n, attrs=attrs)


def react(
    connection: Connection, user_id: int, message_id: str, reaction: str, at: datetime, *, by: int | None = None
) -> ChronicleEvent | None:
    """Makes a reaction the Feedback on exactly this answer, in its session; "" takes it back.

    An answer has one reaction of its owner, in a group one of each member (`by`): a new one replaces it. Returns None
    if nothing changes.
    """
    response = _response(connection, user_id, message_id)
    if response is None:
        return None
    there = repository.pointing_at(connection, user_id, [response.n])
    before = [event for event in there if event.is_reaction and event.attrs.get("by") == by]
    if [event.text for event in before] == ([reaction] if reaction else []):
        return None
    _remove(connection, user_id, before)
    if not reaction:
        return before[0]
    spoken = ChronicleMessage(user_id, None, reaction, at)
    attrs: dict[str, Any] = {"reaction": reaction} | ({} if by is None else {"by": by})
    return _append(connection, spoken, response.session_id, EventLabel.FEEDBACK, answers_n=response.n, attrs=attrs)


def _response(connection: Connection, user_id: int, message_id: str | None) -> ChronicleEvent | None:
    """The event of an answer."""
    event = repository.event_of_message(connection, user_id, message_id) if message_id is not None else None
    return event if event is not None and event.label is EventLabel.RESPONSE else None


def answer(
    connection: Connection, spoken: ChronicleMessage, asked_id: str | None, *, tz: str
) -> tuple[ChronicleEvent, bool]:
    """C4: adds a Response to the message `asked_id`, the last of its turn, in that message's session, closed or not.

    A response to no known event joins the open session of its topic, or opens one. Also returns whether its session is
    closed.
    """
    known = repository.event_in_session(connection, spoken.user_id, asked_id) if asked_id is not None else None
    if known is not None:
        asked, closed = known
        return _append(connection, spoken, asked.session_id, EventLabel.RESPONSE, answers_n=asked.n), closed
    known_one = repository.open_session(connection, spoken.user_id, spoken.thread_id)
    session = known_one or _open(connection, spoken, tz, None)
    return _append(connection, spoken, session.id, EventLabel.RESPONSE), False


def close(connection: Connection, user_id: int, now: datetime, thread_id: int = 0) -> Session | None:
    """Closes the open session of a topic and returns it; None if there is none."""
    session = repository.open_session(connection, user_id, thread_id)
    return session and repository.change_session(connection, user_id, session.id, closed_at=now)


def move_zone(connection: Connection, user_id: int, tz: str) -> None:
    """Moves open sessions into their owner's new zone; closed sessions keep theirs."""
    for session in repository.open_sessions(connection, user_id):
        if session.tz != tz:
            events = repository.events_of_session(connection, user_id, session.id)
            repository.mark_changed(connection, user_id, [event.id for event in events])
            repository.change_session(connection, user_id, session.id, tz=tz)


def edited(connection: Connection, spoken: ChronicleMessage) -> None:
    """Updates a topic that was made of an edited message; its event reads the new text by itself."""
    event = repository.event_of_message(connection, spoken.user_id, spoken.message_id or "")
    if event is None:
        return
    repository.mark_changed(connection, spoken.user_id, [event.id])
    if event.label is EventLabel.REQUEST:
        _topic_from(connection, spoken.user_id, event.session_id, spoken.text)


def analyse(
    connection: Connection,
    user_id: int,
    session_id: str,
    type: AnalysisType,
    attrs: Mapping[str, Any],
    *,
    answers_n: int | None,
    now: datetime,
    run_id: str | None,
) -> ChronicleEvent:
    """C10: adds an Analysis to the line now, also behind the events of newer sessions.

    `attrs` hold verdict, rules_used, rules_ignored, errors, lessons and optional values (`summary`).
    """
    event = ChronicleEvent(
        user_id=user_id,
        n=next_rev(connection, user_id),
        id=new_id(),
        session_id=session_id,
        label=EventLabel.ANALYSIS,
        at=now,
        answers_n=answers_n,
        attrs={"type": type} | dict(attrs),
        run_id=run_id,
    )
    repository.add_event(connection, event)
    return event


def drop_analyses(connection: Connection, user_id: int, session_id: str) -> int:
    """Removes every Analysis of a session before it is analysed again. Returns how many."""
    found = [event for event in repository.events_of_session(connection, user_id, session_id) if _analyses(event)]
    _remove(connection, user_id, found)
    return len(found)


def name_topic(connection: Connection, user_id: int, session_id: str, topic: str, by: str = "analyst") -> Session:
    """Names the topic of a session. A topic set by the owner stays. Raises NotFound."""
    known = expect_found(repository.session(connection, user_id, session_id), f"there is no session {session_id}")
    if known.topic_by == "owner" and by != "owner":
        return known
    changed = repository.change_session(connection, user_id, session_id, topic=topic, topic_by=by)
    return changed or known


def lose_messages(connection: Connection, user_id: int, message_ids: Collection[str]) -> RemovedEvents:
    """Removes the events of messages that are being erased, with everything derived from their text.

    A Response is removed with its reactions. Its Analyses are removed with it or with the question it answered, as are
    the summary of the session and a topic from it: they reveal what was said. A session without a message is removed.
    The user's next message replaces a removed Request.
    """
    removed = repository.events_of_messages(connection, user_id, message_ids)
    if not removed:
        return RemovedEvents()
    sessions = list(dict.fromkeys(event.session_id for event in removed))
    removed += _move_answers(connection, user_id, removed)
    _remove(connection, user_id, removed)
    gone = [session_id for session_id in sessions if _heal(connection, user_id, session_id)]
    return RemovedEvents(tuple(gone), tuple(one for one in sessions if one not in gone))


def drop_emptied(connection: Connection, user_id: int) -> int:
    """Removes Analyses whose text an erasure wiped elsewhere. Returns how many."""
    emptied = repository.emptied(connection, user_id)
    _remove(connection, user_id, emptied)
    return len(emptied)


def name_again(connection: Connection, user_id: int, holds: Callable[[str], bool]) -> None:
    """Names sessions whose topic was erased by the user's first words without forgotten names."""
    for session in repository.without_topic(connection, user_id):
        events = repository.events_of_session(connection, user_id, session.id)
        topics = (topic_from_words(event.text) for event in events if event.label in _USERS and not event.is_reaction)
        topic = next((topic for topic in topics if topic and not holds(topic)), "")
        if topic:
            repository.change_session(connection, user_id, session.id, topic=topic, topic_by="words")


def topic_from_words(text: str) -> str:
    """The topic made of a session's first words."""
    return title_of(text, TOPIC)


def _open(connection: Connection, spoken: ChronicleMessage, tz: str, command: SessionCommand | None) -> Session:
    trigger: SessionCommand = command or "/db"
    session = Session(spoken.user_id, new_id(), topic_from_words(spoken.text), trigger, tz, opened_at=spoken.at)
    return repository.add_session(connection, replace(session, thread_id=spoken.thread_id))


def _continue(connection: Connection, session: Session, text: str) -> Session:
    """Names a session that began without words (with a photo) by its first words."""
    if session.topic or session.topic_by != "words" or not text.strip():
        return session
    return repository.change_session(connection, session.user_id, session.id, topic=topic_from_words(text)) or session


def _append(
    connection: Connection,
    spoken: ChronicleMessage,
    session_id: str,
    label: EventLabel,
    *,
    answers_n: int | None = None,
    attrs: Mapping[str, Any] | None = None,
) -> ChronicleEvent:
    event = ChronicleEvent(
        user_id=spoken.user_id,
        n=spoken.n or next_rev(connection, spoken.user_id),
        id=new_id(),
        session_id=session_id,
        label=label,
        at=spoken.at,
        text=spoken.text,
        message_id=spoken.message_id,
        answers_n=answers_n,
        attrs=attrs or {},
    )
    repository.add_event(connection, event)
    return event


def _topic_from(connection: Connection, user_id: int, session_id: str, text: str) -> None:
    session = repository.session(connection, user_id, session_id)
    if session is not None and session.topic_by == "words" and session.topic != topic_from_words(text):
        repository.change_session(connection, user_id, session_id, topic=topic_from_words(text))


def _move_answers(connection: Connection, user_id: int, removed: Sequence[ChronicleEvent]) -> list[ChronicleEvent]:
    """Points answers to an erased question at the rest of its turn, and Feedback on an erased answer at nothing.

    Returns the reactions to erased answers, which are to be removed with them.
    """
    lost = {event.n: event for event in removed}
    pointing = [event for event in repository.pointing_at(connection, user_id, list(lost)) if event.n not in lost]
    for event in pointing:
        if event.label is EventLabel.ANALYSIS or event.is_reaction:
            continue
        left = None
        if event.label is EventLabel.RESPONSE:
            left = _rest_of_turn(connection, lost[event.answers_n or 0], lost)
        repository.change_event(connection, event, answers_n=None if left is None else left.n)
    return [event for event in pointing if event.is_reaction]


def _rest_of_turn(
    connection: Connection, asked: ChronicleEvent, lost: Mapping[int, ChronicleEvent]
) -> ChronicleEvent | None:
    """The last event of the turn of an erased message that is not erased with it."""
    ours = [
        event
        for event in repository.events_of_session(connection, asked.user_id, asked.session_id)
        if event.label in _USERS and event.message_id is not None and (event.n == asked.n or event.n not in lost)
    ]
    turns = repository.turn_of_messages(connection, asked.user_id, [event.message_id or "" for event in ours])
    turn = turns.get(asked.message_id or "")
    left = [event for event in ours if event.n != asked.n and turn and turns.get(event.message_id or "") == turn]
    return left[-1] if left else None


def _heal(connection: Connection, user_id: int, session_id: str) -> bool:
    """Repairs a session that lost events. Returns True if nothing was left of it and it was deleted."""
    left = repository.events_of_session(connection, user_id, session_id)
    if not any(event.message_id is not None for event in left):
        _remove(connection, user_id, left)
        repository.drop_session(connection, user_id, session_id)
        return True
    whole = {event.n for event in left if event.label is EventLabel.RESPONSE and event.answers_n is not None}
    _remove(connection, user_id, [one for one in left if _analyses(one) and one.answers_n not in whole])
    _first_is_request(connection, left)
    _rename_topic(connection, user_id, session_id, left)
    return False


def _analyses(event: ChronicleEvent) -> bool:
    return event.label is EventLabel.ANALYSIS


def _first_is_request(connection: Connection, left: Sequence[ChronicleEvent]) -> None:
    """Labels the user's first message in a session as its Request."""
    first = next((event for event in left if event.label in _USERS and not event.is_reaction), None)
    if first is not None and first.label is EventLabel.FEEDBACK:
        repository.change_event(connection, first, label=EventLabel.REQUEST.value)


def _rename_topic(connection: Connection, user_id: int, session_id: str, left: Sequence[ChronicleEvent]) -> None:
    """Replaces a topic from words or the analyst, which may reveal erased words; the owner's own topic stays."""
    session = repository.session(connection, user_id, session_id)
    if session is None or session.topic_by == "owner":
        return
    said = (event.text for event in left if event.label in _USERS and not event.is_reaction)
    words = next((text for text in said if text.strip()), "")
    topic = topic_from_words(words)
    if (session.topic, session.topic_by) != (topic, "words"):
        repository.change_session(connection, user_id, session_id, topic=topic, topic_by="words")


def _remove(connection: Connection, user_id: int, removed: Sequence[ChronicleEvent]) -> None:
    """Deletes events and records a change of their neighbours, whose NEXT changes."""
    if not removed:
        return
    lost = {event.id for event in removed}
    repository.drop_events(connection, user_id, lost)
    beside = [repository.event_before(connection, user_id, event.n) for event in removed]
    beside += [repository.after(connection, user_id, event.n) for event in removed]
    repository.mark_changed(connection, user_id, dict.fromkeys(event.id for event in beside if event is not None))
