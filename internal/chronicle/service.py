"""The line of events as it grows and as it heals: what is said, answered, edited, erased, and where a session ends.

Every function runs in the transaction of what it notes, so the line cannot lack what the log has.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from internal.chronicle import repository
from internal.chronicle.model import AnalysisType, Event, EventLabel, Session, Trigger
from internal.errors import NotFound
from internal.storage.owner_counters import next_rev
from internal.storage.types import new_id

OPENING: Final[Trigger] = "/db"
CONTINUING: Final[Trigger] = "/sa"
CLOSING: Final[Trigger] = "/ss"

TOPIC: Final = 80
"""Characters of a Request that name its session until the analyst does: one line of a list."""

_USERS: Final = (EventLabel.REQUEST, EventLabel.FEEDBACK)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message of the log as the chronicle needs it. `at` is when it was said."""

    user_id: int
    message_id: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Lost:
    """What an erasure did to sessions: `gone` have no message left, `touched` have lost one and go on."""

    gone: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()


def hear(connection: Connection, spoken: Spoken, *, tz: str, command: Trigger | None = None) -> Event:
    """C2: what the user said joins the line: the Request of a session that it opens, else Feedback.

    `tz` is the owner's zone now, for a session that opens. `command` stood before the words: `/db` opens a session
    (close the one before it first: `close`), `/sa` goes on with one.
    """
    session = repository.open_session(connection, spoken.user_id)
    if session is None:
        session = _open(connection, spoken, tz, command)
        label = EventLabel.REQUEST
    else:
        asked = repository.has_request(connection, spoken.user_id, session.id)
        label = EventLabel.FEEDBACK if asked else EventLabel.REQUEST
        session = _continue(connection, session, spoken.text, command)
    attrs = {"type": "command"} if command is not None and label is EventLabel.REQUEST else {}
    return _append(connection, spoken, session.id, label, attrs=attrs)


def answer(connection: Connection, spoken: Spoken, asked_id: str | None, *, tz: str) -> Event:
    """C4: a Response to the message `asked_id`, the last of its turn, in the session of that one, closed or not.

    An answer to nothing that the line has stands in the session that goes on, or opens one.
    """
    asked = repository.event_of_message(connection, spoken.user_id, asked_id) if asked_id is not None else None
    if asked is not None:
        return _append(connection, spoken, asked.session_id, EventLabel.RESPONSE, answers_n=asked.n)
    session = repository.open_session(connection, spoken.user_id) or _open(connection, spoken, tz, None)
    return _append(connection, spoken, session.id, EventLabel.RESPONSE)


def close(connection: Connection, user_id: int, now: datetime, *, command: Trigger | None = None) -> Session | None:
    """Ends the session that goes on and returns it; None if there is none. `command` is what ended it."""
    session = repository.open_session(connection, user_id)
    if session is None:
        return None
    trigger = command or session.trigger
    return repository.change_session(connection, user_id, session.id, closed_at=now, trigger=trigger)


def go_on(connection: Connection, user_id: int) -> Session | None:
    """Notes that the owner goes on with the open session (`/sa`) and returns it; None if there is none."""
    session = repository.open_session(connection, user_id)
    if session is None or session.trigger == CONTINUING:
        return session
    return repository.change_session(connection, user_id, session.id, trigger=CONTINUING)


def move_zone(connection: Connection, user_id: int, tz: str) -> Session | None:
    """The open session follows its owner into another zone; those that are closed stay where they were."""
    session = repository.open_session(connection, user_id)
    if session is None or session.tz == tz:
        return session
    events = repository.events_of_session(connection, user_id, session.id)
    repository.touch(connection, user_id, [event.id for event in events])
    return repository.change_session(connection, user_id, session.id, tz=tz)


