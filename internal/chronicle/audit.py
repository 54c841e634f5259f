"""Compares an owner's chronicle with the log and repairs it.

A complete chronicle holds every message of the log once, in the log's order, with Analyses between them.
The audit does not rely on the code that writes the chronicle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from sqlalchemy import Connection

from internal.chronicle import audit_repository, repository, service
from internal.chronicle.audit_repository import LoggedMessage
from internal.chronicle.model import Audit, ChronicleEvent, EventLabel, Session
from internal.graph import store
from internal.storage.owner_counters import next_rev
from internal.storage.types import new_id

SILENCE: Final = timedelta(minutes=30)
"""The silence that ends a session made by a repair: the default of `dialogue.idle_timeout`."""

_USERS: Final = (EventLabel.REQUEST, EventLabel.FEEDBACK)


@dataclass(frozen=True, slots=True)
class Findings:
    """The errors, by ids, and three figures of the audit, each a share of 1.

    `missing` are messages without an event; `without_message` events whose message is gone; `dangling` events that
    point at a wrong or missing event; `mislabelled` events with the wrong one of Request and Feedback; `wiped`
    Analyses without their words; `empty` sessions without a message; `unanalysed` closed sessions with a response
    that was not judged;
    `lost_mentions` pairs of event and entity of which one does not exist; `lone_nodes` nodes without edges and
    evidence.
    """

    next_integrity: float
    full_text: float
    analysis_coverage: float
    missing: tuple[str, ...] = ()
    without_message: tuple[str, ...] = ()
    dangling: tuple[str, ...] = ()
    mislabelled: tuple[str, ...] = ()
    wiped: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    unanalysed: tuple[str, ...] = ()
    lost_mentions: tuple[tuple[str, str], ...] = ()
    lone_nodes: tuple[str, ...] = ()

    @property
    def orphans(self) -> int:
        parts = (self.without_message, self.dangling, self.wiped, self.empty, self.lost_mentions, self.lone_nodes)
        return sum(map(len, parts))

    def audit(self, entity_uniqueness: float) -> Audit:
        return Audit(self.next_integrity, self.full_text, self.analysis_coverage, entity_uniqueness, self.orphans)


@dataclass(slots=True)
class RepairCounts:
    """The number of repairs by kind; `unanalysed` are the sessions that still have to be analysed."""

    counts: dict[str, int] = field(default_factory=dict)
    unanalysed: tuple[str, ...] = ()

    def add(self, kind: str, count: int) -> None:
        if count:
            self.counts[kind] = self.counts.get(kind, 0) + count


def examine(connection: Connection, user_id: int) -> Findings:
    """Finds the errors in an owner's chronicle. Changes nothing."""
    stored = _Stored.read(connection, user_id)
    return Findings(
        next_integrity=stored.next_integrity(),
        full_text=stored.full_text(),
        analysis_coverage=stored.analysis_coverage(),
        missing=tuple(message.id for message in stored.said if message.id not in stored.by_message),
        without_message=tuple(event.id for event in stored.events if stored.without_message(event)),
        dangling=tuple(event.id for event in stored.events if stored.dangling(event)),
        mislabelled=tuple(event.id for event in stored.mislabelled()),
        wiped=tuple(event.id for event in stored.events if _wiped(event)),
        empty=tuple(stored.empty()),
        unanalysed=tuple(stored.unanalysed()),
        lost_mentions=tuple(audit_repository.lost_mentions(connection, user_id)),
        lone_nodes=tuple(audit_repository.lone_nodes(connection, user_id)),
    )


