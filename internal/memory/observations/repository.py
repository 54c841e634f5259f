"""Observations and their evidence in the database."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID, uuid5

from sqlalchemy import ColumnElement, Connection, Row, and_, bindparam, delete, select, update

from internal.memory.model import Observation
from internal.memory.observations.changes import ObservedLine
from internal.storage.chunks import chunks
from internal.storage.engine.upsert import upsert
from internal.storage.tables import evidence, graph_edges, observations

PREFIX: Final = "observation:"

_OBSERVATIONS: Final = UUID("6c61706c-6163-5564-b0b5-6f6273657276")
"""The namespace of observations' ids; if it changed, a second reading would know nothing again."""


def evidence_target(observation_id: str) -> str:
    """The key of an observation among evidence."""
    return f"{PREFIX}{observation_id}"


def observation_id(
    user_id: int, episode_id: str, segments: Collection[int], identity: Sequence[str], properties: Mapping[str, Any]
) -> str:
    """The same again for the same told by the same lines: told twice it is stored once, and read again it stays."""
    told = json.dumps(properties, sort_keys=True, ensure_ascii=False, default=str)
    parts = (str(user_id), episode_id, str(min(segments, default=0)), *identity, told)
    return str(uuid5(_OBSERVATIONS, "\x1f".join(parts)))


def add(connection: Connection, one: Observation) -> bool:
    """Stores an observation; False if it is stored already."""
    row = {name: getattr(one, name) for name in _FIELDS} | {"props": dict(one.properties)}
    return connection.execute(_ADD, row).rowcount == 1


def add_lines(
    connection: Connection, one: Observation, lines: Iterable[ObservedLine], *, quoted: bool, operation: str
) -> None:
    """Records what supports an observation; a line that does so already stays as it is."""
    rows = [
        {
            "user_id": one.user_id,
            "target": evidence_target(one.id),
            "episode_id": line.episode_id,
            "segment": line.segment,
            "message_id": line.message_id,
            "quote": line.quote if quoted else None,
            "operation": operation,
            "run_id": one.run_id,
        }
        for line in lines
    ]
    if rows:
        connection.execute(_SUPPORT, rows)


def of_target(connection: Connection, user_id: int, target: str) -> list[Observation]:
    """What was told of a node or edge, from the earliest to the latest."""
    return [_observation(row) for row in connection.execute(_OF_TARGET, {"owner": user_id, "target": target})]


def of_targets(connection: Connection, user_id: int, targets: Collection[str]) -> dict[str, list[Observation]]:
    """As `of_target`, of several at once; those of which nothing was told are left out."""
    found: dict[str, list[Observation]] = {}
    for part in chunks(targets):
        for one in _found(connection, user_id, observations.c.target.in_(part)):
            found.setdefault(one.target, []).append(one)
    return found


def by_ids(connection: Connection, user_id: int, ids: Collection[str]) -> list[Observation]:
    return [one for part in chunks(ids) for one in _found(connection, user_id, observations.c.id.in_(part))]


def of_episode(connection: Connection, user_id: int, episode_id: str) -> list[Observation]:
    return _found(connection, user_id, observations.c.episode_id == episode_id)


def supported_by(
    connection: Connection,
    user_id: int,
    *,
    message_ids: Collection[str] = (),
    episode_id: str | None = None,
    segments: Collection[int] = (),
) -> list[Observation]:
    """Every observation that cites one of these messages, or one of these segments of the episode."""
    found: set[str] = set()
    for one in _lines(message_ids, episode_id, segments):
        ours = (evidence.c.user_id == user_id) & evidence.c.target.like(f"{PREFIX}%")
        found |= set(connection.execute(select(evidence.c.target).where(ours, one)).scalars())
    return by_ids(connection, user_id, sorted(target.removeprefix(PREFIX) for target in found))


def support(connection: Connection, user_id: int, ids: Collection[str]) -> dict[str, list[Row[Any]]]:
    """The evidence rows of these observations by their ids, in the order of episodes and lines."""
    found: dict[str, list[Row[Any]]] = {}
    for part in chunks(ids):
        query = select(evidence).where(_support(user_id, part)).order_by(evidence.c.episode_id, evidence.c.segment)
        for row in connection.execute(query):
            found.setdefault(row.target.removeprefix(PREFIX), []).append(row)
    return found


