"""Merges of people in the database: redirects, rows copied to the target, and the data that a split needs."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, delete, exists, insert, literal, or_, select, update

from internal.graph.model import MergeUndo
from internal.language.text.spelling import name_key
from internal.people.bio import bio_from_names, without_sentences
from internal.people.model import Circle, Person
from internal.people.repository import CHANGE_KIND, drop_search_item, put_search_item
from internal.storage import evidence
from internal.storage.change_log import record_change
from internal.storage.evidence import LineRef
from internal.storage.forgetting import hidings
from internal.storage.owner_counters import next_rev
from internal.storage.rows import read_one
from internal.storage.tables import mentions, merges, people
from internal.storage.types import new_id


@dataclass(frozen=True, slots=True)
class Merge:
    """One merge and the profiles around it; `added_*` are the target's rows that came from the source.

    `moved` has the data for moving the source's relations back; `undone`: it was split again.
    """

    id: str
    source_id: int
    target_id: int
    source: Person
    target: Person
    after: Person
    added_mentions: Sequence[str]
    added_evidence: Sequence[LineRef]
    moved: MergeUndo
    undone: bool = False
    added_parts: Sequence[tuple[str, str, int]] = ()


@dataclass(frozen=True, slots=True)
class MergedPerson:
    """A merged person with the former name and the time of the merge."""

    id: int
    display_name: str
    at: datetime | None


def redirect(connection: Connection, source: Person, target_id: int) -> None:
    """Redirects the source's id to the target; its profile is kept."""
    _set_redirect(connection, source, target_id)
    drop_search_item(connection, source.user_id, source.id)


def lift_redirect(connection: Connection, source: Person) -> None:
    _set_redirect(connection, source, None)
    put_search_item(connection, source)
    record_change(connection, source.user_id, CHANGE_KIND, str(source.id))


def copy_mentions(connection: Connection, user_id: int, source_id: int, target_id: int) -> list[str]:
    """Copies the source's mentions to the target. Returns the episodes that are new to it."""
    theirs = mentions.alias()
    known = exists().where(
        theirs.c.user_id == user_id, theirs.c.person_id == target_id, theirs.c.episode_id == mentions.c.episode_id
    )
    query = select(mentions.c.episode_id).where(
        mentions.c.user_id == user_id, mentions.c.person_id == source_id, ~known
    )
    episodes = list(connection.execute(query).scalars())
    for episode_id in episodes:
        connection.execute(insert(mentions).values(user_id=user_id, person_id=target_id, episode_id=episode_id))
    return episodes


def copy_evidence(connection: Connection, user_id: int, source_id: int, target_id: int) -> list[LineRef]:
    """Copies the source's evidence to the target. Returns the lines that are new to it."""
    targets = {evidence.target("person", source_id): evidence.target("person", target_id)}
    return [(episode_id, segment) for _, episode_id, segment in evidence.copy(connection, user_id, targets)]


def take_back(connection: Connection, user_id: int, merge: Merge) -> None:
    """Removes from the target the mentions and the evidence that came with the source."""
    for episode_id in merge.added_mentions:
        one = (mentions.c.person_id == merge.target_id) & (mentions.c.episode_id == episode_id)
        connection.execute(delete(mentions).where(mentions.c.user_id == user_id, one))
    target = evidence.target("person", merge.target_id)
    evidence.remove_rows(connection, user_id, [(target, *line_ref) for line_ref in merge.added_evidence])


def record(
    connection: Connection,
    source: Person,
    target: Person,
    after: Person,
    *,
    mentions_added: Sequence[str],
    evidence_added: Sequence[LineRef],
    parts_added: Sequence[tuple[str, str, int]],
    moved: MergeUndo,
    now: datetime,
    run_id: str | None,
) -> None:
    before = {
        "source": _plain(source),
        "target": _plain(target),
        "after": _plain(after),
        "mentions": list(mentions_added),
        "evidence": [list(line_ref) for line_ref in evidence_added],
        "parts": [list(line_ref) for line_ref in parts_added],
        "graph": {"removed": list(moved.removed), "claims": [list(claim) for claim in moved.claims]},
    }
    row = insert(merges).values(
        user_id=source.user_id, id=new_id(), source=source.id, target=target.id, before=before, run_id=run_id, at=now
    )
    connection.execute(row)


def latest(connection: Connection, user_id: int, person_id: int) -> Merge | None:
    """The merge that a split of this person undoes: the one that made it a redirect, else the last one into it."""
    open_merges = select(merges).where(merges.c.user_id == user_id, merges.c.undone_at.is_(None))
    away = open_merges.where(merges.c.source == person_id)
    into = open_merges.where(merges.c.target == person_id)
    found = (_newest(connection, query) for query in (away, into))
    return next((merge for merge in found if merge is not None), None)


def last_away(connection: Connection, user_id: int, source_id: int) -> Merge | None:
    """The last merge of this person into another, undone or not."""
    return _newest(connection, select(merges).where(merges.c.user_id == user_id, merges.c.source == source_id))


