"""Sentences taken out of a profile that can still be brought back: those of a fact that is about to be forgotten."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from internal.people import forget_repository, repository, suggestion_repository, support_repository
from internal.people.bio import bio_from_names, join_bio, without_sentences
from internal.people.model import Person
from internal.people.support import Part


def put(
    connection: Connection, person: Person, told: Collection[str], fact_id: str, *, sure: bool, now: datetime
) -> None:
    """Takes sentences out of a profile that is in sight; nothing of them is in any prompt, search or list any more.

    `sure`: they tell the fact beyond doubt.
    """
    if not told or repository.get(connection, person.user_id, person.id) is None:
        return
    after, by = _without(person, told), person.field_meta.get("bio", {}).get("by", "archivist")
    saved = repository.save(connection, person, after, by={"bio": "names" if _is_names(after) else by}, now=now)
    payload = {
        "fact": fact_id,
        "sentences": list(told),
        "before": person.bio,
        "after": saved.bio,
        "by": by,
        "sure": sure,
    }
    suggestion_repository.put_aside(connection, person.user_id, person.id, payload, now)


def bring_back(connection: Connection, user_id: int, fact_ids: Collection[str], *, now: datetime) -> None:
    """Puts sentences back where they stood; behind what was told meanwhile, if the bio is another one now."""
    for person_id, kept in reversed(suggestion_repository.take_aside(connection, user_id, fact_ids)):
        person = repository.resolve(connection, user_id, person_id)
        if person is None:
            continue
        told = " ".join(kept["sentences"])
        bio = kept["before"] if person.bio == kept["after"] else join_bio("" if _is_names(person) else person.bio, told)
        repository.save(connection, person, replace(person, bio=bio), by={"bio": kept["by"]}, now=now)


def erase(connection: Connection, user_id: int, fact_ids: Collection[str], *, now: datetime) -> list[str]:
    """Erases what was put aside for these facts, with its support and what merges remember of it; its sentences."""
    erased: list[str] = []
    for person_id, kept in suggestion_repository.take_aside(connection, user_id, fact_ids):
        ids = {person_id, repository.resolve_id(connection, user_id, person_id) or person_id}
        for person in forget_repository.profiles(connection, user_id, ids):
            take_out(connection, person, kept["sentences"], now=now)
        erased += kept["sentences"]
    return erased


def take_out(connection: Connection, person: Person, told: Collection[str], *, now: datetime) -> None:
    """Takes sentences out of a profile, in sight or not, for good."""
    forget_repository.rewrite(connection, person, _without(person, told), told, now=now)
    keys = {Part("bio", sentence).key for sentence in told}
    support_repository.drop_keys(connection, person.user_id, person.id, keys)


def _without(person: Person, told: Collection[str]) -> Person:
    if _is_names(person):
        return person
    return replace(person, bio=without_sentences(person.bio, told) or bio_from_names(person.names))


def _is_names(person: Person) -> bool:
    return person.bio == bio_from_names(person.names)
