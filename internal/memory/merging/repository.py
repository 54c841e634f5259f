"""Merges of nodes in the database, with the ids of moved and copied rows, so that they can be undone."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, and_, delete, insert, or_, select, update

from internal.graph.model import MergeUndo
from internal.storage import evidence
from internal.storage.chunks import CHUNK, chunks
from internal.storage.evidence import Key
from internal.storage.owner_counters import next_rev
from internal.storage.tables import graph_nodes, node_merges, observations
from internal.storage.types import new_id


@dataclass(frozen=True, slots=True)
class NodeMerge:
    """One merge of a node into another. `observations` and `evidence` are those that the target got from the source.

    `added` are properties of the target that came from the source: the new aliases, and any other with its value.
    `mark` is the previous mark of who set the target's name, None if there was none.
    """

    id: str
    source_id: str
    target_id: str
    by: str
    at: datetime
    moved: MergeUndo
    observations: Sequence[str]
    evidence: Sequence[Key]
    added: Mapping[str, Any]
    mark: Mapping[str, Any] | None
    undone: bool = False


def record(connection: Connection, user_id: int, join: NodeMerge) -> NodeMerge:
    """Stores a merge and returns it with its id, a new one if it had none."""
    stored = replace(join, id=join.id or new_id())
    before = {
        "removed": list(join.moved.removed),
        "claims": [list(claim) for claim in join.moved.claims],
        "observations": list(join.observations),
        "evidence": [list(row) for row in join.evidence],
        "added": dict(join.added),
        "mark": join.mark,
    }
    row = {"user_id": user_id, "id": stored.id, "source": join.source_id, "target": join.target_id}
    connection.execute(insert(node_merges).values(**row, before=before, set_by=join.by, at=join.at))
    return stored


def standing(connection: Connection, user_id: int) -> list[NodeMerge]:
    """The merges that were not undone, newest first."""
    query = select(node_merges).where(node_merges.c.user_id == user_id, node_merges.c.undone_at.is_(None))
    rows = connection.execute(query.order_by(node_merges.c.at.desc(), node_merges.c.id.desc()))
    return [_merge(row) for row in rows]


def latest(connection: Connection, user_id: int, node_id: str) -> NodeMerge | None:
    """The merge that a split of this node undoes: the one that made it a redirect, else the last one into it."""
    merges = standing(connection, user_id)
    away = (merge for merge in merges if merge.source_id == node_id)
    into = (merge for merge in merges if merge.target_id == node_id)
    return next(away, None) or next(into, None)


def split_between(connection: Connection, user_id: int, one: str, other: str) -> bool:
    """Whether a merge of these two, in either direction, was undone."""
    pair = or_(
        and_(node_merges.c.source == one, node_merges.c.target == other),
        and_(node_merges.c.source == other, node_merges.c.target == one),
    )
    undone = select(node_merges.c.id).where(node_merges.c.user_id == user_id, node_merges.c.undone_at.is_not(None))
    return connection.execute(undone.where(pair).limit(1)).first() is not None


def mark_undone(connection: Connection, user_id: int, join_id: str, now: datetime) -> None:
    """Marks a merge as undone and deletes its words; the pair is kept, so that only the owner may merge it again."""
    one = (node_merges.c.user_id == user_id) & (node_merges.c.id == join_id)
    connection.execute(update(node_merges).where(one).values(undone_at=now, before={}))


def drop(connection: Connection, user_id: int, join_id: str) -> None:
    connection.execute(delete(node_merges).where(node_merges.c.user_id == user_id, node_merges.c.id == join_id))


def merged_into(connection: Connection, user_id: int, node_id: str) -> list[str]:
    """The nodes that redirect to this one, also through others."""
    found: list[str] = []
    looking = [node_id]
    while looking:
        leading = graph_nodes.c.merged_into.in_(looking[:CHUNK])
        query = select(graph_nodes.c.id).where(graph_nodes.c.user_id == user_id, leading).order_by(graph_nodes.c.id)
        looking = [id for id in connection.execute(query).scalars() if id not in found]
        found += looking
    return found


def move_observations(connection: Connection, user_id: int, from_id: str, to_id: str) -> list[str]:
    """Moves the observations of one node to another and returns their ids."""
    ours = (observations.c.user_id == user_id) & (observations.c.target == from_id)
    moved = update(observations).where(ours).values(target=to_id).returning(observations.c.id)
    return sorted(connection.execute(moved).scalars())


def return_observations(connection: Connection, user_id: int, ids: Collection[str], from_id: str, to_id: str) -> None:
    """Moves the observations back that are still on `from_id`."""
    for chunk in chunks(sorted(ids)):
        one = (observations.c.target == from_id) & observations.c.id.in_(chunk)
        connection.execute(update(observations).where(observations.c.user_id == user_id, one).values(target=to_id))


def copy_support(connection: Connection, user_id: int, from_id: str, to_id: str) -> list[Key]:
    """Copies the lines that support a node and its names to another node. Returns the keys of the new rows."""
    targets = {evidence.target("entity", from_id): evidence.target("entity", to_id)}
    for name in evidence.part_targets(connection, user_id, "name", from_id):
        targets[name] = evidence.target("name", f"{to_id}:{name.rsplit(':', 1)[1]}")
    return evidence.copy(connection, user_id, targets)


def set_mark(
    connection: Connection, user_id: int, node_id: str, name: str, mark: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """Stores who set a property of a node, None = nobody. Returns the previous mark."""
    one = (graph_nodes.c.user_id == user_id) & (graph_nodes.c.id == node_id)
    marks = dict(connection.execute(select(graph_nodes.c.field_meta).where(one)).scalar_one())
    before: Mapping[str, Any] | None = marks.pop(name, None)
    changed = marks if mark is None else {**marks, name: dict(mark)}
    connection.execute(update(graph_nodes).where(one).values(field_meta=changed, rev=next_rev(connection, user_id)))
    return before


def _merge(row: Row[Any]) -> NodeMerge:
    before = row.before
    return NodeMerge(
        id=row.id,
        source_id=row.source,
        target_id=row.target,
        by=row.set_by,
        at=row.at,
        moved=MergeUndo(
            tuple(before.get("removed", ())), tuple((claim, edge) for claim, edge in before.get("claims", ()))
        ),
        observations=before.get("observations", ()),
        evidence=[(target, episode, segment) for target, episode, segment in before.get("evidence", ())],
        added=before.get("added", {}),
        mark=before.get("mark"),
        undone=row.undone_at is not None,
    )
