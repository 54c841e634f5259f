"""The bus between agents: three topics, which are views over the events, and a cursor for each subscriber.

Publishing is a row in the transaction of what it tells; delivery is what stands behind the subscriber's cursor, which
moves in the transaction of the subscriber's effects. So a subscriber that was down misses nothing, and one that falls
between two steps does nothing twice. Who publishes wakes the ticker after the commit; who is not woken asks at the
next tick.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import Connection

from internal.events import agent_state, repository
from internal.events.model import Event


class Topic(StrEnum):
    RAW = "raw"
    """Fragments of the dialogue."""
    PROCESSED = "processed"
    """What agents made of them."""
    NOTIFICATION = "notification"
    """What an owner is to be told."""


EVENT_TYPES: Final = {
    Topic.RAW: "dialogue_fragment_published",
    Topic.PROCESSED: "agent_result",
    Topic.NOTIFICATION: "notification_generated",
}
"""The events of which a topic is the view."""


CURSOR: Final = "cursor"
"""How keys of cursors begin. They hold ids and no words."""

_EVENT: Final = "event"


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event and where it stands; `place` is what a cursor moves to once the event is dealt with."""

    place: int
    event: Event


def publish(
    connection: Connection,
    topic: Topic,
    *,
    user_id: int,
    source: str,
    now: datetime,
    payload: dict[str, Any] | None = None,
    links: Mapping[str, Any] | None = None,
    about: Mapping[str, Any] | None = None,
) -> str:
    """Records the topic's event in the caller's transaction and returns its id; `links` and `about` as an event's."""
    kind = EVENT_TYPES[topic]
    told: dict[str, Any] = {"payload": payload, "links": links, "about": about}
    return repository.append(connection, kind, source=source, now=now, user_id=user_id, **told)


@dataclass(frozen=True, slots=True)
class Subscription:
    """What an agent reads of a topic for one owner, from where it stopped; the first time from the beginning."""

    agent: str
    topic: Topic
    user_id: int

    @property
    def agent_id(self) -> str:
        return agent_state.agent_id(self.agent, self.user_id)

    def place(self, connection: Connection) -> int:
        """Where the last event stands that was dealt with; 0 before the first."""
        return _place(connection, self.user_id, agent_state.get(connection, self.agent_id, cursor_key(self.topic)))

    def waiting(self, connection: Connection, *, limit: int = 100) -> list[Delivery]:
        """What is not dealt with, oldest first. Reading moves nothing: what is not advanced past comes again."""
        kind = EVENT_TYPES[self.topic]
        behind = repository.following(connection, self.user_id, self.place(connection), event_type=kind, limit=limit)
        return [Delivery(place, event) for place, event in behind]

    def advance(self, connection: Connection, place: int, now: datetime) -> None:
        """Notes, in the transaction of the effects, that everything up to this place is dealt with. Never goes back."""
        if place > self.place(connection):
            self.move(connection, place, now)

    def move(self, connection: Connection, place: int, now: datetime) -> None:
        """Sets the cursor anywhere: further back, what stands behind it is delivered again."""
        # By its id: read back into another store, the event stands elsewhere.
        event_id = repository.at_or_before(connection, self.user_id, EVENT_TYPES[self.topic], place)
        value = {_EVENT: event_id}
        agent_state.put(connection, self.agent_id, cursor_key(self.topic), value, user_id=self.user_id, now=now)


def waiting_owners(connection: Connection, agent: str, topic: Topic) -> list[int]:
    """Owners for whom the topic holds something that this agent has not dealt with, by id."""
    cursors = agent_state.of_everybody(connection, agent, cursor_key(topic))
    newest = repository.newest_places(connection, EVENT_TYPES[topic])
    return [owner for owner, place in newest.items() if place > _place(connection, owner, cursors.get(owner))]


def read_by_all(connection: Connection, subscribers: Mapping[str, Topic]) -> dict[tuple[str, int], int]:
    """By event type and owner, the place up to which every subscriber has read; only topics that have one.

    `subscribers` are agents with their topics; whoever has a cursor is one too. An agent that reads for some owner
    reads for all of them: where it has no cursor yet, it stands at 0.
    """
    read: dict[tuple[str, int], int] = {}
    for topic, kind in EVENT_TYPES.items():
        kept = agent_state.of_key(connection, cursor_key(topic))
        cursors = {(agent, owner): _place(connection, owner, value) for agent, owner, value in kept}
        agents = {agent for agent, _ in cursors} | {agent for agent, theirs in subscribers.items() if theirs == topic}
        if agents:
            for owner in repository.newest_places(connection, kind):
                read[kind, owner] = min(cursors.get((agent, owner), 0) for agent in agents)
    return read


def cursor_key(topic: Topic) -> str:
    """The key of the agent's state that holds its cursor in this topic."""
    return f"{CURSOR}:{topic}"


def _place(connection: Connection, user_id: int, cursor: bytes | None) -> int:
    event_id = json.loads(cursor)[_EVENT] if cursor else None
    return 0 if event_id is None else repository.place_of(connection, user_id, event_id) or 0
