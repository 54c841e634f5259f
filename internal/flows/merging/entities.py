"""Two things that are one become one, with all that is told of them brought in step, and one becomes two again.

The nodes know nothing of profiles and facts; whoever merges or splits nodes for the owner calls these instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy import Connection

from internal.errors import NotFound, Refused
from internal.events import repository as events
from internal.graph import store
from internal.graph.model import Node
from internal.knowledge import fact_repository
from internal.knowledge import service as knowledge
from internal.memory.merging import merge as merging_merge
from internal.memory.merging.merge import By
from internal.memory.merging.repository import NodeMerge


def merge(
    connection: Connection, user_id: int, source_id: str, target_id: str, *, now: datetime, by: By = "owner"
) -> Node:
    """Puts one node into another and returns that one; raises as `memory.joining.merge`, and Refused("person")."""
    for node_id in (source_id, target_id):
        if fact_repository.person_of(connection, user_id, node_id) is not None:
            raise Refused("person", f"{node_id} is a person; POST /people/merge merges profiles")
    merging_merge.merge(connection, user_id, source_id, target_id, now=now, by=by)
    target = store.resolve_node(connection, user_id, target_id)
    assert target is not None
    knowledge.reproject(connection, user_id, [target.id], now=now)
    _tell(connection, user_id, "nodes_merged", {"source": source_id, "target": target.id, "by": by}, now)
    return target


def is_thing(connection: Connection, user_id: int, node_id: str) -> bool:
    """Whether a node can be merged with another as it is: no person, whose profiles are merged, and not the owner."""
    node = store.resolve_node(connection, user_id, node_id)
    if node is None or node.id == store.owner_node_id(user_id) or node.label not in merging_merge.MERGEABLE:
        return False
    return node.subtype not in ("person", "session")


def candidates(connection: Connection, user_id: int, node_id: str, others: Sequence[str]) -> list[Node]:
    """Those of the other nodes that this one can be merged into: things of its label. Raises NotFound."""
    node = store.resolve_node(connection, user_id, node_id)
    if node is None:
        raise NotFound(f"there is no node {node_id}")
    found = store.nodes_by_ids(connection, user_id, [one for one in others if one != node.id])
    there = (found[one] for one in others if one in found)
    return [one for one in there if one.label == node.label and is_thing(connection, user_id, one.id)]


def split(connection: Connection, user_id: int, node_id: str, *, now: datetime) -> tuple[Node | None, Node | None]:
    """Undoes a merge of nodes, (source, target) as they are then; raises as `memory.joining.split`.

    None stands for what nobody tells of any more.
    """
    source_id, target_id = merging_merge.split(connection, user_id, node_id, now=now)
    knowledge.reproject(connection, user_id, [source_id, target_id], now=now)
    _tell(connection, user_id, "nodes_split", {"source": source_id, "target": target_id}, now)
    return store.get_node(connection, user_id, source_id), store.get_node(connection, user_id, target_id)


@contextmanager
def apart(connection: Connection, user_id: int, *, now: datetime) -> Iterator[None]:
    """Within it every node stands for itself, so that what is erased falls where it was told; then all is as before."""
    stands = merging_merge.undo_merges(connection, user_id, now=now)
    if stands:
        knowledge.reproject(connection, user_id, _ends(stands), now=now)
    yield
    if stands:
        merging_merge.redo_merges(connection, user_id, stands, now=now)
        knowledge.reproject(connection, user_id, _ends(stands), now=now)


def _ends(stands: list[NodeMerge]) -> list[str]:
    return sorted({end for one in stands for end in (one.source_id, one.target_id)})


def _tell(connection: Connection, user_id: int, kind: str, payload: dict[str, str], now: datetime) -> None:
    events.append(connection, kind, source=f"user:{user_id}", now=now, user_id=user_id, payload=payload)
