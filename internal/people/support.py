"""Evidence of profiles: each name and each sentence of a bio has its lines and is removed with the last of them.

Bios are rewritten often; a sentence that replaces others inherits their lines.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection

from internal.graph import name_repository
from internal.language.facts.overlap import revealing_words, reveals, same_stem
from internal.language.text.romanisation import skeletons
from internal.language.text.spelling import name_key
from internal.people import removal_repository, support_repository
from internal.people.bio import bio_from_names, folded_words, made_of_names, sentences_of_bio, without_sentences
from internal.people.model import Person
from internal.people.support_repository import LostSupport
from internal.storage.evidence import LineRef

TextsOf = Callable[[Collection[LineRef]], Sequence[str]]
"""Returns the texts of the lines that still exist."""


@dataclass(frozen=True, slots=True)
class ProfilePart:
    """A part of a profile: a name (alias or display name), a username or a sentence of the bio."""

    kind: Literal["name", "username", "bio"]
    text: str

    @property
    def key(self) -> str:
        folded = folded_words(self.text) if self.kind == "bio" else name_key(self.text)
        return hashlib.sha256(f"{self.kind}:{folded}".encode()).hexdigest()[:24]


@dataclass(slots=True)
class RemovedParts:
    """The parts removed from profiles, and the people without any support left."""

    texts: list[str] = field(default_factory=list)
    unsupported: list[Person] = field(default_factory=list)


def parts_of(names: Iterable[str], username: str | None, bio: str) -> dict[str, ProfilePart]:
    """The parts of a profile or an operation, by their keys."""
    parts = [ProfilePart("name", name) for name in names if name_key(name)]
    parts += [ProfilePart("username", username)] if username else []
    parts += [ProfilePart("bio", sentence) for sentence in sentences_of_bio(bio)]
    return {part.key: part for part in parts}


def record_support(
    connection: Connection,
    before: Person | None,
    after: Person,
    stated_keys: Collection[str],
    said: Sequence[str],
    *,
    episode_id: str,
    segments: Mapping[int, str | None],
    run_id: str | None,
) -> None:
    """Records which lines (segment number -> message id) support the parts that are new or were stated again.

    `stated_keys` are the keys of the parts that the operation states, `said` the texts of its lines. A model repeats
    the bio it was shown, so lines support an existing sentence again only if they share a word with it.
    """
    now = parts(after)
    old = {} if before is None else parts(before)
    fresh = now.keys() - old.keys()
    known = now.keys() & set(stated_keys) - fresh
    others = support_repository.support_lines(connection, after.user_id, after.id) if known else {}
    again = {key for key in known if not others.get(key) or _said_in(now[key], said, after)}
    supported = fresh | again
    support_repository.add(connection, after.user_id, after.id, supported, episode_id, segments, run_id)
    gone = [old[key] for key in old.keys() - now.keys() if old[key].kind == "bio"]
    for key in sorted(fresh):
        if now[key].kind == "bio":
            for replaced in gone:
                if _shares_words(replaced.text, now[key].text):
                    support_repository.inherit(connection, after.user_id, after.id, replaced.key, key)


def remove_unsupported_parts(
    connection: Connection,
    user_id: int,
    lost: LostSupport,
    said: Sequence[str],
    texts_of: TextsOf,
    supported: Callable[[Person], bool],
    *,
    now: datetime,
) -> RemovedParts:
    """Removes parts of profiles that lost their last line, or hold a word that only the lost lines `said` held.

    Parts set by the owner or Telegram metadata stay. `supported` says whether something other than lines and mentions
    keeps a person. The caller erases the people of `unsupported`.
    """
    removed = RemovedParts()
    for person in removal_repository.profiles(connection, user_id, sorted(lost.people)):
        line_refs = support_repository.support_lines(connection, user_id, person.id)
        if not line_refs.get("") and not _is_kept_otherwise(connection, person) and not supported(person):
            removed.unsupported.append(person)
            continue
        parts_gone = _parts_to_remove(connection, person, lost.parts.get(person.id, set()), line_refs, said, texts_of)
        removed.texts += take_out(connection, person, parts_gone, now)
    return removed


def _is_kept_otherwise(connection: Connection, person: Person) -> bool:
    """Whether a person is kept by a change of the owner or a mention elsewhere."""
    by_owner = any(mark.get("by") == "owner" for mark in person.field_meta.values())
    return by_owner or support_repository.is_mentioned(connection, person.user_id, person.id)


def _parts_to_remove(
    connection: Connection,
    person: Person,
    lost: Collection[str],
    line_refs: Mapping[str, set[LineRef]],
    said: Sequence[str],
    texts_of: TextsOf,
) -> list[ProfilePart]:
    parts_gone = []
    for key, part in loose_parts(connection, person).items():
        left = line_refs.get(key)
        if key in lost and not left:
            parts_gone.append(part)
        elif key in lost or not left:
            # Other lines support it too, or none were recorded: then all lines of the person count.
            others = texts_of(left if left else line_refs.get("", set()))
            if reveals(part.text, said, others):
                parts_gone.append(part)
    return parts_gone


def _keeps_support(person: Person, part: ProfilePart, names: Mapping[str, str]) -> bool:
    if part.kind == "name":
        return names.get(name_key(part.text)) in ("owner", "metadata")
    return person.field_meta.get(part.kind, {}).get("by") in ("owner", "metadata")


def loose_parts(connection: Connection, person: Person) -> dict[str, ProfilePart]:
    """The parts that neither the owner nor Telegram metadata set."""
    names = name_repository.setters(connection, person.user_id, person.entity_id)
    return {key: part for key, part in parts(person).items() if not _keeps_support(person, part, names)}


def take_out(connection: Connection, person: Person, parts_gone: Sequence[ProfilePart], now: datetime) -> list[str]:
    """Removes parts from a profile, its search item and the profiles stored with its merges. Returns their texts."""
    if not parts_gone:
        return []
    after = without_parts(person, parts_gone)
    gone = [part.text for part in parts_gone if part.key not in parts(after)]
    removal_repository.rewrite(connection, person, after, gone, now=now)
    return gone


def without_parts(person: Person, parts_gone: Sequence[ProfilePart]) -> Person:
    """A profile without these parts; the last name stays, because a person needs a name."""
    gone = {part.key for part in parts_gone}
    aliases = tuple(alias for alias in person.aliases if ProfilePart("name", alias).key not in gone)
    name = person.display_name
    if ProfilePart("name", name).key in gone and aliases:
        name, aliases = aliases[0], aliases[1:]
    bio = person.bio
    if not made_of_names(person):
        bio = without_sentences(bio, [part.text for part in parts_gone if part.kind == "bio"])
    username = None if any(part.kind == "username" for part in parts_gone) else person.username
    after = replace(person, display_name=name, aliases=aliases, username=username, bio=bio)
    return after if bio and not made_of_names(person) else replace(after, bio=bio_from_names(after.names))


def parts(person: Person) -> dict[str, ProfilePart]:
    """The parts of a profile by their keys, without a bio made of names."""
    return parts_of(person.names, person.username, "" if made_of_names(person) else person.bio)


def _said_in(part: ProfilePart, said: Sequence[str], person: Person) -> bool:
    """Whether these lines may have stated a part: they share a word by sound with it that is no name of the person."""
    if part.kind != "bio" or not any(said):
        return True
    own, heard = _sounds(person.names), _sounds(said)
    words = {word for word in _sounds([part.text]) if not any(same_stem(word, name) for name in own)}
    return not words or any(same_stem(word, other) for word in words for other in heard)


def _sounds(texts: Iterable[str]) -> set[str]:
    return {sound for word in revealing_words(texts) for sound in (skeletons(word) or {word})}


def _shares_words(one: str, other: str) -> bool:
    return any(same_stem(here, there) for here in revealing_words([one]) for there in revealing_words([other]))