def edited(connection: Connection, spoken: Spoken) -> None:
    """The words of a message changed: its event has them already, a topic that was made of them follows."""
    event = repository.event_of_message(connection, spoken.user_id, spoken.message_id)
    if event is None:
        return
    repository.touch(connection, spoken.user_id, [event.id])
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
) -> Event:
    """C10: an Analysis joins the line now, also behind the events of newer sessions.

    `attrs` hold verdict, rules_used, rules_ignored, errors, lessons and whatever else was told (`summary`).
    """
    event = Event(
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
    """Takes back every Analysis of a session, before it is analysed anew; how many."""
    found = [event for event in repository.events_of_session(connection, user_id, session_id) if _analyses(event)]
    _remove(connection, user_id, found)
    return len(found)


def name_topic(connection: Connection, user_id: int, session_id: str, topic: str, by: str = "analyst") -> Session:
    """Names what a session is about. What the owner named himself stays. Raises NotFound."""
    known = repository.session(connection, user_id, session_id)
    if known is None:
        raise NotFound(f"there is no session {session_id}")
    if known.topic_by == "owner" and by != "owner":
        return known
    changed = repository.change_session(connection, user_id, session_id, topic=topic, topic_by=by)
    return changed or known


def lose_messages(connection: Connection, user_id: int, message_ids: Collection[str]) -> Lost:
    """Takes the events of messages that are being erased out of the line, with what was derived from their words.

    The Analyses of a Response go with it and with the question it answered; the summary of the session goes too, and
    a topic that it named: both tell what was said. A session without a message goes whole. If the Request goes, the
    user's next word takes its place.
    """
    falling = repository.events_of_messages(connection, user_id, message_ids)
    if not falling:
        return Lost()
    sessions = list(dict.fromkeys(event.session_id for event in falling))
    _move_answers(connection, user_id, falling)
    _remove(connection, user_id, falling)
    gone = [session_id for session_id in sessions if _heal(connection, user_id, session_id)]
    return Lost(tuple(gone), tuple(one for one in sessions if one not in gone))


def drop_emptied(connection: Connection, user_id: int) -> int:
    """Takes back Analyses whose words an erasure wiped elsewhere; how many."""
    emptied = repository.emptied(connection, user_id)
    _remove(connection, user_id, emptied)
    return len(emptied)


def topic_of(text: str) -> str:
    """What a session is called by the words that open it: one line of at most TOPIC characters, cut between words."""
    line = " ".join(text.split())
    if len(line) <= TOPIC:
        return line
    cut = line[:TOPIC].rsplit(maxsplit=1)[0] if " " in line[:TOPIC] else line[: TOPIC - 1]
    return f"{cut}…"


def _open(connection: Connection, spoken: Spoken, tz: str, command: Trigger | None) -> Session:
    trigger: Trigger = command or "/db"
    session = Session(spoken.user_id, new_id(), topic_of(spoken.text), trigger, tz, opened_at=spoken.at)
    return repository.add_session(connection, session)


def _continue(connection: Connection, session: Session, text: str, command: Trigger | None) -> Session:
    """Notes the command, and the first words where the session began without any (with a photo)."""
    values: dict[str, Any] = {}
    if command is not None and command != session.trigger:
        values["trigger"] = command
    if not session.topic and session.topic_by == "words" and text.strip():
        values["topic"] = topic_of(text)
    if not values:
        return session
    return repository.change_session(connection, session.user_id, session.id, **values) or session


def _append(
    connection: Connection,
    spoken: Spoken,
    session_id: str,
    label: EventLabel,
    *,
    answers_n: int | None = None,
    attrs: Mapping[str, Any] | None = None,
) -> Event:
    event = Event(
        user_id=spoken.user_id,
        n=next_rev(connection, spoken.user_id),
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
    if session is not None and session.topic_by == "words" and session.topic != topic_of(text):
        repository.change_session(connection, user_id, session_id, topic=topic_of(text))


def _move_answers(connection: Connection, user_id: int, falling: Sequence[Event]) -> None:
    """What answered an erased question answers what is left of its turn, or nothing that is still known."""
    lost = {event.n: event for event in falling}
    for event in repository.pointing_at(connection, user_id, list(lost)):
        if event.label is EventLabel.RESPONSE and event.n not in lost:
            left = _rest_of_turn(connection, lost[event.answers_n or 0], lost)
            repository.change_event(connection, event, answers_n=None if left is None else left.n)


def _rest_of_turn(connection: Connection, asked: Event, lost: Mapping[int, Event]) -> Event | None:
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
    """Brings a session that lost events into order; True if nothing was left of it, and it is gone."""
    left = repository.events_of_session(connection, user_id, session_id)
    if not any(event.message_id is not None for event in left):
        _remove(connection, user_id, left)
        repository.drop_session(connection, user_id, session_id)
        return True
    whole = {event.n for event in left if event.label is EventLabel.RESPONSE and event.answers_n is not None}
    _remove(connection, user_id, [one for one in left if _analyses(one) and one.answers_n not in whole])
    _first_is_request(connection, left)
    _retell_topic(connection, user_id, session_id, left)
    return False


def _analyses(event: Event) -> bool:
    return event.label is EventLabel.ANALYSIS


def _first_is_request(connection: Connection, left: Sequence[Event]) -> None:
    """The user's first word in a session is its Request; whoever takes that place is told so."""
    first = next((event for event in left if event.label in _USERS), None)
    if first is not None and first.label is EventLabel.FEEDBACK:
        repository.change_event(connection, first, label=EventLabel.REQUEST.value)


def _retell_topic(connection: Connection, user_id: int, session_id: str, left: Sequence[Event]) -> None:
    """A topic that words or the analyst gave may tell what is gone; what the owner named is his own."""
    session = repository.session(connection, user_id, session_id)
    if session is None or session.topic_by == "owner":
        return
    words = next((event.text for event in left if event.label in _USERS and event.text.strip()), "")
    topic = topic_of(words)
    if (session.topic, session.topic_by) != (topic, "words"):
        repository.change_session(connection, user_id, session_id, topic=topic, topic_by="words")


def _remove(connection: Connection, user_id: int, falling: Sequence[Event]) -> None:
    """Deletes events and tells those beside them, whose NEXT leads elsewhere now."""
    if not falling:
        return
    lost = {event.id for event in falling}
    repository.drop_events(connection, user_id, lost)
    beside = [repository.before(connection, user_id, event.n) for event in falling]
    beside += [repository.after(connection, user_id, event.n) for event in falling]
    repository.touch(connection, user_id, dict.fromkeys(event.id for event in beside if event is not None))
