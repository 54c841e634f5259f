"""Hiding and erasing people in the database."""

from collections.abc import Collection, Iterable
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, delete, or_, select

from internal.graph import name_repository
from internal.language.text.spelling import name_key
from internal.people import entity_nodes, repository, suggestion_repository
from internal.people.bio import bio_from_names
from internal.people.merge_repository import take_out_of_merges
from internal.people.model import Person
from internal.storage import evidence, search_items as searched, vectors
from internal.storage.change_log import record_change
from internal.storage.forgetting import hidings
from internal.storage.tables import mentions, merges, people, suggestions


def hide_nodes(connection: Connection, user_id: int, forgetting_id: str, node_ids: Iterable[str]) -> None:
    """Hides nodes for one request, and takes the people among them out of search."""
    drop_items(connection, user_id, hidings.hide(connection, user_id, forgetting_id, "node", node_ids))


def drop_items(connection: Connection, user_id: int, node_ids: Iterable[str]) -> None:
    """Takes the people among hidden nodes out of search."""
    for person_id in repository.people_at(connection, user_id, node_ids).values():
        repository.drop_search_item(connection, user_id, person_id)


def show_nodes(connection: Connection, user_id: int, node_ids: Iterable[str]) -> None:
    """Makes the people among visible nodes searchable again."""
    found = repository.people_at(connection, user_id, node_ids)
    for person in repository.by_ids(connection, user_id, list(found.values())).values():
        repository.put_search_item(connection, person)
        record_change(connection, user_id, repository.CHANGE_KIND, str(person.id))


def profiles(connection: Connection, user_id: int, person_ids: Iterable[int]) -> list[Person]:
    """The stored profiles of these people, hidden and merged ones included."""
    rows = connection.execute(select(people).where(people.c.user_id == user_id, people.c.id.in_(list(person_ids))))
    return [repository.person_of(row) for row in rows]


def erase(connection: Connection, user_id: int, person_ids: Collection[int]) -> set[str]:
    """Deletes these people, their entities and every row that is about them alone.

    Returns the nodes that were linked to their entities: facts about them must be projected again.
    """
    theirs = repository.entity_ids(connection, user_id, person_ids)
    touched = entity_nodes.erase(connection, user_id, theirs)
    for person_id in sorted(person_ids):
        repository.drop_search_item(connection, user_id, person_id)
        vectors.remove(connection, user_id, [repository.item_of(person_id)])
        _erase_rows(connection, user_id, person_id)
    one = people.c.id.in_(list(person_ids))
    name_repository.drop_names(connection, user_id, theirs)
    connection.execute(delete(people).where(people.c.user_id == user_id, one))
    return touched


def rewrite(connection: Connection, before: Person, after: Person, gone: Collection[str], *, now: datetime) -> None:
    """Writes a profile, visible or not, without the removed words, so that nothing of them remains.

    Copies of the profile stored with merges lose them too.
    """
    user_id, person_id = before.user_id, before.id
    searched.forget_words(connection, user_id, "person", str(person_id))
    from_names = after.bio == bio_from_names(after.names)
    setters = {name: before.field_meta.get(name, {}).get("by", "archivist") for name in repository.CONTENT}
    repository.save(
        connection,
        before,
        after,
        by=setters | ({"bio": "names"} if from_names else {}),
        now=now,
        hidden=repository.get(connection, user_id, person_id) is None,
    )
    name_repository.drop_keys(connection, user_id, before.entity_id, {name_key(text) for text in gone})
    take_out_of_merges(connection, user_id, person_id, gone)
    suggestion_repository.drop_edits(connection, user_id, suggestions.c.person_id == person_id)


def _erase_rows(connection: Connection, user_id: int, person_id: int) -> None:
    in_payload = or_(
        suggestions.c.payload["source_id"].as_integer() == person_id,
        suggestions.c.payload["target_id"].as_integer() == person_id,
    )
    about: dict[str, ColumnElement[bool]] = {
        "mentions": mentions.c.person_id == person_id,
        "merges": or_(merges.c.source == person_id, merges.c.target == person_id),
        "suggestions": or_(suggestions.c.person_id == person_id, and_(suggestions.c.kind == "merge", in_payload)),
    }
    for table in (mentions, merges, suggestions):
        connection.execute(delete(table).where(table.c.user_id == user_id, about[table.name]))
    evidence.remove(connection, user_id, "person", [person_id])
    evidence.remove_parts(connection, user_id, "profile", person_id)
