"""What the line of a chronicle must be like, whatever was done to it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sqlalchemy import Connection, select

from internal.chronicle import audit, repository, view
from internal.chronicle.model import ChronicleEvent, EventLabel
from internal.chronicle.view import View, ViewEdge
from internal.dialogue.message_rows import message_of
from internal.storage.tables import messages

USERS = (EventLabel.REQUEST, EventLabel.FEEDBACK)


def check_line(connection: Connection, user_id: int) -> list[ChronicleEvent]:
    """Asserts all that holds of a chronicle at every moment; its events in order."""
    events = repository.events(connection, user_id)
    log = [message_of(row) for row in connection.execute(select(messages).where(messages.c.user_id == user_id))]
    said = sorted((one for one in log if one.role in ("user", "assistant") and not one.hidden), key=lambda m: m.seq)
    told = [event.message_id for event in events if event.message_id is not None]
    assert told == [message.id for message in said], "each message has its event, once, in the order of the log"
    words = {message.id: message.content for message in said}
    assert all(event.text == words[event.message_id] for event in events if event.message_id is not None)
    sessions = repository.listing(connection, user_id)
    opened = [session.thread_id for session in sessions if session.closed_at is None]
    assert len(opened) == len(set(opened)), "a topic has one open session at most"
    assert {event.session_id for event in events} == {session.id for session in sessions}
    for session in sessions:
        check_session([event for event in events if event.session_id == session.id])
    check_graph(view.of_owner(connection, user_id), events)
    found = audit.examine(connection, user_id)
    assert (found.next_integrity, found.full_text, found.orphans) == (1.0, 1.0, 0)
    assert (found.missing, found.mislabelled) == ((), ())
    return events


def check_session(events: Sequence[ChronicleEvent]) -> None:
    said = [event for event in events if event.label in USERS and not event.is_reaction]
    assert [event.label for event in said] == [EventLabel.REQUEST, *[EventLabel.FEEDBACK] * (len(said) - 1)][
        : len(said)
    ]
    numbers = {event.n: event for event in events}
    for event in events:
        if event.answers_n is not None:
            wanted = USERS if event.label is EventLabel.RESPONSE else (EventLabel.RESPONSE,)
            assert event.answers_n < event.n
            if event.label is not EventLabel.FEEDBACK or event.answers_n in numbers:  # else of an earlier one
                assert numbers[event.answers_n].label in wanted
    assert any(event.message_id is not None for event in events)


def check_graph(shown: View, events: Sequence[ChronicleEvent]) -> None:
    """ONE chain over all events, in their order, and the pointers of each session as the specification has them."""
    steps = [(edge.source, edge.target) for edge in of_type(shown, "NEXT")]
    assert steps == list(pairwise([event.id for event in events]))
    sessions = {event.id: event.session_id for event in events}
    assert {edge.source: edge.target for edge in of_type(shown, "PART_OF")} == sessions
    last = {event.session_id: event.id for event in events}
    assert {edge.source: edge.target for edge in of_type(shown, "LAST_EVENT")} == last
    named = {event.id for event in events if event.answers_n is not None}
    for edge in of_type(shown, "FEEDBACK_ON"):
        assert edge.source in named or sessions[edge.source] == sessions[edge.target]
    places = {event.id: place for place, event in enumerate(events)}
    assert all(places[edge.target] < places[edge.source] for edge in of_type(shown, "FEEDBACK_ON"))
    happened = [edge.source for edge in of_type(shown, "HAPPENED_AT")]
    assert sorted(happened) == sorted({*sessions, *sessions.values()})
    ids = [node.id for node in shown.nodes]
    assert len(ids) == len(set(ids))


def of_type(shown: View, type: str) -> list[ViewEdge]:
    return [edge for edge in shown.edges if edge.type == type]
