"""Merges two profiles of the same person, and splits them again."""

from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from internal.errors import NotFound, Refused, expect_found
from internal.graph import name_repository
from internal.language.text.spelling import name_key
from internal.people import entity_nodes, merge_repository, repository, suggestion_repository, support_repository
from internal.people.bio import bio_from_names, join_bio, sentences_of_bio, without_sentences
from internal.people.merge_repository import Merge
from internal.people.model import Circle, Person
from internal.people.names import keys_of, unique_names
from internal.people.repository import SetBy


def refuse(connection: Connection, user_id: int, source: Person, target: Person) -> None:
    """Raises Refused("self_merge" | "different_telegram_ids" | "different_usernames") if these cannot be one person."""
    if source.id == target.id:
        raise Refused("self_merge", "a person cannot be merged into himself")
    if source.telegram_id and target.telegram_id and source.telegram_id != target.telegram_id:
        raise Refused("different_telegram_ids", "two Telegram ids are two people")
    if source.username and target.username and name_key(source.username) != name_key(target.username):
        raise Refused("different_usernames", "two usernames are two people")


def was_split(connection: Connection, user_id: int, source_id: int, target_id: int) -> bool:
    """Whether the owner undid a merge of these two or of people merged into them; no model merges them again."""
    ones = {source_id} | repository.sources_of(connection, user_id, source_id)
    others = {target_id} | repository.sources_of(connection, user_id, target_id)
    return merge_repository.undone_between(connection, user_id, ones, others)


def merge(
    connection: Connection,
    user_id: int,
    source_id: int,
    target_id: int,
    *,
    now: datetime,
    by: SetBy = "archivist",
    run_id: str | None = None,
) -> Person:
    """Merges the source into the target and returns the target; the source's id redirects to it from now on.

    Its relations in the graph move too: the caller projects the facts about the target's entity again.
    The target keeps its name and the fields that the owner set. Raises NotFound for an unknown id,
    Refused("already_merged") for a source that is a redirect, and what `refuse` raises.
    """
    source = _source(connection, user_id, source_id)
    target = expect_found(repository.resolve(connection, user_id, target_id), f"there is no person {target_id}")
    refuse(connection, user_id, source, target)
    rejected = set() if by == "owner" else repository.rejected_keys(connection, user_id, target.entity_id)
    # The redirect comes first: it releases the source's Telegram id and username for the target.
    merge_repository.redirect(connection, source, target.id)
    joined = _merged_profile(source, target, rejected, by)
    setters: dict[str, SetBy] = {name: _setter(source, target, joined, name, by) for name in repository.CONTENT}
    known = name_repository.setters(connection, user_id, target.entity_id)
    after = repository.save(connection, target, joined, by=setters, now=now, run_id=run_id)
    # A merge does not change who set the names.
    theirs = name_repository.setters(connection, user_id, source.entity_id)
    fresh = {key: setter for key, setter in theirs.items() if key not in known}
    name_repository.set_setters(connection, user_id, target.entity_id, fresh)
    merge_repository.record(
        connection,
        source,
        target,
        after,
        mentions_added=merge_repository.copy_mentions(connection, user_id, source.id, target.id),
        evidence_added=merge_repository.copy_evidence(connection, user_id, source.id, target.id),
        parts_added=support_repository.copy_parts(connection, user_id, source.id, target.id),
        moved=entity_nodes.merge(connection, source, target),
        now=now,
        run_id=run_id,
    )
    suggestion_repository.repoint(connection, user_id, source.id, target.id)
    return after


def split(connection: Connection, user_id: int, person_id: int, *, now: datetime) -> tuple[Person, Person]:
    """Undoes the merge that made this person a redirect, else the last one into it. Returns (source, target).

    Later additions to the target stay there. The caller projects the facts about both entities
    again. Raises NotFound when there is nothing to undo,
    Refused("merged_further") while the target is itself merged into somebody, and Refused("telegram_id_taken" |
    "username_taken") when another person has the source's by now.
    """
    last = expect_found(merge_repository.latest(connection, user_id, person_id), f"person {person_id} was not merged")
    return _undo(connection, user_id, last, now)


def undo(connection: Connection, user_id: int, source_id: int, *, now: datetime) -> tuple[Person, Person]:
    """Undoes the last merge of this person into another. Returns (source, target).

    Does nothing if it was undone before: unlike `split` it never undoes another merge. Raises what `split` raises.
    """
    last = merge_repository.last_away(connection, user_id, source_id)
    if last is None:
        raise NotFound(f"person {source_id} was not merged")
    if not last.undone:
        return _undo(connection, user_id, last, now)
    source, target = (
        repository.resolve(connection, user_id, person_id) for person_id in (last.source_id, last.target_id)
    )
    if source is None or target is None:
        raise NotFound("one of the two is gone")
    return source, target


