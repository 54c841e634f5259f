"""Parts of profiles that are hidden while a forgetting is pending: sentences of a fact, and what only a message or an
episode supports."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from internal.people import forget_repository, repository, suggestion_repository, support_repository
from internal.people.bio import bio_from_names, folded_words, join_bio, sentences, without_sentences
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


def put_parts(connection: Connection, before: Person, after: Person, ref: str, *, now: datetime) -> None:
    """Takes names and sentences out of a profile in sight: those in which it differs from `after`."""
    bare = replace(
        before, display_name=after.display_name, aliases=after.aliases, username=after.username, bio=after.bio
    )
    by = {name: before.field_meta.get(name, {}).get("by", "archivist") for name in repository.CONTENT}
    names = {"bio": "names"} if _is_names(after) else {}
    saved = repository.save(connection, before, bare, by=by | names, now=now)
    left = {folded_words(sentence) for sentence in sentences(saved.bio)}
    payload = {
        "fact": ref,
        "sentences": [sentence for sentence in sentences(before.bio) if folded_words(sentence) not in left],
        "before": before.bio,
        "after": saved.bio,
        "by": by["bio"],
        "sure": True,
        "names_before": [before.display_name, *before.aliases],
        "names_after": [saved.display_name, *saved.aliases],
        "username": before.username if saved.username is None else None,
        "names_by": {name: by[name] for name in ("display_name", "aliases", "username")},
    }
    suggestion_repository.put_aside(connection, before.user_id, before.id, payload, now)


def bring_back(connection: Connection, user_id: int, fact_ids: Collection[str], *, now: datetime) -> None:
    """Puts sentences back where they stood; behind what was told meanwhile, if the bio is another one now."""
    for person_id, kept in reversed(suggestion_repository.take_aside(connection, user_id, fact_ids)):
        person = repository.resolve(connection, user_id, person_id)
        if person is None:
            continue
        told = " ".join(kept["sentences"])
        bio = kept["before"] if person.bio == kept["after"] else join_bio("" if _is_names(person) else person.bio, told)
        by = {"bio": kept["by"], **kept.get("names_by", {})}
        repository.save(connection, person, replace(_named_again(connection, person, kept), bio=bio), by=by, now=now)


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


def _named_again(connection: Connection, person: Person, kept: Mapping[str, Any]) -> Person:
    """With the names that were put aside; a username that somebody else has by now stays with him."""
    before, after = kept.get("names_before", []), kept.get("names_after", [])
    names, now = list(before), [person.display_name, *person.aliases]
    if now != after:  # named otherwise meanwhile: what he is called now stays, and the others stand behind it
        names = list(dict.fromkeys([*now, *(sentence for sentence in before if sentence not in after)]))
    username = kept.get("username")
    if username and person.username is None and not repository.by_username(connection, person.user_id, username):
        person = replace(person, username=username)
    return replace(person, display_name=names[0], aliases=tuple(names[1:])) if before else person


def _without(person: Person, told: Collection[str]) -> Person:
    if _is_names(person):
        return person
    return replace(person, bio=without_sentences(person.bio, told) or bio_from_names(person.names))


def _is_names(person: Person) -> bool:
    return person.bio == bio_from_names(person.names)