def repair(connection: Connection, user_id: int) -> RepairCounts:
    """Repairs the errors that can be repaired: afterwards the chronicle holds every message of the log once, in order.

    Sessions are not analysed here: `unanalysed` are those to give to the analyst.
    """
    found, mended = examine(connection, user_id), RepairCounts()
    _drop_without_message(connection, user_id, found, mended)
    mended.add("wiped", service.drop_emptied(connection, user_id))
    mended.add("missing", _Restoring(connection, user_id).add_missing())
    mended.add("misplaced", _put_in_order(connection, user_id))
    mended.add("dangling", _point_again(connection, user_id))
    mended.add("mislabelled", _relabel(connection, user_id))
    for session_id in _Stored.read(connection, user_id).empty():
        _drop_session(connection, user_id, session_id)
        mended.add("empty", 1)
    mended.add("lost_mentions", audit_repository.drop_lost_mentions(connection, user_id))
    for node_id in audit_repository.lone_nodes(connection, user_id):
        store.delete_node(connection, user_id, node_id)
        mended.add("lone_nodes", 1)
    mended.unanalysed = examine(connection, user_id).unanalysed
    return mended


def fill_from_log(connection: Connection, user_id: int) -> int:
    """Adds messages without an event to the chronicle, as after importing an older program's data. Returns how many."""
    count = _Restoring(connection, user_id).add_missing()
    _put_in_order(connection, user_id)
    _relabel(connection, user_id)
    return count


def uniqueness(count: int, doubled: int) -> float:
    """The share of entities that are no duplicate of another, 1.0 without entities."""
    return 1.0 if not count else (count - doubled) / count


@dataclass(frozen=True, slots=True)
class _Stored:
    """The log and the chronicle of one owner, side by side."""

    said: Sequence[LoggedMessage]
    events: Sequence[ChronicleEvent]
    sessions: Mapping[str, Session]
    by_message: Mapping[str, ChronicleEvent]
    by_number: Mapping[int, ChronicleEvent]
    ids: Set[str]

    @classmethod
    def read(cls, connection: Connection, user_id: int) -> _Stored:
        events, said = repository.events(connection, user_id), audit_repository.chronicle_messages(connection, user_id)
        return cls(
            said,
            events,
            {session.id: session for session in repository.listing(connection, user_id)},
            {event.message_id: event for event in events if event.message_id is not None},
            {event.n: event for event in events},
            {message.id for message in said},
        )

    def next_integrity(self) -> float:
        """The share of steps from message to message, ends included, that NEXT takes without a detour."""
        line = [event.message_id for event in self.events if event.message_id is not None]
        wanted = list(pairwise(("", *(message.id for message in self.said), "")))
        taken = set(pairwise(("", *line, "")))
        return sum(step in taken for step in wanted) / len(wanted)

    def full_text(self) -> float:
        """The share of answers, in the log or the chronicle, whose full text is in the chronicle."""
        answers = {message.id for message in self.said if message.role == "assistant"}
        in_chronicle = {event.message_id for event in self.events if event.label is EventLabel.RESPONSE}
        whole = answers & in_chronicle
        every = answers | in_chronicle
        return len(whole) / len(every) if every else 1.0

    def analysis_coverage(self) -> float:
        """The share of Responses in closed sessions that are judged."""
        answers = [event for event in self.events if self._to_judge(event)]
        judged = self._judged()
        return sum(event.n in judged for event in answers) / len(answers) if answers else 1.0

    def unanalysed(self) -> list[str]:
        judged = self._judged()
        lacking = (event.session_id for event in self.events if self._to_judge(event) and event.n not in judged)
        return list(dict.fromkeys(lacking))

    def without_message(self, event: ChronicleEvent) -> bool:
        if event.label is EventLabel.ANALYSIS or event.is_reaction:
            return event.session_id not in self.sessions
        return event.message_id is None or event.message_id not in self.ids or event.session_id not in self.sessions

    def dangling(self, event: ChronicleEvent) -> bool:
        """Whether an event points at a missing event, or at one that it cannot answer or judge."""
        if event.answers_n is None:
            return False
        asked = self.by_number.get(event.answers_n)
        wanted = _USERS if event.label is EventLabel.RESPONSE else (EventLabel.RESPONSE,)
        elsewhere = asked is not None and asked.session_id != event.session_id
        return asked is None or asked.label not in wanted or (elsewhere and event.label is not EventLabel.FEEDBACK)

    def mislabelled(self) -> list[ChronicleEvent]:
        """Wrongly labelled events: the first user message of a session is its Request, every other Feedback."""
        opened: set[str] = set()
        wrong = []
        for event in self.events:
            if event.label in _USERS and not event.is_reaction:
                wanted = EventLabel.FEEDBACK if event.session_id in opened else EventLabel.REQUEST
                opened.add(event.session_id)
                wrong += [event] if event.label is not wanted else []
        return wrong

    def empty(self) -> list[str]:
        held = {event.session_id for event in self.events if event.message_id is not None}
        return [session_id for session_id in self.sessions if session_id not in held]

    def _to_judge(self, event: ChronicleEvent) -> bool:
        session = self.sessions.get(event.session_id)
        return event.label is EventLabel.RESPONSE and session is not None and session.closed_at is not None

    def _judged(self) -> set[int]:
        return {
            event.answers_n
            for event in self.events
            if event.label is EventLabel.ANALYSIS and event.answers_n is not None and not _wiped(event)
        }


