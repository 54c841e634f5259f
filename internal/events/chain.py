"""Walks along the links of events: back to causes and forward to effects."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection

from internal.events import link_repository, repository
from internal.events.link_repository import refs
from internal.events.model import Event

LONGEST: Final = 1000
"""Most events of a chain to either side. A fragment has at most some hundreds of causes."""

_CALLED_FOR: Final = ("turn", "run", "notification")
"""The links of a model call to its causes."""

Steps = Callable[[Connection, int, list[str]], list[tuple[str, str]]]
"""One step from some events further: (event, neighbour)."""


@dataclass(frozen=True, slots=True)
class Chain:
    """The causes and the effects of an event, each oldest first.

    `links` are (cause, effect) among all of these. `cut`: there is more than was requested.
    """

    event: Event
    back: list[Event]
    forward: list[Event]
    links: list[tuple[str, str]]
    cut: bool

    @property
    def made_for(self) -> list[str]:
        """The turns, runs and notifications of the event and its causes, for which model calls were made."""
        held = [ref for event in (self.event, *self.back) for name in _CALLED_FOR for ref in _named(event, name)]
        return sorted(set(held))


def chain(connection: Connection, user_id: int, event_id: str, *, limit: int = 200) -> Chain | None:
    """At most `limit` events to either side, the nearest ones. Returns None if this owner has no such event."""
    event = repository.get(connection, user_id, event_id)
    if event is None:
        return None
    back, causes, more_causes = _walk(connection, user_id, event_id, link_repository.causes, limit)
    forward, effects, more_effects = _walk(connection, user_id, event_id, link_repository.effects, limit)
    return Chain(
        event,
        repository.by_ids(connection, user_id, back),
        repository.by_ids(connection, user_id, forward),
        [(cause, effect) for effect, cause in causes] + effects,
        more_causes or more_effects,
    )


def _walk(
    connection: Connection, user_id: int, event_id: str, steps: Steps, limit: int
) -> tuple[list[str], list[tuple[str, str]], bool]:
    """The reached events, nearest first; the links to them; whether any event was left out."""
    reached: dict[str, None] = {event_id: None}
    links: list[tuple[str, str]] = []
    border, cut = [event_id], False
    while border:
        found = steps(connection, user_id, border)
        border = []
        for near, far in found:
            if far not in reached and len(reached) > limit:
                cut = True
                continue
            if far not in reached:
                reached[far] = None
                border.append(far)
            links.append((near, far))
    return list(reached)[1:], links, cut


def _named(event: Event, name: str) -> list[str]:
    held: dict[str, Any] = event.links or {}
    return [str(ref) for ref in refs(held.get(name))]
