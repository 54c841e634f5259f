"""What supports the names of things, among the rows of evidence: `name:<node id>:<key of the name>`.

People's names are parts of their profiles, which know their lines themselves.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping

from sqlalchemy import Connection, and_, delete, select

from internal.graph.store import NAME_EVIDENCE, supports_names
from internal.language.text.spelling import name_key
from internal.storage.chunks import chunks
from internal.storage.engine.upsert import upsert
from internal.storage.tables import evidence


def key_of(name: str) -> str:
    """By what a name is known among the rows: it must not be readable there."""
    return hashlib.sha256(name_key(name).encode()).hexdigest()[:24]


def add(
    connection: Connection,
    user_id: int,
    told: Mapping[tuple[str, str], Mapping[int, str | None]],
    episode_id: str,
    run_id: str | None,
) -> None:
    """Records for (node id, name) the lines (segment number -> message id) that call the thing so."""
    rows = [
        {
            "user_id": user_id,
            "target": f"{NAME_EVIDENCE}{node_id}:{key_of(name)}",
            "episode_id": episode_id,
            "segment": segment,
            "message_id": message_id,
            "operation": "part",
            "run_id": run_id,
        }
        for (node_id, name), segments in told.items()
        for segment, message_id in segments.items()
    ]
    if rows:
        connection.execute(upsert(evidence).on_conflict_do_nothing(), rows)


def told_in(connection: Connection, user_id: int, episode_id: str, segments: Collection[int]) -> dict[str, set[str]]:
    """The names that these segments of an episode support: node id -> keys."""
    found: dict[str, set[str]] = defaultdict(set)
    for part in chunks(segments):
        here = and_(evidence.c.user_id == user_id, evidence.c.episode_id == episode_id, evidence.c.segment.in_(part))
        query = select(evidence.c.target).distinct().where(here, evidence.c.target.startswith(NAME_EVIDENCE))
        for target in connection.execute(query).scalars():
            node_id, key = target.removeprefix(NAME_EVIDENCE).rsplit(":", 1)
            found[node_id].add(key)
    return dict(found)


def take_back(connection: Connection, user_id: int, episode_id: str, segments: Collection[int]) -> dict[str, set[str]]:
    """`told_in`, and these segments support them no more."""
    told = told_in(connection, user_id, episode_id, segments)
    for part in chunks(segments):
        here = and_(evidence.c.user_id == user_id, evidence.c.episode_id == episode_id, evidence.c.segment.in_(part))
        connection.execute(delete(evidence).where(here, evidence.c.target.startswith(NAME_EVIDENCE)))
    return told


def left(connection: Connection, user_id: int, node_id: str) -> set[str]:
    """The keys of a thing's names that some line supports."""
    query = select(evidence.c.target).distinct().where(evidence.c.user_id == user_id, supports_names(node_id))
    targets = connection.execute(query).scalars()
    return {target.rsplit(":", 1)[1] for target in targets}
