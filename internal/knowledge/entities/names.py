"""Evidence of the names of entities: a name that loses its last line is removed from the entity."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from internal.graph import store
from internal.graph.model import Node
from internal.knowledge.claims.record import reproject
from internal.knowledge.entities import repository as entity_repository
from internal.language.text.spelling import name_key
from internal.storage import evidence
from internal.storage.evidence import Lines

_RENAMED = frozenset({"Entity", "Topic"})
"""Labels whose nodes may be renamed; a preference consists of its words."""


def note_names(
    connection: Connection,
    user_id: int,
    said_names: Mapping[tuple[str, str], Mapping[int, str | None]],
    *,
    episode_id: str,
    run_id: str | None,
) -> None:
    """Records which lines (segment number -> message id) use a name, by (node id, name); other texts are ignored.

    People with a profile and the owner are left out: evidence of their names belongs to the profile.
    """
    nodes = store.nodes_by_ids(connection, user_id, {node_id for node_id, _ in said_names})
    people = entity_repository.with_profile(connection, user_id, list(nodes)) | {store.owner_node_id(user_id)}
    names = {node.id: {name_key(name) for name in _names(node)} for node in nodes.values() if node.id not in people}
    known = {
        (node_id, name): lines
        for (node_id, name), lines in said_names.items()
        if name_key(name) in names.get(node_id, ())
    }
    supported = {
        f"{node_id}:{key_of(name)}": evidence.of_segments(episode_id, lines) for (node_id, name), lines in known.items()
    }
    evidence.add(connection, user_id, "name", supported, operation="part", run_id=run_id)


def key_of(name: str) -> str:
    """The key of a name in evidence, from which the name cannot be read."""
    return hashlib.sha256(name_key(name).encode()).hexdigest()[:24]


def names_cited(
    connection: Connection, user_id: int, episode_id: str, segments: Collection[int]
) -> dict[str, set[str]]:
    """The names that these segments of an episode support: node id -> keys."""
    lines = Lines(episode_id=episode_id, segments=segments)
    return _by_node(evidence.cited_ids(connection, user_id, "name", lines))


def drop_name_support(
    connection: Connection, user_id: int, episode_id: str, segments: Collection[int]
) -> dict[str, set[str]]:
    """Deletes the evidence of names from these segments of an episode. Returns the names, node id -> keys."""
    lines = Lines(episode_id=episode_id, segments=segments)
    targets = evidence.remove_lines(connection, user_id, lines, ["name"])
    return _by_node(evidence.ids_of_kind(targets, "name"))


def drop_names(
    connection: Connection,
    user_id: int,
    node: Node,
    lost: Collection[str],
    *,
    now: datetime,
    gives_away: Callable[[str], bool] = lambda name: False,
) -> bool:
    """Removes a node's names with a key in `lost` and no line left. Returns whether there were any.

    For a name with other lines, or with no recorded line, `gives_away` decides. Names that the owner set stay. A node
    that loses its main name gets another supported one; without one it keeps its name.
    """
    left = {target.rsplit(":", 1)[1] for target in evidence.part_targets(connection, user_id, "name", node.id)}

    def falls(name: str) -> bool:
        key = key_of(name)
        if key in lost and key not in left:
            return True
        return (key in lost or key not in left) and gives_away(name)

    changes: dict[str, Any] = {}
    aliases = list(node.properties.get("aliases", ()))
    kept = aliases if node.owner_set("aliases") else [alias for alias in aliases if not falls(alias)]
    supported = [alias for alias in kept if key_of(alias) in left]
    own = key_of(node.name)
    if own in lost and own not in left and supported and node.label in _RENAMED and not node.owner_set("name"):
        changes["name"] = supported[0]
        kept = [alias for alias in kept if alias != supported[0]]
    if kept != aliases:
        changes["aliases"] = kept
    if not changes:
        return False
    store.update_node(connection, user_id, node.id, changes, now=now, hidden=True)
    if "name" in changes:
        reproject(connection, user_id, [node.id], now=now)
    return True


def _by_node(parts: Collection[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for node_id, key in (part.rsplit(":", 1) for part in parts):
        found[node_id].add(key)
    return dict(found)


def _names(node: Node) -> tuple[str, ...]:
    return (node.name, *node.properties.get("aliases", ()))