def _undo(connection: Connection, user_id: int, undone: Merge, now: datetime) -> tuple[Person, Person]:
    target = repository.get(connection, user_id, undone.target_id)
    if target is None:
        raise Refused("merged_further", "the merge that came after it must be undone first")
    restored = _taken_apart(target, undone)
    setters: dict[str, SetBy] = {
        name: undone.target.field_meta.get(name, {}).get("by", "archivist") for name in repository.CONTENT
    }
    target = repository.save(connection, target, restored, by=setters, now=now)
    repository.refuse_taken(connection, undone.source)
    merge_repository.lift_redirect(connection, undone.source)
    merge_repository.take_back(connection, user_id, undone)
    support_repository.take_back_parts(connection, user_id, undone.target_id, undone.added_parts)
    within = repository.entity_ids(connection, user_id, repository.sources_of(connection, user_id, undone.source_id))
    entity_nodes.split(connection, undone.source, target, within, undone.moved)
    merge_repository.mark_undone(connection, user_id, undone.id, now)
    # Hidden if the evidence of the source alone is about to be forgotten; then as it was before the merge.
    return repository.get(connection, user_id, undone.source_id) or undone.source, target


def _source(connection: Connection, user_id: int, source_id: int) -> Person:
    source = expect_found(repository.resolve(connection, user_id, source_id), f"there is no person {source_id}")
    if source.id != source_id:
        raise Refused("already_merged", f"person {source_id} is person {source.id} already")
    return source


def _merged_profile(source: Person, target: Person, rejected: set[str], by: SetBy) -> Person:
    without = {name_key(target.display_name)} | rejected
    aliases = unique_names((*target.aliases, *source.names), without=without)
    return replace(
        target,
        aliases=aliases,
        telegram_id=target.telegram_id or source.telegram_id,
        username=target.username or source.username,
        circle=_joined_circle(source, target),
        bio=_joined_bio(source, target, (target.display_name, *aliases), by),
        mention_count=max(source.mention_count, target.mention_count),
        first_seen=min(source.first_seen, target.first_seen),
        last_seen=max(source.last_seen, target.last_seen),
    )


def _joined_circle(source: Person, target: Person) -> Circle:
    """The target's circle, unless only the source's was set by the owner, or the target's is Other."""
    if target.owner_set("circle"):
        return target.circle
    return source.circle if source.owner_set("circle") or target.circle == Circle.OTHER else target.circle


def _joined_bio(source: Person, target: Person, names: tuple[str, ...], by: SetBy) -> str:
    if target.owner_set("bio") and by != "owner":
        return target.bio
    bios = [person.bio for person in (target, source) if _by(person, "bio") != "names"]
    return join_bio(bios[0], "".join(bios[1:])) if bios else bio_from_names(names)


def _setter(source: Person, target: Person, joined: Person, field: str, by: SetBy) -> SetBy:
    """The setter of a merged field: that of the side from which the value comes."""
    if field == "bio" and "names" in (_by(source, field), _by(target, field)):
        written = [person for person in (target, source) if _by(person, field) != "names"]
        return _by(written[0], field) if written else "names"
    if field != "aliases" and "owner" in (_by(source, field), _by(target, field)):
        return "owner"
    took_source = bool(getattr(joined, field) == getattr(source, field))
    if field == "bio" and not took_source:
        return "archivist"  # a merge does not make a field the owner's
    return _by(source, field) if took_source else by


def _by(person: Person, field: str) -> SetBy:
    by: SetBy = person.field_meta.get(field, {}).get("by", "archivist")
    return by


def _taken_apart(target: Person, undone: Merge) -> Person:
    """The target with the fields restored that are unchanged since the merge."""
    before, after, source = undone.target, undone.after, undone.source
    came = keys_of(source.names) - keys_of(before.names)
    return replace(
        target,
        aliases=tuple(alias for alias in target.aliases if name_key(alias) not in came),
        telegram_id=before.telegram_id if target.telegram_id == after.telegram_id else target.telegram_id,
        username=before.username if target.username == after.username else target.username,
        circle=before.circle if target.circle == after.circle else target.circle,
        bio=before.bio if target.bio == after.bio else _bio_without(target.bio, source, before),
        mention_count=before.mention_count + max(target.mention_count - after.mention_count, 0),
        first_seen=before.first_seen if target.first_seen == after.first_seen else target.first_seen,
        last_seen=before.last_seen if target.last_seen == after.last_seen else target.last_seen,
    )


def _bio_without(bio: str, source: Person, before: Person) -> str:
    theirs = set(sentences_of_bio(source.bio)) - set(sentences_of_bio(before.bio))
    return without_sentences(bio, theirs) or before.bio
