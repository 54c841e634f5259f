"""Observations and citations of nodes and edges of the memory graph."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection

from internal.graph.model import Node
from internal.memory.model import Observation
from internal.memory.observations import repository as observation_repository
from internal.memory.observations import targets_repository
from internal.memory.observations.changes import ObservedLine
from internal.memory.observations.fold import UNSEARCHED, in_order
from internal.storage import evidence


def observations_of(connection: Connection, user_id: int, target_id: str) -> list[Observation]:
    """The observations of a node or edge, from the earliest to the latest."""
    return in_order(observation_repository.of_target(connection, user_id, target_id))


def citations(connection: Connection, user_id: int, target_id: str) -> list[ObservedLine]:
    """The lines that support a node or edge, each once, in the order of `said_at`.

    `said_at` is that of the observation; the quote is empty where the line supports only a link.
    """
    observations = {one.id: one for one in observations_of(connection, user_id, target_id)}
    found: dict[tuple[str, int], ObservedLine] = {}
    for observation_id, rows in evidence.rows(connection, user_id, "observation", list(observations)).items():
        for row in rows:
            line = ObservedLine(
                row.episode_id, row.segment, observations[observation_id].said_at, row.quote or "", row.message_id
            )
            known = found.get((row.episode_id, row.segment))
            if known is None or not known.quote:
                found[row.episode_id, row.segment] = line
    return sorted(found.values(), key=lambda line: (line.said_at, line.episode_id, line.segment))


def is_found_by_words(node: Node) -> bool:
    """Whether a search finds a node itself, not only through what belongs to it."""
    return node.label not in UNSEARCHED and node.subtype != "session"


def superseded(connection: Connection, user_id: int, node_ids: Collection[str]) -> set[str]:
    """The memories among these that lost a contradiction by the owner's decision."""
    return targets_repository.superseded(connection, user_id, node_ids)
