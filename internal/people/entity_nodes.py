"""The entity behind each profile: an Entity of type person.

It is found by the profile's names and search item and has none of its own.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from internal.graph import store
from internal.graph.model import MergeUndo
from internal.people import support_repository
from internal.people.model import Person
from internal.storage import evidence

MIRRORED: Final = ("display_name", "aliases", "bio")
"""Fields of a profile that its entity shows as name, aliases and description."""

_BY: Final = "profile"


def keep(
    connection: Connection, person: Person, *, now: datetime, run_id: str | None = None, hidden: bool = False
) -> None:
    """Creates or updates the entity of a visible person (with `hidden` of any) to match the profile."""
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
    """Merges an entity without a profile that has this name into the person's entity, with its facts.

    Does nothing if there are several. Returns whether facts about the person must be projected again.
    """
    called = store.nodes_called(connection, person.user_id, [person.display_name])
    likely = [node for node in called if node.subtype == "person" and node.id != store.owner_node_id(person.user_id)]
    profiles = support_repository.entities_with_profile(connection, person.user_id, [node.id for node in likely])
    spoken_of = [node for node in likely if node.id not in profiles]
    if len(spoken_of) != 1:
        return False
    store.repoint(connection, person.user_id, spoken_of[0].id, person.entity_id)
    evidence.move_evidence(connection, person.user_id, "entity", spoken_of[0].id, person.entity_id)
    store.delete_node(connection, person.user_id, spoken_of[0].id)
    return True


def merge(connection: Connection, source: Person, target: Person) -> MergeUndo:
    """Moves the source's relations to the target. Returns the data that a split needs besides their origins."""
    moved = store.repoint(connection, source.user_id, source.entity_id, target.entity_id)
    store.redirect_node(connection, source.user_id, source.entity_id, target.entity_id)
    return moved


def split(connection: Connection, source: Person, target: Person, within: Iterable[str], moved: MergeUndo) -> None:
    """Moves the source's relations back, with those of the entities merged into it before (`within`)."""
    store.redirect_node(connection, source.user_id, source.entity_id, None)
    origins = {source.entity_id, *within}
    store.restore_ends(connection, source.user_id, source.entity_id, target.entity_id, origins, moved)


def erase(connection: Connection, user_id: int, entity_ids: Iterable[str]) -> set[str]:
    """Deletes entities. Returns the nodes they were linked to, whose facts must be projected again."""
    touched: set[str] = set()
    erased = sorted(entity_ids)
    for entity_id in erased:
        if store.get_node(connection, user_id, entity_id, hidden=True) is not None:
            touched |= set(store.delete_node(connection, user_id, entity_id).neighbours)
    return touched - set(erased)
