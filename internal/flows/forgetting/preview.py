"""What rests on one message or episode alone, in profiles and among things: what its erasure would take from the rest.

It is found by erasing it and taking that back, so what is out of sight is exactly what will go.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from sqlalchemy import Connection

from internal.errors import Conflict, NotFound
from internal.graph import store
from internal.people import repository as people
from internal.people.model import Person
from internal.storage import evidence
from internal.storage.evidence import Lines

Erase = Callable[[], object]
Places = Collection[tuple[str, int]]
"""Lines: an episode and the number of a segment in it."""


@dataclass(frozen=True, slots=True)
class Preview:
    """`people` and `things` (node ids) that would be gone, and profiles as they are and as they would be."""

    people: list[int]
    profiles: list[tuple[Person, Person]]
    things: list[str]


def resting_on(connection: Connection, user_id: int, places: Places, erase: Erase) -> Preview:
    """What `erase` would take from what is in sight; `places` are the lines that it erases.

    Nothing, while it cannot be erased: a message that is being answered is not archived yet, and nothing rests on it.
    """
    before = {one.id: one for one in people.listing(connection, user_id)}
    cited = _cited(connection, user_id, places)
    connection.exec_driver_sql("SAVEPOINT looking_ahead")
    try:
        erase()
        after = {one.id: one for one in people.listing(connection, user_id)}
        left = store.nodes_by_ids(connection, user_id, cited)
    except (Conflict, NotFound):
        after, left = before, store.nodes_by_ids(connection, user_id, cited)
    finally:
        connection.exec_driver_sql("ROLLBACK TO looking_ahead")
        connection.exec_driver_sql("RELEASE looking_ahead")
    return Preview(
        people=sorted(before.keys() - after.keys()),
        profiles=[(one, after[key]) for key, one in before.items() if key in after and _told(one) != _told(after[key])],
        things=sorted(set(cited) - {node.id for node in left.values()}),
    )


def _cited(connection: Connection, user_id: int, places: Places) -> list[str]:
    """The things in sight that these lines name."""
    found: set[str] = set()
    for episode_id in {episode_id for episode_id, _ in places}:
        numbers = {0, *(number for one, number in places if one == episode_id)}
        found |= evidence.cited_ids(connection, user_id, "entity", Lines(episode_id=episode_id, segments=numbers))
    return sorted(node.id for node in store.nodes_by_ids(connection, user_id, found).values())


def _told(person: Person) -> tuple[object, ...]:
    return person.display_name, person.aliases, person.username, person.bio
