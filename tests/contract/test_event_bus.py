"""What a subscriber of the bus may rely on, and what agents may rely on who keep their state beside it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select
from support.stores.stored_values import agent_value
from support.stores.stores import memory_store

from internal.events import agent_state_repository as agent_state, bus, repository
from internal.events.bus import EventTopic, Subscription
from internal.storage.tables import event_links, events, users

OWNER, OTHER = 42, 43
NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
READER = Subscription("context_manager", EventTopic.NOTIFICATION, OWNER)


@pytest.fixture
def connection() -> Iterator[Connection]:
    with memory_store() as opened:
        for user_id in (OWNER, OTHER):
            row = {"user_id": user_id, "role": "owner", "state": "allowed", "name": "", "lang": "en", "tz": "UTC"}
            opened.execute(insert(users).values(row | {"settings": {}, "created_at": NOW}))
        opened.commit()
        yield opened


def publish(
    connection: Connection, *words: str, user_id: int = OWNER, topic: EventTopic = EventTopic.NOTIFICATION
) -> list[str]:
    written: dict[str, Any] = {"user_id": user_id, "source": "agent:TaskManager", "now": NOW}
    return [bus.publish(connection, topic, payload={"text": word}, **written) for word in words]


def words(subscription: Subscription, connection: Connection, **how: int) -> list[str]:
    return [one.event.payload["text"] for one in subscription.waiting(connection, **how)]


@pytest.mark.parametrize(
    ("topic", "kind"),
    [
        (EventTopic.RAW, "dialogue_fragment_published"),
        (EventTopic.PROCESSED, "agent_result"),
        (EventTopic.NOTIFICATION, "notification_generated"),
    ],
)
def test_publishing_is_an_event_of_the_topic(connection: Connection, topic: EventTopic, kind: str) -> None:
    """What is published stands among the events under the topic's type, and events of that type are in the topic."""
    published = publish(connection, "one", topic=topic)
    ours: dict[str, Any] = {"source": "agent:Archivist", "now": NOW, "user_id": OWNER}
    published.append(repository.append(connection, kind, payload={"text": "two"}, **ours))
    repository.append(connection, "message_sent", payload={"text": "no"}, **ours)
    reader = Subscription("reader", topic, OWNER)
    assert [one.event.id for one in reader.waiting(connection)] == published
    assert {one.event.event_type for one in reader.waiting(connection)} == {kind}


def test_a_subscriber_that_was_down_misses_nothing(connection: Connection) -> None:
    """Whoever subscribes late reads from the beginning, and whoever stopped reads on where it stopped."""
    publish(connection, "one", "two")
    assert words(READER, connection) == ["one", "two"]
    READER.advance(connection, READER.waiting(connection)[0].position, NOW)
    publish(connection, "three")
    assert words(READER, connection) == ["two", "three"]
    assert words(READER, connection, limit=1) == ["two"]


def test_reading_moves_nothing(connection: Connection) -> None:
    """What is read and not advanced past is delivered again, in the same order."""
    publish(connection, "one", "two")
    assert words(READER, connection) == words(READER, connection) == ["one", "two"]


def test_cursor_and_effects_are_one(connection: Connection) -> None:
    """A transaction that is undone takes the cursor back with it: the event is delivered again."""
    publish(connection, "one")
    connection.commit()
    with connection.begin_nested() as undone:
        READER.advance(connection, READER.waiting(connection)[-1].position, NOW)
        assert not READER.waiting(connection)
        undone.rollback()
    assert words(READER, connection) == ["one"]


def test_advancing_never_goes_back(connection: Connection) -> None:
    """A late note of an earlier place leaves the cursor where it is; only moving it brings events again."""
    publish(connection, "one", "two")
    first, second = READER.waiting(connection)
    READER.advance(connection, second.position, NOW)
    READER.advance(connection, first.position, NOW)
    assert not READER.waiting(connection)
    READER.move(connection, first.position, NOW)
    assert words(READER, connection) == ["two"]


