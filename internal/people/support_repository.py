"""Evidence of people and of the parts of their profiles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection, case, delete, select, update

from internal.storage import evidence
from internal.storage.evidence import LineRef, Lines
from internal.storage.tables import mentions, people


@dataclass(slots=True)
class LostSupport:
    """Lost support: for each person the keys of parts of the profile, and the episodes that cited the person."""

    parts: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    episodes: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, other: LostSupport) -> None:
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
    lines = evidence.of_segments(episode_id, segments)
    supported = {f"{person_id}:{key}": lines for key in sorted(keys)}
    evidence.add(connection, user_id, "profile", supported, operation="part", run_id=run_id)


def inherit(connection: Connection, user_id: int, person_id: int, from_key: str, to_key: str) -> None:
    """Copies the lines that support a part of a profile to another part."""
    evidence.copy(connection, user_id, {_target(person_id, from_key): _target(person_id, to_key)})


def copy_parts(connection: Connection, user_id: int, source_id: int, target_id: int) -> list[tuple[str, str, int]]:
    """Copies evidence of the source's parts to the target of a merge. Returns (key, episode, segment) of new rows."""
    parts = evidence.part_targets(connection, user_id, "profile", source_id)
    added = evidence.copy(connection, user_id, {part: _target(target_id, _key(part)) for part in parts})
    return [(_key(part), episode_id, segment) for part, episode_id, segment in added]


def take_back_parts(
    connection: Connection, user_id: int, target_id: int, added: Iterable[tuple[str, str, int]]
) -> None:
    """Removes the rows from the target of a merge that `copy_parts` added."""
    rows = [(_target(target_id, key), episode_id, segment) for key, episode_id, segment in added]
    evidence.remove_rows(connection, user_id, rows)


def support_lines(connection: Connection, user_id: int, person_id: int) -> dict[str, set[LineRef]]:
    """The lines that support a person, by the key of the part they support; "" is the person as a whole."""
    person = evidence.target("person", person_id)
    found: dict[str, set[LineRef]] = defaultdict(set)
    for row in evidence.rows_with_parts(connection, user_id, person, "profile", person_id):
        found["" if row.target == person else _key(row.target)].add((row.episode_id, row.segment))
    return found


def drop_lines(
    connection: Connection,
    user_id: int,
    episode_id: str,
    segments: Collection[int] | None = None,
    run_id: str | None = None,
) -> LostSupport:
    """Removes the support of these segments of an episode (None = all) in profiles.

    With `segments`, support by the episode as a whole is removed only if it came from the run `run_id`.
    """
    lines = Lines(episode_id=episode_id, segments=segments, run_id=run_id)
    targets = evidence.remove_lines(connection, user_id, lines, ["person", "profile"])
    lost = LostSupport()
    for person_id in evidence.ids_of_kind(targets, "person"):
        lost.episodes[int(person_id)].add(episode_id)
    for person_id, key in (part.split(":") for part in evidence.ids_of_kind(targets, "profile")):
        lost.episodes[int(person_id)].add(episode_id)
        lost.parts[int(person_id)].add(key)
    return lost


def is_cited_in(connection: Connection, user_id: int, person_id: int, episode_id: str) -> bool:
    """Whether any line of this episode supports the person."""
    cited = evidence.cited_ids(connection, user_id, "person", Lines(episode_id=episode_id, segments=None))
    return str(person_id) in cited


def people_cited(connection: Connection, user_id: int, lines: Collection[LineRef]) -> set[int]:
    """The people with a part of the profile that one of these lines, or its whole episode, supports."""
    found: set[int] = set()
    for episode_id in {episode_id for episode_id, _ in lines}:
        numbers = {0, *(number for of_line, number in lines if of_line == episode_id)}
        parts = evidence.cited_ids(connection, user_id, "profile", Lines(episode_id=episode_id, segments=numbers))
        found |= {int(part.split(":")[0]) for part in parts}
    return found


def drop_keys(connection: Connection, user_id: int, person_id: int, keys: Collection[str]) -> None:
    """Deletes the evidence of these parts of a profile."""
    evidence.remove(connection, user_id, "profile", [f"{person_id}:{key}" for key in keys])


def drop_mentions(connection: Connection, user_id: int, episode_id: str, person_id: int | None = None) -> set[int]:
    """Removes the mentions of an episode, of one person or all. Returns the ids of people whose count was lowered."""
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
    return evidence.target("profile", f"{person_id}:{key}")


def _key(part: str) -> str:
    """The key within a part's target."""
    return part.rsplit(":", 1)[1]


def entities_with_profile(connection: Connection, user_id: int, entity_ids: Collection[str]) -> set[str]:
    """The entities among these that are people with a profile, merged and hidden ones too."""
    one = people.c.entity_id.in_(sorted(entity_ids))
    return set(connection.execute(select(people.c.entity_id).where(people.c.user_id == user_id, one)).scalars())
