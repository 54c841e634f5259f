"""The owner's changes of people, with the facts and memories about them updated in the same transaction.

Profiles know nothing of facts; callers that merge, split or rename a person for the owner use this module.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from internal.events import repository as events
from internal.knowledge import service as knowledge
from internal.memory import service as memory
from internal.people import repository, service as people, suggestion_repository
from internal.people.model import Person
from internal.people.service import TelegramAccount


def merge(connection: Connection, user_id: int, source_id: int, target_id: int, *, now: datetime) -> Person:
    """Merges two people for the owner. Returns the target; raises what `internal.people.merge.merge` raises."""
    target = people.merge(connection, user_id, source_id, target_id, now=now)
    _in_step(connection, user_id, [target.entity_id], now)
    _append_event(connection, user_id, "people_merged", {"source": source_id, "target": target.id}, now)
    return target


def split(connection: Connection, user_id: int, person_id: int, *, now: datetime) -> tuple[Person, Person]:
    """Undoes a merge. Returns (source, target); raises what `internal.people.merge.split` raises."""
    return _split_pair(connection, user_id, people.split(connection, user_id, person_id, now=now), now)


def undo_merge(connection: Connection, user_id: int, source_id: int, *, now: datetime) -> tuple[Person, Person]:
    """Undoes the last merge of this person, like `people_merge.undo`; a second call changes nothing."""
    return _split_pair(connection, user_id, people.undo_merge(connection, user_id, source_id, now=now), now)


def accept(connection: Connection, user_id: int, suggestion_id: str, *, now: datetime) -> Person:
    """Accepts a suggestion about a person; raises what `people.service.accept` raises."""
    asked = suggestion_repository.get(connection, user_id, suggestion_id)
    before = people.person(connection, user_id, asked.person_id) if asked is not None else None
    person = people.accept(connection, user_id, suggestion_id, now=now)
    _in_step(connection, user_id, [person.entity_id], now)
    _append_event(connection, user_id, "suggestion_accepted", {"suggestion": suggestion_id, "person": person.id}, now)
    if asked is not None and before is not None and asked.state == "pending":
        if asked.kind == "merge":
            pair = {"source": asked.payload["source_id"], "target": person.id}
            _append_event(connection, user_id, "people_merged", pair, now)
        else:
            _changed(connection, before, person, [asked.payload["field"]], now)
    return person


def edit(connection: Connection, user_id: int, person_id: int, changes: Mapping[str, Any], *, now: datetime) -> Person:
    """Changes a profile for the owner; facts are found under the new name. Raises what `people.service.edit` raises."""
    before = people.person(connection, user_id, person_id)
    person = people.edit(connection, user_id, person_id, changes, now=now)
    _in_step(connection, user_id, [person.entity_id], now)
    _changed(connection, before, person, changes, now)
    return person


def undo_edit(connection: Connection, user_id: int, edit_id: str, *, now: datetime) -> Person:
    """Undoes an edit; raises what `people.service.undo_edit` raises."""
    person = people.undo_edit(connection, user_id, edit_id, now=now)
    _in_step(connection, user_id, [person.entity_id], now)
    _append_event(connection, user_id, "person_changed", {"person": person.id}, now)
    return person


def _changed(connection: Connection, before: Person, after: Person, fields: Iterable[str], now: datetime) -> None:
    edit_id = people.keep_edit(connection, before, after, now)
    payload = {"person": after.id, "fields": sorted(fields)} | ({"edit": edit_id} if edit_id else {})
    _append_event(connection, after.user_id, "person_changed", payload, now)


def note_contact(
    connection: Connection, user_id: int, sender: TelegramAccount, *, seen_at: datetime, now: datetime
) -> Person:
    """Stores a person whose contact card the owner sent; raises what `people.service.from_metadata` raises."""
    known = sum(repository.counts(connection, user_id).values())
    person = people.from_metadata(connection, user_id, sender, seen_at=seen_at, now=now)
    fresh = sum(repository.counts(connection, user_id).values()) > known
    added = {"people": [person.id]} if fresh else {}
    _append_event(connection, user_id, "person_changed", {"person": person.id} | added, now)
    return person


def _split_pair(
    connection: Connection, user_id: int, pair: tuple[Person, Person], now: datetime
) -> tuple[Person, Person]:
    source, target = pair
    _in_step(connection, user_id, [source.entity_id, target.entity_id], now)
    _append_event(connection, user_id, "people_split", {"source": source.id, "target": target.id}, now)
    return pair


def _in_step(connection: Connection, user_id: int, entity_ids: Sequence[str], now: datetime) -> None:
    knowledge.reproject(connection, user_id, entity_ids, now=now)
    memory.reproject(connection, user_id, entity_ids, now=now)


def _append_event(connection: Connection, user_id: int, kind: str, payload: dict[str, Any], now: datetime) -> None:
    """Appends the event of the owner's change; it holds ids and no words."""
    events.append(connection, kind, source=f"user:{user_id}", now=now, user_id=user_id, payload=payload)
