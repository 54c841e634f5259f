"""Names and sentences that are hidden until they are erased: taken out of the profile and stored beside it.

The rows of `hidings` name these parts; `update_hidden_parts` changes a profile accordingly.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from internal.people import removal_repository, repository, suggestion_repository, support, support_repository
from internal.people.bio import (
    bio_from_names,
    folded_words,
    join_bio,
    made_of_names,
    sentences_of_bio,
    without_sentences,
)
from internal.people.model import Person
from internal.people.support import ProfilePart
from internal.storage import evidence
from internal.storage.forgetting import hidings

_PREFIX = evidence.target("profile", "")
_FIELDS = ("display_name", "aliases", "username", "bio")


def targets(person_id: int, keys: Iterable[str]) -> set[str]:
    """The targets of these parts of a profile in `hidings`."""
    return {f"{_PREFIX}{person_id}:{key}" for key in keys}


def hide(
    connection: Connection, user_id: int, forgetting_id: str, person_id: int, keys: Iterable[str], *, now: datetime
) -> None:
    """Hides parts of a profile for one request."""
    hidings.hide(connection, user_id, forgetting_id, "part", targets(person_id, keys))
    _update_profiles(connection, user_id, [person_id], now=now)


def with_hidden_parts(connection: Connection, person: Person) -> Person:
    """A stored profile with its hidden parts."""
    for _, kept in suggestion_repository.hidden_profile_parts(connection, person.user_id, person.id):
        person = _with(connection, person, kept)
    return person


def update_hidden_parts(connection: Connection, user_id: int, parts: Iterable[str], *, now: datetime) -> None:
    """Takes the hidden ones among these parts (targets of `hidings`) out of their profiles, and puts others back.

    A part returns to its old place, or to the end if the profile has changed.
    """
    _update_profiles(connection, user_id, _keys(parts), now=now)


@contextmanager
def put_back(connection: Connection, user_id: int, *, now: datetime) -> Iterator[None]:
    """Puts all hidden parts back into profiles during the block, so that they are erased with their evidence."""
    people = put_all_back(connection, user_id, now=now)
    yield
    _update_profiles(connection, user_id, people, now=now)


def put_all_back(connection: Connection, user_id: int, *, now: datetime) -> list[int]:
    """Puts all hidden parts back into profiles. Returns the ids of the people."""
    people = sorted({person_id for person_id, _ in suggestion_repository.hidden_profile_parts(connection, user_id)})
    for person_id in people:
        _rewrite(connection, user_id, person_id, (), now)
    return people


def erase(connection: Connection, user_id: int, ref_ids: Collection[str], *, now: datetime) -> list[str]:
    """Erases the sentences hidden by requests to forget one of these, inside `put_back`. Returns them."""
    erased: list[str] = []
    for person_id, keys in _keys(hidings.parts_hidden_for(connection, user_id, list(ref_ids))).items():
        ids = {person_id, repository.resolve_id(connection, user_id, person_id) or person_id}
        for person in removal_repository.profiles(connection, user_id, ids):
            found = [part.text for key, part in support.parts(person).items() if key in keys and part.kind == "bio"]
            take_out(connection, person, found, now=now)
            erased += found
    return erased


def take_out(connection: Connection, person: Person, sentences: Collection[str], *, now: datetime) -> None:
    """Removes sentences from a profile for good, visible or not."""
    if not made_of_names(person):
        bio = without_sentences(person.bio, sentences) or bio_from_names(person.names)
        removal_repository.rewrite(connection, person, replace(person, bio=bio), sentences, now=now)
    keys = {ProfilePart("bio", sentence).key for sentence in sentences}
    support_repository.drop_keys(connection, person.user_id, person.id, keys)


def _update_profiles(connection: Connection, user_id: int, person_ids: Iterable[int], *, now: datetime) -> None:
    for person_id in sorted(person_ids):
        hidden = hidings.hidden_parts(connection, user_id, f"{_PREFIX}{person_id}:")
        _rewrite(connection, user_id, person_id, hidden, now)


def _keys(targets: Iterable[str]) -> dict[int, set[str]]:
    found: dict[int, set[str]] = defaultdict(set)
    for target in targets:
        person_id, key = target.removeprefix(_PREFIX).split(":")
        found[int(person_id)].add(key)
    return found


def _rewrite(connection: Connection, user_id: int, person_id: int, hidden: Collection[str], now: datetime) -> None:
    kept = suggestion_repository.hidden_profile_parts(connection, user_id, person_id)
    suggestion_repository.drop_aside(connection, user_id, person_id)
    final = repository.resolve_id(connection, user_id, person_id)
    for person in () if final is None else removal_repository.profiles(connection, user_id, [final]):
        full = person
        for _, payload in kept:
            full = _with(connection, full, payload)
        by = {name: full.field_meta.get(name, {}).get("by", "archivist") for name in _FIELDS}
        bare = support.without_parts(full, [part for key, part in support.parts(full).items() if key in hidden])
        is_hidden = repository.get(connection, user_id, person.id) is None
        names = {"bio": "names"} if bare.bio != full.bio and bare.bio == bio_from_names(bare.names) else {}
        repository.save(
            connection, person, replace(bare, field_meta=person.field_meta), by=by | names, now=now, hidden=is_hidden
        )
        if bare != full:
            payload = {"before": _fields(full), "after": _fields(bare), "by": by}
            suggestion_repository.put_aside(connection, user_id, person_id, payload, now)


def _fields(person: Person) -> dict[str, Any]:
    return {name: getattr(person, name) for name in _FIELDS}


def _fields_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {**stored, "aliases": tuple(stored["aliases"])}


def _with(connection: Connection, person: Person, kept: Mapping[str, Any]) -> Person:
    """A profile with its hidden parts; a username that another person has by now is not restored."""
    before, after = kept["before"], kept["after"]
    bio = before["bio"]
    if person.bio != after["bio"]:
        left = {folded_words(sentence) for sentence in sentences_of_bio(after["bio"])}
        missing = [sentence for sentence in sentences_of_bio(before["bio"]) if folded_words(sentence) not in left]
        bio = join_bio("" if made_of_names(person) else person.bio, " ".join(missing))
    old, names = [before["display_name"], *before["aliases"]], [person.display_name, *person.aliases]
    if names == [after["display_name"], *after["aliases"]]:
        names = old
    else:  # renamed meanwhile: the old names follow the new ones
        rest = {after["display_name"], *after["aliases"]}
        names = list(dict.fromkeys([*names, *(name for name in old if name not in rest)]))
    username = person.username
    if username is None and before["username"] and after["username"] is None:
        taken = repository.by_username(connection, person.user_id, before["username"])
        username = before["username"] if taken is None else None
    unchanged = [name for name in _FIELDS if name in kept["by"] and _fields(person)[name] == _fields_of(after)[name]]
    meta = {name: {**person.field_meta.get(name, {}), "by": kept["by"][name]} for name in unchanged}
    return replace(
        person,
        display_name=names[0],
        aliases=tuple(names[1:]),
        username=username,
        bio=bio,
        field_meta={**person.field_meta, **meta},
    )
