"""Evidence: the rows that connect claims, observations, names and profiles with the supporting segments.

The target of a row is a kind and an id: `claim:<id>`, `observation:<id>`, `entity:<node id>`, `person:<id>`, and for
parts of something `name:<node id>:<key of the name>` and `profile:<person id>:<key of the part>`.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, and_, bindparam, delete, insert, literal, or_, select, update

from internal.storage.chunks import chunks, delete_with
from internal.storage.engine.upsert import upsert
from internal.storage.tables import evidence

Kind = Literal["claim", "observation", "entity", "name", "person", "profile"]

LineRef = tuple[str, int]
"""An episode and the number of a segment in it; 0 stands for the whole episode."""

UNPUBLISHED: Final = ""
"""The episode of a message that is in no fragment yet; its segment is the number (seq) of the message."""

Key = tuple[str, str, int]
"""The target, episode and segment of one row."""


class Support(NamedTuple):
    """One line that supports something, with its words where they are kept."""

    episode_id: str
    segment: int
    message_id: str | None = None
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class Lines:
    """Some lines: messages by their ids, and segments of an episode, None = the whole episode.

    With `run_id` also what this run derived from the episode as a whole.
    """

    message_ids: Collection[str] = ()
    episode_id: str | None = None
    segments: Collection[int] | None = ()
    run_id: str | None = None

    def includes(self, row: Row[Any]) -> bool:
        """Whether a row of evidence is about one of the lines."""
        if row.message_id in self.message_ids:
            return True
        return row.episode_id == self.episode_id and (self.segments is None or row.segment in self.segments)

    def conditions(self) -> list[ColumnElement[bool]]:
        """Conditions that each fit into one statement; a row about one of the lines fulfils at least one of them."""
        found: list[ColumnElement[bool]] = [evidence.c.message_id.in_(part) for part in chunks(self.message_ids)]
        if self.episode_id is None:
            return found
        here = evidence.c.episode_id == self.episode_id
        if self.segments is None:
            return [*found, here]
        found += [and_(here, evidence.c.segment.in_(part)) for part in chunks(self.segments)]
        if self.run_id is not None:
            found.append(and_(here, evidence.c.segment == 0, evidence.c.run_id == self.run_id))
        return found


def target(kind: Kind, id: str | int) -> str:
    return f"{kind}:{id}"


def of_segments(episode_id: str, segments: Mapping[int, str | None]) -> list[Support]:
    """The lines of an episode: segment number -> message id."""
    return [Support(episode_id, segment, message_id) for segment, message_id in segments.items()]


def add(
    connection: Connection,
    user_id: int,
    kind: Kind,
    supported: Mapping[str, Iterable[Support]],
    *,
    operation: str,
    run_id: str | None,
) -> None:
    """Records which lines support each id of this kind; a line that does so already stays as it is."""
    more = {"user_id": user_id, "operation": operation, "run_id": run_id}
    rows = [more | {"target": target(kind, id)} | line._asdict() for id, lines in supported.items() for line in lines]
    if rows:
        connection.execute(_ADD, rows)


def restore(connection: Connection, rows: Iterable[Row[Any]]) -> None:
    """Puts back rows that were read before they were removed."""
    values = [dict(row._mapping) for row in rows]
    if values:
        connection.execute(_ADD, values)


def rows(connection: Connection, user_id: int, kind: Kind, ids: Collection[str]) -> dict[str, list[Row[Any]]]:
    """The rows of each of these ids that has any, in the order of episodes and segments."""
    found: dict[str, list[Row[Any]]] = defaultdict(list)
    for row in rows_of_targets(connection, user_id, [target(kind, id) for id in ids]):
        found[row.target.split(":", 1)[1]].append(row)
    return dict(found)


def supporting_lines(connection: Connection, user_id: int, kind: Kind, ids: Collection[str]) -> set[LineRef]:
    """The lines that support any of these ids."""
    found = rows_of_targets(connection, user_id, [target(kind, id) for id in ids])
    return {(row.episode_id, row.segment) for row in found}


def rows_of_targets(connection: Connection, user_id: int, targets: Collection[str]) -> list[Row[Any]]:
    """The rows of these targets of any kinds, in the order of episodes and segments."""
    parts = ({"owner": user_id, "targets": part} for part in chunks(targets))
    return [row for part in parts for row in connection.execute(_ROWS, part)]


def rows_of_lines(connection: Connection, user_id: int, lines: Lines) -> list[Row[Any]]:
    """The rows about any of these lines."""
    query = select(evidence).where(evidence.c.user_id == user_id)
    return [row for condition in lines.conditions() for row in connection.execute(query.where(condition))]


def cited_ids(connection: Connection, user_id: int, kind: Kind, lines: Lines) -> set[str]:
    """The ids of this kind that one of these lines supports."""
    found: set[str] = set()
    for condition in lines.conditions():
        query = select(evidence.c.target).distinct().where(evidence.c.user_id == user_id, _of_kind(kind), condition)
        found |= _ids(connection.execute(query).scalars())
    return found


def part_targets(connection: Connection, user_id: int, kind: Kind, owner_id: str | int) -> list[str]:
    """The targets of the supported parts of something: the names of a node or the parts of a profile."""
    query = select(evidence.c.target).distinct().where(evidence.c.user_id == user_id, of_parts(kind, owner_id))
    return list(connection.execute(query).scalars())


def rows_with_parts(
    connection: Connection, user_id: int, target: str, part_kind: Kind, owner_id: str | int
) -> list[Row[Any]]:
    """The rows of a target and of its parts."""
    query = select(evidence).where(evidence.c.user_id == user_id)
    return list(connection.execute(query.where(or_(evidence.c.target == target, of_parts(part_kind, owner_id)))))


def set_operation(connection: Connection, user_id: int, kind: Kind, id: str, operation: str) -> None:
    values = {"owner": user_id, "supported": target(kind, id), "set_operation": operation}
    connection.execute(_SET_OPERATION, values)


def copy(connection: Connection, user_id: int, targets: Mapping[str, str]) -> list[Key]:
    """Copies the lines that support each target to another (from -> to). Returns the keys of the new rows."""
    both = rows_of_targets(connection, user_id, list({*targets, *targets.values()}))
    known = {(row.target, row.episode_id, row.segment) for row in both}
    new = {
        key: dict(row._mapping) | {"target": key[0]}
        for row in both
        if row.target in targets and (key := (targets[row.target], row.episode_id, row.segment)) not in known
    }
    if new:
        connection.execute(insert(evidence), list(new.values()))
    return list(new)


def publish(connection: Connection, user_id: int, lines: Mapping[str, LineRef]) -> list[str]:
    """Moves evidence from unpublished messages to their segments in a fragment. Returns its targets."""
    waiting = (evidence.c.user_id == user_id) & (evidence.c.episode_id == UNPUBLISHED)
    rows = [row for row in connection.execute(select(evidence).where(waiting)) if row.message_id in lines]
    for row in rows:
        episode_id, segment = lines[row.message_id]
        one = waiting & (evidence.c.target == row.target) & (evidence.c.segment == row.segment)
        connection.execute(update(evidence).where(one).values(episode_id=episode_id, segment=segment))
    return [row.target for row in rows]


def move_evidence(connection: Connection, user_id: int, kind: Kind, from_id: str, to_id: str) -> None:
    ours = (evidence.c.user_id == user_id) & (evidence.c.target == target(kind, from_id))
    connection.execute(update(evidence).where(ours).values(target=target(kind, to_id)))


def remove(connection: Connection, user_id: int, kind: Kind, ids: Iterable[str | int]) -> None:
    """Deletes all evidence of these ids."""
    delete_with(connection, evidence, user_id, evidence.c.target, (target(kind, id) for id in ids))


def remove_selected(
    connection: Connection, user_id: int, kind: Kind, ids: ColumnElement[str], of: ColumnElement[bool]
) -> None:
    """Deletes everything that supports the rows that meet a condition; `ids` is their column."""
    targets = select(literal(f"{kind}:") + ids).where(of)
    connection.execute(delete(evidence).where(evidence.c.user_id == user_id, evidence.c.target.in_(targets)))


def remove_parts(connection: Connection, user_id: int, kind: Kind, owner_id: str | int) -> None:
    """Deletes all evidence of the parts of something."""
    connection.execute(delete(evidence).where(evidence.c.user_id == user_id, of_parts(kind, owner_id)))


def remove_rows(connection: Connection, user_id: int, keys: Iterable[Key]) -> None:
    """Deletes these rows, such as those that `copy` added."""
    values = [{"owner": user_id, "supported": to, "episode": episode, "n": segment} for to, episode, segment in keys]
    if values:
        connection.execute(_REMOVE_ROW, values)


def remove_lines(connection: Connection, user_id: int, lines: Lines, kinds: Sequence[Kind] = ()) -> set[str]:
    """Deletes the evidence of these kinds (() = all) from these lines. Returns its targets."""
    ours = evidence.c.user_id == user_id
    if kinds:
        ours &= _of_kind(*kinds)
    found: set[str] = set()
    for condition in lines.conditions():
        found |= set(connection.execute(delete(evidence).where(ours, condition).returning(evidence.c.target)).scalars())
    return found


def remove_support(connection: Connection, user_id: int, targets: Collection[str], lines: Lines) -> None:
    """Deletes the evidence of these targets from these lines."""
    for condition in lines.conditions():
        for part in chunks(targets):
            ours = (evidence.c.user_id == user_id) & evidence.c.target.in_(part)
            connection.execute(delete(evidence).where(ours, condition))


def of_parts(kind: Kind, owner_id: str | int) -> ColumnElement[bool]:
    """The rows of the parts of something, as a range, so that the index is used."""
    first = f"{kind}:{owner_id}:"
    return and_(evidence.c.target >= first, evidence.c.target < first[:-1] + ";")


def ids_of_kind(targets: Iterable[str], kind: Kind) -> set[str]:
    """The ids of the targets of this kind."""
    return _ids(one for one in targets if one.startswith(f"{kind}:"))


def _ids(targets: Iterable[str]) -> set[str]:
    return {one.split(":", 1)[1] for one in targets}


def _of_kind(*kinds: Kind) -> ColumnElement[bool]:
    matching = [evidence.c.target.startswith(f"{kind}:") for kind in kinds]
    return matching[0] if len(matching) == 1 else or_(*matching)


_OWN: Final = evidence.c.user_id == bindparam("owner")

# Run once or more for each claim: built once, for building a statement takes several times as long as running it.
_ADD: Final = upsert(evidence).on_conflict_do_nothing()
_ROWS: Final = (
    select(evidence)
    .where(_OWN, evidence.c.target.in_(bindparam("targets", expanding=True)))
    .order_by(evidence.c.episode_id, evidence.c.segment)
)
_SET_OPERATION: Final = (
    update(evidence)
    .where(_OWN, evidence.c.target == bindparam("supported"))
    .values(operation=bindparam("set_operation"))
)
_REMOVE_ROW: Final = delete(evidence).where(
    _OWN,
    evidence.c.target == bindparam("supported"),
    evidence.c.episode_id == bindparam("episode"),
    evidence.c.segment == bindparam("n"),
)
