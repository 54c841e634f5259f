"""Merges two things and splits them again, and updates all that is stored about them.

The nodes know nothing of profiles and facts; callers that merge or split nodes for the owner use this module.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy import Connection

from internal.errors import Refused, expect_found
from internal.events import repository as events
from internal.graph import store
from internal.graph.model import Node
from internal.knowledge import fact_repository, service as knowledge
from internal.memory.merging import merge as merging_merge
from internal.memory.merging.merge import By
from internal.memory.merging.repository import NodeMerge


def merge(
    connection: Connection, user_id: int, source_id: str, target_id: str, *, now: datetime, by: By = "owner"
) -> Node:
    """Merges one node into another and returns the latter. Raises what `merge.merge` raises, and Refused("person")."""
    for node_id in (source_id, target_id):
        if fact_repository.person_of(connection, user_id, node_id) is not None:
            raise Refused("person", f"{node_id} is a person; POST /people/merge merges profiles")
    merging_merge.merge(connection, user_id, source_id, target_id, now=now, by=by)
    target = store.resolve_node(connection, user_id, target_id)
    assert target is not None
    knowledge.reproject(connection, user_id, [target.id], now=now)
    _append_event(connection, user_id, "nodes_merged", {"source": source_id, "target": target.id, "by": by}, now)
    return target


def is_thing(connection: Connection, user_id: int, node_id: str) -> bool:
    """Whether a node can be merged with another: not a person, whose profiles are merged, and not the owner."""
    node = store.resolve_node(connection, user_id, node_id)
    if node is None or node.id == store.owner_node_id(user_id) or node.label not in merging_merge.MERGEABLE:
        return False
    return node.subtype not in ("person", "session")


def candidates(connection: Connection, user_id: int, node_id: str, others: Sequence[str]) -> list[Node]:
    """The nodes among the others that this one can be merged into: things of its label. Raises NotFound."""
    node = expect_found(store.resolve_node(connection, user_id, node_id), f"there is no node {node_id}")
    found = store.nodes_by_ids(connection, user_id, [one for one in others if one != node.id])
    there = (found[one] for one in others if one in found)
    return [one for one in there if one.label == node.label and is_thing(connection, user_id, one.id)]


def split(connection: Connection, user_id: int, node_id: str, *, now: datetime) -> tuple[Node | None, Node | None]:
    """Undoes a merge of nodes. Returns (source, target) as they then are; raises what `memory.merging.split` raises.

    None stands for a node that nothing supports any more.
    """
    source_id, target_id = merging_merge.split(connection, user_id, node_id, now=now)
    knowledge.reproject(connection, user_id, [source_id, target_id], now=now)
    _append_event(connection, user_id, "nodes_split", {"source": source_id, "target": target_id}, now)
    return store.get_node(connection, user_id, source_id), store.get_node(connection, user_id, target_id)


@contextmanager
def split_all_merged(connection: Connection, user_id: int, *, now: datetime) -> Iterator[None]:
    """Splits all merged nodes within the block, so that each is erased separately; merges them again afterwards."""
    stands = merging_merge.undo_merges(connection, user_id, now=now)
    if stands:
        knowledge.reproject(connection, user_id, _ends(stands), now=now)
    yield
    if stands:
        merging_merge.redo_merges(connection, user_id, stands, now=now)
        knowledge.reproject(connection, user_id, _ends(stands), now=now)


def _ends(stands: list[NodeMerge]) -> list[str]:
    return sorted({end for one in stands for end in (one.source_id, one.target_id)})


def _append_event(connection: Connection, user_id: int, kind: str, payload: dict[str, str], now: datetime) -> None:
    events.append(connection, kind, source=f"user:{user_id}", now=now, user_id=user_id, payload=payload)