def drop_support(
    connection: Connection, user_id: int, ids: Collection[str], episode_id: str, segments: Collection[int]
) -> None:
    """Deletes what these segments of an episode support among these observations."""
    for one in _lines((), episode_id, segments):
        for part in chunks(ids):
            connection.execute(delete(evidence).where(_support(user_id, part), one))


def restore_lines(connection: Connection, rows: Iterable[Row[Any]]) -> None:
    """Puts back rows of evidence that were read before they were dropped."""
    values = [dict(row._mapping) for row in rows]
    if values:
        connection.execute(_SUPPORT, values)


def drop_lines(connection: Connection, user_id: int, ids: Collection[str], message_ids: Collection[str]) -> None:
    """Deletes what these messages support among these observations."""
    for one in _lines(message_ids, None, ()):
        for part in chunks(ids):
            connection.execute(delete(evidence).where(_support(user_id, part), one))


def remove(connection: Connection, user_id: int, ids: Collection[str]) -> None:
    """Deletes observations with their evidence."""
    for part in chunks(ids):
        connection.execute(delete(evidence).where(_support(user_id, part)))
        connection.execute(delete(observations).where(observations.c.user_id == user_id, observations.c.id.in_(part)))


def remove_of_targets(connection: Connection, user_id: int, targets: Collection[str]) -> list[Observation]:
    """Deletes everything told of these nodes and edges; what that was."""
    gone = [one for listed in of_targets(connection, user_id, targets).values() for one in listed]
    remove(connection, user_id, [one.id for one in gone])
    return gone


def move(connection: Connection, user_id: int, ids: Collection[str], target: str) -> None:
    """These were told of another node or edge, as it turns out."""
    for part in chunks(ids):
        one = (observations.c.user_id == user_id) & observations.c.id.in_(part)
        connection.execute(update(observations).where(one).values(target=target))


def of_edges(connection: Connection, user_id: int) -> list[Observation]:
    """Everything that was told of edges."""
    return _found(connection, user_id, observations.c.kind == "edge")


def retell(connection: Connection, user_id: int, observation_id: str, properties: Mapping[str, Any]) -> None:
    """What was told is less from now on."""
    one = (observations.c.user_id == user_id) & (observations.c.id == observation_id)
    connection.execute(update(observations).where(one).values(props=dict(properties)))


def without_edge(connection: Connection, user_id: int) -> list[Observation]:
    """What was told of edges that are no more: a merge took them for doubles of others."""
    there = select(graph_edges.c.id).where(
        graph_edges.c.user_id == observations.c.user_id, graph_edges.c.id == observations.c.target
    )
    return _found(connection, user_id, and_(observations.c.kind == "edge", ~there.exists()))


_FIELDS: Final = ("user_id", "id", "target", "kind", "said_at", "created_at", "episode_id", "run_id", "set_by")

# Run several times for each memory: built once, for building a statement takes longer than running it.
_ADD: Final = upsert(observations).on_conflict_do_nothing()
_SUPPORT: Final = upsert(evidence).on_conflict_do_nothing()
_OF_TARGET: Final = (
    select(observations)
    .where(observations.c.user_id == bindparam("owner"), observations.c.target == bindparam("target"))
    .order_by(observations.c.said_at, observations.c.id)
)


def _support(user_id: int, ids: Collection[str]) -> ColumnElement[bool]:
    return (evidence.c.user_id == user_id) & evidence.c.target.in_([evidence_target(one) for one in ids])


def _lines(
    message_ids: Collection[str], episode_id: str | None, segments: Collection[int]
) -> list[ColumnElement[bool]]:
    """Conditions, any of which a row of evidence about one of these lines fulfils."""
    found: list[ColumnElement[bool]] = [evidence.c.message_id.in_(part) for part in chunks(message_ids)]
    numbers = chunks(segments) if episode_id is not None else ()
    return found + [and_(evidence.c.episode_id == episode_id, evidence.c.segment.in_(part)) for part in numbers]


def _found(connection: Connection, user_id: int, condition: ColumnElement[bool]) -> list[Observation]:
    query = select(observations).where(observations.c.user_id == user_id, condition)
    return [_observation(row) for row in connection.execute(query.order_by(observations.c.said_at, observations.c.id))]


def _observation(row: Row[Any]) -> Observation:
    return Observation(properties=row.props, **{name: getattr(row, name) for name in _FIELDS})
