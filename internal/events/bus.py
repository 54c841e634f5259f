"""The bus between agents: three topics, which are views over the events, and a cursor for each subscriber.

Publishing adds a row in the transaction of its cause; delivery reads the events after the subscriber's cursor, which
moves in the transaction of the subscriber's effects. So a subscriber that was down misses nothing, and one that is
killed between two steps does nothing twice. A publisher wakes the ticker after the commit; otherwise subscribers look
at the next tick.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import Connection

from internal.events import agent_state_repository as agent_state, repository
from internal.events.model import Event


class EventTopic(StrEnum):
    RAW = "raw"
    """Fragments of the dialogue."""
    PROCESSED = "processed"
    """The results of agents."""
    NOTIFICATION = "notification"
    """Events of which an owner is to be notified."""


EVENT_TYPES: Final = {
    EventTopic.RAW: "dialogue_fragment_published",
    EventTopic.PROCESSED: "agent_result",
    EventTopic.NOTIFICATION: "notification_generated",
}
"""The event types that each topic shows."""


CURSOR: Final = "cursor"
"""The prefix of cursor keys. They hold ids and no words."""

_EVENT: Final = "event"


@dataclass(frozen=True, slots=True)
class EventDelivery:
    """An event and its position, to which a cursor moves once the event is processed."""

    position: int
    event: Event


def publish(
    connection: Connection,
    topic: EventTopic,
    *,
    user_id: int,
    source: str,
    now: datetime,
    payload: dict[str, Any] | None = None,
    links: Mapping[str, Any] | None = None,
    about: Mapping[str, Any] | None = None,
) -> str:
    """Records the topic's event in the caller's transaction and returns its id. `links` and `about` as for `append`."""
    kind = EVENT_TYPES[topic]
    fields: dict[str, Any] = {"payload": payload, "links": links, "about": about}
    return repository.append(connection, kind, source=source, now=now, user_id=user_id, **fields)


@dataclass(frozen=True, slots=True)
class Subscription:
    """An agent's reading of a topic for one owner, from its cursor on, at first from the beginning."""

    agent: str
    topic: EventTopic
    user_id: int

    @property
    def agent_id(self) -> str:
        return agent_state.agent_id(self.agent, self.user_id)

    def position(self, connection: Connection) -> int:
        """The position of the last processed event; 0 before the first."""
        return _position(connection, self.user_id, agent_state.get(connection, self.agent_id, cursor_key(self.topic)))

    def waiting(self, connection: Connection, *, limit: int = 100) -> list[EventDelivery]:
        """The unprocessed events, oldest first. Reading does not move the cursor."""
        kind = EVENT_TYPES[self.topic]
        behind = repository.following(connection, self.user_id, self.position(connection), event_type=kind, limit=limit)
        return [EventDelivery(position, event) for position, event in behind]

    def advance(self, connection: Connection, position: int, now: datetime) -> None:
        """Moves the cursor forward to this position, in the transaction of the effects. Never moves it back."""
        if position > self.position(connection):
            self.move(connection, position, now)

    def move(self, connection: Connection, position: int, now: datetime) -> None:
        """Sets the cursor to any position: after a move back the events behind it are delivered again."""
        # By its id, because the event gets another position when it is imported into another store.
        event_id = repository.at_or_before(connection, self.user_id, EVENT_TYPES[self.topic], position)
        value = {_EVENT: event_id}
        agent_state.save_state(connection, self.agent_id, cursor_key(self.topic), value, user_id=self.user_id, now=now)


def read_by_all(connection: Connection, subscribers: Mapping[str, EventTopic]) -> dict[tuple[str, int], int]:
    """The position up to which every subscriber has read, by event type and owner; only topics with a subscriber.

    `subscribers` are agents with their topics, in addition to every agent that has a cursor. An agent that reads for
    one owner reads for all of them: without a cursor it is at 0.
    """
    read: dict[tuple[str, int], int] = {}
    for topic, kind in EVENT_TYPES.items():
        kept = agent_state.of_key(connection, cursor_key(topic))
        cursors = {(agent, owner): _position(connection, owner, value) for agent, owner, value in kept}
        agents = {agent for agent, _ in cursors} | {agent for agent, theirs in subscribers.items() if theirs == topic}
        if agents:
            for owner in repository.newest_positions(connection, kind):
                read[kind, owner] = min(cursors.get((agent, owner), 0) for agent in agents)
    return read


def cursor_key(topic: EventTopic) -> str:
    """The key in the agent's state that holds its cursor in this topic."""
    return f"{CURSOR}:{topic}"


def _position(connection: Connection, user_id: int, cursor: bytes | None) -> int:
    event_id = json.loads(cursor)[_EVENT] if cursor else None
    return 0 if event_id is None else repository.position_of(connection, user_id, event_id) or 0
