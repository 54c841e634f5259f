"""Hiding and erasing people in the database."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, delete, or_, select, update

from internal.graph import name_repository, store
from internal.language.text.spelling import name_key
from internal.people import entity_nodes
from internal.people.bio import bio_from_names
from internal.people.merge_repository import take_out_of_merges
from internal.people.model import Person
from internal.people.repository import (
    CHANGE_KIND,
    CONTENT,
    by_ids,
    drop_search_item,
    entity_ids,
    get,
    item_of,
    person_of,
    put_search_item,
    save,
)
from internal.storage import evidence, vectors
from internal.storage import search_items as searched
from internal.storage.owner_counters import next_rev, record_change
from internal.storage.tables import mentions, merges, people, suggestions


def hide(connection: Connection, user_id: int, person_ids: Collection[int] | None, until: datetime) -> list[int]:
    """Takes visible people (None = all) out of every listing, search and prompt; the ids of those hidden."""
    wanted = people.c.merged_into.is_(None) & people.c.hidden_until.is_(None)
    if person_ids is not None:
        wanted &= people.c.id.in_(person_ids)
    hidden = _set_hidden(connection, user_id, wanted, until)
    store.hide_nodes(connection, user_id, entity_ids(connection, user_id, hidden), until)
    return hidden


def show(connection: Connection, user_id: int, person_ids: Collection[int] | None, hidden_until: datetime) -> list[int]:
    """Brings back people (None = all) who were hidden until exactly this moment; their ids."""
    wanted = people.c.hidden_until == hidden_until
    if person_ids is not None:
        wanted &= people.c.id.in_(person_ids)
    shown = _set_hidden(connection, user_id, wanted, None)
    store.show_nodes(connection, user_id, entity_ids(connection, user_id, shown), hidden_until)
    for person in by_ids(connection, user_id, shown).values():
        put_search_item(connection, person)
        record_change(connection, user_id, CHANGE_KIND, str(person.id))
    return shown


def profiles(connection: Connection, user_id: int, person_ids: Iterable[int]) -> list[Person]:
    """The stored profiles of these people, hidden and merged ones too."""
    rows = connection.execute(select(people).where(people.c.user_id == user_id, people.c.id.in_(list(person_ids))))
    return [person_of(row) for row in rows]


def erase(connection: Connection, user_id: int, person_ids: Collection[int]) -> set[str]:
    """Deletes these people, their entities and every row that is about them alone.

    Returns the nodes their entities were linked to: facts about those must be projected anew.
    """
    theirs = entity_ids(connection, user_id, person_ids)
    touched = entity_nodes.erase(connection, user_id, theirs)
    for person_id in sorted(person_ids):
        drop_search_item(connection, user_id, person_id)
        vectors.remove(connection, user_id, [item_of(person_id)])
        _erase_rows(connection, user_id, person_id)
    one = people.c.id.in_(list(person_ids))
    name_repository.drop_names(connection, user_id, theirs)
    connection.execute(delete(people).where(people.c.user_id == user_id, one))
    return touched


def rewrite(connection: Connection, before: Person, after: Person, gone: Collection[str], *, now: datetime) -> None:
    """Writes a profile, visible or not, out of which these words were taken, so that nothing of them remains.

    Profiles of the time before and after merges lose them too.
    """
    user_id, person_id = before.user_id, before.id
    searched.forget_words(connection, user_id, "person", str(person_id))
    from_names = after.bio == bio_from_names(after.names)
    setters = {name: before.field_meta.get(name, {}).get("by", "archivist") for name in CONTENT}
    if get(connection, user_id, person_id) is not None:
        save(connection, before, after, by=setters | ({"bio": "names"} if from_names else {}), now=now)
    else:
        _write_hidden(connection, after, now)
    name_repository.drop_keys(connection, user_id, before.entity_id, {name_key(text) for text in gone})
    take_out_of_merges(connection, user_id, person_id, gone)


def _write_hidden(connection: Connection, person: Person, now: datetime) -> None:
    """Who is merged away or being forgotten has no search item, and gets none."""
    values = {
        "display_name": person.display_name,
        "aliases": list(person.aliases),
        "username": person.username,
        "username_key": name_key(person.username) if person.username else None,
        "bio": person.bio,
        "rev": next_rev(connection, person.user_id),
    }
    one = (people.c.user_id == person.user_id) & (people.c.id == person.id)
    connection.execute(update(people).where(one).values(values))
    entity_nodes.keep(connection, person, now=now, hidden=True)


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


def _set_hidden(connection: Connection, user_id: int, wanted: ColumnElement[bool], until: datetime | None) -> list[int]:
    ids = list(connection.execute(select(people.c.id).where(people.c.user_id == user_id, wanted)).scalars())
    for person_id in ids:
        one = (people.c.user_id == user_id) & (people.c.id == person_id)
        connection.execute(update(people).where(one).values(hidden_until=until, rev=next_rev(connection, user_id)))
        if until is not None:
            drop_search_item(connection, user_id, person_id)
    return ids