def test_subscribers_do_not_disturb_one_another(connection: Connection) -> None:
    """Each agent has its own cursor for each topic and owner, and sees one owner's events only."""
    publish(connection, "mine")
    publish(connection, "another's", user_id=OTHER)
    publish(connection, "fragment", topic=EventTopic.RAW)
    READER.advance(connection, READER.waiting(connection)[-1].position, NOW)
    assert not READER.waiting(connection)
    assert words(Subscription("console", EventTopic.NOTIFICATION, OWNER), connection) == ["mine"]
    assert words(Subscription("context_manager", EventTopic.NOTIFICATION, OTHER), connection) == ["another's"]
    assert words(Subscription("context_manager", EventTopic.RAW, OWNER), connection) == ["fragment"]


def test_how_far_everybody_has_read(connection: Connection) -> None:
    """The slowest subscriber counts; one that has not begun for an owner stands at the beginning there."""
    publish(connection, "one", "two")
    publish(connection, "another's", user_id=OTHER)
    assert bus.read_by_all(connection, {}) == {}
    kind = "notification_generated"
    begun = {"context_manager": EventTopic.NOTIFICATION}
    assert bus.read_by_all(connection, begun) == {(kind, OWNER): 0, (kind, OTHER): 0}
    first, second = READER.waiting(connection)
    READER.advance(connection, second.position, NOW)
    Subscription("console", EventTopic.NOTIFICATION, OWNER).advance(connection, first.position, NOW)
    assert bus.read_by_all(connection, {}) == {(kind, OWNER): first.position, (kind, OTHER): 0}


@pytest.mark.parametrize("value", [b"\x00\xff", {"who": "Марія"}, ["a", 1, None], "text", 7, True])
def test_state_is_kept_as_it_was_put(connection: Connection, value: Any) -> None:
    """Bytes come back as bytes and everything else as JSON; a second value replaces the first."""
    kept: dict[str, Any] = {"user_id": OWNER, "now": NOW}
    agent_state.save_state(connection, "task_manager:user_42", "key", "before", **kept)
    agent_state.save_state(connection, "task_manager:user_42", "key", value, **kept)
    read = agent_state.get if isinstance(value, bytes) else agent_value
    assert read(connection, "task_manager:user_42", "key") == value
    assert read(connection, "task_manager:user_42", "other") is None
    assert read(connection, "task_manager:user_43", "key") is None
    assert agent_state.delete_value(connection, "task_manager:user_42", "key")
    assert not agent_state.delete_value(connection, "task_manager:user_42", "key")
    assert read(connection, "task_manager:user_42", "key") is None


def test_state_of_an_agent_by_owner(connection: Connection) -> None:
    """What an agent keeps for each owner is found by the agent's name, and a longer name is another agent."""
    for agent, owner in (("night", OWNER), ("night", OTHER), ("night_watch", OWNER)):
        agent_state.save_state(connection, agent_state.agent_id(agent, owner), "k", b"v", user_id=owner, now=NOW)
    assert agent_state.of_everybody(connection, "night", "k") == {OWNER: b"v", OTHER: b"v"}


def test_links_are_found_by_what_they_point_at(connection: Connection) -> None:
    """Each id an event links to is a row of its own, several in one link too, and no event without an owner has one."""
    links = {"caused_by": "one", "messages": ["two", "three"], "turn": None}
    told = repository.append(connection, "x", source="system:x", now=NOW + timedelta(1), user_id=OWNER, links=links)
    repository.append(connection, "x", source="system:x", now=NOW, links=links)
    query = select(event_links.c.ref, event_links.c.name, event_links.c.user_id, events.c.id).join(
        events, events.c.seq == event_links.c.event_seq
    )
    assert sorted(tuple(row) for row in connection.execute(query)) == [
        ("one", "caused_by", OWNER, told),
        ("three", "messages", OWNER, told),
        ("two", "messages", OWNER, told),
    ]
