"""The node of the graph behind each profile: a person is the profile of an Entity of type person.

It is found through the profile, which has the names and the search item, so it has neither of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from internal.graph import store
from internal.graph.model import Moved
from internal.people import entity_repository
from internal.people.model import Person
from internal.storage import evidence

MIRRORED: Final = ("display_name", "aliases", "bio")
"""Fields of a profile that its entity shows as name, aliases and description."""

_BY: Final = "profile"


def keep(
    connection: Connection, person: Person, *, now: datetime, run_id: str | None = None, hidden: bool = False
) -> None:
    """Makes the entity of a visible person if there is none, and equal to the profile; with `hidden` of any person."""
    properties = {"name": person.display_name, "aliases": list(person.aliases), "description": person.bio or None}
    user_id, entity_id = person.user_id, person.entity_id
    if store.get_node(connection, user_id, entity_id, hidden=True) is not None:
        store.update_node(connection, user_id, entity_id, properties, now=now, by=_BY, run_id=run_id, hidden=hidden)
        return
    store.add_node(
        connection,
        person.user_id,
        "Entity",
        properties | {"type": "person"},
        now=now,
        by=_BY,
        node_id=person.entity_id,
        run_id=run_id,
        findable=False,
    )


def adopt(connection: Connection, person: Person) -> bool:
    """Whoever was only spoken of by this name becomes this person, with all that was told of him.

    Of two whom nobody has told apart neither is taken. Says whether facts about the person must be projected anew.
    """
    called = store.nodes_called(connection, person.user_id, [person.display_name])
    likely = [node for node in called if node.subtype == "person" and node.id != store.owner_node_id(person.user_id)]
    profiles = entity_repository.entities_with_profile(connection, person.user_id, [node.id for node in likely])
    spoken_of = [node for node in likely if node.id not in profiles]
    if len(spoken_of) != 1:
        return False
    store.repoint(connection, person.user_id, spoken_of[0].id, person.entity_id)
    evidence.move(connection, person.user_id, "entity", spoken_of[0].id, person.entity_id)
    store.delete_node(connection, person.user_id, spoken_of[0].id)
    return True


def merge(connection: Connection, source: Person, target: Person) -> Moved:
    """The source's relations become the target's; what a split needs beside the origins they keep."""
    moved = store.repoint(connection, source.user_id, source.entity_id, target.entity_id)
    store.redirect_node(connection, source.user_id, source.entity_id, target.entity_id)
    return moved


def split(connection: Connection, source: Person, target: Person, within: Iterable[str], moved: Moved) -> None:
    """Gives the source its relations back, with those of everybody merged into it before (`within`, entity ids)."""
    store.redirect_node(connection, source.user_id, source.entity_id, None)
    origins = {source.entity_id, *within}
    store.restore_ends(connection, source.user_id, source.entity_id, target.entity_id, origins, moved)


def erase(connection: Connection, user_id: int, entity_ids: Iterable[str]) -> set[str]:
    """Deletes entities with all that is about them; the nodes they were linked to, whose facts may be others now."""
    touched: set[str] = set()
    erased = sorted(entity_ids)
    for entity_id in erased:
        if store.get_node(connection, user_id, entity_id, hidden=True) is not None:
            touched |= set(store.delete_node(connection, user_id, entity_id).neighbours)
    return touched - set(erased)