def _newest(connection: Connection, query: Select[Any]) -> Merge | None:
    return read_one(connection.execute(query.order_by(merges.c.at.desc(), merges.c.id.desc()).limit(1)), _merge)


def mark_undone(connection: Connection, user_id: int, merge_id: str, now: datetime) -> None:
    one = (merges.c.user_id == user_id) & (merges.c.id == merge_id)
    connection.execute(update(merges).where(one).values(undone_at=now))


def undone_between(connection: Connection, user_id: int, ones: Collection[int], others: Collection[int]) -> bool:
    """Whether a merge between one of `ones` and one of `others`, in either direction, was undone."""
    pair = or_(
        and_(merges.c.source.in_(ones), merges.c.target.in_(others)),
        and_(merges.c.source.in_(others), merges.c.target.in_(ones)),
    )
    undone = select(literal(1)).where(merges.c.user_id == user_id, pair, merges.c.undone_at.is_not(None))
    return connection.execute(undone.limit(1)).first() is not None


def take_out_of_merges(connection: Connection, user_id: int, person_id: int, gone: Collection[str]) -> None:
    """Removes words from the profiles stored with merges of this person, so that a split does not restore them."""
    ours = and_(merges.c.user_id == user_id, or_(merges.c.source == person_id, merges.c.target == person_id))
    for row in connection.execute(select(merges).where(ours)).all():
        sides = {side: _plain_without(row.before[side], gone) for side in ("source", "target", "after")}
        one = (merges.c.user_id == user_id) & (merges.c.id == row.id)
        connection.execute(update(merges).where(one).values(before=row.before | sides))


def _plain_without(plain: dict[str, Any], gone: Collection[str]) -> dict[str, Any]:
    keys = {name_key(text) for text in gone}
    aliases = [alias for alias in plain["aliases"] if name_key(alias) not in keys]
    name = plain["display_name"]
    if name_key(name) in keys and aliases:
        name, aliases = aliases[0], aliases[1:]
    username = None if plain["username"] and name_key(plain["username"]) in keys else plain["username"]
    bio = without_sentences(plain["bio"], gone)
    if plain["field_meta"].get("bio", {}).get("by") == "names" or not bio:
        bio = bio_from_names((name, *aliases))
    return plain | {"display_name": name, "aliases": aliases, "username": username, "bio": bio}


def _set_redirect(connection: Connection, source: Person, target_id: int | None) -> None:
    rev = next_rev(connection, source.user_id)
    one = (people.c.user_id == source.user_id) & (people.c.id == source.id)
    connection.execute(update(people).where(one).values(merged_into=target_id, rev=rev))


def _plain(person: Person) -> dict[str, Any]:
    times = {"first_seen": person.first_seen.isoformat(), "last_seen": person.last_seen.isoformat()}
    return asdict(person) | times | {"circle": person.circle.value, "aliases": list(person.aliases)}


def _from_plain(plain: dict[str, Any]) -> Person:
    known = {field.name: plain[field.name] for field in fields(Person)}
    times = {name: datetime.fromisoformat(plain[name]) for name in ("first_seen", "last_seen")}
    return Person(**{**known, **times, "circle": Circle(plain["circle"]), "aliases": tuple(plain["aliases"])})


def _merge(row: Row[Any]) -> Merge:
    before = row.before
    return Merge(
        id=row.id,
        source_id=row.source,
        target_id=row.target,
        source=_from_plain(before["source"]),
        target=_from_plain(before["target"]),
        after=_from_plain(before["after"]),
        added_mentions=before["mentions"],
        added_evidence=[(episode_id, segment) for episode_id, segment in before["evidence"]],
        moved=_moved(before.get("graph", {})),
        undone=row.undone_at is not None,
        added_parts=[(key, episode_id, segment) for key, episode_id, segment in before.get("parts", ())],
    )


def _moved(plain: dict[str, Any]) -> MergeUndo:
    """Reads the stored moves; merges made before there was a graph have none."""
    claims = tuple((claim_id, edge_id) for claim_id, edge_id in plain.get("claims", ()))
    return MergeUndo(tuple(plain.get("removed", ())), claims)


def merged_people(connection: Connection, user_id: int, person_id: int) -> list[MergedPerson]:
    """The people merged into this one and not split again, the last one first."""
    same = and_(
        merges.c.user_id == people.c.user_id,
        merges.c.source == people.c.id,
        merges.c.target == person_id,
        merges.c.undone_at.is_(None),
    )
    query = select(people.c.id, people.c.display_name, merges.c.at).outerjoin(merges, same)
    query = query.where(
        people.c.user_id == user_id, people.c.merged_into == person_id, hidings.visible(people.c.entity_id)
    )
    return [MergedPerson(*row) for row in connection.execute(query.order_by(merges.c.at.desc(), people.c.id))]
