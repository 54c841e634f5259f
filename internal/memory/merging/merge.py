"""Merges two nodes that are the same thing, and splits them again. People are merged as profiles.

The source redirects to the target. Its links move and keep their origins, and its observations count for the
target, which keeps its name. The caller projects facts again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, Literal

from sqlalchemy import Connection

from internal.errors import Refused, expect_found
from internal.graph import name_repository, registry, store
from internal.graph.model import MergeUndo, Node
from internal.language.text.spelling import name_key
from internal.memory.merging import repository as merge_repository
from internal.memory.merging.repository import NodeMerge
from internal.memory.model import MERGE, NAMING
from internal.memory.observations.removal import project_nodes, reproject
from internal.storage import evidence, search_items

MERGEABLE: Final = ("Entity", "Concept", "Keyword", "Topic", "Context", "Preference", "Goal", "Question", "Decision")
"""Labels of nodes that may be merged; a memory was said at one time and a source is its reference."""

By = Literal["owner", "audit"]

_NOTHING: Final = MergeUndo()


def merge(
    connection: Connection, user_id: int, source_id: str, target_id: str, *, now: datetime, by: By = "owner"
) -> Node:
    """Merges the source into the target and returns the target; the caller refuses people with a profile.

    Raises NotFound, and Refused("self_merge" | "already_merged" | "different_labels" | "different_types" |
    "not_merged" | "owner").
    """
    source, target = _node(connection, user_id, source_id), _node(connection, user_id, target_id)
    if source.id != source_id:
        raise Refused("already_merged", f"{source_id} is {source.id} already")
    _refuse(source, target)
    _merge(connection, source, target, NodeMerge("", source.id, target.id, by, now, _NOTHING, (), (), {}, None), now)
    return _node(connection, user_id, target.id)


def split(connection: Connection, user_id: int, node_id: str, *, now: datetime) -> tuple[str, str]:
    """Undoes the merge that made this node a redirect, else the last one into it. Returns the ids of source and target.

    Later additions to the target stay there. Raises NotFound if there is nothing to undo, and
    Refused("merged_further") while the target is itself merged into another.
    """
    last = expect_found(merge_repository.latest(connection, user_id, node_id), f"node {node_id} was not merged")
    target = store.get_node(connection, user_id, last.target_id, hidden=True)
    if target is not None and target.merged_into is not None:
        raise Refused("merged_further", "the merge that came after it must be undone first")
    _undo(connection, user_id, last, now)
    merge_repository.mark_undone(connection, user_id, last.id, now)
    return last.source_id, last.target_id


def undo_merges(connection: Connection, user_id: int, *, now: datetime) -> list[NodeMerge]:
    """Undoes every merge, newest first, so that each node has only its own rows; `redo_merges` repeats them."""
    merges = merge_repository.standing(connection, user_id)
    for merged in merges:
        _undo(connection, user_id, merged, now)
        merge_repository.drop(connection, user_id, merged.id)
    return merges


def redo_merges(connection: Connection, user_id: int, apart: Sequence[NodeMerge], *, now: datetime) -> None:
    """Repeats the merges that still have both sides."""
    for one in reversed(apart):
        source, target = (
            store.get_node(connection, user_id, end, hidden=True) for end in (one.source_id, one.target_id)
        )
        if source is not None and target is not None:
            _merge(connection, source, target, one, now)


def merged_into(connection: Connection, user_id: int, node_id: str) -> list[str]:
    """The nodes that redirect to this one, also through others."""
    return merge_repository.merged_into(connection, user_id, node_id)


def was_split(connection: Connection, user_id: int, one: str, other: str) -> bool:
    """Whether a merge of these two was undone; then only their owner may merge them again."""
    return merge_repository.split_between(connection, user_id, one, other)


def _merge(connection: Connection, source: Node, target: Node, wanted: NodeMerge, now: datetime) -> None:
    user_id, naming = target.user_id, NAMING[target.label]
    moved = store.repoint(connection, user_id, source.id, target.id)
    store.redirect_node(connection, user_id, source.id, target.id)
    search_items.remove(connection, user_id, store.item_kind(source.label), [source.id])
    observations = merge_repository.move_observations(connection, user_id, source.id, target.id)
    support = merge_repository.copy_support(connection, user_id, source.id, target.id)
    added = _added_properties(source, target)
    if added:
        _write_added(connection, target, added, now)
    # A name that the owner set stays the owner's.
    merged = {"by": MERGE, "rev": target.rev, "at": now.isoformat()}
    chosen = target.field_meta[naming] if target.owner_set(naming) else merged
    mark = merge_repository.set_mark(connection, user_id, target.id, naming, chosen)
    merge_repository.record(
        connection,
        user_id,
        replace(wanted, moved=moved, observations=observations, evidence=support, added=added, mark=mark),
    )
    _project(connection, user_id, [target.id], now)


def _undo(connection: Connection, user_id: int, join: NodeMerge, now: datetime) -> None:
    source, target = (store.get_node(connection, user_id, end, hidden=True) for end in (join.source_id, join.target_id))
    if source is None or target is None:
        return
    store.redirect_node(connection, user_id, source.id, None)
    origins = {source.id, *merge_repository.merged_into(connection, user_id, source.id)}
    store.restore_ends(connection, user_id, source.id, target.id, origins, join.moved)
    merge_repository.return_observations(connection, user_id, join.observations, target.id, source.id)
    evidence.remove_rows(connection, user_id, join.evidence)
    _take_back_added(connection, target, join.added, now)
    merge_repository.set_mark(connection, user_id, target.id, NAMING[target.label], join.mark)
    store.make_findable(connection, user_id, source.id)
    _project(connection, user_id, [source.id, target.id], now)


def _project(connection: Connection, user_id: int, node_ids: Sequence[str], now: datetime) -> None:
    project_nodes(connection, user_id, node_ids, now=now)
    reproject(connection, user_id, node_ids, now=now)


def _added_properties(source: Node, target: Node) -> dict[str, Any]:
    """The properties that the target gets from the source: names, and a description if it has none."""
    if not registry.schema_of(target.label).by_name:
        return {}
    known = {name_key(name) for name in (target.name, *target.properties.get("aliases", ()))}
    theirs = (source.name, *source.properties.get("aliases", ()))
    added: dict[str, Any] = {"aliases": [name for name in dict.fromkeys(theirs) if name_key(name) not in known]}
    if source.properties.get("description") and not target.properties.get("description"):
        added["description"] = source.properties["description"]
    return {name: value for name, value in added.items() if value}


def _write_added(connection: Connection, target: Node, added: Mapping[str, Any], now: datetime) -> None:
    """Writes the added values without changing who set each property."""
    for name, value in added.items():
        by = target.field_meta.get(name, {}).get("by", "archivist")
        changes = {name: [*target.properties.get("aliases", ()), *value] if name == "aliases" else value}
        store.update_node(connection, target.user_id, target.id, changes, now=now, by=by, hidden=True)


def _take_back_added(connection: Connection, target: Node, added: Mapping[str, Any], now: datetime) -> None:
    changes: dict[str, Any] = {}
    if "aliases" in added:
        aliases = target.properties.get("aliases", ())
        changes["aliases"] = [alias for alias in aliases if alias not in added["aliases"]]
        name_repository.drop_keys(
            connection, target.user_id, target.id, {name_key(alias) for alias in added["aliases"]}
        )
    if "description" in added and target.properties.get("description") == added["description"]:
        changes["description"] = None
    for name, value in changes.items():
        by = target.field_meta.get(name, {}).get("by", "archivist")
        store.update_node(connection, target.user_id, target.id, {name: value}, now=now, by=by, hidden=True)


def _refuse(source: Node, target: Node) -> None:
    if source.id == target.id:
        raise Refused("self_merge", "a node cannot be merged into itself")
    if store.owner_node_id(source.user_id) in (source.id, target.id):
        raise Refused("owner", "the owner himself is nobody else")
    if source.label != target.label:
        raise Refused("different_labels", f"a {source.label} cannot be merged into a {target.label}")
    if source.label not in MERGEABLE or "session" in (source.subtype, target.subtype):
        raise Refused("not_merged", f"expected one of {', '.join(MERGEABLE)}, and no session")
    if (source.subtype == "person") != (target.subtype == "person"):
        raise Refused("different_types", "a person is no thing")


def _node(connection: Connection, user_id: int, node_id: str) -> Node:
    return expect_found(store.resolve_node(connection, user_id, node_id), f"there is no node {node_id}")
