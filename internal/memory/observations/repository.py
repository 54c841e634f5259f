"""Observations and their evidence in the database."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final
from uuid import UUID, uuid5

from sqlalchemy import ColumnElement, Connection, Row, and_, bindparam, select, update

from internal.memory.model import Observation
from internal.storage import evidence
from internal.storage.chunks import chunks, delete_with
from internal.storage.engine.upsert import upsert
from internal.storage.evidence import Lines
from internal.storage.tables import graph_edges, observations

_OBSERVATIONS: Final = UUID("6c61706c-6163-5564-b0b5-6f6273657276")
"""The namespace of observations' ids; if it changed, a rerun would not recognise observations."""


def observation_id(
    user_id: int, episode_id: str, segments: Collection[int], identity: Sequence[str], properties: Mapping[str, Any]
) -> str:
    """The id of an observation; equal for the same content from the same lines, so that it is stored once."""
    content = json.dumps(properties, sort_keys=True, ensure_ascii=False, default=str)
    parts = (str(user_id), episode_id, str(min(segments, default=0)), *identity, content)
    return str(uuid5(_OBSERVATIONS, "\x1f".join(parts)))


def add(connection: Connection, observation: Observation) -> bool:
    """Stores an observation; False if it is stored already."""
    row = {name: getattr(observation, name) for name in _FIELDS} | {"props": dict(observation.properties)}
    return connection.execute(_ADD, row).rowcount == 1


def of_target(connection: Connection, user_id: int, target: str) -> list[Observation]:
    """The observations of a node or edge, from the earliest to the latest."""
    return [_observation(row) for row in connection.execute(_OF_TARGET, {"owner": user_id, "target": target})]


def of_targets(connection: Connection, user_id: int, targets: Collection[str]) -> dict[str, list[Observation]]:
    """As `of_target` for several targets; those without observations are left out."""
    found: dict[str, list[Observation]] = {}
    for part in chunks(targets):
        for observation in _found(connection, user_id, observations.c.target.in_(part)):
            found.setdefault(observation.target, []).append(observation)
    return found


def by_ids(connection: Connection, user_id: int, ids: Collection[str]) -> list[Observation]:
    return [
        observation for part in chunks(ids) for observation in _found(connection, user_id, observations.c.id.in_(part))
    ]


def of_episode(connection: Connection, user_id: int, episode_id: str) -> list[Observation]:
    return _found(connection, user_id, observations.c.episode_id == episode_id)


def supported_by(connection: Connection, user_id: int, lines: Lines) -> list[Observation]:
    """Every observation that cites one of these lines."""
    return by_ids(connection, user_id, sorted(evidence.cited_ids(connection, user_id, "observation", lines)))


def remove(connection: Connection, user_id: int, ids: Collection[str]) -> None:
    """Deletes observations with their evidence."""
    evidence.remove(connection, user_id, "observation", ids)
    delete_with(connection, observations, user_id, observations.c.id, ids)


def remove_of_targets(connection: Connection, user_id: int, targets: Collection[str]) -> list[Observation]:
    """Deletes the observations of these nodes and edges and returns them."""
    gone = [observation for listed in of_targets(connection, user_id, targets).values() for observation in listed]
    remove(connection, user_id, [observation.id for observation in gone])
    return gone


def move(connection: Connection, user_id: int, ids: Collection[str], target: str) -> None:
    """Moves observations to another node or edge."""
    for part in chunks(ids):
        one = (observations.c.user_id == user_id) & observations.c.id.in_(part)
        connection.execute(update(observations).where(one).values(target=target))


def publish(connection: Connection, user_id: int, lines: Mapping[str, evidence.LineRef]) -> None:
    """Has observations of unpublished messages rest on their places in a fragment: message id -> place."""
    published = evidence.ids_of_kind(evidence.publish(connection, user_id, lines), "observation")
    for part in chunks(published):
        one = (observations.c.user_id == user_id) & observations.c.id.in_(part)
        episode_id = next(iter(lines.values()))[0]
        connection.execute(update(observations).where(one).values(episode_id=episode_id))


def of_edges(connection: Connection, user_id: int) -> list[Observation]:
    """All observations of edges."""
    return _found(connection, user_id, observations.c.kind == "edge")


def retell(connection: Connection, user_id: int, observation_id: str, properties: Mapping[str, Any]) -> None:
    """Replaces the properties of an observation."""
    one = (observations.c.user_id == user_id) & (observations.c.id == observation_id)
    connection.execute(update(observations).where(one).values(props=dict(properties)))


def without_edge(connection: Connection, user_id: int) -> list[Observation]:
    """Observations of edges that do not exist any more, because a merge removed them as duplicates."""
    there = select(graph_edges.c.id).where(
        graph_edges.c.user_id == observations.c.user_id, graph_edges.c.id == observations.c.target
    )
    return _found(connection, user_id, and_(observations.c.kind == "edge", ~there.exists()))


_FIELDS: Final = ("user_id", "id", "target", "kind", "said_at", "created_at", "episode_id", "run_id", "set_by")

# Run several times for each memory: built once, for building a statement takes longer than running it.
_ADD: Final = upsert(observations).on_conflict_do_nothing()
_OF_TARGET: Final = (
    select(observations)
    .where(observations.c.user_id == bindparam("owner"), observations.c.target == bindparam("target"))
    .order_by(observations.c.said_at, observations.c.id)
)


def _found(connection: Connection, user_id: int, condition: ColumnElement[bool]) -> list[Observation]:
    query = select(observations).where(observations.c.user_id == user_id, condition)
    return [_observation(row) for row in connection.execute(query.order_by(observations.c.said_at, observations.c.id))]


def _observation(row: Row[Any]) -> Observation:
    return Observation(properties=row.props, **{name: getattr(row, name) for name in _FIELDS})
