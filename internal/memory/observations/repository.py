"""Observations and their evidence in the database."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final
from uuid import UUID, uuid5

from sqlalchemy import Connection, and_, bindparam, select

from internal.graph.assertion_repository import Assertions
from internal.memory.model import Observation
from internal.storage import evidence
from internal.storage.chunks import chunks
from internal.storage.engine.upsert import upsert
from internal.storage.rows import reader
from internal.storage.tables import graph_edges, observations

_OBSERVATIONS: Final = UUID("6c61706c-6163-5564-b0b5-6f6273657276")
"""The namespace of observations' ids; if it changed, a rerun would not recognise observations."""

_read: Final = reader(Observation, {"properties": "props"})

stored: Final = Assertions("observation", observations, _read)

of_episode, supported_by, remove = stored.of_episode, stored.supported_by, stored.remove


def observation_id(
    user_id: int, episode_id: str, segments: Collection[int], identity: Sequence[str], properties: Mapping[str, Any]
) -> str:
    """The id of an observation; equal for the same content from the same lines, so that it is stored once."""
    content = json.dumps(properties, sort_keys=True, ensure_ascii=False, default=str)
    parts = (str(user_id), episode_id, str(min(segments, default=0)), *identity, content)
    return str(uuid5(_OBSERVATIONS, "\x1f".join(parts)))


def add(connection: Connection, observation: Observation) -> bool:
    """Stores an observation; False if it is stored already."""
    row = {one.name: getattr(observation, one.name) for one in fields(Observation)}
    row["props"] = dict(row.pop("properties"))
    return connection.execute(_ADD, row).rowcount == 1


def of_target(connection: Connection, user_id: int, target: str) -> list[Observation]:
    """The observations of a node or edge, from the earliest to the latest."""
    return [_read(row) for row in connection.execute(_OF_TARGET, {"owner": user_id, "target": target})]


def of_targets(connection: Connection, user_id: int, targets: Collection[str]) -> dict[str, list[Observation]]:
    """Like `of_target`, but for several targets; those without observations are left out."""
    found: dict[str, list[Observation]] = {}
    for part in chunks(targets):
        for observation in stored.where(connection, user_id, observations.c.target.in_(part)):
            found.setdefault(observation.target, []).append(observation)
    return found


def remove_of_targets(connection: Connection, user_id: int, targets: Collection[str]) -> list[Observation]:
    """Deletes the observations of these nodes and edges and returns them."""
    gone = [observation for listed in of_targets(connection, user_id, targets).values() for observation in listed]
    remove(connection, user_id, [observation.id for observation in gone])
    return gone


def move(connection: Connection, user_id: int, ids: Collection[str], target: str) -> None:
    """Moves observations to another node or edge."""
    stored.change(connection, user_id, ids, target=target)


def publish(connection: Connection, user_id: int, lines: Mapping[str, evidence.LineRef]) -> None:
    """Moves observations of unpublished messages to their segments in a fragment: message id -> segment."""
    published = evidence.ids_of_kind(evidence.publish(connection, user_id, lines), "observation")
    if published:
        stored.change(connection, user_id, published, episode_id=next(iter(lines.values()))[0])


def of_edges(connection: Connection, user_id: int) -> list[Observation]:
    """All observations of edges."""
    return stored.where(connection, user_id, observations.c.kind == "edge")


def retell(connection: Connection, user_id: int, observation_id: str, properties: Mapping[str, Any]) -> None:
    """Replaces the properties of an observation."""
    stored.change(connection, user_id, [observation_id], props=dict(properties))


def without_edge(connection: Connection, user_id: int) -> list[Observation]:
    """Observations of edges that do not exist any more, because a merge removed them as duplicates."""
    there = select(graph_edges.c.id).where(
        graph_edges.c.user_id == observations.c.user_id, graph_edges.c.id == observations.c.target
    )
    return stored.where(connection, user_id, and_(observations.c.kind == "edge", ~there.exists()))


# Run several times for each memory: built once, for building a statement takes longer than running it.
_ADD: Final = upsert(observations).on_conflict_do_nothing()
_OF_TARGET: Final = (
    select(observations)
    .where(observations.c.user_id == bindparam("owner"), observations.c.target == bindparam("target"))
    .order_by(observations.c.said_at, observations.c.id)
)