def _wiped(event: ChronicleEvent) -> bool:
    return event.label is EventLabel.ANALYSIS and "verdict" not in event.attrs


def _drop_without_message(connection: Connection, user_id: int, found: Findings, mended: RepairCounts) -> None:
    events = repository.events_by_ids(connection, user_id, found.without_message)
    service.lose_messages(connection, user_id, [one.message_id for one in events if one.message_id is not None])
    left = repository.events_by_ids(connection, user_id, found.without_message)
    repository.drop_events(connection, user_id, [event.id for event in left])
    mended.add("without_message", len(events))


def _put_in_order(connection: Connection, user_id: int) -> int:
    """Moves events to the positions of their messages in the log; an Analysis stays behind the same event."""
    indexes = {
        message.id: index for index, message in enumerate(audit_repository.chronicle_messages(connection, user_id))
    }
    line = repository.events(connection, user_id)
    wanted = _wanted_order(line, indexes)
    first = next((index for index, (one, other) in enumerate(zip(line, wanted, strict=True)) if one != other), None)
    if first is None:
        return 0
    numbers = {event.n: next_rev(connection, user_id) for event in wanted[first:]}
    repository.renumber(connection, user_id, numbers)
    repository.mark_changed(connection, user_id, [event.id for event in wanted[max(first - 1, 0) :]])
    return sum(one != other for one, other in zip(line, wanted, strict=True))


def _wanted_order(line: Sequence[ChronicleEvent], indexes: Mapping[str, int]) -> list[ChronicleEvent]:
    behind: dict[str, list[ChronicleEvent]] = defaultdict(list)
    said: list[ChronicleEvent] = []
    last = ""
    for event in line:
        if event.message_id is None:
            behind[last].append(event)
        else:
            said.append(event)
            last = event.id
    said.sort(key=lambda event: indexes.get(event.message_id or "", len(indexes)))
    ordered = list(behind[""])
    for event in said:
        ordered += [event, *behind[event.id]]
    return ordered


def _point_again(connection: Connection, user_id: int) -> int:
    """Corrects dangling events: a Response points at the last question of its turn or nothing, a Feedback at nothing.

    A dangling Analysis or reaction is deleted.
    """
    stored = _Stored.read(connection, user_id)
    wrong = [event for event in stored.events if stored.dangling(event)]
    asked = _last_of_turns(stored)
    turns = {message.id: message.turn_id for message in stored.said}
    for event in wrong:
        if event.label is EventLabel.RESPONSE:
            question = asked.get(turns.get(event.message_id or "") or "")
            same = question is not None and question.session_id == event.session_id
            repository.change_event(connection, event, answers_n=question.n if question and same else None)
        elif event.message_id is not None:
            repository.change_event(connection, event, answers_n=None)
    repository.drop_events(connection, user_id, [event.id for event in wrong if event.message_id is None])
    return len(wrong)


