"""What supports profiles, among the rows of evidence: `person:<id>` the person, `profile:<id>:<key>` a part of him."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, and_, case, delete, or_, select, update

from internal.people.repository import ITEM_PREFIX, item_of
from internal.storage.chunks import chunks
from internal.storage.engine.upsert import upsert
from internal.storage.tables import evidence, mentions, people

Place = tuple[str, int]
"""An episode and the number of a segment in it; 0 stands for all of it."""

PART_PREFIX: Final = "profile:"


@dataclass(slots=True)
class Lost:
    """What lost support: for each person the keys of his parts, and the episodes in which he was told of."""

    parts: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    episodes: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, other: Lost) -> None:
        for mine, theirs in ((self.parts, other.parts), (self.episodes, other.episodes)):
            for person_id, values in theirs.items():
                mine[person_id] |= values

    @property
    def people(self) -> set[int]:
        return {*self.parts, *self.episodes}


def add(
    connection: Connection,
    user_id: int,
    person_id: int,
    keys: Iterable[str],
    episode_id: str,
    segments: Mapping[int, str | None],
    run_id: str | None,
) -> None:
    """Records that these lines (segment number -> message id) support these parts of a profile."""
    rows = [
        {
            "user_id": user_id,
            "target": _target(person_id, key),
            "episode_id": episode_id,
            "segment": segment,
            "message_id": message_id,
            "operation": "part",
            "run_id": run_id,
        }
        for key in sorted(keys)
        for segment, message_id in segments.items()
    ]
    if rows:
        connection.execute(upsert(evidence).on_conflict_do_nothing(), rows)


def inherit(
    connection: Connection, user_id: int, from_target: tuple[int, str], to_target: tuple[int, str]
) -> list[Place]:
    """What supports one part (person id, key) supports another one too; the lines that are new to it."""
    ours = (evidence.c.user_id == user_id) & (evidence.c.target == _target(*from_target))
    added = []
    for row in connection.execute(select(evidence).where(ours)).mappings().all():
        moved = upsert(evidence).values({**row, "target": _target(*to_target)}).on_conflict_do_nothing()
        if connection.execute(moved).rowcount:
            added.append((row["episode_id"], row["segment"]))
    return added


def copy_parts(connection: Connection, user_id: int, source_id: int, target_id: int) -> list[tuple[str, str, int]]:
    """Gives the target of a merge what supports the parts of the source; (key, episode, segment) of what is new."""
    added = []
    for target in list(connection.execute(_targets(user_id, source_id)).scalars()):
        key = target.rsplit(":", 1)[1]
        new = inherit(connection, user_id, (source_id, key), (target_id, key))
        added += [(key, episode_id, segment) for episode_id, segment in new]
    return added


def take_back_parts(
    connection: Connection, user_id: int, target_id: int, added: Iterable[tuple[str, str, int]]
) -> None:
    """A split: what `copy_parts` gave the target goes."""
    for key, episode_id, segment in added:
        place = and_(evidence.c.episode_id == episode_id, evidence.c.segment == segment)
        one = and_(evidence.c.user_id == user_id, evidence.c.target == _target(target_id, key), place)
        connection.execute(delete(evidence).where(one))


def places(connection: Connection, user_id: int, person_id: int) -> dict[str, set[Place]]:
    """The lines that support a person, by the key of the part they support; "" is the person himself."""
    ours = or_(evidence.c.target == item_of(person_id), _of_parts(person_id))
    query = select(evidence.c.target, evidence.c.episode_id, evidence.c.segment)
    found: dict[str, set[Place]] = defaultdict(set)
    for target, episode_id, segment in connection.execute(query.where(evidence.c.user_id == user_id, ours)):
        found["" if target.startswith(ITEM_PREFIX) else target.rsplit(":", 1)[1]].add((episode_id, segment))
    return found


def drop_lines(
    connection: Connection,
    user_id: int,
    episode_id: str,
    segments: Collection[int] | None = None,
    run_id: str | None = None,
) -> Lost:
    """Takes away what these segments of an episode (None = all of it) support in profiles.

    With `segments`, what cites the episode as a whole falls only if it came from the run `run_id`.
    """
    whole = and_(evidence.c.segment == 0, evidence.c.run_id == run_id) if run_id is not None else None
    lost = Lost()
    for one in _lines(segments, whole):
        about = or_(evidence.c.target.startswith(ITEM_PREFIX), evidence.c.target.startswith(PART_PREFIX))
        ours = and_(evidence.c.user_id == user_id, evidence.c.episode_id == episode_id, about, one)
        for target in connection.execute(select(evidence.c.target).where(ours)).scalars().all():
            kind, person_id, *key = target.split(":")
            lost.episodes[int(person_id)].add(episode_id)
            if key and f"{kind}:" == PART_PREFIX:
                lost.parts[int(person_id)].add(key[0])
        connection.execute(delete(evidence).where(ours))
    return lost


def told_of_in(connection: Connection, user_id: int, person_id: int, episode_id: str) -> bool:
    """Whether any line of this episode supports the person."""
    one = and_(evidence.c.target == item_of(person_id), evidence.c.episode_id == episode_id)
    return connection.execute(select(evidence.c.segment).where(evidence.c.user_id == user_id, one)).first() is not None


def people_told_in(connection: Connection, user_id: int, lines: Collection[Place]) -> set[int]:
    """The people parts of whose profiles rest on one of these lines, or on their whole episodes."""
    found: set[int] = set()
    for episode_id in {episode_id for episode_id, _ in lines}:
        numbers = {0, *(number for one, number in lines if one == episode_id)}
        ours = and_(evidence.c.user_id == user_id, evidence.c.episode_id == episode_id, evidence.c.segment.in_(numbers))
        query = select(evidence.c.target).distinct().where(ours, evidence.c.target.startswith(PART_PREFIX))
        found |= {int(target.split(":")[1]) for target in connection.execute(query).scalars()}
    return found


def drop_keys(connection: Connection, user_id: int, person_id: int, keys: Collection[str]) -> None:
    """Deletes what is known of who said these parts of a profile."""
    targets = [_target(person_id, key) for key in keys]
    connection.execute(delete(evidence).where(evidence.c.user_id == user_id, evidence.c.target.in_(targets)))


def drop_mentions(connection: Connection, user_id: int, episode_id: str, person_id: int | None = None) -> set[int]:
    """Takes back what an episode counted, for one person or everybody; the ids of those whose count it lowered."""
    ours = (mentions.c.user_id == user_id) & (mentions.c.episode_id == episode_id)
    if person_id is not None:
        ours &= mentions.c.person_id == person_id
    counted = set(connection.execute(select(mentions.c.person_id).where(ours)).scalars())
    connection.execute(delete(mentions).where(ours))
    for one in counted:
        lowered = case((people.c.mention_count > 0, people.c.mention_count - 1), else_=0)
        connection.execute(
            update(people).where(people.c.user_id == user_id, people.c.id == one).values(mention_count=lowered)
        )
    return counted


def is_mentioned(connection: Connection, user_id: int, person_id: int) -> bool:
    one = (mentions.c.user_id == user_id) & (mentions.c.person_id == person_id)
    return connection.execute(select(mentions.c.episode_id).where(one)).first() is not None


def _target(person_id: int, key: str) -> str:
    return f"{PART_PREFIX}{person_id}:{key}"


def _of_parts(person_id: int) -> ColumnElement[bool]:
    # A range, so that the index is used.
    first = f"{PART_PREFIX}{person_id}:"
    return and_(evidence.c.target >= first, evidence.c.target < first[:-1] + ";")


def _targets(user_id: int, person_id: int) -> Select[Any]:
    return select(evidence.c.target).where(evidence.c.user_id == user_id, _of_parts(person_id)).distinct()


def _lines(segments: Collection[int] | None, whole: ColumnElement[bool] | None) -> Iterable[ColumnElement[bool]]:
    if segments is None:
        return [evidence.c.segment >= 0]
    numbers = [evidence.c.segment.in_(part) for part in chunks(sorted(segments))]
    return [*numbers, *([whole] if whole is not None else [])]