def _last_of_turns(stored: _Stored) -> dict[str, ChronicleEvent]:
    """The last question of each turn."""
    found: dict[str, ChronicleEvent] = {}
    for message in stored.said:
        event = stored.by_message.get(message.id)
        if event is not None and message.role == "user" and message.turn_id is not None:
            found[message.turn_id] = event
    return found


def _relabel(connection: Connection, user_id: int) -> int:
    wrong = _Stored.read(connection, user_id).mislabelled()
    for event in wrong:
        label = EventLabel.REQUEST if event.label is EventLabel.FEEDBACK else EventLabel.FEEDBACK
        repository.change_event(connection, event, label=label.value)
    return len(wrong)


def _drop_session(connection: Connection, user_id: int, session_id: str) -> None:
    left = repository.events_of_session(connection, user_id, session_id)
    repository.drop_events(connection, user_id, [event.id for event in left])
    repository.drop_session(connection, user_id, session_id)


class _Restoring:
    """Adds an event for each message of the log that has none, at the end: `_put_in_order` moves it."""

    def __init__(self, connection: Connection, user_id: int) -> None:
        self._connection, self._user_id = connection, user_id
        self._stored = _Stored.read(connection, user_id)
        self._asked = _last_of_turns(self._stored)
        self._tz = audit_repository.zone(connection, user_id)
        self._following = self._next_events()

    def add_missing(self) -> int:
        """Adds the missing events. Returns their number."""
        count = 0
        before: tuple[LoggedMessage, str] | None = None
        for message in self._stored.said:
            event = self._stored.by_message.get(message.id)
            if event is None:
                event = self._add(message, before)
                count += 1
            before = message, event.session_id
        return count

    def _next_events(self) -> dict[str, tuple[LoggedMessage, ChronicleEvent]]:
        """The first later message with an event, for each message without one."""
        found: dict[str, tuple[LoggedMessage, ChronicleEvent]] = {}
        following: tuple[LoggedMessage, ChronicleEvent] | None = None
        for message in reversed(self._stored.said):
            event = self._stored.by_message.get(message.id)
            if event is not None:
                following = message, event
            elif following is not None:
                found[message.id] = following
        return found

    def _add(self, message: LoggedMessage, before: tuple[LoggedMessage, str] | None) -> ChronicleEvent:
        asked = self._asked.get(message.turn_id or "") if message.role == "assistant" else None
        session_id = asked.session_id if asked is not None else self._session(message, before)
        event = ChronicleEvent(
            user_id=self._user_id,
            n=next_rev(self._connection, self._user_id),
            id=new_id(),
            session_id=session_id,
            label=EventLabel.FEEDBACK if message.role == "user" else EventLabel.RESPONSE,
            at=message.at,
            message_id=message.id,
            answers_n=asked.n if asked is not None else None,
        )
        repository.add_event(self._connection, event)
        if message.role == "user" and message.turn_id is not None:
            self._asked[message.turn_id] = event
        return event

    def _session(self, message: LoggedMessage, before: tuple[LoggedMessage, str] | None) -> str:
        """The session of a message shortly before, else shortly after, else a closed session of its own."""
        if before is not None and message.at - before[0].at < SILENCE:
            self._stretch(before[1], message)
            return before[1]
        following = self._following.get(message.id)
        if following is not None and following[0].at - message.at < SILENCE:
            return following[1].session_id
        session = Session(
            self._user_id,
            new_id(),
            service.topic_from_words(message.words),
            service.OPENING,
            self._tz,
            opened_at=message.at,
            closed_at=message.at + SILENCE,
        )
        repository.add_session(self._connection, session)
        return session.id

    def _stretch(self, session_id: str, message: LoggedMessage) -> None:
        """A session made here ends when silence begins; existing sessions stay as they were."""
        known = repository.session(self._connection, self._user_id, session_id)
        if session_id not in self._stored.sessions and known is not None and known.closed_at is not None:
            closed_at: datetime = message.at + SILENCE
            repository.change_session(self._connection, self._user_id, session_id, closed_at=closed_at)
